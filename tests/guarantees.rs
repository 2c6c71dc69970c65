//! The guarantees of orbh-spool(5), each by a test that carries its number: `g1_…` proves G1, and so on. That they hold when
//! processes die, disks fill and verbs race is shown at length in files of their own; here is what each of them says.

use crate::harness::{Session, World, alive, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

mod durable;
mod mail;
mod readers;

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

/// Who comes second does not change a fact, and no temporary file stays.
#[test]
fn g1_a_fact_is_written_once() {
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

/// When the successor is there, nothing of the context before it lives.
#[test]
fn g2_at_most_one_context_lives() {
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

/// What was accepted is compared before anything dies; other bytes end nothing.
#[test]
fn g3_no_context_ends_unless_the_accepted_bytes_are_there() {
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

/// Of two handoffs one is accepted, and whatever recovers afterwards adds no second successor.
#[test]
fn g4_a_context_has_one_successor() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let both = [(); 2].map(|()| session.verb("0001", ["compact", "handoff"]).spawn());
    let said = both.map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());
    let accepted = said.iter().filter(|said| said.contains("accepted: this context ends")).count();
    assert_eq!(accepted, 1, "{said:?}");
    relaunched(&session);
    // It has given a verb, and so become a context: what follows it continues it.
    session.verb("0002", ["page"]).run().ok();
    world.orbh(["kill", &session.id]).run().ok();
    unmanaged(&session);
    world.orbh(["resume", &session.id]).run().ok();
    session.pid("0003");
    let closing = |run: &str| session.fact(&format!("runs/{run}/run.json")).unwrap()["closes"] == "0001";
    assert_eq!(["0001", "0002", "0003"].map(closing), [false, true, false]);
}

/// However a run begins and ends, and whatever else lies in runs/.
#[test]
fn g5_run_numbers_rise_by_one() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    std::fs::create_dir(session.path("runs/7")).unwrap();
    std::fs::write(session.path("runs/0009"), "").unwrap();
    let mut made = vec!["0001".to_owned(), "0002".to_owned()];
    for _ in 0..3 {
        world.orbh(["kill", &session.id]).run().ok();
        unmanaged(&session);
        // Two at once make one run.
        let both = [(); 2].map(|()| world.orbh(["resume", &session.id]).spawn());
        let ended = both.map(|child| child.wait_with_output().unwrap().status.code());
        assert!(ended.contains(&Some(0)), "{ended:?}");
        made.push(session.inspect()["run"]["run"].as_str().unwrap().to_owned());
    }
    assert_eq!(made, ["0001", "0002", "0003", "0004", "0005"]);
    let listed = session.runs().into_iter().filter(|name| name.starts_with("000") && name != "0009");
    assert_eq!(listed.collect::<Vec<_>>(), made);
}

/// Refused and mistaken commands of every writing verb.
#[test]
fn g6_a_refusal_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    std::fs::write(session.handoff("0001"), "no handoff").unwrap();
    let before = facts(&session);
    for (args, code) in [
        (&["compact", "handoff"][..], 1),
        (&["compact", "handoff", "--check"], 1),
        (&["compact", "handoff", "--no-such"], 2),
        (&["compact", "handoff", "--into", "command/none"], 1),
        (&["compact", "finish"], 1),
        (&["compact", "abort", "--no-such"], 2),
        (&["session", "return", " "], 1),
        (&["session", "set", "/", "v"], 2),
        (&["launch", "command/none", "x"], 1),
    ] {
        session.verb("0001", args).run().exits(code);
    }
    for args in [
        &["resume", &session.id][..],
        &["relaunch", &session.id, "--cancel"],
        &["relaunch", &session.id, "--into", "command/idle"],
    ] {
        world.orbh(args).run().exits(1);
    }
    assert_eq!(facts(&session), before);
}

/// Before it every failure says that the context goes on; after it `handoff` is not refused any more.
#[test]
fn g7_a_handoff_is_accepted_by_one_system_call() {
    let world = World::new();
    let session = world.idle_session();
    let refused = session.verb("0001", ["compact", "handoff"]).run().exits(1);
    assert_eq!(refused.stderr.lines().last(), Some("Your context will NOT end."));
    session.verb("0001", ["compact", "handoff", "--no-such"]).run().exits(2).says("Your context will NOT end.");
    let (manager, mut handoff) = accepted(&session);
    // Given again, and after the draft has been spoiled: it was accepted.
    std::fs::remove_file(session.handoff("0001")).unwrap();
    let mut again = session.verb("0001", ["compact", "handoff"]).spawn();
    let mut said = std::io::BufReader::new(again.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut said, &mut first).unwrap();
    assert!(first.contains("accepted already"), "{first}");
    send(manager, Signal::SIGCONT);
    let again = again.wait_with_output().unwrap();
    assert!(matches!(again.status.code(), Some(75) | None), "{again:?}");
    assert!(!String::from_utf8(again.stderr).unwrap().contains("NOT end"));
    handoff.wait().unwrap();
    relaunched(&session);
}

