//! Start-up: two verbs that agents and status lines call all the time, against an empty program of the same profile, and
//! against one that does the reads which the verb cannot do without (the goal is about that one).
//!
//!     cargo bench --bench startup        (ORBH_BENCH_ROUNDS=1000 for more rounds; --profile dist as packages are)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;

use harness::{Session, World};
use measure::{floor, rounds, tell_ratio, tell_times};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

const GOAL: f64 = 1.2;

struct Candidate {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
}

struct Verb {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// What tests/bench/floor/reads.rs is to read.
    reads: Vec<String>,
}

fn main() {
    let world = World::new();
    let session = world.idle_session();
    session.pid("0001");
    session.verb("0001", ["session", "register", "a title", "a description"]).run().exits(0);
    std::fs::write(session.path("scratch/context-0001.json"), "{\"used\": 1000, \"max\": 200000}\n").unwrap();
    let (empty, reads) = (floor("empty"), floor("reads"));
    for verb in verbs(&session) {
        let floor_name = "the same, and the reads that it must do";
        let candidates = [
            Candidate { name: "an empty program", program: empty.clone(), arguments: Vec::new() },
            Candidate { name: floor_name, program: reads.clone(), arguments: verb.reads },
            Candidate {
                name: verb.name,
                program: verb.program,
                arguments: verb.arguments.iter().map(|text| (*text).to_owned()).collect(),
            },
        ];
        time(&session, &candidates);
        count_instructions(&session, &candidates);
    }
}

fn verbs(session: &Session) -> [Verb; 2] {
    let path = |below: &str| session.path(below).display().to_string();
    let trusted = || vec![format!("?{}", session.world.root().display()), format!("?{}", path(""))];
    let of_context = ["runs/", "runs/0001/run.json", "scratch/context-0001.json"].map(path);
    let of_get = ["keys/title"].map(path);
    [
        Verb {
            name: "orbh-context",
            program: env!("CARGO_BIN_EXE_orbh-context").into(),
            arguments: &[],
            reads: trusted().into_iter().chain(of_context).collect(),
        },
        Verb {
            name: "orbh-session get title",
            program: env!("CARGO_BIN_EXE_orbh-session").into(),
            arguments: &["get", "title"],
            reads: trusted().into_iter().chain(of_get).collect(),
        },
    ]
}

/// A command as an agent of the session would give it.
fn command(session: &Session, candidate: &Candidate) -> Command {
    let cmd = session.world.program(&candidate.program);
    let mut command = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").bare();
    command.args(&candidate.arguments).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn time(session: &Session, candidates: &[Candidate; 3]) {
    let rounds = rounds(400);
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds + 10 {
        for turn in 0..candidates.len() {
            // Each is the first of a round as often as the others.
            let at = (round + turn) % candidates.len();
            let mut command = command(session, &candidates[at]);
            let begin = Instant::now();
            let status = command.status().unwrap();
            let took = begin.elapsed();
            assert!(status.success(), "{}: {status}", candidates[at].name);
            // The first rounds warm up.
            if round >= 10 {
                times[at].push(took.as_nanos() as f64);
            }
        }
    }
    println!("\nstart-up of {}, {rounds} rounds: the median (min … max)", candidates[2].name);
    for (candidate, times) in candidates.iter().zip(&times) {
        tell_times(candidate.name, times);
    }
    tell_ratio(&times[2], &times[1], GOAL);
}

/// Exact and repeatable, where there is valgrind.
fn count_instructions(session: &Session, candidates: &[Candidate; 3]) {
    let counts: Vec<Option<f64>> = candidates.iter().map(|candidate| instructions(session, candidate)).collect();
    let [Some(empty), Some(floor), Some(verb)] = counts[..] else {
        println!("    instructions: not counted, there is no valgrind");
        return;
    };
    println!("    instructions: empty {empty:.0}, with reads {floor:.0}, {} {verb:.0}", candidates[2].name);
    println!("    ratio of instructions {:.2}", verb / floor);
}

fn instructions(session: &Session, candidate: &Candidate) -> Option<f64> {
    let program = Candidate {
        name: candidate.name,
        program: "valgrind".into(),
        arguments: ["--tool=callgrind", "--callgrind-out-file=/dev/null", candidate.program.to_str()?]
            .into_iter()
            .map(str::to_owned)
            .chain(candidate.arguments.iter().cloned())
            .collect(),
    };
    let output = command(session, &program).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}
