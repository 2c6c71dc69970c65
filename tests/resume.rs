//! `resume`, and sessions whose run ended without a result.

use crate::harness::{World, alive, difference, kill_dead, wait_for};

/// A session that works needs no other run.
#[test]
fn resume_of_a_working_session_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    let before = session.fingerprint();
    let says = format!("session {} is working already", session.id);
    world.orbh(["resume", &session.id]).run().exits(1).says(&says);
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    world.orbh(["resume", "no-such-session"]).run().exits(66);
}

/// What is added when a session is resumed stands in the prompt of the new run, after the duty.
#[test]
fn resume_adds_to_the_prompt() {
    let world = World::new();
    let session = world.idle_session();
    let file = world.path().join("added");
    std::fs::write(&file, "by a file").unwrap();
    let file = file.to_str().unwrap();
    let ways: [(&[&str], &str, &str); 4] = [
        (&["by an argument"], "", "by an argument"),
        (&["-"], "by standard input", "by standard input"),
        (&["--file", file], "", "by a file"),
        (&[], "", "do nothing"),
    ];
    for (index, (args, stdin, text)) in ways.into_iter().enumerate() {
        world.orbh(["kill", &session.id]).run().exits(0);
        let args = ["resume", session.id.as_str()].into_iter().chain(args.iter().copied());
        world.orbh(args).stdin(stdin).run().ok();
        let prompt = session.text(&format!("runs/{:04}/prompt.md", index + 2)).unwrap();
        assert!(prompt.find("do nothing").unwrap() <= prompt.rfind(text).unwrap(), "{prompt}");
        assert_eq!(prompt.contains("# Added when the session was resumed"), text != "do nothing");
        assert!(prompt.contains("(killed)"));
    }
    world.orbh(["resume", &session.id, "text", "--file", file]).run().exits(2);
}

/// A live run that is adopted is not told what was to be added, and who resumed it is told that.
#[test]
fn resume_says_when_nobody_reads_what_it_adds() {
    let world = World::new();
    let session = world.idle_session();
    session.kill_manager();
    let resumed = world.orbh(["resume", &session.id, "to be read"]).run().exits(0);
    resumed.says("was not told");
    assert_eq!(session.runs(), ["0001"]);
}

/// A finished session can be given more to do.
#[test]
fn a_finished_session_can_be_resumed() {
    let world = World::new();
    let session = world.idle_session();
    session.return_and_exit("0001");
    world.orbh(["resume", &session.id, "one thing more"]).run().ok();
    assert_eq!(session.state(), "working");
    assert!(session.text("runs/0002/prompt.md").unwrap().contains("one thing more"));
}

/// A harness that dies while its agent drafts: the hold is over by itself, nothing was replaced, and a new run can
/// begin a compaction of its own.
#[test]
fn a_harness_that_dies_while_its_agent_drafts_leaves_no_hold() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    assert_eq!(session.phase(), "drafting");
    kill_dead(session.pid("0001"));
    assert_eq!(session.wait_end("0001"), "signalled");
    let inspection = session.inspect();
    assert_eq!((&inspection["state"], &inspection["compacting"]), (&"failed-unreturned".into(), &false.into()));
    assert_eq!(inspection["hint"], format!("orbh resume {}", session.id));
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    world.orbh(["resume", &session.id]).run().ok();
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "resume");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    assert!(!prompt.contains("handoff-0001.md"), "a handoff that was never accepted is in: {prompt}");
    session.verb("0002", ["compact", "start"]).run().ok();
    session.verb("0002", ["compact", "handoff"]).run().exits(1).says("there is no handoff").not_ended();
    session.compact("0002", "0003");
}

