//! Recovery that must not say what is not so.

use crate::harness::{World, wait_for};

/// The process of a run whose pid cannot be read may live or not: nobody adopts it, and nobody says so.
#[test]
fn a_run_with_a_damaged_pid_is_unknown_and_not_adopted() {
    let world = World::new();
    let session = world.idle_session();
    let manager = session.manager_pid();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(manager), nix::sys::signal::Signal::SIGKILL).unwrap();
    wait_for("the manager to be gone", || session.inspect()["manager"].is_null().then_some(()));
    std::fs::write(session.path("runs/0001/pid"), "{").unwrap();
    let inspected = world.orbh(["inspect", &session.id, "--json"]).run().exits(65).json();
    assert_eq!(inspected["state"], "unknown");
    world.orbh(["resume", &session.id]).run().exits(65).says("damaged at byte");
    assert!(!session.exists("runs/0002"));
    // Repaired as orbh-spool(5) shows, it is over, and the session goes on.
    let end = r#"{"v": 1, "reason": "lost", "at": "2026-01-01T00:00:00.000+00:00"}"#;
    std::fs::write(session.path("runs/0001/end.json"), end).unwrap();
    world.orbh(["resume", &session.id]).run().ok();
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "resume");
}

/// R23: an intent that a dead manager has left behind, although its successor ran and is over, is not pending.
#[test]
fn a_relaunch_whose_successor_ran_cannot_be_redirected_or_called_off() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.compact("0001", "0002");
    world.orbh(["kill", &session.id]).run().ok();
    let intent = serde_json::json!({
        "v": 1, "kind": "compact", "closing": "0001", "sha256": "0", "target": "command/idle",
        "at": "2026-01-01T00:00:00.000+00:00",
    });
    std::fs::write(session.path("scratch/relaunch.json"), intent.to_string()).unwrap();
    for order in [["--into", "command/idle"].as_slice(), &["--cancel"]] {
        let args = ["relaunch", &session.id].into_iter().chain(order.iter().copied());
        world.orbh(args).run().exits(1).says("run 0002 has started").says("orbh resume");
        assert!(session.exists("scratch/relaunch.json"));
        assert!(!session.exists("scratch/relaunch.cancelled.json"));
    }
}
