//! The succession: from the commit of a handoff to the first instruction of the successor, against the least that it can
//! be: the death of the old harness, as many durable writes, and the spawn of the new one, in the same directory and
//! round. On tmpfs, where there is one, on the file system of the build, and in the directories that are given.
//!
//! And that it does not grow: the same with a session that has had a thousand runs, and has a large log and scratch, so
//! that a manager which kept or read all of that would need longer.
//!
//!     cargo bench --bench succession [-- DIR…]       (ORBH_BENCH_ROUNDS=100 for more rounds)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;

use harness::{Session, World, wait_for};
use measure::{directory, floor, rounds, tell_ratio, tell_times};
use nix::libc;
use shared::verbs::caller::Caller;
use shared::verbs::environment::Environment;
use shared::verbs::succession::handoff::{Wish, commit};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

const GOAL: f64 = 1.5;
/// A session with a long past against a new one.
const GOAL_FLAT: f64 = 1.1;
/// What a succession cannot but write before the new harness is executed (relaunch.json is taken away after that).
const WRITES: [&str; 7] = [
    "the accepted handoff, put over the draft",
    "end.json of the old run",
    "the directory of the new run",
    "its prompt.md",
    "target.json",
    "its run.json",
    "its pid",
];
/// How long everything is quiet before a commit.
const REST: Duration = Duration::from_millis(400);
/// The past of the other session.
const RUNS: u32 = 1000;
const LOG_MEGABYTES: usize = 64;
const FILES: usize = 2000;

fn main() {
    let (harness, floor) = (floor("stamp"), floor("succeed"));
    // What cargo adds (`--bench`) is none of the directories.
    let given = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let tmpfs = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
    for place in tmpfs.into_iter().chain([directory().to_owned()]).chain(given) {
        measure_in(&place, &harness, &floor);
    }
    let place = if Path::new("/dev/shm").is_dir() { Path::new("/dev/shm") } else { directory() };
    measure_growth(place, &harness);
}

fn measure_in(place: &Path, harness: &Path, floor: &Path) {
    let rounds = rounds(40);
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    let world = World::under(place);
    world.profile("stamp", &serde_json::json!({"command": [harness], "class": "full", "context_window": 200_000}));
    for round in 0..rounds + 2 {
        let mine = succession(&world, round);
        let least = least(&world, harness, floor, round);
        // The first rounds warm up.
        if round >= 2 {
            ours.push(mine);
            floors.push(least);
        }
    }
    println!("\nsuccession in {}, {rounds} rounds: the median (min … max)", place.display());
    println!("    durable writes: {}", WRITES.join(", "));
    tell_times(&format!("death, {} durable writes, spawn", WRITES.len()), &floors);
    tell_times("from the commit to the successor", &ours);
    tell_ratio(&ours, &floors, GOAL);
}

/// Nothing but what the manager remembers or reads can make a difference here: both are on the same file system.
fn measure_growth(place: &Path, harness: &Path) {
    let rounds = rounds(40);
    let world = World::under(place);
    world.profile("stamp", &serde_json::json!({"command": [harness], "class": "full", "context_window": 200_000}));
    let long = with_a_past(&world);
    let (mut news, mut longs, mut memory) = (Vec::new(), Vec::new(), [0.0; 2]);
    for round in 0..rounds + 2 {
        let session = launch(&world, round);
        let new = succeed(&session, 1);
        memory[0] = resident(&session);
        world.orbh(["kill", &session.id]).run().exits(0);
        let number = RUNS + 1 + u32::try_from(round).unwrap();
        let old = succeed(&long, number);
        memory[1] = resident(&long);
        long.verb(&format!("{:04}", number + 1), ["compact", "finish"]).run().exits(0);
        if round >= 2 {
            news.push(new);
            longs.push(old);
        }
    }
    world.orbh(["kill", &long.id]).run().exits(0);
    println!(
        "\nsuccession of a session with {RUNS} runs, a log of {LOG_MEGABYTES} MB and {FILES} files in scratch, {rounds} rounds"
    );
    tell_times("a new session", &news);
    tell_times("that session", &longs);
    tell_ratio(&longs, &news, GOAL_FLAT);
    println!("    memory of the manager: {:.0} KiB, {:.0} KiB", memory[0], memory[1]);
}

