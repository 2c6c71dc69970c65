//! The manager: what becomes of a session when it dies at the worst moment, and what it does while there is nothing
//! to do.

use crate::harness::{Session, World, alive, bin_dir, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// A session whose manager has been killed while its run goes on.
fn orphaned(world: &World) -> (Session<'_>, i32) {
    let session = world.idle_session();
    let live = session.pid("0001");
    session.kill_manager();
    assert!(alive(live));
    (session, live)
}

/// Proves that the same run goes on, under a manager.
#[track_caller]
fn adopted(session: &Session, live: i32) {
    wait_for("a manager", || session.managed().then_some(()));
    assert!(alive(live));
    assert_eq!(session.runs(), ["0001"]);
    assert!(!session.exists("runs/0001/end.json"));
    assert_eq!(session.state(), "working");
}

/// Whoever looks at a session without a manager sees its state and the command that recovers it.
#[test]
fn a_session_without_a_manager_shows_how_to_recover_it() {
    let world = World::new();
    let (session, _) = orphaned(&world);
    let hint = format!("orbh resume {}", session.id);
    let inspection = session.inspect();
    assert_eq!((&inspection["state"], &inspection["hint"]), (&"working".into(), &hint.as_str().into()));
    assert!(inspection["manager"].is_null());
    let list = world.orbh(["list"]).run().exits(0);
    assert!(list.stdout.contains("working"));
    list.says(&hint);
}

/// `resume` of a session whose run lives adopts that run, and starts no other.
#[test]
fn resume_adopts_a_live_run() {
    let world = World::new();
    let (session, live) = orphaned(&world);
    let resumed = world.orbh(["resume", &session.id, "--json"]).run().exits(0).json();
    assert_eq!((&resumed["run"], &resumed["adopted"]), (&"0001".into(), &true.into()));
    adopted(&session, live);
    session.compact("0001", "0002");
    assert!(!alive(live));
}

/// `relaunch` adopts it in the foreground, stays until the session is over, and leaves the run alone when interrupted.
#[test]
fn relaunch_adopts_a_live_run_in_the_foreground() {
    let world = World::new();
    let (session, live) = orphaned(&world);
    for interrupt in [Signal::SIGINT, Signal::SIGTERM] {
        let manager = world.orbh(["relaunch", &session.id]).spawn();
        adopted(&session, live);
        assert_eq!(session.manager_pid(), manager.id().cast_signed());
        world.orbh(["relaunch", &session.id]).run().exits(75).says("has a manager already");
        wait_for("the manager to read signals", || Some(()).filter(|()| sleeping(manager.id().cast_signed())));
        signal(manager.id().cast_signed(), interrupt);
        outcome(manager).says("goes on without a manager");
        assert!(alive(live));
    }
    let manager = world.orbh(["relaunch", &session.id]).spawn();
    wait_for("a manager", || session.managed().then_some(()));
    session.return_and_exit("0001");
    let told = outcome(manager).exits(0);
    assert!(told.stdout.contains("is finished"), "{}", told.stdout);
}

fn sleeping(pid: i32) -> bool {
    shared::ground::process::stat(pid).is_some_and(|stat| stat.state == 'S')
}

/// R23: the manager dies after the acceptance and before the context has ended: the waiting `handoff` puts another one
/// in its place, and the relaunch completes.
#[test]
fn a_waiting_handoff_replaces_a_dead_manager() {
    let world = World::new();
    let session = world.idle_session();
    let live = session.pid("0001");
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    kill_dead(manager);
    session.wait_relaunched("0002");
    assert!(!alive(live));
    assert_eq!(session.wait_end("0001"), "compacted");
    assert_eq!(session.runs(), ["0001", "0002"]);
    outcome(verb).accepted();
    session.verb("0002", ["compact", "finish"]).run().ok();
}

/// The same, with the handoff where it really is: below the harness that the new manager stops.
#[test]
fn a_handoff_inside_the_context_replaces_a_dead_manager() {
    let world = World::new();
    let script = "cat >/dev/null\n[ $ORBH_RUN = 0001 ] && {\norbh compact start >start\norbh session set started yes\n\
                  while ! [ -e go ]; do sleep 0.02; done\norbh compact handoff >told 2>&1\n}\nexec sleep 1000\n";
    world.agent("inside", script);
    let session = world.launch("command/inside", "hand off");
    let live = session.pid("0001");
    wait_for("the hold", || session.exists("keys/started").then_some(()));
    session.write_good_handoff("0001");
    let manager = session.stop_manager();
    std::fs::write(world.work().join("go"), "").unwrap();
    session.wait_fact("scratch/relaunch.json");
    kill_dead(manager);
    session.wait_relaunched("0002");
    assert!(!alive(live));
    assert!(session.managed());
    assert_ne!(session.manager_pid(), manager);
    session.verb("0002", ["compact", "finish"]).run().ok();
}

/// A manager that died before the handoff is replaced by the handoff as well.
#[test]
fn a_handoff_finds_its_manager_dead_and_replaces_it() {
    let world = World::new();
    let (session, live) = orphaned(&world);
    session.verb("0001", ["compact", "handoff", "--check"]).run().exits(1).not_ended();
    assert!(!session.managed());
    session.compact("0001", "0002");
    assert!(!alive(live));
    assert!(session.managed());
}

/// A run that may not start programs which outlive it cannot replace its manager: it refuses, and names who can.
#[test]
fn a_sandboxed_run_without_a_manager_is_refused() {
    let world = World::new();
    let agent = world.script("agent-low", "#!/bin/sh\nexec sleep 1000\n");
    world.profile("low", &serde_json::json!({"command": [agent], "class": "sandboxed"}));
    let session = world.launch("command/low", "do nothing");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.kill_manager();
    let refused = session.verb("0001", ["compact", "handoff"]).run().exits(1).not_ended();
    refused.says(&format!("orbh resume {}", session.id));
    assert!(alive(session.pid("0001")));
    world.orbh(["resume", &session.id]).run().ok();
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}

/// The class that counts is that of the run: one that was sandboxed by `--into` does not replace its manager either,
/// however long its accepted handoff waits.
#[test]
fn a_waiting_handoff_of_a_sandboxed_run_leaves_the_manager_to_others() {
    let world = World::new();
    let agent = world.script("agent-low", "#!/bin/sh\nexec sleep 1000\n");
    world.profile("low", &serde_json::json!({"command": [agent], "class": "sandboxed"}));
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff", "--into", "command/low"]).run().accepted();
    session.wait_relaunched("0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    let (manager, mut verb) = session.accept_without_manager("0002", &[]);
    kill_dead(manager);
    let waiting = verb.id().cast_signed();
    let (sleeps, _) = effort(waiting);
    wait_for("the handoff to have looked again", || (effort(waiting).0 > sleeps + 3).then_some(()));
    assert!(!session.managed());
    assert!(alive(session.pid("0002")) && verb.try_wait().unwrap().is_none());
    world.orbh(["resume", &session.id]).run().ok();
    session.wait_relaunched("0003");
    outcome(verb).accepted();
}

/// R23: the manager dies between the end of the context and the birth of its successor. Both recoveries finish it.
#[test]
fn a_relaunch_goes_on_after_its_manager_died_between_the_contexts() {
    for recovery in ["resume", "relaunch"] {
        let world = World::new();
        let session = world.idle_session();
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        session.take_temporary_names(manager);
        signal(manager, Signal::SIGCONT);
        assert_eq!(session.wait_end("0001"), "compacted");
        let log = || session.text("log/events.ndjson").unwrap();
        wait_for("the manager to wait", || log().contains("manager-waits").then_some(()));
        kill_dead(manager);
        outcome(verb).accepted();
        assert!(!session.exists("runs/0002/run.json"));
        let inspection = session.inspect();
        assert_eq!((&inspection["state"], &inspection["compaction"]["phase"]), (&"lost".into(), &"failed".into()));
        assert!(inspection["hint"].as_str().unwrap().starts_with(&format!("orbh resume {}", session.id)));
        let verb = world.orbh([recovery, session.id.as_str()]).spawn();
        session.wait_relaunched("0002");
        assert_eq!(session.runs(), ["0001", "0002"]);
        assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "compact");
        session.verb("0002", ["compact", "finish"]).run().ok();
        session.return_and_exit("0002");
        outcome(verb).exits(0);
    }
}

/// How often a process went to sleep by itself, and the ticks of processor time that it took.
fn effort(pid: i32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    (line.trim().parse().unwrap(), fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap())
}

/// A manager sleeps while nothing happens, also while its agent drafts, and when readers look at its session.
#[test]
fn an_idle_manager_sleeps() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    let manager = session.manager_pid();
    let begin = Instant::now();
    let before = effort(manager);
    wait_for("a second of looking", || {
        session.inspect();
        world.orbh(["list"]).run().ok();
        (begin.elapsed() > Duration::from_secs(1)).then_some(())
    });
    let after = effort(manager);
    // A few sleeps are left for the echo of the hold; the readers wake nobody.
    assert!(after.0 - before.0 < 20, "{} sleeps in an idle second", after.0 - before.0);
    assert!(after.1 - before.1 < 10, "{} ticks in an idle second", after.1 - before.1);
}

