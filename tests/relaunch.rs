//! `relaunch`: a successor that cannot be started, and what can be done about it.

use crate::harness::{Session, World, alive, bin_dir, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use shared::ground::process::{all, environment_has};
use std::os::unix::fs::PermissionsExt;

/// How the program of the target in force is spoilt after the handoff was accepted.
enum Spoilt {
    Refused,
    Interpreter,
    Mode,
    Removed,
    Profile,
}

fn spoil(world: &World, how: &Spoilt) {
    let program = world.path().join("agent-idle");
    match how {
        Spoilt::Refused => drop(world.script("agent-idle", "#!/etc/passwd\n")),
        Spoilt::Interpreter => drop(world.script("agent-idle", "#!/nowhere/an-interpreter\n")),
        Spoilt::Mode => std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o600)).unwrap(),
        Spoilt::Removed => std::fs::remove_file(&program).unwrap(),
        Spoilt::Profile => std::fs::write(world.config().join("profiles/command/idle.json"), "{").unwrap(),
    }
}

/// A session whose handoff was accepted and whose successor failed to start three times; nobody tries any longer.
fn given_up<'w>(world: &'w World, how: &Spoilt) -> Session<'w> {
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    spoil(world, how);
    signal(manager, Signal::SIGCONT);
    wait_for("the manager to give up", || (!session.managed()).then_some(()));
    outcome(verb).accepted();
    assert_eq!(session.wait_end("0001"), "compacted");
    session
}

#[track_caller]
fn failed_three_times(session: &Session, reason: &str) {
    assert_eq!(session.runs(), ["0001", "0002", "0003", "0004"]);
    for run in ["0002", "0003", "0004"] {
        assert_eq!(session.wait_end(run), "spawn-failed");
    }
    let status = session.world.orbh(["compact", "status", &session.id, "--json"]).run().exits(0).json();
    assert_eq!(status["phase"], "failed");
    assert!(status["reason"].as_str().unwrap().contains(reason), "{status}");
    assert!(status["hint"].as_str().unwrap().starts_with(&format!("orbh resume {}", session.id)), "{status}");
    assert_eq!(session.inspect()["compacting"], true);
}

/// R23: whatever keeps the successor from being executed: three attempts, then the reason and the way out are shown.
#[test]
fn a_successor_that_cannot_be_executed_is_tried_three_times() {
    let cases = [
        (Spoilt::Refused, "Permission denied"),
        (Spoilt::Interpreter, "its interpreter '/nowhere/an-interpreter' does not exist"),
        (Spoilt::Mode, "is not executable"),
        (Spoilt::Removed, "does not exist"),
        (Spoilt::Profile, "cannot be understood"),
    ];
    // At once, for each waits out the pauses between its attempts.
    std::thread::scope(|scope| {
        for (how, reason) in cases {
            scope.spawn(move || tried_three_times(&how, reason));
        }
    });
}

fn tried_three_times(how: &Spoilt, reason: &str) {
    let world = World::new();
    let session = given_up(&world, how);
    failed_three_times(&session, reason);
    // Once it is mended, an explicit recovery takes it to its end, with the handoff that was accepted.
    world.idle_agent();
    world.orbh(["resume", &session.id]).run().ok();
    session.wait_relaunched("0005");
    let prompt = session.text("runs/0005/prompt.md").unwrap();
    assert!(prompt.contains(&session.handoff("0001").display().to_string()));
    session.verb("0005", ["compact", "finish"]).run().ok();
    assert_eq!(session.phase(), "idle");
}

/// R23: each explicit recovery has three attempts of its own, says why they failed, and fails with 74.
#[test]
fn relaunch_tries_three_times_more_and_says_why() {
    let world = World::new();
    let session = given_up(&world, &Spoilt::Refused);
    let again = world.orbh(["relaunch", &session.id]).run().exits(74);
    again.says("Permission denied").says(&format!("hint: orbh resume {}", session.id));
    assert_eq!(session.runs().len(), 7);
    world.orbh(["resume", &session.id]).run().exits(74).says("Permission denied");
    assert_eq!(session.runs().len(), 10);
    assert!(session.exists("scratch/relaunch.json"));
}