/// A successor that dies before its first verb never became a context: `resume` starts from the handoff again, as
/// often as it takes, and `finish` works there.
#[test]
fn a_stillborn_successor_is_started_from_the_handoff_again() {
    let world = World::new();
    world.agent("weak", "cat >/dev/null\n[ $ORBH_RUN = 0001 ] || [ -e strong ] || exit 3\nexec sleep 1000\n");
    let session = world.launch("command/weak", "survive");
    session.compact("0001", "0002");
    for run in 2..=5 {
        let run = format!("{run:04}");
        assert_eq!(session.wait_end(&run), "exited");
        let end = session.fact(&format!("runs/{run}/end.json")).unwrap();
        assert_eq!(end["code"], 3);
        wait_for("the manager to leave", || (!session.managed()).then_some(()));
        let inspection = session.inspect();
        assert_eq!((&inspection["state"], &inspection["compacting"]), (&"failed-unreturned".into(), &true.into()));
        assert_eq!(inspection["hint"], format!("orbh resume {}", session.id));
        if run == "0005" {
            std::fs::write(world.work().join("strong"), "").unwrap();
        }
        world.orbh(["resume", &session.id, "added"]).run().exits(0);
    }
    let run = session.fact("runs/0006/run.json").unwrap();
    assert_eq!((&run["kind"], &run["closes"]), (&"compact".into(), &"0001".into()));
    let prompt = session.text("runs/0006/prompt.md").unwrap();
    assert!(prompt.contains("You are the successor of a context that handed off"));
    assert!(prompt.contains(&session.handoff("0001").display().to_string()));
    assert!(prompt.contains("added"));
    session.verb("0006", ["compact", "finish"]).run().ok();
    assert_eq!(session.inspect()["compacting"], false);
    session.compact("0006", "0007");
}

/// A successor that gave a verb was a context: after it `resume` goes on, told of the handoff, and may finish.
#[test]
fn a_successor_that_lived_is_continued() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["page"]).run().ok();
    kill_dead(session.pid("0002"));
    assert_eq!(session.wait_end("0002"), "signalled");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    world.orbh(["resume", &session.id]).run().ok();
    let run = session.fact("runs/0003/run.json").unwrap();
    assert_eq!((&run["kind"], &run["continues"]), (&"resume".into(), &"0002".into()));
    assert!(session.text("runs/0003/prompt.md").unwrap().contains("handoff-0001.md"));
    assert_eq!(session.phase(), "bootstrapping");
    session.verb("0003", ["compact", "finish"]).run().ok();
    assert_eq!(session.phase(), "idle");
}

/// A launch whose program is not there is refused before there is a session.
#[test]
fn a_launch_without_its_program_creates_nothing() {
    let world = World::new();
    world.profile("missing", &serde_json::json!({"command": ["/nowhere/at/all"], "class": "full"}));
    world.orbh(["launch", "command/missing", "try"]).run().exits(1).says("does not exist");
    world.orbh(["launch", "command/mising", "try"]).run().exits(1).says("near names: command/missing");
    assert!(!world.root().exists());
}

/// A launch whose program cannot be executed fails, shows its session and why, and can be resumed when it is mended.
#[test]
fn a_launch_that_cannot_be_executed_is_shown_and_can_be_resumed() {
    let world = World::new();
    world.idle_agent();
    world.script("agent-idle", "#!/nowhere/an-interpreter\n");
    world.orbh(["launch", "command/idle", "try"]).run().exits(1).says("its interpreter");
    world.script("agent-idle", "#!/etc/passwd\n");
    let failed = world.orbh(["launch", "command/idle", "try"]).run().exits(74).says("Permission denied");
    assert_eq!(failed.stdout, "");
    let list = world.orbh(["list", "--json"]).run().exits(0).json();
    let id = list["session"].as_str().unwrap().to_owned();
    assert_eq!(list["state"], "failed-unreturned");
    let failed = failed.says(&format!("orbh resume {id}"));
    drop(failed);
    let session = crate::harness::Session::new(&world, &id);
    assert_eq!(session.wait_end("0001"), "spawn-failed");
    world.orbh(["resume", &id]).run().exits(74).says("Permission denied").says("--into");
    world.idle_agent();
    world.orbh(["resume", &id]).run().ok();
    assert!(alive(session.pid("0003")));
    assert!(session.text("runs/0003/prompt.md").unwrap().contains("try"));
    session.compact("0003", "0004");
}

