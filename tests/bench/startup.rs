//! Start-up: every verb in its cheapest use, against an empty program of the same profile that does the reads which the
//! verb cannot do without.
//!
//!     cargo bench --bench startup        (ORBH_BENCH_ROUNDS=1000 for more rounds; --profile dist as packages are)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;
#[path = "startup/verbs.rs"]
mod verbs;

use harness::{Session, World, wait_for};
use measure::{Spread, floor, rounds};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use verbs::Verb;

const GOAL: f64 = 1.2;

fn main() {
    let world = World::new();
    let session = world.idle_session();
    session.pid("0001");
    session.verb("0001", ["session", "register", "a title", "a description"]).run().exits(0);
    std::fs::write(session.path("scratch/context-0001.json"), "{\"used\": 1000, \"max\": 200000}\n").unwrap();
    let returned = world.launch("command/idle", "return");
    returned.pid("0001");
    returned.verb("0001", ["session", "return", "done"]).run().exits(0);
    returned.wait_fact("runs/0001/end.json");
    // Its manager has nothing left to do.
    wait_for("the manager of the session that returned to leave", || (!returned.managed()).then_some(()));

    let (empty, reads) = (floor("empty"), floor("reads"));
    let rounds = rounds(200);
    println!(
        "\nstart-up, {rounds} rounds: medians in ms, the ratio in pairs, and the ratio of instructions where there is valgrind"
    );
    println!("    {:<34} {:>7} {:>7} {:>7} {:>7} {:>7}", "verb", "empty", "floor", "verb", "ratio", "instr.");
    let mut worst = (0.0, "");
    for verb in verbs::all(&session, &returned) {
        let commands = [(&empty, Vec::new()), (&reads, verb.reads), (&verb.program, verb.arguments)];
        let ratio = measure_one(&session, verb.name, commands, rounds);
        if ratio > worst.0 {
            worst = (ratio, verb.name);
        }
    }
    println!("    goal ≤ {GOAL}, measured {:.2} at most ({})", worst.0, worst.1);
}

/// A command as an agent of the session would give it.
fn command(session: &Session, program: &Path, arguments: &[String]) -> Command {
    let cmd = session.world.program(program);
    let mut command = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").bare();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn measure_one(session: &Session, name: &str, commands: [(&PathBuf, Vec<String>); 3], rounds: usize) -> f64 {
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..rounds + 5 {
        for turn in 0..commands.len() {
            // Each is the first of a round as often as the others.
            let at = (round + turn) % commands.len();
            let mut command = command(session, commands[at].0, &commands[at].1);
            let begin = Instant::now();
            let status = command.status().unwrap();
            let took = begin.elapsed();
            // A refusal is an answer; only a floor must not fail.
            assert!(status.success() || (at == 2 && status.code().is_some()), "{name}, {at}: {status}");
            // The first rounds warm up.
            if round >= 5 {
                times[at].push(took.as_nanos() as f64);
            }
        }
    }
    let median = |times: &Vec<f64>| Spread::of(times.iter().map(|one| one / 1e6)).median;
    let ratio = Spread::of(times[2].iter().zip(&times[1]).map(|(verb, floor)| verb / floor)).median;
    let counts = [1, 2].map(|at| instructions(session, commands[at].0, &commands[at].1));
    let counted = match counts {
        [Some(floor), Some(verb)] => format!("{:.2}", verb / floor),
        _ => "-".to_owned(),
    };
    let [empty, floor, verb] = [0, 1, 2].map(|at| median(&times[at]));
    println!("    {name:<34} {empty:>7.3} {floor:>7.3} {verb:>7.3} {ratio:>7.2} {counted:>7}");
    ratio
}

/// Exact and repeatable, where there is valgrind.
fn instructions(session: &Session, program: &Path, arguments: &[String]) -> Option<f64> {
    let mut all = vec!["--tool=callgrind".to_owned(), "--callgrind-out-file=/dev/null".to_owned()];
    all.push(program.to_str()?.to_owned());
    all.extend(arguments.iter().cloned());
    let output = command(session, Path::new("valgrind"), &all).stderr(Stdio::piped()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}
