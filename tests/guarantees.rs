//! The guarantees of orbh-spool(5), each by a test that carries its number.

use crate::harness::{Session, World, alive, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// Every file below the spool but leases and the log, which are no facts: its inode and its bytes.
fn facts(session: &Session) -> BTreeMap<PathBuf, (u64, Vec<u8>)> {
    let files = walkdir::WalkDir::new(session.path("")).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let files = files.filter(|entry| {
        let name = entry.file_name().to_str().unwrap();
        !name.ends_with(".lock") && name != "events.ndjson"
    });
    files
        .map(|entry| {
            let inode = entry.metadata().unwrap().ino();
            (entry.path().to_owned(), (inode, std::fs::read(entry.path()).unwrap()))
        })
        .collect()
}

/// Lets the handoff of run 0001 be accepted while its manager is stopped; the manager's pid.
fn accepted(session: &Session) -> (i32, std::process::Child) {
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let manager = session.manager_pid();
    send(manager, Signal::SIGSTOP);
    let handoff = session.verb("0001", ["compact", "handoff"]).spawn();
    session.wait_fact("scratch/relaunch.json");
    (manager, handoff)
}

fn unmanaged(session: &Session) {
    wait_for("the lease to be free", || session.inspect()["manager"].is_null().then_some(()));
}

fn relaunched(session: &Session) {
    session.pid("0002");
    wait_for("the intent to be carried out", || (!session.exists("scratch/relaunch.json")).then_some(()));
}

/// G1: who comes second does not change a fact, and no temporary file stays.
#[test]
fn a_fact_is_written_once() {
    let world = World::new();
    let session = world.idle_session();
    let manager = session.manager_pid();
    send(manager, Signal::SIGSTOP);
    let first = r#"{"v": 1, "by": "the first", "at": "2026-01-01T00:00:00.000+00:00"}"#;
    std::fs::write(session.path("runs/0001/kill.json"), first).unwrap();
    let second = world.orbh(["kill", &session.id]).spawn();
    // Only then: a manager that goes on at once has ended the run before anybody gives a second order.
    let claimed = || session.text("scratch/compaction.lock").filter(|holder| holder.contains(r#""kind":"kill""#));
    wait_for("the second order to be under way", claimed);
    send(manager, Signal::SIGCONT);
    assert!(second.wait_with_output().unwrap().status.success());
    assert_eq!(session.text("runs/0001/kill.json").unwrap(), first);
    assert!(facts(&session).keys().all(|path| !path.to_str().unwrap().contains(".tmp-")));
}

/// G2: when the successor is there, nothing of the context before it lives.
#[test]
fn at_most_one_context_lives() {
    let world = World::new();
    world.agent("helped", "sleep 100000 & setsid sleep 100000 & echo $! > helper; exec sleep 100000\n");
    let session = world.launch("command/helped", "do nothing");
    let helper = world.work().join("helper");
    let helper: i32 = wait_for("the helper", || std::fs::read_to_string(&helper).ok()?.trim().parse().ok());
    let first = session.pid("0001");
    let (manager, mut handoff) = accepted(&session);
    assert!(alive(first) && alive(helper));
    send(manager, Signal::SIGCONT);
    session.wait_fact("runs/0002/run.json");
    assert!(!alive(first) && !alive(helper));
    handoff.wait().unwrap();
}

/// G3: what was accepted is compared before anything dies; other bytes end nothing.
#[test]
fn no_context_ends_unless_the_accepted_bytes_are_there() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, mut handoff) = accepted(&session);
    let path = session.path("scratch/accepted-0001.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&path, "something else").unwrap();
    send(manager, Signal::SIGCONT);
    session.wait_fact("scratch/relaunch.cancelled.json");
    handoff.wait().unwrap();
    assert!(alive(session.pid("0001")) && !session.exists("runs/0001/end.json"));
}

/// G4 G5: of two handoffs one is accepted; there is one successor, and the next number is the next run's.
#[test]
fn a_context_has_one_successor_and_numbers_rise() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let both = [(); 2].map(|()| session.verb("0001", ["compact", "handoff"]).spawn());
    let said = both.map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());
    let accepted = said.iter().filter(|said| said.contains("accepted: this context ends")).count();
    assert_eq!(accepted, 1, "{said:?}");
    relaunched(&session);
    world.orbh(["kill", &session.id]).run().ok();
    unmanaged(&session);
    world.orbh(["resume", &session.id]).run().ok();
    let mut runs: Vec<String> = std::fs::read_dir(session.path("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    runs.sort();
    assert_eq!(runs, ["0001", "0002", "0003"]);
}

/// G6 G7: a refusal changes nothing, and says that the context goes on.
#[test]
fn a_refusal_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    std::fs::write(session.handoff("0001"), "no handoff").unwrap();
    let before = facts(&session);
    let refused = session.verb("0001", ["compact", "handoff"]).run().exits(1);
    assert_eq!(refused.stderr.lines().last(), Some("Your context will NOT end."));
    session.verb("0001", ["compact", "handoff", "--no-such"]).run().exits(2).says("Your context will NOT end.");
    session.verb("0001", ["compact", "finish"]).run().exits(1);
    session.verb("0001", ["session", "return", " "]).run().exits(1);
    world.orbh(["resume", &session.id]).run().exits(1);
    world.orbh(["relaunch", &session.id, "--cancel"]).run().exits(1);
    assert_eq!(facts(&session), before);
}

/// G8: what is written to the draft after the acceptance reaches nobody.
#[test]
fn the_successor_reads_the_bytes_that_were_validated() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, mut handoff) = accepted(&session);
    let validated = session.text("scratch/accepted-0001.md");
    std::fs::write(session.handoff("0001"), "too late").unwrap();
    send(manager, Signal::SIGCONT);
    relaunched(&session);
    assert_eq!(session.text("scratch/handoff-0001.md"), validated);
    handoff.wait().unwrap();
}

