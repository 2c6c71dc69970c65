//! `orbh session ask`, `answer` and `cancel`: a question outlives whoever waits for its answer.

use crate::harness::{Session, World, kill_dead, outcome, signal, wait_for};
use crate::respond::{ask, letters, request};
use nix::sys::signal::Signal;
use std::process::Child;

/// A blocking `ask` that waits by now, and the id of its question.
#[track_caller]
fn waiting(session: &Session, text: &str, more: &[&str]) -> (Child, String) {
    let before = questions(session);
    let child = session.verb("0001", [&["session", "ask", text], more].concat()).spawn();
    let id = wait_for("the question to be there", || {
        questions(session)
            .into_iter()
            .find(|id| !before.contains(id) && session.exists(&format!("asked/{id}/request.json")))
    });
    (child, id)
}

fn questions(session: &Session) -> Vec<String> {
    let entries = std::fs::read_dir(session.path("asked")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // Not one that is being built.
    names.filter(|name| !name.starts_with('.')).collect()
}

fn seen(session: &Session, id: &str) -> bool {
    session.exists(&format!("asked/{id}/seen"))
}

/// R34: a session that asks is shown to need input, with the command that answers; the answer ends the wait, and counts as
/// seen.
#[test]
fn who_asks_waits_for_the_answer() {
    let world = World::new();
    let session = world.idle_session();
    let (child, id) = waiting(&session, "which   \n platforms?", &[]);
    let list = world.orbh(["list"]).run().exits(0);
    assert!(list.stdout.contains("needs-input"), "{}", list.stdout);
    let hint = format!("session {} is needs-input\nhint: orbh respond {} {id} TEXT\n", session.id, session.id);
    assert_eq!(list.stderr, hint);
    assert!(world.orbh(["list", "--state", "needs-input"]).run().exits(0).stdout.contains(&session.id[..8]));
    let inspected = world.orbh(["inspect", &session.id]).run().ok();
    assert!(inspected.contains(&format!("question     {id} to a person, open for ")), "{inspected}");
    assert!(inspected.contains("s: which platforms?\n"), "{inspected}");
    assert_eq!(session.inspect()["questions"][0]["question"], id);
    assert!(!seen(&session, &id));
    world.orbh(["respond", &session.id, "linux"]).run().ok();
    let out = outcome(child).exits(0);
    assert_eq!((out.stdout, out.stderr), ("linux\n".to_owned(), format!("asked {id}\n")));
    assert!(seen(&session, &id));
    assert_eq!(session.state(), "working");
    assert_eq!(session.inspect()["questions"].as_array().unwrap().len(), 0);
    let events = session.events();
    assert!(events.ends_with(&["asked 0001".to_owned(), "answered".to_owned()]), "{events:?}");
}

/// A text that a person writes to the place of the answer is the answer; an empty file is none yet.
#[test]
fn an_answer_by_hand_ends_the_wait() {
    let world = World::new();
    let session = world.idle_session();
    for watch in ["inotify", "dnotify", "polling"] {
        let mut child = session.verb("0001", ["session", "ask", "what?"]).env("ORBH_WATCH", watch).spawn();
        let id = wait_for("the question", || questions(&session).into_iter().find(|id| !seen(&session, id)));
        wait_for("its record", || session.exists(&format!("asked/{id}/request.json")).then_some(()));
        let path = session.path(&format!("asked/{id}/answer.md"));
        std::fs::write(&path, "").unwrap();
        assert_eq!(session.state(), "needs-input");
        assert!(child.try_wait().unwrap().is_none());
        std::fs::write(&path, format!("by {watch}\n")).unwrap();
        assert_eq!(outcome(child).exits(0).stdout, format!("by {watch}\n"));
        assert!(seen(&session, &id));
    }
}

#[test]
fn a_time_out_leaves_the_question_open() {
    let world = World::new();
    let session = world.idle_session();
    let out = session.verb("0001", ["session", "ask", "what?", "--timeout", "0"]).run().exits(75);
    let id = questions(&session).pop().unwrap();
    let hint = format!("hint: 'orbh session answer {id}' waits on; 'orbh session cancel {id}' calls it off\n");
    let said = format!("asked {id}\norbh-session: the question {id} has no answer yet; it stays open\n{hint}");
    assert_eq!(out.stderr, said);
    assert_eq!(out.stdout, "");
    session
        .verb("0001", ["session", "answer", &id, "--timeout", "1"])
        .run()
        .fails(75, &["has no answer yet; it stays open"]);
    let json = session.verb("0001", ["session", "answer", &id, "--timeout", "0", "--json"]).run().exits(75).json();
    assert_eq!(json["error"]["kind"], "busy");
    assert_eq!(session.state(), "needs-input");
    let again = session.verb("0001", ["session", "answer", &id]).spawn();
    world.orbh(["respond", &session.id, "that"]).run().ok();
    assert_eq!(outcome(again).ok(), "that\n");
    // What was seen can be had again.
    assert_eq!(session.verb("0001", ["session", "answer", &id]).run().ok(), "that\n");
}

#[test]
fn a_deferred_question_is_collected_later() {
    let world = World::new();
    let session = world.idle_session();
    let id = ask(&session, "what?");
    let json = session.verb("0001", ["session", "ask", "more?", "--deferred", "--json"]).run().exits(0).json();
    let other = json["question"].as_str().unwrap();
    assert_eq!(json["standing"], "open");
    session.verb("0001", ["session", "ask", "x", "--deferred", "--timeout", "1"]).run().exits(2);
    world.orbh(["respond", &session.id, &id, "that"]).run().ok();
    let page = session.verb("0001", ["page", "--no-mutate"]).run().ok();
    assert!(page.contains(&format!("- answer {id} of a person to: what?\n  | that\n")), "{page}");
    assert_eq!(session.verb("0001", ["session", "answer", &id]).run().ok(), "that\n");
    let list = session.verb("0001", ["session", "answer"]).run().ok();
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows[1][0], rows[1][1], rows[2][0], rows[2][1]), (&id[..], "seen", other, "open"));
    let lines = world.orbh(["session", "answer", "--session", &session.id, "--json"]).run().ok();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["question"], &first["to"], &first["text"]), (&id.into(), &"human".into(), &"what?".into()));
    assert_eq!(lines.lines().count(), 2);
}

