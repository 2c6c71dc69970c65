//! The verbs, each with the cheapest use that it has, and the reads that this use cannot do without: what it is asked for,
//! who may use the root, and the facts of which the answer is made.
//!
//! What only an error, a start or an end of something could be is measured by what comes before it: an id that no session
//! has, or the version.

use super::Session;
use std::path::{Path, PathBuf};

pub struct Verb {
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// What tests/bench/floor/reads.rs is to read.
    pub reads: Vec<String>,
}

/// A verb by the name of its program and its arguments.
macro_rules! verb {
    ($name:literal, $shown:literal, $arguments:expr, $reads:expr) => {
        Verb {
            name: $shown,
            program: env!(concat!("CARGO_BIN_EXE_", $name)).into(),
            arguments: $arguments.into_iter().map(|text: &str| text.to_owned()).collect(),
            reads: $reads,
        }
    };
}

/// Every program of the package. `session` works, `returned` has returned a result and ended.
pub fn all(session: &Session, returned: &Session) -> Vec<Verb> {
    let world = session.world;
    let config = world.config().display().to_string();
    let root = vec![format!("?{}", world.root().display())];
    let sessions = [root.clone(), vec![format!("{}/sessions/", world.root().display())]].concat();
    let trusted = trusted(session);
    let overview = overview(session);
    let with = |more: &[&str]| {
        let more = more.iter().map(|below| path(session, below));
        trusted.iter().cloned().chain(more).collect::<Vec<String>>()
    };
    let in_config = |names: &[&str]| names.iter().map(|name| name.replace('@', &config)).collect::<Vec<String>>();
    let id = session.id.as_str();
    let run = session.path("runs/0001").display().to_string();
    vec![
        verb!("orbh", "orbh", [], Vec::new()),
        verb!("flint", "flint", [], Vec::new()),
        verb!(
            "orbh-accounts",
            "orbh accounts",
            [],
            in_config(&["!@/accounts/claude", "!@/accounts/codex", "!@/accounts/command"])
        ),
        verb!("orbh-compact", "orbh compact status", ["status"], overview.clone()),
        verb!("orbh-context", "orbh context", [], with(&["runs/", "runs/0001/run.json", "scratch/context-0001.json"])),
        verb!("orbh-demo", "orbh demo --version", ["--version"], Vec::new()),
        verb!("orbh-inspect", "orbh inspect", [], inspected(session, &overview)),
        verb!("orbh-kill", "orbh kill (no such session)", ["0000"], sessions.clone()),
        verb!("orbh-launch", "orbh launch --version", ["--version"], Vec::new()),
        verb!("orbh-list", "orbh list", [], [sessions.clone(), overview.clone(), self::overview(returned)].concat()),
        verb!("orbh-log", "orbh log", [id], with(&["log/events.ndjson"])),
        verb!("orbh-page", "orbh page --no-mutate", ["--no-mutate"], overview.clone()),
        verb!(
            "orbh-profiles",
            "orbh profiles command",
            ["command"],
            in_config(&["@/profiles/command/", "@/profiles/command/idle.json", "?@/../agent-idle"])
        ),
        verb!("orbh-relaunch", "orbh relaunch (no such session)", ["0000"], sessions.clone()),
        verb!("orbh-result", "orbh result", [returned.id.as_str()], result(returned)),
        verb!("orbh-resume", "orbh resume (no such session)", ["0000"], sessions),
        verb!("orbh-runtimes", "orbh runtimes", [], searched(&["claude", "codex"])),
        verb!("orbh-session", "orbh session get title", ["get", "title"], with(&["keys/title"])),
        verb!("orbh-shim", "orbh-shim (of no manager)", [run.as_str()], vec![path(session, "runs/0001/run.json")]),
    ]
}

/// A path below the spool; the mark before it stays in front.
fn path(session: &Session, below: &str) -> String {
    let (mark, name) = below.split_at(usize::from(below.starts_with(['!', '?'])));
    format!("{mark}{}", session.path(name).display())
}

fn trusted(session: &Session) -> Vec<String> {
    vec![format!("?{}", session.world.root().display()), path(session, "?")]
}

/// What is there of these is read, and the rest looked for in vain.
fn facts(session: &Session, names: &[&str]) -> Vec<String> {
    let there = |name: &&&str| Path::new(&path(session, name)).exists();
    names
        .iter()
        .map(|name| path(session, &if there(&name) { (*name).to_owned() } else { format!("!{name}") }))
        .collect()
}

/// By which the state of a session is told.
fn state(session: &Session) -> Vec<String> {
    let names = [
        "session.json",
        "scratch/compacting.json",
        "scratch/relaunch.json",
        "runs/",
        "runs/0001/run.json",
        "runs/0001/pid",
        "runs/0001/kill.json",
        "runs/0001/end.json",
        "returns/0001.json",
    ];
    [trusted(session), facts(session, &names)].concat()
}

fn overview(session: &Session) -> Vec<String> {
    let more = [
        "scratch/manager.lock",
        "scratch/context-0001.json",
        "scratch/compactions.ndjson",
        "keys/title",
        "keys/description",
        "target.json",
    ];
    let process = session.managed().then(|| format!("/proc/{}/stat", session.manager_pid()));
    [state(session), facts(session, &more), process.into_iter().collect()].concat()
}

fn inspected(session: &Session, overview: &[String]) -> Vec<String> {
    let files = ["?prompt.md", "?log/events.ndjson", "?runs/0001/prompt.md", "?runs/0001/output"];
    [overview.to_vec(), files.iter().map(|name| path(session, name)).collect(), vec![path(session, "keys/")]].concat()
}

fn result(session: &Session) -> Vec<String> {
    [state(session), vec![path(session, "returns/0001.md")]].concat()
}

/// Programs that are looked for in PATH, and are nowhere in it.
fn searched(programs: &[&str]) -> Vec<String> {
    let dirs = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", super::harness::bin_dir().display());
    let paths = programs.iter().flat_map(|program| dirs.split(':').map(move |dir| format!("{dir}/{program}")));
    paths.map(|path| if Path::new(&path).exists() { format!("?{path}") } else { format!("!{path}") }).collect()
}
