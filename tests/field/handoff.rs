//! What others lost at a handoff and at the start of the successor.

use crate::harness::{World, alive, difference, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgid, getsid};
use serde_json::{Value, json};

/// The session and the process group that a process belongs to.
fn belongs(pid: i32) -> (Pid, Pid) {
    let pid = Some(Pid::from_raw(pid));
    (getsid(pid).unwrap(), getpgid(pid).unwrap())
}

/// Seen: the handoff killed its own process tree before anything could restart it. Rule: who relaunches lives outside the
/// harness's session and process group, ignores SIGHUP, and has its intent on disk before anything is killed. Here the
/// handoff is given from every place of the context that dies with it.
#[test]
fn who_relaunches_lives_outside_of_what_it_ends() {
    let ways = [
        ("plain", "orbh compact handoff"),
        ("piped", "orbh compact handoff 2>&1 | cat"),
        ("behind", "orbh compact handoff & wait"),
        ("apart", "setsid -w orbh compact handoff"),
        ("nohup", "nohup orbh compact handoff"),
        ("bounded", "timeout 1000 orbh compact handoff"),
        ("itself", "exec orbh compact handoff"),
    ];
    let world = World::new();
    for (name, way) in ways {
        let first = format!(
            "orbh compact start >start-{name}; orbh session set held yes; while ! [ -e go-{name} ]; do sleep 0.02; done; \
             {way} >told-{name} 2>&1"
        );
        world.agent(name, &format!("cat >/dev/null\n[ $ORBH_RUN = 0001 ] && {{ {first}\n}}\nexec sleep 100000\n"));
        let session = world.launch(&format!("command/{name}"), "hand off");
        let (live, manager) = (session.pid("0001"), session.manager_pid());
        wait_for("the hold", || session.exists("keys/held").then_some(()));
        session.write_good_handoff("0001");
        std::fs::write(world.work().join(format!("go-{name}")), "").unwrap();
        let successor = session.wait_relaunched("0002");
        assert!(!alive(live) && alive(successor), "{name}");
        assert_eq!((session.wait_end("0001").as_str(), session.manager_pid()), ("compacted", manager), "{name}");
        assert_eq!(session.runs(), ["0001", "0002"], "{name}");
        session.verb("0002", ["compact", "finish"]).run().ok();
        world.orbh(["kill", &session.id]).run().ok();
    }
}

/// The same kind: what strikes between the acceptance and the end of the context strikes the context alone.
#[test]
fn what_strikes_the_context_does_not_strike_who_relaunches() {
    for strike in ["group", "session", "handoff", "hangup"] {
        let world = World::new();
        let session = world.idle_session();
        let live = session.pid("0001");
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        // The intent, and the bytes that it speaks of, are there while the context lives untouched.
        assert!(alive(live) && session.exists("scratch/accepted-0001.md") && !session.exists("runs/0001/end.json"));
        let ((my_session, my_group), (its_session, its_group)) = (belongs(manager), belongs(live));
        assert!(my_session != its_session && my_group != its_group);
        assert_eq!(my_session.as_raw(), my_group.as_raw());
        match strike {
            "group" => killpg(its_group, Signal::SIGKILL).unwrap(),
            "session" => {
                for pid in world.processes().into_iter().filter(|pid| belongs(*pid).0 == its_session) {
                    kill_dead(pid);
                }
            }
            "handoff" => kill_dead(verb.id().cast_signed()),
            _ => signal(manager, Signal::SIGHUP),
        }
        signal(manager, Signal::SIGCONT);
        session.wait_relaunched("0002");
        assert_eq!(session.wait_end("0001"), "compacted", "{strike}");
        assert!(!alive(live) && session.manager_pid() == manager, "{strike}");
        let told = outcome(verb);
        assert!(!told.stderr.contains("NOT end"), "{strike}: {told:?}");
        session.verb("0002", ["compact", "finish"]).run().ok();
    }
}