/// What is written to the draft after the acceptance reaches nobody.
#[test]
fn g8_the_successor_reads_the_bytes_that_were_validated() {
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

/// A killed manager's lease is free, and the next one has it; while one lives, no other gets it.
#[test]
fn g9_a_manager_is_alive_if_its_lease_is_held() {
    let world = World::new();
    let session = world.idle_session();
    for _ in 0..3 {
        let manager = session.manager_pid();
        assert!(alive(manager) && session.managed());
        world.orbh(["relaunch", &session.id]).run().exits(75).says("has a manager already");
        send(manager, Signal::SIGKILL);
        unmanaged(&session);
        world.orbh(["resume", &session.id]).run().ok();
        assert_ne!(session.manager_pid(), manager);
    }
}

/// The manager dies before the context has ended, and after; one command takes what it had begun to its end.
#[test]
fn g10_a_dead_manager_is_replaced_by_one_command() {
    for recovery in ["resume", "relaunch"] {
        let world = World::new();
        let session = world.idle_session();
        let (manager, mut handoff) = accepted(&session);
        // The waiting handoff would replace it, too.
        handoff.kill().unwrap();
        handoff.wait().unwrap();
        send(manager, Signal::SIGKILL);
        unmanaged(&session);
        let verb = world.orbh([recovery, &session.id]).spawn();
        relaunched(&session);
        assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "compact");
        world.orbh(["kill", &session.id]).run().ok();
        assert!(verb.wait_with_output().unwrap().status.success());
    }
}

/// A run whose process is recorded is not started by another shim.
#[test]
fn g11_a_run_is_started_once() {
    let world = World::new();
    let session = world.idle_session();
    let before = facts(&session);
    let shim = world.program(env!("CARGO_BIN_EXE_orbh-shim")).env("ORBH_NONCE", "another");
    let mut shim = shim.bare();
    assert_eq!(shim.arg(session.path("runs/0001")).status().unwrap().code(), Some(3));
    assert_eq!(facts(&session), before);
}

/// A straggler of an old run, and one who does not know the nonce, change nothing.
#[test]
fn g12_only_the_current_run_acts() {
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

/// Damage is named by path and offset, and hides neither its session nor the one beside it.
#[test]
fn g14_damage_is_named_and_hides_nothing() {
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

/// R25: the mark stays up when the successor returns without `finish`.
#[test]
fn g15_an_unfinished_compaction_is_shown() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["session", "return", "done"]).run().ok();
    session.wait_end("0002");
    assert!(session.exists("scratch/compacting.json"));
    assert!(world.orbh(["list", "--all"]).run().exits(0).stdout.contains("[Compacting...]"));
}

/// An order to kill, a return and an intent that nobody can read stop nothing that lives, and start nothing.
#[test]
fn g16_damage_ends_no_context() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    let looked = || session.text("log/events.ndjson").unwrap().matches("manager-waits").count();
    for (index, name) in
        ["runs/0001/kill.json", "returns/0001.json", "scratch/relaunch.json", "runs/0001/end.json"].iter().enumerate()
    {
        std::fs::write(world.path().join("damaged"), "{").unwrap();
        std::fs::rename(world.path().join("damaged"), session.path(name)).unwrap();
        wait_for(name, || (looked() > index).then_some(()));
        session.verb("0001", ["compact", "start"]).run().exits(if name.ends_with("kill.json") { 0 } else { 65 });
        assert!(alive(harness), "{name}");
        std::fs::remove_file(session.path(name)).unwrap();
    }
    session.compact("0001", "0002");
    assert_eq!(session.runs(), ["0001", "0002"]);
}

/// Links where files and directories belong lead no verb, and no manager, out of the root.
#[test]
fn g17_nothing_is_written_through_a_symbolic_link() {
    let world = World::new();
    let session = world.idle_session();
    let elsewhere = world.path().join("elsewhere");
    crate::harness::private_dir(&elsewhere);
    std::fs::write(elsewhere.join("file"), "somebody else's").unwrap();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    for name in ["scratch/accepted-0001.md", "scratch/context-0001.json", "scratch/compactions.ndjson", "keys/title"] {
        let _ = std::fs::remove_file(session.path(name));
        std::os::unix::fs::symlink(elsewhere.join("file"), session.path(name)).unwrap();
    }
    std::fs::remove_dir_all(session.path("log")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, session.path("log")).unwrap();
    session.verb("0001", ["session", "set", "title", "t"]).run().ok();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    assert!(session.path("scratch/compactions.ndjson").symlink_metadata().unwrap().is_file());
    std::fs::rename(session.path("returns"), session.path("returns.old")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, session.path("returns")).unwrap();
    session.verb("0002", ["session", "return", "done"]).run().fails(65, &["returns", "symbolic link"]);
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(std::fs::read_to_string(elsewhere.join("file")).unwrap(), "somebody else's");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
}
