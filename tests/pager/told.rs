//! What it tells, and how often.

use super::{Armed, subjects};
use crate::harness::{Outcome, World};

/// The pager only announces: what it has shown stays pending, it is not given a second time, and the session's own Page
/// shows it once more and consumes it.
#[test]
fn a_message_is_told_once_and_stays_until_the_own_page_has_shown_it() {
    let world = World::new();
    let session = world.quick_session(1);
    let armed = session.arm("0001");
    session.deliver("1.one.x", "the first");
    let page = armed.page();
    assert_eq!(subjects(&page), ["the first"]);
    assert!(!page.contains("(shown before)") && page.contains("  | The text.\n"), "{page}");
    assert!(session.exists("inbox/new/1.one.x"));
    let status = session.pager();
    assert_eq!((&status["pager"], &status["announced"]), (&"unarmed".into(), &1.into()));
    assert_eq!(status["pending"][0]["announced"], true);
    // What is new comes first, whatever is older and was shown before.
    let mut armed = session.arm("0001");
    armed.waits();
    session.deliver("2.two.x", "the second");
    let page = armed.page();
    assert_eq!(subjects(&page), ["the second", "the first"]);
    assert_eq!(page.matches("(shown before)").count(), 1);
    assert_eq!(subjects(&session.verb("0001", ["page"]).run().ok()), ["the first", "the second"]);
    assert_eq!(session.pager()["pending"].as_array().unwrap().len(), 0);
}