/// Seen: the handoff was written, the restarter had died, and the agent stayed idle for ever. Rule: the waiting handoff,
/// `resume` and `relaunch` put a new manager in its place, readers say so and start nothing, and nothing else has to
/// live for it.
#[test]
fn a_dead_restarter_is_replaced_by_whoever_recovers_and_readers_say_so() {
    for (recovery, harness_lives) in [
        ("handoff", true),
        ("handoff", false),
        ("resume", true),
        ("resume", false),
        ("relaunch", true),
        ("relaunch", false),
    ] {
        let world = World::new();
        let session = world.idle_session();
        let live = session.pid("0001");
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        if !harness_lives {
            kill_dead(live);
        }
        let given = if recovery == "handoff" {
            kill_dead(manager);
            verb
        } else {
            kill_dead(verb.id().cast_signed());
            outcome(verb);
            kill_dead(manager);
            let hint = format!("orbh resume {}", session.id);
            let before = session.fingerprint();
            for reader in [
                vec!["list"],
                vec!["page", &session.id],
                vec!["inspect", &session.id],
                vec!["compact", "status", &session.id],
            ] {
                let said = world.orbh(&reader).run().exits(0);
                assert!(said.stdout.contains(&hint) || said.stderr.contains(&hint), "{reader:?}: {said:?}");
            }
            assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
            assert!(!session.managed());
            world.orbh([recovery, session.id.as_str()]).spawn()
        };
        let successor = session.wait_relaunched("0002");
        assert!(!alive(live) && alive(successor));
        assert_eq!((session.wait_end("0001").as_str(), session.runs().len()), ("compacted", 2));
        session.verb("0002", ["compact", "finish"]).run().ok();
        // A manager and a harness: nothing else is needed, and nothing else is left.
        let mut keepers = [session.manager_pid(), successor];
        keepers.sort_unstable();
        let settled = || {
            let mut all = world.processes();
            all.sort_unstable();
            all.retain(|pid| *pid != given.id().cast_signed() || *pid == session.manager_pid());
            (all == keepers).then_some(())
        };
        wait_for("nothing but a manager and a harness", settled);
        world.orbh(["kill", &session.id]).run().ok();
        outcome(given);
    }
}