/// R23 R41: a relaunch that fails on its target is taken to its end on another one.
#[test]
fn relaunch_into_another_target_takes_it_to_its_end() {
    let world = World::new();
    let session = given_up(&world, &Spoilt::Removed);
    world.agent("other", "exec sleep 1000\n");
    let missing = world.orbh(["relaunch", &session.id, "--into", "command/othr"]).run().exits(1);
    missing.says("near names: command/other");
    let manager = world.orbh(["relaunch", &session.id, "--into", "command/other"]).spawn();
    session.wait_relaunched("0005");
    assert_eq!(session.fact("runs/0005/run.json").unwrap()["target"], "command/other");
    assert_eq!(session.inspect()["target"], "command/other");
    session.verb("0005", ["compact", "finish"]).run().ok();
    session.return_and_exit("0005");
    outcome(manager).exits(0);
    assert_eq!(session.state(), "finished");
}

/// R23: a relaunch that was called off leaves the handoff; `resume` begins a run that is told of it.
#[test]
fn a_cancelled_relaunch_waits_for_resume_with_the_handoff() {
    let world = World::new();
    let session = given_up(&world, &Spoilt::Interpreter);
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    assert!(session.exists("scratch/relaunch.cancelled.json"));
    assert!(!session.exists("scratch/relaunch.json"));
    assert_eq!(session.state(), "failed-unreturned");
    assert_eq!(session.phase(), "idle");
    world.orbh(["relaunch", &session.id, "--cancel"]).run().exits(1).says("has no relaunch pending");
    world.idle_agent();
    world.orbh(["resume", &session.id]).run().ok();
    session.pid("0005");
    assert_eq!(session.fact("runs/0005/run.json").unwrap()["kind"], "resume");
    let prompt = session.text("runs/0005/prompt.md").unwrap();
    assert!(prompt.contains(&session.handoff("0001").display().to_string()), "{prompt}");
    session.compact("0005", "0006");
}

/// Called off while the context still lives, it lives on, is told so, and can hand off again.
#[test]
fn a_relaunch_cancelled_in_time_leaves_the_context_alive() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    let told = outcome(verb).accepted();
    assert!(told.stdout.contains("called off; your context goes on"), "{}", told.stdout);
    signal(manager, Signal::SIGCONT);
    assert!(alive(session.pid("0001")));
    assert_eq!(session.phase(), "drafting");
    session.compact("0001", "0002");
    assert_eq!(session.runs(), ["0001", "0002"]);
}

/// R41: redirected before its manager got to it, the successor starts on the new target, and there is one.
#[test]
fn a_relaunch_redirected_in_time_starts_on_the_new_target() {
    let world = World::new();
    world.agent("other", "exec sleep 1000\n");
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    world.orbh(["relaunch", &session.id, "--into", "command/other"]).run().ok();
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["target"], "command/other");
    assert_eq!(session.runs(), ["0001", "0002"]);
    outcome(verb).accepted();
}

/// Without a pending relaunch there is nothing to redirect or to call off, and from inside a run there is no manager to
/// be had.
#[test]
fn relaunch_refuses_where_it_makes_no_sense() {
    let world = World::new();
    let session = world.idle_session();
    let before = session.fingerprint();
    world.orbh(["relaunch", &session.id, "--cancel"]).run().exits(1).says("has no relaunch pending");
    world.orbh(["relaunch", &session.id, "--into", "command/idle"]).run().exits(1).says("has no relaunch pending");
    world.orbh(["relaunch", &session.id, "--account", "nobody"]).run().exits(2).says("--into");
    world.orbh(["relaunch", "no-such-session"]).run().exits(66);
    session.verb("0001", ["relaunch", &session.id]).run().exits(1).says("a manager lives outside of every run");
    let changed = crate::harness::difference(&before, &session.fingerprint());
    assert_eq!(changed, Vec::<String>::new());
}