/// An observer waits for nothing and marks nothing.
#[test]
fn an_observer_of_an_answer_leaves_no_trace() {
    let world = World::new();
    let session = world.idle_session();
    let id = ask(&session, "what?");
    let look = || world.orbh(["session", "answer", &id, "--session", &session.id[..8]]).run();
    look().fails(1, &["has no answer yet", "hint: orbh respond "]);
    world.orbh(["respond", &session.id, "that"]).run().ok();
    let before = session.fingerprint();
    assert_eq!(look().ok(), "that\n");
    session.verb("0001", ["session", "answer", &id, "--session", &session.id]).run().ok();
    assert_eq!(session.fingerprint(), before);
    world.orbh(["session", "answer"]).run().fails(2, &["needs the id of a session here"]);
    world.orbh(["session", "answer", "q00000000f", "--session", &session.id]).run().fails(66, &["has put no question"]);
}

#[test]
fn what_was_not_printed_is_not_seen() {
    let world = World::new();
    let session = world.idle_session();
    let id = ask(&session, "what?");
    world.orbh(["respond", &session.id, "that"]).run().ok();
    let answer = || session.verb("0001", ["session", "answer", &id]);
    answer().run_into("/dev/full").exits(74);
    assert!(!answer().run_unread().success());
    assert!(!seen(&session, &id));
    answer().run().ok();
    assert!(seen(&session, &id));
}

#[test]
fn a_question_is_called_off_once_and_only_while_it_is_open() {
    let world = World::new();
    let session = world.idle_session();
    let (child, id) = waiting(&session, "what?", &["--json"]);
    let cancel = |id: &str| session.verb("0001", ["session", "cancel", id]).run();
    assert_eq!(cancel(&id).ok(), format!("called off {id}\n"));
    let ended = outcome(child).exits(1);
    assert_eq!(ended.json()["refused"][0]["code"], "cancelled");
    cancel(&id).fails(1, &["was called off", "hint: "]);
    session.verb("0001", ["session", "answer", &id]).run().fails(1, &["was called off"]);
    let answered = ask(&session, "and?");
    world.orbh(["respond", &session.id, "that"]).run().ok();
    cancel(&answered).fails(1, &["is answered", &format!("hint: orbh session answer {answered}")]);
    cancel("q00000000f").fails(66, &["has put no question q00000000f"]);
    cancel("nothing").fails(2, &["is not the id"]);
    assert_eq!(session.state(), "working");
    assert_eq!(session.events().iter().filter(|event| *event == "cancelled 0001").count(), 1);
}

#[test]
fn an_empty_question_and_one_from_outside_are_refused() {
    let world = World::new();
    let session = world.idle_session();
    for empty in ["", " \n"] {
        session.verb("0001", ["session", "ask", empty]).run().fails(1, &["the question is empty", "hint: "]);
    }
    session.verb("0001", ["session", "ask"]).run().exits(2);
    world.orbh(["session", "ask", "what?"]).run().fails(2, &["works inside a run of a session only"]);
    world.orbh(["session", "cancel", "q00000000f"]).run().fails(2, &["works inside a run of a session only"]);
    let forged = session.verb_as("0001", "guessed", ["session", "ask", "what?"]).run();
    forged.fails(1, &["this is not a process of that run"]);
    assert!(questions(&session).is_empty());
}

/// What ends a run.
type End = fn(&Session);

