//! Mail: what a durable message costs against the writes that it cannot do without, in process and as a command; and
//! that a Page does not grow with what was shown before.
//!
//!     cargo bench --bench mail [-- DIR…]       (ORBH_BENCH_ROUNDS=500 for more rounds)
#![allow(missing_docs, dead_code, unused_imports, clippy::unwrap_used)]

#[path = "../harness/mod.rs"]
mod harness;
mod measure;

use harness::{Session, World};
use measure::{directory, floor, rounds, tell_ratio, tell_times};
use shared::ground::clock::At;
use shared::ground::dir::Dir;
use shared::spool::id::MessageId;
use shared::spool::inbox::Inbox;
use shared::spool::letter::{Draft, Sender, compose};
use shared::spool::root::Root;
use shared::spool::session::Spool;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// In process, against the writes alone.
const GOAL_SEND: f64 = 1.15;
/// As a command, against a program that starts and does the writes.
const GOAL_COMMAND: f64 = 1.2;
/// A Page over many that were shown, against one without them.
const GOAL_PAGE: f64 = 1.2;
/// How many were shown, and how many are new.
const SHOWN: usize = 5000;
const NEW: usize = 50;

fn main() {
    let given: Vec<PathBuf> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).map(PathBuf::from).collect();
    let tmpfs = Path::new("/dev/shm");
    let mut places: Vec<PathBuf> = tmpfs.is_dir().then(|| tmpfs.to_owned()).into_iter().collect();
    places.push(directory().to_owned());
    places.extend(given);
    for place in places {
        let world = World::under(&place);
        let session = world.idle_session();
        session.pid("0001");
        println!("\nmail in {}", place.display());
        send(&session);
        command(&session);
        page(&world);
    }
}

fn spool(session: &Session) -> Spool {
    Root::open(&session.world.root()).unwrap().session(&session.id.parse().unwrap()).unwrap()
}

/// A message of 512 bytes.
fn message(spool: &Spool, id: &MessageId, at: At) -> Vec<u8> {
    let from = Sender::User("bench".to_owned());
    let text = |length: usize| "x".repeat(length);
    let draft = |text: &str| {
        compose(&Draft { id, at, from: &from, to: spool.id(), subject: Some("a bench"), in_reply_to: None, text })
    };
    let bare = draft("").len();
    draft(&text(512_usize.saturating_sub(bare)))
}

fn send(session: &Session) {
    let spool = spool(session);
    let inbox = Inbox::of(&spool);
    let rounds = rounds(300);
    let (mut ours, mut least) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let name = format!("floor-{round}");
        let begin = Instant::now();
        let (tmp, new) = (inbox.dir().join("tmp").join(&name), inbox.dir().join("new").join(&name));
        let mut file = File::create_new(&tmp).unwrap();
        file.write_all(&[b'x'; 512]).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(&tmp, &new).unwrap();
        File::open(inbox.dir().join("new")).unwrap().sync_all().unwrap();
        least.push(begin.elapsed().as_nanos() as f64);
        let begin = Instant::now();
        let (id, at) = (MessageId::message(), At::now());
        let bytes = message(&spool, &id, at);
        inbox.deliver(&id, at, &bytes).unwrap();
        ours.push(begin.elapsed().as_nanos() as f64);
        empty(&inbox.dir().join("new"));
    }
    println!("  a durable message in process, {rounds} rounds: the median (min … max)");
    tell_times("write, fsync, rename, fsync of the directory", &least);
    tell_times("composed and delivered", &ours);
    tell_ratio(&ours, &least, GOAL_SEND);
}

fn empty(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

fn command(session: &Session) {
    let floor = floor("deliver");
    let inbox = session.path("inbox");
    let rounds = rounds(200);
    let (mut ours, mut least) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut command = session.world.program(&floor).bare();
        command.arg(&inbox).arg(format!("floor-{round}"));
        least.push(time(command));
        let mut command = session.world.program(env!("CARGO_BIN_EXE_orbh-message")).bare();
        command.args([
            "send",
            &session.id,
            "a text of a hundred bytes or so, which is what most of them have that agents send each other",
        ]);
        ours.push(time(command));
        empty(&inbox.join("new"));
    }
    println!("  as a command, {rounds} rounds");
    tell_times("an empty program that does the writes", &least);
    tell_times("orbh-message send", &ours);
    tell_ratio(&ours, &least, GOAL_COMMAND);
}

fn time(mut command: Command) -> f64 {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().unwrap();
    let took = begin.elapsed().as_nanos() as f64;
    assert!(status.success(), "{status}");
    took
}

/// The own Page over many messages that were shown and some new ones, against the same without those that were shown.
fn page(world: &World) {
    let (few, many) = (world.idle_session(), world.idle_session());
    for session in [&few, &many] {
        session.pid("0001");
    }
    let spools = [spool(&few), spool(&many)];
    let bytes = message(&spools[1], &MessageId::message(), At::now());
    for number in 0..SHOWN {
        let name = format!("17000{number:05}.M000000_m{number:09x}.host:2,S");
        std::fs::write(many.path("inbox/cur").join(name), &bytes).unwrap();
    }
    let rounds = rounds(60);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (times, (session, spool)) in times.iter_mut().zip([&few, &many].into_iter().zip(&spools)) {
            for _ in 0..NEW {
                let (id, at) = (MessageId::message(), At::now());
                Inbox::of(spool).deliver(&id, at, &message(spool, &id, at)).unwrap();
            }
            let mut command = session.verb("0001", ["--json"]).bare();
            command = of_page(&command);
            times.push(time(command));
            assert_eq!(std::fs::read_dir(session.path("inbox/new")).unwrap().count(), 0);
            // What was shown in this round is none of the many.
            for entry in std::fs::read_dir(session.path("inbox/cur")).unwrap() {
                let path = entry.unwrap().path();
                if !path.to_string_lossy().contains("/17000") {
                    std::fs::remove_file(path).unwrap();
                }
            }
        }
    }
    let [few, many] = &times;
    println!("  one's own Page, {rounds} rounds");
    tell_times("50 new messages", few);
    tell_times("50 new messages, and 5,000 that were shown", many);
    tell_ratio(many, few, GOAL_PAGE);
}

/// The same command, straight to the program.
fn of_page(command: &Command) -> Command {
    let mut page = Command::new(env!("CARGO_BIN_EXE_orbh-page"));
    page.env_clear().args(command.get_args());
    page.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        page.current_dir(dir);
    }
    page
}