/// What came while none was armed is told at once, in every spelling of the verb.
#[test]
fn what_came_before_is_told_at_once() {
    let world = World::new();
    let session = world.quick_session(1);
    let spellings: [fn(&crate::harness::Session, &[&str]) -> Outcome; 4] = [
        |session, more| session.arm_cmd("0001").args(more).run(),
        |session, more| session.verb("0001", ["pager", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0").args(more).run(),
        |session, more| session.flint("0001", &["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0").args(more).run(),
        |session, more| {
            let page = crate::harness::bin_dir().join("orbh-page");
            let cmd = session.world.program(page).args(["arm"]).args(more).env("ORBH_PAGER_SETTLE_MS", "0");
            let cmd = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001");
            cmd.env("ORBH_NONCE", session.nonce("0001")).run()
        },
    ];
    for (index, arm) in spellings.iter().enumerate() {
        session.deliver(&format!("{index}.a.x"), &format!("the message {index}"));
        let page = arm(&session, &[]).ok();
        assert_eq!(subjects(&page)[0], format!("the message {index}"));
        session.deliver(&format!("{index}.b.x"), &format!("another {index}"));
        let json = arm(&session, &["--json"]).exits(0).json();
        assert_eq!((&json["v"], &json["messages"][0]["subject"]), (&1.into(), &format!("another {index}").into()));
        assert_eq!(json["messages"][1]["shown_before"], true);
    }
}

/// What an administrator moves back to new/ is told again: by a pager that is armed, and by the next one.
#[test]
fn what_is_moved_back_to_new_is_told_again() {
    let world = World::new();
    let session = world.quick_session(1);
    let consumed = session.path("inbox/cur/1.one.x:2,S");
    for _ in 0..2 {
        session.deliver("1.one.x", "once more");
        assert_eq!(subjects(&session.arm("0001").page()), ["once more"]);
        session.verb("0001", ["page"]).run().ok();
        assert!(consumed.exists());
        let armed = session.arm("0001");
        std::fs::rename(&consumed, session.path("inbox/new/1.one.x")).unwrap();
        assert_eq!(subjects(&armed.page()), ["once more"]);
        session.verb("0001", ["page"]).run().ok();
        // In cur/, the flag that says that it was seen taken off: pending as well.
        let armed = session.arm("0001");
        std::fs::rename(&consumed, session.path("inbox/cur/1.one.x:2,")).unwrap();
        assert_eq!(subjects(&armed.page()), ["once more"]);
        session.verb("0001", ["page"]).run().ok();
        std::fs::remove_file(&consumed).unwrap();
    }
}

/// A question that is put while the pager waits, and answered by a person with an editor: an empty file first.
#[test]
fn an_answer_is_told() {
    let world = World::new();
    let session = world.quick_session(1);
    session.ask("q000000001", "May I?");
    for (id, put_now) in [("q000000001", false), ("q000000002", true)] {
        let armed = session.arm("0001");
        if put_now {
            session.ask(id, "And may I?");
        }
        let answer = session.path(&format!("asked/{id}/answer.md"));
        std::fs::write(&answer, "").unwrap();
        std::fs::write(&answer, "Yes, do.\n").unwrap();
        let page = armed.page();
        assert!(page.contains(&format!("- answer {id} of a person to: ")) && page.contains("  | Yes, do.\n"), "{page}");
        assert_eq!(session.announced("0001").last(), Some(&format!("answer/{id}")));
    }
    let status = session.pager();
    assert_eq!((&status["pending"][0]["kind"], &status["pending"][1]["kind"]), (&"answer".into(), &"answer".into()));
}

/// A fresh context knows of nothing: its pager tells what its predecessor was told of and has not consumed.
#[test]
fn the_pager_of_a_successor_tells_what_its_predecessor_did_not_consume() {
    let world = World::new();
    let session = world.idle_session();
    let armed = session.arm("0001");
    session.deliver("1.one.x", "for whoever works");
    assert_eq!(subjects(&armed.page()), ["for whoever works"]);
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    let page = Armed::start(&session, session.arm_cmd("0002")).page();
    assert_eq!(subjects(&page), ["for whoever works"]);
    assert!(!page.contains("(shown before)"), "{page}");
    assert_eq!(session.announced("0001"), session.announced("0002"));
}

/// One that is announced while the own Page consumes it comes again if it comes back.
#[test]
fn what_was_consumed_meanwhile_is_not_announced() {
    let world = World::new();
    let session = world.quick_session(1);
    session.deliver("1.one.x", "of both");
    // The claim is what the pager waits for between print and announcement.
    let claim = session.path("scratch/compaction.lock");
    let armed = session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "1500");
    let armed = Armed::start(&session, armed);
    let holder = shared::ground::lease::Holder::me("the test");
    let bound = std::time::Duration::from_secs(60);
    let taken = shared::ground::lease::take(&claim, &holder, bound).unwrap();
    let shared::ground::lease::Taken::Ours(lease) = taken else { panic!("{taken:?}") };
    let mut out = armed.child;
    let mut stdout = std::io::BufReader::new(out.stdout.take().unwrap());
    let mut page = String::new();
    while !page.contains("OPEN OBLIGATIONS") {
        assert!(std::io::BufRead::read_line(&mut stdout, &mut page).unwrap() > 0, "{page}");
    }
    // As the own Page consumes it, under the claim.
    std::fs::create_dir_all(session.path("inbox/cur")).unwrap();
    std::fs::rename(session.path("inbox/new/1.one.x"), session.path("inbox/cur/1.one.x:2,S")).unwrap();
    drop(lease);
    assert!(out.wait().unwrap().success());
    assert_eq!(session.announced("0001"), Vec::<String>::new());
    std::fs::rename(session.path("inbox/cur/1.one.x:2,S"), session.path("inbox/new/1.one.x")).unwrap();
    assert_eq!(subjects(&session.arm("0001").page()), ["of both"]);
}

/// A question that wakes the pager stands among what is owed, on that very Page.
#[test]
fn a_question_that_wakes_it_is_owed_on_that_page() {
    let world = World::new();
    let (session, other) = (world.idle_session(), world.launch("command/idle", "ask"));
    other.pid("0001");
    let armed = session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0").spawn();
    let status = || world.orbh(["pager", "status", &session.id, "--json"]).run().json();
    crate::harness::wait_for("the pager", || (status()["pager"] == "armed").then_some(()));
    let put = other.verb("0001", ["message", "request", &session.id, "Which one?", "--deferred", "--json"]).run();
    let id = put.exits(0).json()["id"].as_str().unwrap().to_owned();
    let page = crate::harness::outcome(armed).exits(0).stdout;
    assert!(page.contains(&format!("- question {id} from ")), "{page}");
    assert!(page.contains(&format!("- question {id}: ")) && page.contains("; collect with `orbh respond "), "{page}");
}
