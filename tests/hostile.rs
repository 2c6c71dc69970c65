//! What an agent, a hand edit or a failing disk can do to a session's files, and that none of it costs a context, ends a
//! live one, or leaves a session that no verb recovers.

use crate::harness::{Session, World, alive, bin_dir, is_root, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use std::os::unix::fs::PermissionsExt;

mod deeds;
mod denied;
mod lost;
mod names;
mod shown;
mod table;
mod way;
mod wrong;

fn edit(session: &Session, below: &str, change: impl FnOnce(&mut serde_json::Value)) {
    let mut fact = session.fact(below).unwrap();
    change(&mut fact);
    std::fs::write(session.path("new"), fact.to_string()).unwrap();
    std::fs::rename(session.path("new"), session.path(below)).unwrap();
}

/// A run that was created before a reboot and started after it belongs to the boot in which it was started.
#[test]
fn a_run_belongs_to_the_boot_in_which_it_was_started() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    session.kill_manager();
    edit(&session, "runs/0001/run.json", |run| run["boot_id"] = "of an earlier boot".into());
    assert!(world.orbh(["resume", &session.id]).run().ok().contains("was alive"));
    assert!(alive(harness));
    assert_eq!(session.runs(), ["0001"]);
}

#[test]
fn a_run_of_an_earlier_boot_is_lost_whatever_has_its_number_now() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    session.kill_manager();
    edit(&session, "runs/0001/pid", |pid| pid["boot_id"] = "of an earlier boot".into());
    assert!(world.orbh(["resume", &session.id]).run().ok().contains("0002 (resume)"));
    assert_eq!(session.wait_end("0001"), "lost");
    // Nobody can know that it is not a stranger.
    assert!(alive(harness));
}

/// An intent that fits no run is called off; the context goes on, and its own handoff is carried out afterwards.
#[test]
fn an_intent_that_fits_no_run_is_called_off() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    let intent = r#"{"v":1,"kind":"compact","closing":"0007","sha256":"00","target":"command/idle","at":"2026-11-30T12:00:00Z"}"#;
    std::fs::write(session.path("scratch/new"), intent).unwrap();
    std::fs::rename(session.path("scratch/new"), session.path("scratch/relaunch.json")).unwrap();
    session.wait_fact("scratch/relaunch.cancelled.json");
    assert!(alive(harness) && !session.exists("scratch/relaunch.json"));
    session.compact("0001", "0002");
}

/// Whatever stands in the place of the accepted bytes: they are not what was accepted, and the context goes on.
#[test]
fn a_symlink_in_place_of_the_accepted_bytes_calls_the_handoff_off() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    std::fs::remove_file(session.path("scratch/accepted-0001.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", session.path("scratch/accepted-0001.md")).unwrap();
    signal(manager, Signal::SIGCONT);
    session.wait_fact("scratch/relaunch.cancelled.json");
    assert_eq!(outcome(verb).exits(75).stdout.lines().last(), Some("called off; your context goes on"));
    assert!(alive(session.pid("0001")));
}

/// R23: an agent that dies cannot take along what it handed off.
#[test]
fn a_dying_agent_cannot_remove_its_accepted_handoff() {
    let world = World::new();
    world.agent(
        "spiteful",
        "trap 'rm -f $ORBH_ROOT/sessions/*/scratch/accepted-*; exit 0' TERM\nwhile :; do sleep 0.05; done\n",
    );
    let session = world.launch("command/spiteful", "spite");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
    assert_eq!(session.wait_end("0001"), "compacted");
    assert_eq!(session.text("scratch/accepted-0001.md").unwrap(), session.good_handoff("run 0001"));
}

/// A log that blocks its writers would keep the verb, and the claim that it holds.
#[test]
fn a_full_fifo_as_the_log_blocks_nobody() {
    let world = World::new();
    let session = world.idle_session();
    let log = session.path("log/events.ndjson");
    std::fs::remove_file(&log).unwrap();
    nix::unistd::mkfifo(&log, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let full = std::fs::OpenOptions::new().read(true).write(true).open(&log).unwrap();
    let mut flags = nix::fcntl::OFlag::from_bits_retain(nix::fcntl::fcntl(&full, nix::fcntl::F_GETFL).unwrap());
    flags.insert(nix::fcntl::OFlag::O_NONBLOCK);
    nix::fcntl::fcntl(&full, nix::fcntl::F_SETFL(flags)).unwrap();
    while std::io::Write::write(&mut &full, &[b'x'; 4096]).is_ok() {}
    session.compact("0001", "0002");
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(session.wait_end("0002"), "killed");
}

/// An administrator may clear away what is over.
#[test]
fn an_old_run_that_is_cleared_away_stops_nobody() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    std::fs::remove_dir_all(session.path("runs/0001")).unwrap();
    session.compact("0002", "0003");
    assert_eq!(session.runs(), ["0002", "0003"]);
}

