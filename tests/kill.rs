//! `kill`: the end of a run by order. That its whole tree goes is in tree.rs.

use crate::harness::{World, alive, difference, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// Who obeys TERM is not killed, and the end says how it went; who does not gets KILL after the grace.
#[test]
fn kill_asks_first_and_the_end_says_how_it_went() {
    let world = World::new();
    for (name, script, key, value, patient) in [
        ("obeys", "exec sleep 1000\n", "signal", 15, false),
        ("exits", "trap 'exit 7' TERM\necho >ready\nwhile :; do sleep 0.05; done\n", "code", 7, false),
        ("ignores", "trap '' TERM\necho >ready\nwhile :; do sleep 0.05; done\n", "signal", 9, true),
    ] {
        world.agent(name, script);
        let session = world.launch(&format!("command/{name}"), "wait");
        if script.contains("ready") {
            world.wait_line("ready");
            std::fs::remove_file(world.work().join("ready")).unwrap();
        }
        let live = session.pid("0001");
        let begin = Instant::now();
        let killed = world.orbh(["kill", &session.id, "--json"]).run().exits(0).json();
        assert!(!alive(live));
        assert_eq!((&killed["run"], &killed["end"]["reason"]), (&"0001".into(), &"killed".into()));
        assert_eq!(killed["end"][key], value, "{name}: {killed}");
        if patient {
            assert!(begin.elapsed() >= Duration::from_millis(300));
        }
        assert_eq!(session.state(), "killed");
    }
}

/// A session without a live run has nothing to kill, and stays as it is.
#[test]
fn kill_of_a_session_that_is_over_is_refused() {
    let world = World::new();
    world.orbh(["kill", "no-such-session"]).run().exits(66);
    let session = world.idle_session();
    session.return_and_exit("0001");
    let before = session.fingerprint();
    world.orbh(["kill", &session.id]).run().exits(1).says("is over already (returned)");
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert_eq!(session.state(), "finished");
}

/// Killed once is killed; the second order is refused.
#[test]
fn kill_twice_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    let killed = world.orbh(["kill", &session.id]).run().ok();
    assert!(killed.contains("run 0001"), "{killed}");
    let before = session.fingerprint();
    world.orbh(["kill", &session.id]).run().exits(1).says("is over already (killed)");
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    world.orbh(["resume", &session.id]).run().ok();
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(session.wait_end("0002"), "killed");
}

/// Between two contexts there is no run to kill: it says what to give instead.
#[test]
fn kill_between_two_contexts_names_the_cancel() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    world.script("agent-idle", "#!/etc/passwd\n");
    signal(manager, Signal::SIGCONT);
    session.wait_end("0002");
    let refused = world.orbh(["kill", &session.id]).run().exits(1);
    refused.says(&format!("orbh relaunch {} --cancel", session.id));
    outcome(verb).accepted();
    wait_for("the manager to give up", || (!session.managed()).then_some(()));
    world.orbh(["kill", &session.id]).run().exits(1).says("--cancel");
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    world.orbh(["kill", &session.id]).run().exits(1).says("is over already (spawn-failed)");
}

/// Killed while it drafts: the hold goes with the context.
#[test]
fn kill_while_drafting_ends_the_hold() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(session.inspect()["compacting"], false);
    assert_eq!(session.phase(), "idle");
    world.orbh(["resume", &session.id]).run().ok();
    session.compact("0002", "0003");
}

/// An order that comes after the acceptance, and before the context has ended, calls the relaunch off.
#[test]
fn kill_after_the_acceptance_retires_the_handoff() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    let kill = world.orbh(["kill", &session.id]).spawn();
    session.wait_fact("scratch/relaunch.cancelled.json");
    outcome(verb).accepted();
    signal(manager, Signal::SIGCONT);
    outcome(kill).ok();
    assert_eq!(session.wait_end("0001"), "killed");
    assert_eq!(session.runs(), ["0001"]);
    assert!(!session.exists("scratch/relaunch.json"));
    assert_eq!(session.state(), "killed");
    world.orbh(["resume", &session.id]).run().ok();
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    assert!(!prompt.contains("handoff-0001.md"), "a handoff that was called off is in: {prompt}");
}

/// An agent may end its own run: the order names its session.
#[test]
fn a_run_can_order_its_own_end() {
    let world = World::new();
    world.agent("suicidal", "orbh kill $ORBH_SESSION_ID >told 2>&1\necho survived >survived\nexec sleep 1000\n");
    let out = world.orbh(["launch", "command/suicidal", "end"]).run().exits(0).stdout;
    let session = crate::harness::Session::new(&world, out.trim());
    assert_eq!(session.wait_end("0001"), "killed");
    let by = session.fact("runs/0001/kill.json").unwrap()["by"].as_str().unwrap().to_owned();
    assert!(by.contains(&session.id), "{by}");
    assert!(!world.work().join("survived").exists());
    assert_eq!(session.state(), "killed");
}

/// Without a manager a run cannot end itself: it says who can, and from there it works.
#[test]
fn a_run_without_a_manager_cannot_end_itself() {
    let world = World::new();
    let script = "while ! [ -e go ]; do sleep 0.02; done\norbh kill $ORBH_SESSION_ID >told 2>&1\necho $? >status\n\
                  exec sleep 1000\n";
    world.agent("suicidal", script);
    let session = world.launch("command/suicidal", "end");
    session.kill_manager();
    std::fs::write(world.work().join("go"), "").unwrap();
    assert_eq!(world.wait_line("status"), "75");
    assert!(std::fs::read_to_string(world.work().join("told")).unwrap().contains("from outside"));
    assert!(alive(session.pid("0001")));
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(session.wait_end("0001"), "killed");
}

/// A harness starts with no signal blocked and none ignored, whatever its launcher and its manager do: it can be asked
/// to end, and hears of its children. How it ended is known all the same.
#[test]
fn a_harness_gets_its_signals_as_a_login_would_give_them() {
    let world = World::new();
    world.agent("signals", "exec grep -E '^Sig(Blk|Ign)' /proc/self/status\n");
    let trap = "trap '' HUP INT QUIT TERM USR1 CHLD; exec orbh launch command/signals 'show them'";
    let out = world.program("sh").args(["-c", trap]).run().exits(0).stdout;
    let session = crate::harness::Session::new(&world, out.trim());
    assert_eq!(session.wait_end("0001"), "exited");
    assert_eq!(session.fact("runs/0001/end.json").unwrap()["code"], 0);
    let shown = session.text("runs/0001/output").unwrap();
    let masks = shown.lines().map(|line| line.split_ascii_whitespace().nth(1).unwrap());
    // Of those that have a name; the two above them belong to the C library.
    let masks: Vec<u64> = masks.map(|mask| u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff).collect();
    assert_eq!(masks, [0, 0], "{shown}");
}