/// R34: whatever ends the run in which a verb waits, the wait ends with a sentence, and the question stays open.
#[test]
fn a_wait_ends_with_its_run_and_the_question_stays() {
    let world = World::new();
    let ends: [(&str, End); 3] = [
        ("it has returned its result", |session| {
            session.verb("0001", ["session", "return", "done"]).run().ok();
        }),
        ("it has ended (killed)", |session| {
            session.world.orbh(["kill", &session.id]).run().exits(0);
        }),
        ("it has ended (exited)", |session| kill_dead(session.pid("0001"))),
    ];
    world.idle_agent();
    for (why, end) in ends {
        let session = world.launch("command/idle", "ask");
        let (child, id) = waiting(&session, "what?", &[]);
        end(&session);
        let out = outcome(child);
        // A manager that ends the run may find it by its environment.
        if out.code.is_some() {
            let said = out.exits(66).stderr;
            assert!(said.contains("it has ended (") || said.contains(why), "{why}: {said}");
            assert!(said.contains(&format!("orbh session answer {id}")), "{said}");
        }
        assert!(!seen(&session, &id));
        world.orbh(["respond", &session.id, &id, "late"]).run().ok();
    }
    let session = world.launch("command/idle", "ask");
    let (child, _) = waiting(&session, "what?", &[]);
    std::fs::rename(session.path(""), world.path().join("gone")).unwrap();
    outcome(child).exits(66).says("is gone");
}

/// R34: a question of one context is collected by the next one, which has it among its obligations.
#[test]
fn a_question_outlives_a_compaction() {
    let world = World::new();
    let session = world.idle_session();
    let id = ask(&session, "what?");
    let start = session.verb("0001", ["compact", "start"]).run().ok();
    let line = start.lines().find(|line| line.starts_with("- asked ")).unwrap();
    let handoff = session.good_handoff("run 0001").replace("- none", line);
    std::fs::write(session.handoff("0001"), handoff).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    assert!(session.verb("0002", ["page"]).run().ok().contains(&format!("- asked {id}: ")));
    let waiting = session.verb("0002", ["session", "answer", &id]).spawn();
    world.orbh(["respond", &session.id, "that"]).run().ok();
    assert_eq!(outcome(waiting).ok(), "that\n");
    assert!(session.verb("0002", ["page"]).run().ok().ends_with("OPEN OBLIGATIONS\n- none\n"));
}

/// R12: an answer that is printed while the session compacts is the successor's as well.
#[test]
fn an_answer_during_a_hold_is_printed_and_not_seen() {
    let world = World::new();
    let session = world.idle_session();
    let (child, id) = waiting(&session, "what?", &[]);
    session.verb("0001", ["compact", "start"]).run().ok();
    world.orbh(["respond", &session.id, "that"]).run().ok();
    let out = outcome(child).exits(0);
    assert_eq!(out.stdout, "that\n");
    assert!(out.stderr.contains(&format!("kept for the successor as well: name {id}")), "{}", out.stderr);
    assert!(!seen(&session, &id));
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().exits(1).says(&id).not_ended();
    session.verb("0001", ["compact", "abort"]).run().ok();
    assert!(session.verb("0001", ["page"]).run().ok().contains(&format!("- answer {id} of a person (shown before)")));
    assert!(seen(&session, &id));
}

/// R34: a question to a session whose sender was killed before it could deliver it is delivered by the next look at it,
/// and once.
#[test]
fn a_question_that_never_arrived_is_delivered_again() {
    let world = World::new();
    let asker = world.idle_session();
    let asked = world.launch("command/idle", "answer");
    let id = "q0000000ff";
    request(&asker, &asked, id, "are you done?", false);
    let look = || asker.verb("0001", ["session", "answer", id, "--timeout", "0"]).run().exits(75);
    look();
    look();
    let there = letters(&asked, "new");
    assert_eq!(there.len(), 1, "{there:?}");
    assert!(asked.verb("0001", ["page"]).run().ok().contains("are you done?"));
    look();
    assert_eq!((letters(&asked, "new").len(), letters(&asked, "cur").len()), (0, 1));
    asked.verb("0001", ["respond", &asker.id, "yes"]).run().ok();
    assert_eq!(asker.verb("0001", ["session", "answer", id]).run().ok(), "yes\n");
    let lost = "q0000000fe";
    request(&asker, &asked, lost, "and now?", false);
    world.orbh(["kill", &asked.id]).run().exits(0);
    std::fs::remove_dir_all(asked.path("")).unwrap();
    asker.verb("0001", ["session", "answer", lost]).run().fails(66, &["is gone", "hint: orbh session cancel"]);
}

/// A stopped process that has the question for itself is waited for, and its end frees it.
#[test]
fn who_has_a_question_for_itself_keeps_nobody_out_by_its_death() {
    let world = World::new();
    let session = world.idle_session();
    let id = ask(&session, "what?");
    let dir = session.path(&format!("asked/{id}"));
    // It becomes the sleeper, which holds the lock alone.
    let holder = world.program("flock").args(["-F".as_ref(), dir.as_os_str(), "sleep".as_ref()]).sleeping();
    let free = || world.program("flock").args(["-n".as_ref(), dir.as_os_str(), "true".as_ref()]).run().code == Some(0);
    wait_for("the question to be locked", || (!free()).then_some(()));
    let mut answer = world.orbh(["respond", &session.id, "that"]).spawn();
    assert!(answer.try_wait().unwrap().is_none());
    signal(holder.id().cast_signed(), Signal::SIGKILL);
    outcome(holder);
    outcome(answer).ok();
    assert_eq!(session.text(&format!("asked/{id}/answer.md")).unwrap(), "that");
}
