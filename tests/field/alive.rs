//! What others took for alive that was not, started twice, left behind, or never heard again.

use super::processes::{Stranger, alone, context, crash};
use crate::harness::{Session, World, alive, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use serde_json::json;
use std::process::Child;

/// Seen: a storm of restarts, and two agents in one session. Rule: one lease a session, taken before the harness starts:
/// however many recover at once, and whatever they find, one context lives, and no run is made twice.
#[test]
fn a_storm_of_recoveries_starts_one_agent() {
    for (found, runs) in
        [("an orphan", 1), ("a dead run", 2), ("an accepted handoff", 2), ("a dead context that handed off", 2)]
    {
        let world = World::new();
        let session = world.idle_session();
        let live = session.pid("0001");
        match found {
            "an orphan" => drop(session.kill_manager()),
            "a dead run" => crash(&session, "0001"),
            _ => {
                let (manager, verb) = session.accept_without_manager("0001", &[]);
                kill_dead(verb.id().cast_signed());
                outcome(verb);
                kill_dead(manager);
                if found.starts_with("a dead") {
                    kill_dead(live);
                }
            }
        }
        let mut storm: Vec<Child> = Vec::new();
        if found == "an accepted handoff" {
            // Given again by its context, it waits, and recovers as well.
            storm.extend((0..4).map(|_| session.verb("0001", ["compact", "handoff"]).spawn()));
        }
        // Where a run is dead and nothing is pending, `relaunch` begins none, and may keep a `resume` from it.
        let verbs = if found == "a dead run" { ["resume"; 2] } else { ["resume", "relaunch"] };
        storm.extend((0..12).map(|turn| world.orbh([verbs[turn % 2], session.id.as_str()]).spawn()));
        let newest = format!("{runs:04}");
        let now = if runs == 1 { live } else { session.wait_relaunched(&newest) };
        wait_for("a manager", || session.managed().then_some(()));
        // Those that were not first have said so; a `relaunch` that is the manager stays.
        let mut keeps = 0;
        for mut child in storm {
            let ended = wait_for("its end, or the lease", || {
                let over = child.try_wait().unwrap().map(Some);
                over.or_else(|| (session.manager_pid() == child.id().cast_signed()).then_some(None))
            });
            match ended {
                None => keeps += 1,
                Some(_) => assert!(matches!(outcome(child).code, Some(0 | 1 | 74 | 75) | None), "{found}"),
            }
        }
        assert!(keeps <= 1);
        alone(&session, now);
        assert_eq!(session.runs().len(), runs, "{found}");
        world.orbh(["kill", &session.id]).run().ok();
    }
}

/// An agent whose processes do not end with it: each writes its number to a file of its name.
const LEAVES_ORPHANS: &str = r#"
cat >/dev/null
if [ "$ORBH_RUN" = 0001 ]; then
    (setsid sh -c 'echo $$ >apart; exec sleep 100000' &)
    (setsid sh -c 'trap "" TERM HUP; echo $$ >deaf; while :; do sleep 0.1; done' &)
    sh -c 'echo $$ >below; exec sleep 100000' &
fi
exec sleep 100000
"#;

/// Seen: orphans survived, and strangers of the same name were killed. Rule: what is stopped is the recorded tree, never
/// a name: not the same program, not the same script, not the same session on another root, not a neighbour's agent.
#[test]
fn the_recorded_tree_is_stopped_and_never_a_name() {
    for end in ["handoff", "kill", "death", "return"] {
        let world = World::new();
        world.agent("leaves", LEAVES_ORPHANS);
        let neighbour = world.launch("command/leaves", "be a neighbour");
        let theirs = ["apart", "deaf", "below"].map(|name| world.wait_pid(name));
        for name in ["apart", "deaf", "below"] {
            std::fs::remove_file(world.work().join(name)).unwrap();
        }
        let session = world.launch("command/leaves", "leave orphans");
        let ours = ["apart", "deaf", "below"].map(|name| world.wait_pid(name));
        let live = session.pid("0001");
        let mut same_program = Stranger::new(&world);
        let script = world.path().join("agent-leaves");
        let mut same_script = world.program(script).env("ORBH_RUN", "0009").env_remove("ORBH_ROOT").spawn();
        match end {
            "handoff" => session.compact("0001", "0002"),
            "kill" => drop(world.orbh(["kill", &session.id]).run().ok()),
            "death" => kill_dead(live),
            _ => {
                session.verb("0001", ["session", "return", "done"]).run().ok();
                signal(live, Signal::SIGTERM);
            }
        }
        let reason = session.wait_end("0001");
        assert_eq!(
            reason,
            match end {
                "handoff" => "compacted",
                "kill" => "killed",
                "death" => "signalled",
                _ => "returned",
            }
        );
        // Once the end is written, none of them lives.
        assert_eq!(ours.map(alive), [false; 3], "{end}");
        assert!(!alive(live));
        same_program.lives(end);
        assert!(same_script.try_wait().unwrap().is_none(), "{end}: a stranger was stopped");
        same_script.kill().unwrap();
        same_script.wait().unwrap();
        assert_eq!(theirs.map(alive), [true; 3], "{end}");
        assert!(alive(neighbour.pid("0001")) && neighbour.state() == "working");
        world.orbh(["kill", &neighbour.id]).run().ok();
    }
}

/// Seen: "started", exit 0, and no session. Rule: success is the word of the new run, in time; tries are counted; and what
/// the harness itself said is kept, and shown to whoever asks what became of it.
#[test]
fn success_is_a_run_that_came_up_and_the_words_of_one_that_did_not_are_shown() {
    // What cannot be started is no success, and the reason is the kernel's.
    let broken = [("#!/nowhere/interpreter\n", 1, "interpreter"), ("#!/etc/passwd\n", 74, "Permission denied")];
    for (script, code, why) in broken {
        let world = World::new();
        world.agent("idle", "");
        world.script("agent-idle", script);
        let failed = world.orbh(["launch", "command/idle", "go"]).run().exits(code);
        assert_eq!(failed.stdout, "");
        failed.says(why);
    }
    let session_of = |world: &World| {
        let list = world.orbh(["list", "--json"]).run().json();
        list["session"].as_str().unwrap().to_owned()
    };
    let world = World::new();
    world.agent("idle", "");
    world.script("agent-idle", "#!/etc/passwd\n");
    world.orbh(["launch", "command/idle", "go"]).run().exits(74);
    let session = Session::new(&world, &session_of(&world));
    world.orbh(["resume", &session.id]).run().exits(74).says("Permission denied");
    assert_eq!(session.runs(), ["0001", "0002"], "a resume tries once");
    world.idle_agent();
    world.orbh(["resume", &session.id]).run().ok();
    // Of a successor there are three attempts, and then somebody is told.
    world.script("agent-idle", "#!/etc/passwd\n");
    session.verb("0003", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0003");
    session.verb("0003", ["compact", "handoff"]).run().accepted();
    wait_for("the manager to give up", || (!session.managed()).then_some(()));
    assert_eq!(session.runs().len(), 6);
    let inspection = session.inspect();
    assert_eq!(inspection["compaction"]["phase"], "failed");
    assert!(inspection["compaction"]["reason"].as_str().unwrap().contains("Permission denied"), "{inspection}");

    // What starts and does not live has said why.
    let words = "fatal: please run /login first";
    let ends = [
        ("exits", format!("echo hello; echo '{words}' >&2; exit 3"), format!("exit status 3: {words}")),
        ("silent", "exit 3".to_owned(), "exit status 3".to_owned()),
        ("dies", format!("printf '{words}' >&2; kill -9 $$"), format!("signal 9: {words}")),
        ("blank", format!("echo '{words}'; printf '\\n  \\n\\n'; exit 1"), format!("exit status 1: {words}")),
        ("forges", "printf 'x\\033[2J\\033]0;owned\\007 end'; exit 1".to_owned(), "exit status 1: x".to_owned()),
        (
            "talks",
            format!("yes 0123456789 | head -c 300000; echo; echo '{words}'; exit 1"),
            format!("exit status 1: {words}"),
        ),
        (
            "floods",
            "head -c 300000 /dev/zero | tr '\\0' y; exit 1".to_owned(),
            format!("exit status 1: {}", "y".repeat(200)),
        ),
    ];
    for (name, script, detail) in ends {
        let world = World::new();
        world.agent(name, &format!("cat >/dev/null\n[ -e well ] && exec sleep 100000\n{script}\n"));
        let session =
            Session::new(&world, world.orbh(["launch", &format!("command/{name}"), "go"]).run().exits(0).stdout.trim());
        session.wait_state("failed-unreturned");
        let shown = session.inspect()["run"]["detail"].as_str().unwrap().to_owned();
        assert!(shown.starts_with(&detail), "{name}: {shown:?} is not {detail:?}");
        let views = [world.orbh(["list"]), world.orbh(["page", &session.id]), world.orbh(["inspect", &session.id])];
        for said in views.map(|view| view.run().exits(0)) {
            let all = said.stdout + &said.stderr;
            assert!(all.contains(&detail[..detail.len().min(80)]), "{name}: no {detail:?} in {all}");
            assert!(!all.contains('\u{1b}') && !all.contains('\u{7}'), "{name}: {all:?}");
        }
        assert!(session.text("runs/0001/output").is_some());
        std::fs::write(world.work().join("well"), "").unwrap();
        wait_for("the manager to leave", || (!session.managed()).then_some(()));
        world.orbh(["resume", &session.id]).run().ok();
        assert_eq!(session.inspect()["run"]["detail"], json!(null));
    }
}

/// The programs of orbh in a directory of their own, one of them replaced by a script, or left away.
fn installed_without(world: &World, program: &str, script: Option<&str>) -> std::path::PathBuf {
    let dir = tempfile::tempdir_in(world.path()).unwrap().keep();
    for name in ["orbh", "orbh-launch", "orbh-resume", "orbh-relaunch", "orbh-shim"] {
        let (from, to) = (crate::harness::bin_dir().join(name), dir.join(name));
        match script {
            Some(script) if name == program => {
                std::fs::rename(world.script("script", script), to).unwrap();
            }
            None if name == program => {}
            _ if std::fs::hard_link(&from, &to).is_ok() => {}
            // Another file system, or another's file.
            _ => {
                std::fs::copy(&from, &to).unwrap();
            }
        }
    }
    dir
}

/// The same kind, with the programs of orbh itself: one that is not there, does nothing, dies or hangs is no success,
/// and the session that was made is there to be resumed.
#[test]
fn a_manager_or_shim_that_does_not_do_its_work_is_no_success() {
    let scripts = [
        (None, 74),
        (Some("#!/bin/sh\nexit 0\n"), 74),
        (Some("#!/bin/sh\nexit 1\n"), 74),
        (Some("#!/bin/sh\nkill -9 $$\n"), 74),
        (Some("#!/bin/sh\nexec sleep 100000\n"), 75),
    ];
    let world = World::new();
    world.idle_agent();
    let mut launches = Vec::new();
    for program in ["orbh-relaunch", "orbh-shim"] {
        for (script, code) in scripts {
            let dir = installed_without(&world, program, script);
            let path = format!("{}:/usr/bin:/bin", dir.display());
            let title = format!("{program} {code} {script:?}");
            let launch = world.program(dir.join("orbh")).env("PATH", path);
            launches.push((launch.args(["launch", "command/idle", "go", "--title", &title]).spawn(), code, title));
        }
    }
    for (launch, code, title) in launches {
        let told = outcome(launch);
        assert_eq!((told.code, told.stdout.as_str()), (Some(code), ""), "{title}: {told:?}");
        let id = told.stderr.split_once("session ").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
        assert!(world.root().join("sessions").join(id).is_dir() && id.len() == 36, "{title}: {told:?}");
        assert!(told.stderr.contains("hint: ") && told.stderr.contains(&format!("{id}'")), "{title}: {told:?}");
    }
    let list = world.orbh(["list", "--json"]).run().exits(0).stdout;
    let sessions: Vec<serde_json::Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(sessions.len(), 10);
    for one in sessions {
        let session = Session::new(&world, one["session"].as_str().unwrap());
        let hangs = one["title"].as_str().unwrap().contains("orbh-shim 75");
        assert_eq!((session.managed(), context(&session).len()), (hangs, usize::from(hangs)), "{one}");
        if hangs {
            // Its manager obeys. What hangs is no shim of ours, and knows nothing of the run that it was to become.
            signal(session.manager_pid(), Signal::SIGTERM);
            wait_for("the manager to leave", || (!session.managed()).then_some(()));
            context(&session).into_iter().for_each(kill_dead);
        }
        world.orbh(["resume", &session.id]).run().exits(0);
        let newest = session.runs().last().unwrap().clone();
        alone(&session, session.pid(&newest));
        session.compact(&newest, &format!("{:04}", session.runs().len() + 1));
    }
    // The manager that a person puts into the background answers for itself as well.
    let session = world.idle_session();
    world.orbh(["relaunch", "--background", &session.id]).run().exits(75).says("has a manager already");
    session.kill_manager();
    world.orbh(["relaunch", "--background", &session.id]).run().exits(0);
    assert!(session.managed());
    crash(&session, "0001");
    world.orbh(["relaunch", "--background", &session.id]).run().exits(0);
    assert_eq!(session.wait_end("0001"), "lost");
}

/// Seen: the pane that was alive was taken for the agent. There are no panes yet; what lives on around or below a harness
/// is the same kind. Rule: alive is the harness's own process, and nothing else.
#[test]
fn what_lives_around_a_dead_harness_does_not_make_it_alive() {
    // Below it: processes that keep its output open, and a wrapper beside it.
    let world = World::new();
    world.agent("leaves", LEAVES_ORPHANS);
    let session = world.launch("command/leaves", "die");
    let orphans = ["apart", "deaf", "below"].map(|name| world.wait_pid(name));
    kill_dead(session.pid("0001"));
    assert_eq!(session.wait_end("0001"), "signalled");
    session.wait_state("failed-unreturned");
    assert_eq!(orphans.map(alive), [false; 3]);

    // The same, and nobody there to see it.
    let world = World::new();
    world.agent("leaves", LEAVES_ORPHANS);
    let session = world.launch("command/leaves", "die");
    let orphans = ["apart", "deaf", "below"].map(|name| world.wait_pid(name));
    crash(&session, "0001");
    assert_eq!(orphans.map(alive), [true; 3]);
    assert_eq!(session.state(), "lost");
    world.orbh(["resume", &session.id]).run().ok();
    assert_eq!(session.wait_end("0001"), "lost");
    assert_eq!(orphans.map(alive), [false; 3]);

    // Above it: the manager lives and is stopped, and the harness is a zombie below it.
    let world = World::new();
    let session = world.idle_session();
    let manager = session.stop_manager();
    let live = session.pid("0001");
    kill_dead(live);
    let inspection = session.inspect();
    assert_eq!(inspection["hint"], format!("kill -CONT {manager}"), "{inspection}");
    signal(manager, Signal::SIGCONT);
    assert_eq!(session.wait_end("0001"), "signalled");
    session.wait_state("failed-unreturned");
}

/// Seen: the queue of inotify overflowed, a limit of watches was reached, and the watcher was silently dead. Rule: what is
/// there is read, an event only says "look"; another way to wake when inotify is not to be had, which is said.
#[test]
fn a_manager_hears_of_a_handoff_by_whatever_means_there_are() {
    for means in ["inotify", "dnotify", "polling"] {
        let world = World::new();
        world.idle_agent();
        let launch = world.orbh(["launch", "command/idle", "do nothing"]).env("ORBH_WATCH", means);
        let session = Session::new(&world, launch.run().ok().trim());
        let said = session.events().iter().any(|event| event.starts_with("manager-watches"));
        assert_eq!(said, means != "inotify", "{means}: {:?}", session.events());
        session.compact("0001", "0002");
        session.verb("0002", ["compact", "finish"]).run().ok();
        kill_dead(session.pid("0002"));
        assert_eq!(session.wait_end("0002"), "signalled", "{means}");
        wait_for("the manager to leave", || (!session.managed()).then_some(()));
    }
    // No inotify at all for this user, and nobody chose another means.
    let world = World::new();
    world.idle_agent();
    let line = "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$ORBH\" launch command/idle 'do nothing'";
    if let Some(launch) = world.mounting_shell(line) {
        let session = Session::new(&world, launch.run().ok().trim());
        assert!(session.text("log/events.ndjson").unwrap().contains("by dnotify: inotify is not to be had"));
        session.compact("0001", "0002");
    }
    // More events than the queue holds, the one that matters among them, while the manager does not read.
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let manager = session.stop_manager();
    let queue: usize =
        std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    let litter = session.path("scratch/litter");
    for _ in 0..queue.min(40_000) {
        std::fs::write(&litter, "").unwrap();
    }
    let verb = session.verb("0001", ["compact", "handoff"]).spawn();
    session.wait_fact("scratch/relaunch.json");
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    outcome(verb).accepted();
    // The directory itself is taken away and comes back.
    session.verb("0002", ["compact", "finish"]).run().ok();
    let scratch = session.path("scratch");
    std::fs::rename(&scratch, session.path("away")).unwrap();
    std::fs::rename(session.path("away"), &scratch).unwrap();
    session.compact("0002", "0003");
    assert_eq!(session.runs(), ["0001", "0002", "0003"]);
}
