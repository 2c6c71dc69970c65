//! The succession: from the commit of a handoff to the first instruction of the successor, against the least that it can
//! be: the death of the old harness, as many durable writes, and the spawn of the new one, in the same directory and
//! round. On tmpfs, where there is one, on the file system of the build, and in the directories that are given.
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

const GOAL: f64 = 1.5;
/// What a succession cannot but write: the handoff in its place, the end of the old run, the directory, prompt, target
/// and record of the new one, and its process.
const WRITES: &str = "7";

fn main() {
    let (harness, floor) = (floor("stamp"), floor("succeed"));
    // What cargo adds (`--bench`) is none of the directories.
    let given = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let tmpfs = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
    for place in tmpfs.into_iter().chain([directory().to_owned()]).chain(given) {
        measure_in(&place, &harness, &floor);
    }
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
    tell_times("death, 7 durable writes, spawn", &floors);
    tell_times("from the commit to the successor", &ours);
    tell_ratio(&ours, &floors, GOAL);
}

/// One succession of a session of its own, in nanoseconds.
fn succession(world: &World, round: usize) -> f64 {
    let cwd = world.work().join(format!("round-{round}"));
    std::fs::create_dir(&cwd).unwrap();
    let id = world.orbh(["launch", "command/stamp", "be measured", "--cwd", &cwd.to_string_lossy()]).run().ok();
    let session = Session::new(world, id.trim());
    let stamp = |run: &str| {
        let path = cwd.join(format!("stamp-{run}"));
        wait_for("a stamp", || std::fs::read_to_string(&path).ok()?.trim().parse::<i64>().ok())
    };
    stamp("0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    // In this process, so that the moment of the commit is known to the microsecond.
    let environment = environment(&session);
    let caller = Caller::of(&environment, "bench").unwrap();
    commit(&caller, &environment, &Wish::default()).unwrap();
    let committed = monotonic();
    let took = stamp("0002") - committed;
    session.world.orbh(["kill", &session.id]).run().exits(0);
    took as f64
}

fn environment(session: &Session) -> Environment {
    let record = session.wait_fact("runs/0001/pid");
    let world = session.world;
    let variables: [(OsString, OsString); 6] = [
        ("ORBH_ROOT".into(), world.root().into()),
        ("ORBH_CONFIG".into(), world.config().into()),
        ("ORBH_SESSION_ID".into(), session.id.clone().into()),
        ("ORBH_RUN".into(), "0001".into()),
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
    let output = command.arg(harness).arg(&dir).arg(WRITES).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

fn monotonic() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