/// A run that ends at once is no failed launch: the session is there, with its end.
#[test]
fn a_harness_that_exits_at_once_is_shown_with_its_end() {
    let world = World::new();
    world.agent("brief", "exit 5\n");
    let session = world.launch("command/brief", "go");
    assert_eq!(session.wait_end("0001"), "exited");
    session.wait_state("failed-unreturned");
    let inspection = session.inspect();
    assert_eq!((&inspection["run"]["end"], &inspection["run"]["detail"]), (&"exited".into(), &"exit status 5".into()));
    world.agent("brief", "exec sleep 1000\n");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    world.orbh(["resume", &session.id]).run().ok();
    assert!(alive(session.pid("0002")));
}

/// What was done is not to be done again.
#[test]
fn a_session_that_is_resumed_after_its_result_is_told_so() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "return", "the result"]).run().ok();
    world.orbh(["kill", &session.id]).run().exits(0);
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    std::fs::remove_file(session.path("runs/0001/end.json")).unwrap();
    let end = r#"{"v":1,"reason":"returned","at":"2026-11-30T12:00:00+00:00"}"#;
    std::fs::write(session.path("runs/0001/end.json"), end).unwrap();
    world.orbh(["resume", &session.id, "one more thing"]).run().ok();
    session.pid("0002");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    assert!(prompt.contains("returned its result") && prompt.contains("one more thing"), "{prompt}");
    assert!(!prompt.contains("without finishing"), "{prompt}");
}

/// The last handoff is found however many runs ago it was accepted: a manager that reads only the runs it needs goes
/// down as far as it takes.
#[test]
fn resume_names_the_last_handoff_however_many_runs_ago() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().exits(0);
    for run in ["0003", "0004", "0005"] {
        world.orbh(["kill", &session.id]).run().exits(0);
        world.orbh(["resume", &session.id]).run().ok();
        let prompt = session.text(&format!("runs/{run}/prompt.md")).unwrap();
        assert!(prompt.contains(&session.handoff("0001").display().to_string()), "{prompt}");
    }
}

/// What a manager that was started fails by is what the verb exits with that started it.
#[test]
fn resume_exits_as_the_manager_that_it_started() {
    let world = World::new();
    let session = world.idle_session();
    session.kill_manager();
    let lease = session.path("scratch/manager.lock");
    std::fs::remove_file(&lease).unwrap();
    std::fs::create_dir(&lease).unwrap();
    let named = lease.display().to_string();
    world.orbh(["resume", &session.id]).run().fails(65, &["did not come up", &named]);
    std::fs::remove_dir(&lease).unwrap();
    world.orbh(["resume", &session.id]).run().ok();
    assert_eq!(session.runs(), ["0001"]);
}

/// So it is with a handoff before it is accepted: the context goes on.
#[test]
fn handoff_exits_as_the_manager_that_it_started() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.kill_manager();
    std::fs::write(session.path("runs/0001/kill.json"), "x").unwrap();
    let named = session.path("runs/0001/kill.json").display().to_string();
    session.verb("0001", ["compact", "handoff"]).run().fails(65, &[&named]).not_ended();
    assert!(!session.exists("scratch/relaunch.json"));
    std::fs::remove_file(session.path("runs/0001/kill.json")).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}

/// A manager that is just closing a dead run is about to leave: it is waited for, and is no reason to refuse.
#[test]
fn resume_waits_for_a_manager_that_closes_a_dead_run() {
    let world = World::new();
    // What the run leaves behind takes all of the grace.
    world
        .agent("stubborn", "(trap '' TERM; while :; do sleep 0.1; done) &\necho $! >left-$ORBH_RUN\nexec sleep 1000\n");
    let session = world.launch("command/stubborn", "be stubborn");
    let left: i32 = world.wait_line("left-0001").parse().unwrap();
    session.kill_manager();
    let manager = world.orbh(["relaunch", &session.id]).env("ORBH_KILL_GRACE_MS", "2000").spawn();
    wait_for("the manager", || session.managed().then_some(()));
    kill_dead(session.pid("0001"));
    assert!(alive(left) && session.managed());
    let resumed = world.orbh(["resume", &session.id]).run().ok();
    assert!(resumed.contains("0002 (resume)"), "{resumed}");
    assert_eq!((session.wait_end("0001").as_str(), alive(left)), ("lost", false));
    crate::harness::outcome(manager).exits(0);
}