/// What the agent writes for itself wakes the manager, which then takes no claim and makes nothing durable.
#[test]
fn the_agents_own_scratch_files_cost_a_look_and_no_claim() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    let claim = session.path("scratch/compaction.lock");
    let written = || std::fs::metadata(&claim).unwrap().modified().unwrap();
    let before = written();
    let manager = session.manager_pid();
    for count in 0..50 {
        let (sleeps, _) = effort(manager);
        std::fs::write(session.path(&format!("scratch/note-{count}")), "a note").unwrap();
        wait_for("the manager to have looked", || (effort(manager).0 > sleeps).then_some(()));
    }
    assert_eq!(written(), before);
    assert!(session.managed());
}

/// A headless harness that has returned and does not exit is stopped after five seconds; the result stands.
#[test]
fn a_harness_that_lingers_after_its_return_is_stopped() {
    let world = World::new();
    world.agent("lingers", "trap '' TERM HUP\norbh session return done\nwhile :; do sleep 1; done\n");
    let begin = Instant::now();
    let session = world.launch("command/lingers", "return, and stay");
    let live = session.pid("0001");
    session.wait_state("finished");
    assert!(begin.elapsed() < Duration::from_secs(4), "the launch waited for the harness to go");
    assert!(alive(live));
    assert_eq!(session.wait_end("0001"), "returned");
    assert!(begin.elapsed() >= Duration::from_secs(5));
    assert!(!alive(live));
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "done\n");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
}

