//! A compaction holds the pager: before it is armed, while it waits, and while a burst settles.

use super::{Armed, subjects};
use crate::harness::{Session, World, wait_for};

/// An armed pager that is as patient as the one that it is compared with: when it has ended, so would that one have.
fn witness<'w>(world: &'w World, cmd: impl Fn(&Session<'w>) -> crate::harness::Cmd) -> (Session<'w>, Armed) {
    let session = world.quick_session(99);
    let armed = Armed::start(&session, cmd(&session));
    (session, armed)
}

/// The Page was printed after the hold: it says so itself.
#[track_caller]
fn after_the_hold(page: &str, subject: &str) {
    assert_eq!(subjects(page), [subject]);
    assert!(!page.contains("[Compacting...]") && page.contains("COMPACTION   idle"), "{page}");
}

/// R12, R14, R26, R28: arming during a hold does not release it, and nothing is told until it is over, or lost.
#[test]
fn a_pager_that_is_armed_during_a_hold_tells_nothing_before_it_is_over() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.deliver("1.one.x", "during the hold");
    let mut armed = session.arm("0001");
    assert_eq!(session.pager()["pager"], "held");
    assert!(session.exists("scratch/compacting.json") && session.inspect()["compacting"] == true);
    let (other, witness) = witness(&world, |session| session.arm_cmd("0001"));
    other.deliver("1.w.x", "not held");
    witness.page();
    armed.waits();
    session.verb("0001", ["compact", "abort"]).run().exits(0);
    after_the_hold(&armed.page(), "during the hold");
}

/// R12: a hold that begins while a message that was seen settles is looked at once more before the Page is printed.
#[test]
fn a_hold_that_begins_while_a_burst_settles_holds_it() {
    let world = World::new();
    let session = world.idle_session();
    let patient = |session: &Session| session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "3000");
    let mut armed = Armed::start(&session, patient(&session));
    session.deliver("1.one.x", "just before");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let (other, witness) = witness(&world, patient);
    other.deliver("1.w.x", "not held");
    witness.page();
    armed.waits();
    assert_eq!(session.pager()["pager"], "held");
    session.verb("0001", ["compact", "abort"]).run().exits(0);
    after_the_hold(&armed.page(), "just before");
}

/// R14, R24, R40: what comes during the whole succession is told by the successor's pager, once it has run `finish`.
#[test]
fn what_comes_during_a_succession_is_told_by_the_pager_of_the_successor() {
    let world = World::new();
    let session = world.idle_session();
    let old = session.arm("0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.deliver("1.one.x", "in between");
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
    // No process of the old run's tree, so nobody has stopped it.
    old.end().fails(66, &["session ended - pager exiting"]);
    let mut armed = session.arm("0002");
    assert_eq!(session.pager()["pager"], "held");
    armed.waits();
    session.verb("0002", ["compact", "finish"]).run().exits(0);
    after_the_hold(&armed.page(), "in between");
    assert_eq!(session.announced("0001"), Vec::<String>::new());
}

/// R27: ending the turn releases the hold, and ends the pager without a Page.
#[test]
fn a_return_during_a_hold_ends_the_pager() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let armed = session.arm("0001");
    session.deliver("1.one.x", "too late");
    session.verb("0001", ["session", "return", "done"]).run().exits(0);
    armed.end().fails(66, &["session ended - pager exiting", "it has returned its result"]);
    assert!(!session.exists("scratch/compacting.json") && session.exists("inbox/new/1.one.x"));
    assert_eq!(session.announced("0001"), Vec::<String>::new());
}

/// A heartbeat waits for the end of a hold as everything else does.
#[test]
fn a_heartbeat_is_held_too() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let beating = |session: &Session| session.verb("0001", ["page", "arm", "--max-wait", "1"]);
    let mut armed = Armed::start(&session, beating(&session));
    let (_, witness) = witness(&world, beating);
    witness.page();
    armed.waits();
    session.verb("0001", ["compact", "abort"]).run().exits(0);
    let page = armed.page();
    assert!(!page.contains("[Compacting...]"), "{page}");
    wait_for("the pager to be gone", || (session.pager()["pager"] == "unarmed").then_some(()));
}
