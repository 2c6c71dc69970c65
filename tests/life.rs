//! The whole life of a session, through the real binaries.

use crate::harness::{World, alive, wait_for};

/// R1 R2 R38: one session, two runs, and the second one is told the duty, then where the handoff is.
#[test]
fn a_session_outlives_its_context() {
    let world = World::new();
    let session = world.idle_session();
    let first = session.pid("0001");
    session.compact("0001", "0002");
    assert!(!alive(first));
    assert_eq!(session.fact("runs/0001/end.json").unwrap()["reason"], "compacted");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    let duty = prompt.find("do nothing").unwrap();
    let handoff = prompt.find(&session.handoff("0001").display().to_string()).unwrap();
    assert!(duty < handoff);
    assert_eq!(session.phase(), "bootstrapping");
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.verb("0002", ["session", "return", "done"]).run().ok();
    wait_for("the session to be finished", || (session.state() == "finished").then_some(()));
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "done\n");
}

/// A harness starts with no signal blocked, whoever has them blocked above it: it can obey TERM, so the end of its
/// context does not take the whole grace.
#[test]
fn a_harness_starts_with_no_signal_blocked() {
    let world = World::new();
    let session = world.idle_session();
    let pid = session.pid("0001");
    let blocked = |pid: i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        status.lines().find_map(|line| line.strip_prefix("SigBlk:\t").map(str::to_owned)).unwrap()
    };
    // The script itself waits for no child, and becomes `sleep`.
    assert_eq!(blocked(pid), "0000000000000000");
    assert_ne!(blocked(session.manager_pid()), "0000000000000000");
}