/// A target that cannot be used is no dead end: `resume --into` leads to another one, and a cancel back to the old one.
#[test]
fn a_broken_target_has_a_way_out() {
    let world = World::new();
    let session = world.idle_session();
    world.agent("broken", "exit 3\n");
    world.agent("other", "exec sleep 1000\n");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff", "--into", "command/broken"]).run().accepted();
    assert_eq!(session.wait_end("0002"), "exited");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    let refused = world.orbh(["resume", &session.id, "--into", "command/ohter"]).run().exits(1);
    refused.says("near names: command/other");
    assert_eq!(session.fact("target.json").unwrap()["target"], "command/broken");
    world.orbh(["resume", &session.id, "--into", "command/other"]).run().ok();
    assert!(alive(session.pid("0003")));
    assert_eq!(session.fact("runs/0003/run.json").unwrap()["kind"], "compact");
    session.verb("0003", ["compact", "finish"]).run().ok();
}

/// After a cancel the session is on the target that it had, and its next run is told of the handoff that was accepted.
#[test]
fn a_cancelled_handoff_is_not_lost() {
    let world = World::new();
    let session = world.idle_session();
    world.agent("other", "exec sleep 1000\n");
    let (manager, verb) = session.accept_without_manager("0001", &["--into", "command/other"]);
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    signal(manager, Signal::SIGCONT);
    outcome(verb).exits(75);
    world.orbh(["kill", &session.id]).run().ok();
    world.orbh(["resume", &session.id]).run().ok();
    session.pid("0002");
    assert_eq!(session.fact("target.json").unwrap()["target"], "command/idle");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    assert!(prompt.contains(&session.path("scratch/accepted-0001.md").display().to_string()), "{prompt}");
}

/// R41: each target has attempts of its own, also where the one before was buried before it had started.
#[test]
fn a_relaunch_that_is_redirected_again_and_again_is_not_given_up() {
    let world = World::new();
    world.idle_agent();
    for name in ["b", "c", "d"] {
        world.agent(name, "exec sleep 100000\n");
    }
    // A manager takes the shim that lies beside it.
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["orbh", "orbh-launch", "orbh-relaunch", "orbh-shim"] {
        std::fs::copy(bin_dir().join(name), bin.join(name)).unwrap();
    }
    let launched = world.program(bin.join("orbh")).bare_args(["launch", "command/idle", "do nothing"]).run().ok();
    let session = Session::new(&world, launched.trim());
    let manager = session.manager_pid();
    std::fs::rename(world.script("stopping", "#!/bin/sh\nkill -STOP $$\n"), bin.join("orbh-shim")).unwrap();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    let verb = session.verb("0001", ["compact", "handoff"]).spawn();
    for (run, target) in [("0002", "command/b"), ("0003", "command/c"), ("0004", "command/d")] {
        let of_run = |stat: &shared::ground::process::Stat| {
            let entry = [format!("ORBH_RUN={run}")];
            stat.parent == manager && stat.state == 'T' && environment_has(stat.proc.pid, &entry)
        };
        wait_for("the shim to stop", || all().iter().any(of_run).then_some(()));
        if run == "0004" {
            std::fs::copy(bin_dir().join("orbh-shim"), bin.join("good")).unwrap();
            std::fs::rename(bin.join("good"), bin.join("orbh-shim")).unwrap();
        }
        let told = world.orbh(["relaunch", &session.id, "--into", target]).run().ok();
        assert!(told.contains(target), "{told}");
    }
    assert!(alive(session.wait_relaunched("0005")));
    assert_eq!(session.fact("runs/0005/run.json").unwrap()["target"], "command/d");
    assert_eq!(session.manager_pid(), manager);
    outcome(verb).accepted();
}