#[test]
fn a_damaged_intent_does_not_stand_in_the_way_of_a_kill() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    std::fs::write(session.path("scratch/relaunch.json"), "x").unwrap();
    world.orbh(["kill", &session.id]).run().ok();
    assert!(!alive(harness));
    assert!(session.exists("scratch/relaunch.damaged.json"));
}

/// What is too large to be a fact is damage, and is not read into memory.
#[test]
fn a_fact_of_terabytes_is_damage() {
    let world = World::new();
    let session = world.idle_session();
    let file = std::fs::File::create(session.path("scratch/compacting.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    session.verb("0001", ["compact", "start"]).run().fails(65, &["larger than anything there"]);
    world.orbh(["inspect", &session.id]).run().exits(65);
    world.orbh(["kill", &session.id]).run().ok();
}

#[test]
fn a_plain_file_among_the_runs_is_none() {
    let world = World::new();
    let session = world.idle_session();
    std::fs::write(session.path("runs/0009"), "").unwrap();
    session.compact("0001", "0002");
}

/// A spool that cannot be read for a while was not removed: its run goes on, and so does its manager.
#[test]
fn a_spool_that_cannot_be_read_for_a_while_is_not_forgotten() {
    if is_root() {
        println!("skipped: the superuser can read everything");
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    let (harness, manager) = (session.pid("0001"), session.manager_pid());
    let sessions = world.root().join("sessions");
    let mode = |mode| std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(mode)).unwrap();
    let sleeps = || {
        let status = std::fs::read_to_string(format!("/proc/{manager}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    let before = sleeps();
    mode(0o000);
    // The manager is woken, finds nothing that it may read, and goes to sleep again.
    signal(manager, Signal::SIGCHLD);
    wait_for("the manager to have looked", || (sleeps() > before + 1).then_some(()));
    mode(0o700);
    assert!(alive(harness) && alive(manager));
    session.compact("0001", "0002");
}

/// The way back from a manager that somebody stopped is shown wherever the session is.
#[test]
fn a_stopped_manager_is_named() {
    let world = World::new();
    let session = world.idle_session();
    let manager = session.manager_pid();
    signal(manager, Signal::SIGSTOP);
    let hint = format!("kill -CONT {manager}");
    wait_for("the hint", || (session.inspect()["hint"] == hint.as_str()).then_some(()));
    world.orbh(["list"]).run().exits(0).says(&hint);
    let status = world.orbh(["compact", "status", &session.id]).run().ok();
    assert!(status.contains("is stopped") && status.contains(&hint), "{status}");
    signal(manager, Signal::SIGCONT);
}

/// A successor that died with its manager is not waited for.
#[test]
fn a_dead_successor_is_failed_and_not_bootstrapping() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.kill_manager();
    kill_dead(session.pid("0002"));
    assert_eq!(session.phase(), "failed");
    let hint = session.inspect()["compaction"]["hint"].as_str().unwrap().to_owned();
    assert_eq!(hint, format!("orbh resume {}", session.id));
}

/// A shim that somebody stopped keeps its manager from nothing: the relaunch can be called off, and the session resumed.
#[test]
fn a_stopped_shim_does_not_deafen_its_manager() {
    let world = World::new();
    world.idle_agent();
    // A manager takes the shim that lies beside it.
    let bin = world.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["orbh", "orbh-launch", "orbh-relaunch", "orbh-shim"] {
        std::fs::copy(bin_dir().join(name), bin.join(name)).unwrap();
    }
    let launched = world.program(bin.join("orbh")).bare_args(["launch", "command/idle", "do nothing"]).run().ok();
    let session = Session::new(&world, launched.trim());
    let manager = session.manager_pid();
    let stopping = world.script("stopping", "#!/bin/sh\nkill -STOP $$\n");
    std::fs::rename(stopping, bin.join("orbh-shim")).unwrap();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    let verb = session.verb("0001", ["compact", "handoff"]).spawn();
    session.wait_fact("runs/0002/run.json");
    let stopped = || {
        let all = shared::ground::process::all();
        all.into_iter().find(|one| one.parent == manager && one.state == 'T').map(drop)
    };
    wait_for("the shim to stop", stopped);
    outcome(verb).accepted();
    world.orbh(["relaunch", &session.id, "--cancel"]).run().ok();
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    world.orbh(["resume", &session.id]).run().ok();
    assert!(alive(session.pid("0003")));
}