/// Who took over knows orphans by their environment alone, also one that is in the middle of execve(2), where that reads
/// empty, in each moment at which it may be looked at.
#[test]
fn an_orphan_that_executes_itself_over_and_over_is_found() {
    let world = World::new();
    world.script("restless", "#!/bin/sh\nexec \"$0\"\n");
    let orphan = format!("echo $$ >orphan-$ORBH_RUN; exec {}", world.path().join("restless").display());
    world.agent("parent", &format!("sh -c '{orphan}' </dev/null >/dev/null 2>&1 &\nexec sleep 1000\n"));
    let session = world.launch("command/parent", "leave an orphan");
    for number in 1..=20 {
        let run = format!("{number:04}");
        let orphan: i32 = world.wait_line(&format!("orphan-{run}")).parse().unwrap();
        session.kill_manager();
        kill_dead(session.pid(&run));
        world.orbh(["resume", &session.id]).run().ok();
        assert_eq!(session.wait_end(&run), "lost");
        assert!(!alive(orphan), "the orphan of run {run} lives");
    }
}

/// A manager that finds another one in place leaves with 75, and that is no failure of the session's.
#[test]
fn a_second_manager_logs_no_failure() {
    let world = World::new();
    let session = world.idle_session();
    let log = session.text("log/events.ndjson");
    let second = world.program(bin_dir().join("orbh-relaunch")).bare_args(["--background", &session.id]).run();
    second.fails(75, &["has a manager already"]);
    assert_eq!(session.text("log/events.ndjson"), log);
}
