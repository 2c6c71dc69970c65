//! How a pager is armed, and how it ends without anything to tell.

use super::Armed;
use crate::harness::{World, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use std::os::unix::process::ExitStatusExt;

#[test]
fn a_second_pager_is_not_started() {
    let world = World::new();
    let session = world.quick_session(1);
    let mut first = session.arm("0001");
    let sentence = format!("page arm already active for this session (pid {}); not starting a second", first.pid());
    session.arm_cmd("0001").run().fails(75, &[&sentence]);
    let json = session.arm_cmd("0001").args(["--json"]).run().exits(75).json();
    assert_eq!((&json["error"]["kind"], &json["error"]["message"]), (&"busy".into(), &sentence.into()));
    first.waits();
    session.deliver("1.one.x", "for the first");
    first.page();
    // Nothing is left of it that would be in the way.
    session.deliver("2.two.x", "for the next");
    session.arm("0001").page();
}

/// Unattended, it leaves, and says so; nothing is lost.
#[test]
fn a_pager_that_nobody_attends_to_expires() {
    let world = World::new();
    let session = world.quick_session(1);
    let brief = || session.arm_cmd("0001").env("ORBH_PAGE_ARM_TTL_SECONDS", "1");
    brief().run().fails(75, &["armed for 1 s", "hint: orbh page arm"]);
    session.verb("0001", ["compact", "start"]).run().exits(0);
    // A hold does not make it stay.
    session.deliver("1.one.x", "kept");
    brief().run().fails(75, &["armed for 1 s"]);
    session.verb("0001", ["compact", "abort"]).run().exits(0);
    assert!(session.arm("0001").page().contains("kept"));
}

/// A heartbeat is a Page, whatever is on it; it announces nothing that it does not show.
#[test]
fn a_heartbeat_is_a_page() {
    let world = World::new();
    let session = world.quick_session(1);
    let beat = || session.arm_cmd("0001").args(["--max-wait", "1"]).run().ok();
    assert!(beat().contains("OPEN OBLIGATIONS"));
    assert!(!session.exists("scratch/announced-0001"));
    session.deliver("1.one.x", "in time");
    assert!(beat().contains("in time"));
    assert!(beat().contains("(shown before)"));
}

#[test]
fn a_pager_works_inside_the_current_run_alone() {
    let world = World::new();
    let session = world.quick_session(1);
    world.orbh(["page", "arm"]).run().fails(2, &["ORBH_SESSION_ID is not set"]);
    session.verb_as("0001", "another", ["page", "arm"]).run().fails(1, &["not a process of that run"]);
    session.verb_as("0002", "fake", ["page", "arm"]).run().fails(1, &["run 0002 of session", "is over"]);
    assert!(!session.exists("scratch/pager.lock") && !session.exists("scratch/awake-0001"));
    drop(session.arm("0001"));
    assert!(session.exists("scratch/awake-0001"), "arming is a verb of the run");
}

/// The turn is over, however it is: returned, killed, another run, forgotten.
#[test]
fn a_pager_ends_with_its_turn() {
    for how in ["returned", "killed", "replaced", "forgotten"] {
        let world = World::new();
        let session = world.idle_session();
        let armed = session.arm("0001");
        match how {
            "returned" => drop(session.verb("0001", ["session", "return", "done"]).run().exits(0)),
            "killed" => drop(world.orbh(["kill", &session.id]).run().exits(0)),
            "replaced" => session.compact("0001", "0002"),
            _ => std::fs::rename(session.path(""), world.path().join("away")).unwrap(),
        }
        let ended = armed.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(66), ""), "{how}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("orbh-pager: session ended - pager exiting"), "{how}: {}", ended.stderr);
    }
}

/// The pager of a run that is over is about to leave; the next run's waits for that, and does not give up.
#[test]
fn the_pager_of_a_run_that_is_over_is_waited_for() {
    let world = World::new();
    let session = world.idle_session();
    let old = session.arm("0001");
    old.stop();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().exits(0);
    let new = session.arm_cmd("0002").spawn();
    let claimed = || session.exists("scratch/awake-0002");
    wait_for("the new pager to be at it", || claimed().then_some(()));
    old.go_on();
    old.end().fails(66, &["session ended"]);
    session.deliver("1.one.x", "for the new one");
    assert!(outcome(new).ok().contains("for the new one"));
}

/// A signal ends it at once, and the kernel lets its lease go.
#[test]
fn a_signal_ends_a_pager_and_frees_its_lease() {
    let world = World::new();
    let session = world.quick_session(1);
    for ends in
        [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGKILL].into_iter().filter(|one| !ignored(*one))
    {
        let mut armed = session.arm("0001");
        signal(armed.pid(), ends);
        assert_eq!(armed.child.wait().unwrap().signal(), Some(ends as i32));
        assert_eq!(session.pager()["pager"], "unarmed");
    }
}

/// Whether a signal is ignored here, and so by what is started here: as in the background of a shell without job control.
fn ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal as u32 - 1)) != 0
}

/// What stands in its place is no lease; what it was told by another is put right.
#[test]
fn a_lease_that_was_taken_away_is_taken_again() {
    let world = World::new();
    let session = world.quick_session(1);
    let armed = session.arm("0001");
    std::fs::remove_file(session.path("scratch/pager.lock")).unwrap();
    wait_for("the lease to be taken again", || (session.pager()["pid"] == armed.pid()).then_some(()));
    std::fs::remove_file(session.path("scratch/pager.lock")).unwrap();
    let other = shared::ground::lease::Holder::me("somebody");
    let bound = std::time::Duration::from_millis(100);
    match shared::ground::lease::take(&session.path("scratch/pager.lock"), &other, bound).unwrap() {
        // One of the two is armed, never both.
        shared::ground::lease::Taken::Ours(lease) => {
            armed.end().fails(75, &["page arm already active"]);
            drop(lease);
        }
        shared::ground::lease::Taken::Owned(_) => assert_eq!(session.pager()["pid"], armed.pid()),
    }
}

/// A reader that writes nothing, starts nothing, and needs no run.
#[test]
fn status_is_a_look() {
    let world = World::new();
    let session = world.quick_session(1);
    session.deliver("1.one.x", "hello");
    session.ask("q000000001", "May I?");
    std::fs::write(session.path("asked/q000000001/answer.md"), "Yes.").unwrap();
    let before = crate::harness::changes(&session.path(""));
    let status = world.orbh(["pager", "status", &session.id]).run().ok();
    assert_eq!(status, "unarmed\npending: messages 1, answers 1; announced: 0\n");
    assert_eq!(crate::harness::changes(&session.path("")), before);
    let armed = Armed::start(&session, session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "600000"));
    let json = session.pager();
    assert_eq!((&json["v"], &json["pager"], &json["run"]), (&1.into(), &"armed".into(), &"0001".into()));
    assert_eq!((&json["pid"], &json["announced"]), (&armed.pid().into(), &0.into()));
    assert!(json["armed_at"].is_string() && json["watch"].is_string(), "{json}");
    let kinds: Vec<&str> =
        json["pending"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["answer", "message"]);
    let text = session.verb("0001", ["pager", "status"]).run().ok();
    assert!(text.starts_with(&format!("armed for run 0001, pid {}, since ", armed.pid())), "{text}");
    world.orbh(["pager", "status"]).run().fails(2, &["needs the id of a session"]);
    world.orbh(["pager", "status", "ffff"]).run().fails(66, &["ffff"]);
}
