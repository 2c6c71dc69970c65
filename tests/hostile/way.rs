//! Things in the way of a succession whose context is dead: what a manager has to write then is written all the same, and
//! where the presence of a fact decides, what stands there instead is named, and waited for by nobody.

use crate::harness::{Session, World, alive, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};

/// A directory with something in it, in the place of whatever is there.
fn plant(path: &Path) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.join("something")).unwrap();
}

/// What was moved aside in a directory of the spool: directories, and what else is no regular file.
fn aside(session: &Session, below: &str) -> usize {
    let entries = std::fs::read_dir(session.path(below)).unwrap().map(|entry| entry.unwrap());
    let temporary = entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(".tmp-"));
    temporary.filter(|entry| !entry.file_type().unwrap().is_file()).count()
}

/// R23: an agent cannot put anything, as it dies or before, where its successor's facts belong.
#[test]
fn nothing_stands_in_the_way_of_a_successor() {
    let world = World::new();
    let replaced = "trap \"\" TERM; cd $ORBH_ROOT/sessions/*/scratch; rm -f accepted-0001.md handoff-0001.md\n\
                    mkdir -p accepted-0001.md/something handoff-0001.md/something";
    world.agent("spiteful", &format!("trap '{replaced}; exit 0' TERM\nwhile :; do sleep 0.05; done\n"));
    world.idle_agent();
    let session = world.launch("command/spiteful", "spite");
    let (manager, verb) = session.accept_without_manager("0001", &["--into", "command/idle"]);
    for below in ["target.json", "runs/0002/prompt.md", "runs/0002/native.json", "scratch/compactions.ndjson"] {
        plant(&session.path(below));
    }
    nix::unistd::mkfifo(&session.path("runs/0002/output"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    signal(manager, Signal::SIGCONT);
    assert!(alive(session.wait_relaunched("0002")));
    outcome(verb).accepted();
    assert_eq!(session.wait_end("0001"), "compacted");
    for name in ["accepted-0001.md", "handoff-0001.md"] {
        assert_eq!(session.text(&format!("scratch/{name}")).unwrap(), session.good_handoff("run 0001"), "{name}");
    }
    assert_eq!(session.fact("target.json").unwrap()["target"], "command/idle");
    assert!(session.text("runs/0002/prompt.md").unwrap().contains("You are the successor"));
    assert!(session.path("runs/0002/output").is_file());
    session.verb("0002", ["compact", "finish"]).run().ok();
    assert_eq!(session.text("scratch/compactions.ndjson").unwrap().lines().count(), 1);
    assert_eq!((aside(&session, "."), aside(&session, "runs/0002")), (1, 2));
    // How far the agent came before it was killed is the machine's to say.
    assert!(aside(&session, "scratch") >= 1);
}

/// The same for the directory of the successor, and for a handoff that is lost between two attempts.
#[test]
fn a_file_in_place_of_a_run_and_a_directory_in_place_of_a_handoff_are_moved_aside() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    std::fs::write(session.path("runs/0002"), "no directory").unwrap();
    world.script("agent-idle", "#!/etc/passwd\n");
    signal(manager, Signal::SIGCONT);
    wait_for("the manager to give up", || (!session.managed()).then_some(()));
    outcome(verb).accepted();
    assert_eq!(session.runs(), ["0001", "0002", "0003", "0004"]);
    plant(&session.handoff("0001"));
    world.idle_agent();
    world.orbh(["resume", &session.id]).run().ok();
    assert!(alive(session.wait_relaunched("0005")));
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), session.good_handoff("run 0001"));
}

/// A cancel puts the target that the session had back in force, whatever stands there.
#[test]
fn a_cancel_puts_the_target_back_whatever_stands_there() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    plant(&session.path("target.json"));
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    assert_eq!(session.fact("target.json").unwrap()["target"], "command/idle");
    signal(manager, Signal::SIGCONT);
    outcome(verb).exits(75);
}

/// Where the presence of a fact decides, a directory in its place is damage: the manager leaves, the verb that waits
/// says that the relaunch is pending, every reader names what is in the way; taken away, the succession goes on.
#[test]
fn a_directory_in_place_of_a_deciding_fact_is_named() {
    std::thread::scope(|scope| {
        for below in ["runs/0001/end.json", "runs/0002/run.json", "runs/0002/pid"] {
            scope.spawn(move || named(below));
        }
    });
}

fn named(below: &str) {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    let path: PathBuf = session.path(below);
    plant(&path);
    signal(manager, Signal::SIGCONT);
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    let told = outcome(verb).exits(75);
    assert!(told.stdout.contains("accepted"), "{told:?}");
    let named = path.display().to_string();
    let inspected = world.orbh(["inspect", &session.id]).run().exits(65);
    assert!(inspected.stdout.contains(&named), "{}", inspected.stdout);
    assert!(session.text("log/events.ndjson").unwrap().contains(&format!("cannot read '{named}'")));
    world.orbh(["resume", &session.id]).run().fails(65, &[&named]);
    // Nothing was done while it was there.
    assert_eq!(alive(harness), below != "runs/0002/pid");
    std::fs::remove_dir_all(&path).unwrap();
    world.orbh(["resume", &session.id]).run().ok();
    assert!(alive(session.wait_relaunched("0002")));
    assert_eq!(session.wait_end("0001"), "compacted");
    assert!(!alive(harness));
}

/// A conversation that cannot be known holds up neither the end of a context nor the look at a live one.
#[test]
fn a_directory_in_place_of_the_native_conversation_holds_nothing_up() {
    let world = World::new();
    let program = world.script("claude-like", "#!/bin/sh\nexec sleep 100000\n");
    let profile = serde_json::json!({"command": [program], "class": "full"});
    world.profile_of("claude", "like", &profile);
    let session = world.launch("claude/like", "do nothing");
    session.pid("0001");
    let manager = session.stop_manager();
    plant(&session.path("runs/0001/native.json"));
    signal(manager, Signal::SIGCONT);
    session.compact("0001", "0002");
    assert_eq!(session.wait_end("0001"), "compacted");
}
