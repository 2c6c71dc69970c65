//! `orbh context` on the transcripts of real agents: neither its time nor its memory grows with the transcript.
//!
//!     cargo bench --bench occupancy        (ORBH_BENCH_ROUNDS=500 for more rounds; needs 2 GB of disk for a minute)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;

use harness::{Session, World};
use measure::{Spread, floor, rounds, tell_ratio, tell_times};
use nix::libc;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A gigabyte against a megabyte.
const GOAL: f64 = 1.1;
/// A gigabyte against an empty program.
const GOAL_SPAWN: f64 = 1.2;
const MEGABYTE: usize = 1 << 20;

struct Harness {
    runtime: &'static str,
    /// The record that is repeated, and the one that tells the occupancy.
    filler: &'static str,
    usage: &'static str,
    /// Where the transcript of this id belongs, below the home.
    place: fn(&str) -> String,
}

const HARNESSES: [Harness; 2] = [
    Harness {
        runtime: "claude",
        filler: r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":"Some words of a conversation that goes on and on, with \"usage\" in it."}}"#,
        usage: r#"{"type":"assistant","isSidechain":false,"message":{"model":"claude-sonnet-4-5","role":"assistant","content":[],"usage":{"input_tokens":3,"cache_creation_input_tokens":500,"cache_read_input_tokens":162000,"output_tokens":899}},"timestamp":"2026-11-30T18:27:11.655Z"}"#,
        place: |id| format!(".claude/projects/here/{id}.jsonl"),
    },
    Harness {
        runtime: "codex",
        filler: r#"{"timestamp":"2026-11-30T18:27:11.655Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Some words of a conversation that goes on and on."}]}}"#,
        usage: r#"{"timestamp":"2026-11-30T18:27:11.655Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"cached_input_tokens":0,"output_tokens":1,"reasoning_output_tokens":0,"total_tokens":10},"last_token_usage":{"input_tokens":163000,"cached_input_tokens":0,"output_tokens":402,"reasoning_output_tokens":0,"total_tokens":163402},"model_context_window":258400},"rate_limits":null}}"#,
        place: |id| format!(".codex/sessions/2026/11/30/rollout-2026-11-30T18-27-11-{id}.jsonl"),
    },
];

fn main() {
    let empty = floor("empty");
    for harness in &HARNESSES {
        let world = World::new();
        let small = session(&world, harness, 1, "11111111-2222-4333-8444-555555555555");
        let large = session(&world, harness, 1024, "22222222-2222-4333-8444-555555555555");
        let commands = [spawn(&world, &empty), context(&small), context(&large)];
        measure(harness, commands);
    }
}

/// A session whose transcript has so many megabytes.
fn session<'w>(world: &'w World, harness: &Harness, megabytes: usize, id: &str) -> Session<'w> {
    let program = world.script("agent", "#!/bin/sh\nexec sleep 100000\n");
    let dir = world.config().join("profiles").join(harness.runtime);
    std::fs::create_dir_all(&dir).unwrap();
    let profile = serde_json::json!({"command": [program], "class": "full"});
    std::fs::write(dir.join("bench.json"), profile.to_string()).unwrap();
    let session = world.launch(&format!("{}/bench", harness.runtime), "be measured");
    session.pid("0001");
    std::fs::write(session.path("runs/0001/native.json"), format!("{{\"v\":1,\"id\":\"{id}\"}}\n")).unwrap();
    let transcript = world.home().join((harness.place)(id));
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    fill(&transcript, harness, megabytes);
    let said = world.orbh(["context", &session.id]).run().ok();
    assert!(said.starts_with("163402 / "), "{said}");
    session
}

fn fill(path: &Path, harness: &Harness, megabytes: usize) {
    let line = format!("{}\n", harness.filler);
    let block = line.repeat(MEGABYTE / line.len());
    let mut file = std::fs::File::create(path).unwrap();
    for _ in 0..megabytes {
        file.write_all(block.as_bytes()).unwrap();
    }
    writeln!(file, "{}", harness.usage).unwrap();
}

fn context(session: &Session) -> Command {
    let mut command = session.world.program(env!("CARGO_BIN_EXE_orbh-context")).bare();
    command.arg(&session.id);
    command
}

fn spawn(world: &World, program: &PathBuf) -> Command {
    world.program(program).bare()
}

fn measure(harness: &Harness, mut commands: [Command; 3]) {
    let rounds = rounds(200);
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut peaks: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds + 10 {
        for turn in 0..commands.len() {
            let at = (round + turn) % commands.len();
            let (took, peak) = run(&mut commands[at]);
            // The first rounds warm up.
            if round >= 10 {
                times[at].push(took);
                peaks[at].push(peak);
            }
        }
    }
    println!("\norbh context, {}, {rounds} rounds: the median (min … max)", harness.runtime);
    for (name, times) in ["an empty program", "a transcript of 1 MB", "a transcript of 1 GB"].iter().zip(&times) {
        tell_times(name, times);
    }
    println!("    1 GB against 1 MB");
    tell_ratio(&times[2], &times[1], GOAL);
    println!("    1 GB against an empty program");
    tell_ratio(&times[2], &times[0], GOAL_SPAWN);
    let [empty, small, large] = peaks.map(|peaks| Spread::of(peaks).median);
    println!("    peak memory, at most: empty {empty:.0} KiB, 1 MB {small:.0} KiB, 1 GB {large:.0} KiB");
}

/// The time that a command takes, in nanoseconds, and its peak memory, in KiB: never less than the bench itself has,
/// from which it was spawned.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, and tells its memory")]
fn run(command: &mut Command) -> (f64, f64) {
    let begin = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // SAFETY: all zeros is a rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: the child is ours, and both pointers are to what wait4(2) fills in.
    let waited = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
    let took = begin.elapsed();
    assert!(waited > 0 && status == 0, "{status}");
    (took.as_nanos() as f64, usage.ru_maxrss as f64)
}
