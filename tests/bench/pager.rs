//! From the rename that delivers a message to the first byte of the Page that an armed pager prints, against a minimal
//! program of the notify crate that watches the same directory and prints a line.
//!
//!     cargo bench --bench pager        (ORBH_BENCH_ROUNDS=500 for more rounds; --profile dist as packages are)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;

use harness::{Session, World, wait_for};
use measure::{rounds, tell_ratio, tell_times};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const GOAL: f64 = 1.2;
/// The word by which this program becomes the floor.
const FLOOR: &str = "floor";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, dir] = &arguments[..]
        && word == FLOOR
    {
        return watch(Path::new(dir));
    }
    let world = World::fast();
    let session = world.idle_session();
    session.pid("0001");
    let rounds = rounds(100);
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..rounds + 3 {
        for turn in 0..2 {
            let which = (round + turn) % 2;
            let child = if which == 0 { floor(&session) } else { pager(&session) };
            // What it does besides, after it has said that it is armed, is over by then.
            std::thread::sleep(Duration::from_millis(30));
            let took = deliver(&session, child, &format!("{round}.{turn}.x"));
            // The first rounds warm up.
            if round >= 3 {
                times[which].push(took);
            }
            session.verb("0001", ["page"]).run().exits(0);
        }
    }
    println!("\nrename into inbox/new until the first byte, {rounds} rounds");
    tell_times("a minimal program of notify", &times[0]);
    tell_times("orbh page arm", &times[1]);
    tell_ratio(&times[1], &times[0], GOAL);
}

/// The floor: wakes for the first event that is no reading, prints a line, ends.
fn watch(dir: &Path) {
    let (tell, told) = channel();
    let mut watcher = RecommendedWatcher::new(
        move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
                let _ = tell.send(());
            }
        },
        Config::default(),
    )
    .unwrap();
    watcher.watch(dir, RecursiveMode::NonRecursive).unwrap();
    eprintln!("armed");
    told.recv().unwrap();
    std::io::stdout().write_all(b"something came\n").unwrap();
    // Not what is measured: the end of a watch takes milliseconds.
    std::process::exit(0);
}

fn floor(session: &Session) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([FLOOR.as_ref(), session.path("inbox/new").as_os_str()]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "armed\n");
    child
}

fn pager(session: &Session) -> Child {
    let child = session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0").spawn();
    let said = || serde_json::from_str::<serde_json::Value>(&session.text("scratch/pager.lock")?).ok();
    wait_for("the pager to be armed", || {
        said().filter(|said| said["pid"] == i64::from(child.id()) && said["watch"].is_string())
    });
    child
}

/// The time from the rename to the first byte, in nanoseconds.
fn deliver(session: &Session, mut child: Child, name: &str) -> f64 {
    let (aside, new) = (session.path(&format!("inbox/tmp/{name}")), session.path(&format!("inbox/new/{name}")));
    std::fs::write(&aside, "From: ada@example.org\nSubject: something\n\nThe text.\n").unwrap();
    let mut out = child.stdout.take().unwrap();
    let begin = Instant::now();
    std::fs::rename(aside, new).unwrap();
    let mut byte = [0];
    out.read_exact(&mut byte).unwrap();
    let took = begin.elapsed();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    took.as_nanos() as f64
}