/// Seen: the restart resumed the old native conversation. Rule: a fresh context gets a native id of its own and no flag
/// that resumes, whatever the profile says; a profile whose command chooses the conversation is refused.
#[test]
fn a_fresh_context_never_gets_the_old_conversation() {
    for runtime in ["claude", "codex"] {
        let world = World::new();
        world.stand_in(runtime, "one", &json!({}));
        world.stand_in(runtime, "two", &json!({"context_window": 5000}));
        let session = world.launch(&format!("{runtime}/one"), "do nothing");
        let mut natives = vec![session.wait_fact("runs/0001/native.json")["id"].clone()];
        for (run, successor, into) in [("0001", "0002", "one"), ("0002", "0003", "two"), ("0003", "0004", "one")] {
            // A conversation that could be resumed: its transcript is there.
            std::fs::write(session.transcript(run), "{}\n").unwrap();
            session.verb(run, ["compact", "start"]).run().exits(0);
            session.write_good_handoff(run);
            let target = format!("{runtime}/{into}");
            session.verb(run, ["compact", "handoff", "--into", &target]).run().accepted();
            session.wait_relaunched(successor);
            let argv = session.fact(&format!("runs/{successor}/run.json")).unwrap()["argv"].to_string();
            let resumes = ["--resume", "--continue", "resume", "fork", "--last"];
            assert!(!resumes.iter().any(|word| argv.contains(&format!("\"{word}\""))), "{argv}");
            natives.push(session.wait_fact(&format!("runs/{successor}/native.json"))["id"].clone());
            session.verb(successor, ["compact", "finish"]).run().ok();
        }
        let mut different: Vec<String> = natives.iter().map(Value::to_string).collect();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), natives.len(), "{natives:?}");
    }
    let world = World::new();
    let claude = world.script("claude", "#!/bin/sh\nexec sleep 100000\n").display().to_string();
    let codex = world.script("codex", "#!/bin/sh\nexec sleep 100000\n").display().to_string();
    let id = "11111111-2222-4333-8444-555555555555";
    let cases: [(&str, &[&str]); 11] = [
        ("claude", &[&claude, "--resume", id]),
        ("claude", &[&claude, "--resume=x"]),
        ("claude", &[&claude, "-r", id]),
        ("claude", &[&claude, "--verbose", "--continue"]),
        ("claude", &[&claude, "-c"]),
        ("claude", &[&claude, "--fork-session"]),
        ("claude", &[&claude, "--session-id", id]),
        ("claude", &["/usr/bin/env", "A=b", &claude, "-c"]),
        ("codex", &[&codex, "resume", id]),
        ("codex", &[&codex, "-c", "a=b", "exec", "resume", "--last"]),
        ("codex", &["/usr/bin/env", &codex, "fork"]),
    ];
    for (index, (runtime, command)) in cases.into_iter().enumerate() {
        let name = format!("bad-{index}");
        world.profile_of(runtime, &name, &json!({"command": command, "class": "full"}));
        let refused = world.orbh(["launch", &format!("{runtime}/{name}"), "go"]).run();
        refused.fails(1, &["the command of the profile", "has '"]).says("which conversation");
    }
    // What only looks like it: options of a program around the harness, and values for it.
    let good: [(&str, &[&str]); 3] = [
        ("claude", &["/bin/sh", "-c", "exec sleep 100000", "-r"]),
        ("codex", &[&codex, "-c", "model_verbosity=low"]),
        ("claude", &[&claude, "--verbose", "--append-system-prompt", "resume where you were"]),
    ];
    for (index, (runtime, command)) in good.into_iter().enumerate() {
        let name = format!("good-{index}");
        world.profile_of(runtime, &name, &json!({"command": command, "class": "full"}));
        let session = world.launch(&format!("{runtime}/{name}"), "go");
        world.orbh(["kill", &session.id]).run().ok();
    }
}

/// Seen: a person attached in the gap between two contexts, and got an empty prompt. There is nothing to attach to yet;
/// what else could begin a context asks what the relaunch asks. Rule: in the gap nobody gets another context than the
/// successor, whose prompt is whole.
#[test]
fn nobody_gets_an_empty_context_in_the_gap() {
    for context_is_over in [false, true] {
        let world = World::new();
        let session = world.idle_session();
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        if context_is_over {
            session.take_temporary_names(manager);
            signal(manager, Signal::SIGCONT);
            assert_eq!(session.wait_end("0001"), "compacted");
            wait_for("the manager to wait", || {
                session.text("log/events.ndjson").unwrap().contains("manager-waits").then_some(())
            });
        }
        for _ in 0..2 {
            let inspection = session.inspect();
            assert_eq!(
                (&inspection["state"], &inspection["compaction"]["phase"]),
                (&json!("working"), &json!("relaunching"))
            );
            let reason = inspection["compaction"]["reason"].as_str().unwrap();
            assert!(reason.contains(if context_is_over { "is over" } else { "ends" }), "{reason}");
            world.orbh(["resume", &session.id, "hello"]).run().exits(1).says("already");
            world.orbh(["relaunch", &session.id]).run().exits(75).says("has a manager already");
            assert!(!session.exists("runs/0002/run.json"));
        }
        if context_is_over {
            let entries = std::fs::read_dir(session.path(".")).unwrap().map(|entry| entry.unwrap().path());
            let taken = entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".tmp-"));
            taken.for_each(|path| std::fs::remove_file(path).unwrap());
        }
        signal(manager, Signal::SIGCONT);
        session.wait_relaunched("0002");
        let prompt = session.text("runs/0002/prompt.md").unwrap();
        assert!(
            prompt.contains("do nothing") && prompt.contains(session.handoff("0001").to_str().unwrap()),
            "{prompt}"
        );
        assert!(!prompt.contains("hello"));
        assert_eq!(session.runs(), ["0001", "0002"]);
        outcome(verb).accepted();
    }
}
