//! Processes of a context that is over, and what becomes of the verbs that they still give.

use crate::harness::{Session, World, alive, difference, signal, wait_for};
use nix::sys::signal::Signal;

/// Every verb that a run gives about itself.
const VERBS: [&[&str]; 12] = [
    &["compact", "start"],
    &["compact", "handoff"],
    &["compact", "handoff", "--check"],
    &["compact", "finish"],
    &["compact", "abort"],
    &["session", "return", "from the grave"],
    &["page"],
    &["page", "arm"],
    &["session", "set", "key", "from the grave"],
    &["session", "unset", "key"],
    &["session", "register", "from", "the grave"],
    &["launch", "command/idle", "a late child"],
];

/// Gives every verb as a run that is over: each refuses with exit status 1, says why, and changes nothing.
#[track_caller]
fn refuses_all(session: &Session, run: &str, why: &str) {
    let before = session.fingerprint();
    let sessions = || std::fs::read_dir(session.world.root().join("sessions")).unwrap().count();
    let count = sessions();
    for args in VERBS {
        let refused = session.verb(run, args).run().exits(1).says(why);
        if args[1..].first() == Some(&"handoff") {
            refused.not_ended();
        }
        assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new(), "after {args:?}");
    }
    assert_eq!(sessions(), count);
}

/// R19: a straggler of a replaced context does nothing, and is told that its run is over.
#[test]
fn a_straggler_of_a_replaced_context_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "set", "key", "value"]).run().ok();
    session.compact("0001", "0002");
    let why = format!("run 0001 of session {} is over: run 0002 is the current one", session.id);
    refuses_all(&session, "0001", &why);
    // Neither while the successor drafts a handoff of its own.
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.verb("0002", ["compact", "start"]).run().ok();
    session.write_good_handoff("0002");
    refuses_all(&session, "0001", &why);
    session.verb("0002", ["compact", "handoff", "--check"]).run().exits(0);
    assert!(alive(session.pid("0002")));
}

/// A run that has returned is closed to all verbs.
#[test]
fn a_run_that_returned_gives_no_verb() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "set", "key", "value"]).run().ok();
    session.verb("0001", ["session", "return", "done"]).run().ok();
    refuses_all(&session, "0001", "it has returned its result");
    signal(session.pid("0001"), Signal::SIGTERM);
    assert_eq!(session.wait_end("0001"), "returned");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    refuses_all(&session, "0001", "is over");
}

/// A run that was killed is over.
#[test]
fn a_run_that_was_killed_gives_no_verb() {
    let world = World::new();
    let session = world.idle_session();
    world.orbh(["kill", &session.id]).run().exits(0);
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    refuses_all(&session, "0001", "it has ended (killed)");
}

/// The number of the current run is not enough: a straggler that learns it still lacks the nonce.
#[test]
fn a_straggler_with_the_number_of_the_current_run_is_not_the_run() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    let old = session.fact("runs/0001/pid").unwrap();
    let before = session.fingerprint();
    for args in VERBS {
        let forged = session.verb("0002", args).env("ORBH_NONCE", old["nonce"].as_str().unwrap());
        forged.run().exits(1).says("this is not a process of that run");
    }
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
}