/// G9 G10: the lease of a killed manager is free, and one command takes what it had begun to its end.
#[test]
fn a_dead_manager_is_replaced_by_one_command() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, mut handoff) = accepted(&session);
    // The waiting handoff would replace it, too.
    handoff.kill().unwrap();
    handoff.wait().unwrap();
    send(manager, Signal::SIGKILL);
    unmanaged(&session);
    world.orbh(["resume", &session.id]).run().ok();
    relaunched(&session);
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "compact");
}

/// G11: a run whose process is recorded is not started by another shim.
#[test]
fn a_run_is_started_once() {
    let world = World::new();
    let session = world.idle_session();
    let before = facts(&session);
    let shim = world.program(env!("CARGO_BIN_EXE_orbh-shim")).env("ORBH_NONCE", "another");
    let mut shim = shim.bare();
    assert_eq!(shim.arg(session.path("runs/0001")).status().unwrap().code(), Some(3));
    assert_eq!(facts(&session), before);
}

/// G12: a straggler of an old run, and one who does not know the nonce, change nothing.
#[test]
fn only_the_current_run_acts() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["page"]).run().ok();
    let before = facts(&session);
    for verb in [["compact", "start"], ["compact", "finish"], ["compact", "abort"], ["session", "return"]] {
        let words = || verb.into_iter().chain((verb[1] == "return").then_some("a result"));
        session.verb("0001", words()).run().exits(1).says("is over");
        session.verb("0002", words()).env("ORBH_NONCE", "stolen").run().exits(1).says("ORBH_NONCE");
    }
    assert_eq!(facts(&session), before);
}

/// G13: who looks leaves no trace.
#[test]
fn readers_write_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    // The manager's last word about it; from here on it waits.
    wait_for("the log", || session.text("log/events.ndjson")?.contains("\"relaunched\"").then_some(()));
    let id = &session.id;
    let everything = || {
        let all = walkdir::WalkDir::new(world.root()).sort_by_file_name().into_iter().map(Result::unwrap);
        all.map(|entry| {
            let metadata = entry.metadata().unwrap();
            (entry.path().to_owned(), metadata.mtime(), metadata.mtime_nsec(), metadata.len())
        })
        .collect::<Vec<_>>()
    };
    let before = everything();
    for words in [vec!["list", "--all"], vec!["inspect", id], vec!["log", id], vec!["context", id], vec!["page", id]] {
        world.orbh(words).run().ok();
    }
    world.orbh(["compact", "status", id]).run().ok();
    world.orbh(["result", id]).run().exits(1);
    assert_eq!(everything(), before);
}

/// G14: damage is named by path and offset, and hides neither its session nor the one beside it.
#[test]
fn damage_is_named_and_hides_nothing() {
    let world = World::new();
    let session = world.idle_session();
    let other = world.launch("command/idle", "do nothing either");
    std::fs::write(session.path("session.json"), r#"{"v": 1, "id": }"#).unwrap();
    let listed = world.orbh(["list", "--json"]).run().exits(0);
    listed.stdout.lines().find(|line| line.contains(&other.id) && line.contains("working")).unwrap();
    listed.stdout.lines().find(|line| line.contains(&session.id) && line.contains("unknown")).unwrap();
    let inspected = world.orbh(["inspect", &session.id]).run().exits(65);
    assert!(inspected.stdout.contains("session.json': damaged at byte 15"), "{}", inspected.stdout);
}

/// G15 R25: the mark stays up when the successor returns without `finish`.
#[test]
fn an_unfinished_compaction_is_shown() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["session", "return", "done"]).run().ok();
    session.wait_end("0002");
    assert!(session.exists("scratch/compacting.json"));
    assert!(world.orbh(["list", "--all"]).run().exits(0).stdout.contains("[Compacting...]"));
}