/// A session that was resumed after so many runs.
fn with_a_past(world: &World) -> Session<'_> {
    let session = launch(world, usize::MAX);
    world.orbh(["kill", &session.id]).run().exits(0);
    wait_for("its manager to leave", || (!session.managed()).then_some(()));
    let facts = ["run.json", "pid", "end.json", "prompt.md"];
    for number in 2..=RUNS {
        let dir = session.path(&format!("runs/{number:04}"));
        std::fs::create_dir(&dir).unwrap();
        for fact in facts {
            std::fs::copy(session.path(&format!("runs/0001/{fact}")), dir.join(fact)).unwrap();
        }
    }
    let line = "{\"v\":1,\"at\":\"2026-01-01T00:00:00.000+00:00\",\"event\":\"note\",\"text\":\"long ago\"}\n";
    let log = session.text("log/events.ndjson").unwrap();
    std::fs::write(session.path("log/events.ndjson"), log + &line.repeat((LOG_MEGABYTES << 20) / line.len())).unwrap();
    for number in 0..FILES {
        std::fs::write(session.path(&format!("scratch/note-{number}")), "something to remember\n").unwrap();
    }
    world.orbh(["resume", &session.id]).run().exits(0);
    session
}

/// In KiB.
fn resident(session: &Session) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{}/status", session.manager_pid())).unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// One succession of a session of its own, in nanoseconds.
fn succession(world: &World, round: usize) -> f64 {
    let session = launch(world, round);
    let took = succeed(&session, 1);
    world.orbh(["kill", &session.id]).run().exits(0);
    took
}

fn launch(world: &World, round: usize) -> Session<'_> {
    let cwd = world.work().join(format!("round-{round}"));
    std::fs::create_dir(&cwd).unwrap();
    let id = world.orbh(["launch", "command/stamp", "be measured", "--cwd", &cwd.to_string_lossy()]).run().ok();
    Session::new(world, id.trim())
}

/// The succession of a run, in nanoseconds.
fn succeed(session: &Session, number: u32) -> f64 {
    let cwd = session.fact("session.json").unwrap()["cwd"].as_str().map(PathBuf::from).unwrap();
    let stamp = |run: &str| {
        let path = cwd.join(format!("stamp-{run}"));
        wait_for("a stamp", || std::fs::read_to_string(&path).ok()?.trim().parse::<i64>().ok())
    };
    let (run, next) = (format!("{number:04}"), format!("{:04}", number + 1));
    stamp(&run);
    session.verb(&run, ["compact", "start"]).run().exits(0);
    session.write_good_handoff(&run);
    // An agent drafts for minutes. A manager that has just had a relaunch to carry out, and a verb after the other since,
    // may owe a pause between its looks.
    std::thread::sleep(REST);
    // In this process, so that the moment of the commit is known to the microsecond.
    let environment = environment(session, &run);
    let caller = Caller::of(&environment, "bench").unwrap();
    commit(&caller, &environment, &Wish::default()).unwrap();
    let committed = monotonic();
    (stamp(&next) - committed) as f64
}

fn environment(session: &Session, run: &str) -> Environment {
    let record = session.wait_fact(&format!("runs/{run}/pid"));
    let world = session.world;
    let variables: [(OsString, OsString); 6] = [
        ("ORBH_ROOT".into(), world.root().into()),
        ("ORBH_CONFIG".into(), world.config().into()),
        ("ORBH_SESSION_ID".into(), session.id.clone().into()),
        ("ORBH_RUN".into(), run.into()),
        ("ORBH_NONCE".into(), record["nonce"].as_str().unwrap().into()),
        ("PATH".into(), "/usr/bin:/bin".into()),
    ];
    Environment::new(variables.into_iter(), Some(world.work()), Some(harness::bin_dir()))
}

/// The floor, in nanoseconds.
fn least(world: &World, harness: &Path, floor: &Path, round: usize) -> f64 {
    let dir = world.path().join(format!("floor-{round}"));
    std::fs::create_dir(&dir).unwrap();
    let mut command = world.program(floor).bare();
    let output = command.arg(harness).arg(&dir).arg(WRITES.len().to_string()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

fn monotonic() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
