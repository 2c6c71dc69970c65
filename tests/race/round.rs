//! One race: two verbs behind one barrier, delays on their way, and the verdict.

use super::chance::Chance;
use super::delay::{Slowed, delays, manager};
use super::facts::{Facts, Keeper};
use super::serial::{Code, Outcome, Racer, Verb, outcomes};
use super::stage::Stage;
use crate::harness::{DEADLINE, Session, World, alive, bin_dir};
use shared::ground::process::stat;
use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// What a race came to.
pub struct Verdict {
    pub outcome: Option<Outcome>,
    /// What it could have come to.
    pub possible: BTreeSet<Outcome>,
    /// What is wrong, if something is, with all that is needed to find out why.
    pub complaint: Option<String>,
}

impl Verdict {
    /// Of a race that came to nothing.
    pub fn none(complaint: String) -> Verdict {
        Verdict { outcome: None, possible: BTreeSet::new(), complaint: Some(complaint) }
    }
}

/// Races two verbs from a stage. Everything that is left to chance follows from `seed`, but for the scheduler.
pub fn race(stage: Stage, racers: [Racer; 2], seed: u64) -> Verdict {
    let world = World::fast();
    let session = stage.set(&world);
    let start = stage.facts(&session);
    let mut chance = Chance::new(seed);
    let barrier = world.path().join("barrier");
    nix::unistd::mkfifo(&barrier, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut children = racers.map(|racer| spawn(&session, racer, &barrier, &mut chance));
    for child in &mut children {
        // They have said it; from here both wait in one open(2).
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    }
    let slowed = Slowed::new(&session, &mut chance);
    let go = std::fs::OpenOptions::new().read(true).write(true).open(&barrier).unwrap();
    slowed.halt(&mut chance);
    let rest = rest(&session, &mut children);
    drop(slowed);
    drop(go);
    let before = (stage, racers, &start);
    let Some((facts, codes)) = rest else {
        let left = world.processes();
        let complaint = describe(before, &session) + &format!("  never came to rest; left: {left:?}\n");
        return Verdict::none(complaint + &last_words(&world, children));
    };
    let found = (codes, facts.compared());
    let possible = outcomes(&start, racers);
    let mut wrong: Vec<String> = world.one_at_a_time().err().into_iter().collect();
    wrong.extend(bytes(&session, &facts));
    if !possible.contains(&found) {
        let list: Vec<String> = possible.iter().map(|outcome| format!("    {outcome:?}\n")).collect();
        wrong.push(format!("no order of the two leads to\n    {found:?}\n  but to\n{}", list.concat()));
    }
    let report = describe(before, &session);
    let said = last_words(&world, children);
    for (at, code) in codes.iter().enumerate() {
        let refused = *code == Code::Exit(1) && racers[at].verb == Verb::Handoff;
        if refused && !said.contains(crate::harness::NOT_ENDED) {
            wrong.push("a refused handoff does not say that the context goes on".to_owned());
        }
    }
    let complaint = (!wrong.is_empty()).then(|| format!("{report}  {}\n{said}", wrong.join("\n  ")));
    Verdict { outcome: Some(found), possible, complaint }
}

/// The command line of a verb, in the environment of its run, behind the barrier.
fn spawn(session: &Session, racer: Racer, barrier: &Path, chance: &mut Chance) -> Child {
    let id = session.id.as_str();
    let args: &[&str] = match racer.verb {
        Verb::Start => &["compact", "start"],
        Verb::Handoff => &["compact", "handoff"],
        Verb::Abort => &["compact", "abort"],
        Verb::Finish => &["compact", "finish"],
        Verb::Return => &["session", "return", "done"],
        Verb::Page => &["page"],
        Verb::Kill => &["kill", id],
        Verb::Resume => &["resume", id],
        Verb::Relaunch => &["relaunch", id],
        Verb::Cancel => &["relaunch", id, "--cancel"],
        Verb::Into => &["relaunch", id, "--into", "command/other"],
    };
    // What waits is no process of the run: only the verb itself has the mark of one.
    let mut script = String::from("echo ready; : <\"$1\"; shift; ");
    let mut line = vec!["env".to_owned()];
    if racer.run != 0 {
        let run = format!("{:04}", racer.run);
        let record = session.fact(&format!("runs/{run}/pid")).unwrap();
        if racer.verb == Verb::Return {
            // As a harness that exits once its agent has returned.
            script += &format!("\"$@\"; code=$?; [ $code != 0 ] || kill {}; exit $code", record["pid"]);
        }
        line.push(format!("ORBH_SESSION_ID={id}"));
        line.push(format!("ORBH_RUN={run}"));
        line.push(format!("ORBH_NONCE={}", record["nonce"].as_str().unwrap()));
    }
    if racer.verb != Verb::Return || racer.run == 0 {
        script += "exec \"$@\"";
    }
    line.push(bin_dir().join("orbh").display().to_string());
    line.extend(args.iter().map(|arg| (*arg).to_owned()));
    let shell = session.world.program("sh").args(["-c", &script, "racer"]).args([barrier]);
    // One that may become the manager makes many more calls.
    let reach = if matches!(racer.verb, Verb::Relaunch | Verb::Into) { 3 } else { 1 };
    shell.args(delays(chance, reach)).args(line).spawn()
}

/// Waits until both verbs have ended, or are the manager, and nothing goes on any more.
fn rest(session: &Session, children: &mut [Child; 2]) -> Option<(Facts, [Code; 2])> {
    let begin = Instant::now();
    let mut last = None;
    while begin.elapsed() < DEADLINE {
        std::thread::sleep(Duration::from_millis(4));
        let Some(codes) = codes(session, children) else { continue };
        let now = quiet(session, children);
        if now.is_some() && now == last {
            return now.map(|facts| (facts, codes));
        }
        last = now;
    }
    None
}

fn codes(session: &Session, children: &mut [Child; 2]) -> Option<[Code; 2]> {
    let mut codes = [Code::Keeps; 2];
    for (code, child) in codes.iter_mut().zip(children) {
        *code = match child.try_wait().unwrap() {
            Some(status) => match (status.code(), status.signal()) {
                (Some(143 | 137), _) | (None, _) => Code::Stopped,
                (Some(code), _) => Code::Exit(code),
            },
            None => {
                let manager = manager(session)?.pid;
                let child = child.id().cast_signed();
                let below = stat(manager).is_some_and(|stat| stat.parent == child);
                (manager == child || below).then_some(Code::Keeps)?
            }
        };
    }
    Some(codes)
}

/// The facts, if nothing is under way: neither by the facts, nor by a process that is not accounted for.
fn quiet(session: &Session, children: &[Child; 2]) -> Option<Facts> {
    let facts = Facts::of(session)?;
    let keeper = manager(session);
    match facts.keeper {
        Keeper::Killer(_) => return None,
        Keeper::Nobody => {}
        Keeper::Manager { .. } => {
            let run = facts.run(facts.current());
            let idle = run.started && !run.dead && run.end.is_none() && !run.killed && !run.returned;
            if facts.intent.is_some() || !idle || keeper.is_none() {
                return None;
            }
        }
    }
    if facts.runs.iter().any(|run| run.returned && !run.dead) {
        return None;
    }
    let mut known: BTreeSet<i32> = children.iter().map(|child| child.id().cast_signed()).collect();
    known.extend(keeper.map(|keeper| keeper.pid));
    let agents: Vec<i32> = session.runs().iter().map(|run| session.pid(run)).collect();
    known.extend(&agents);
    let strange = session.world.processes().into_iter().any(|pid| !known.contains(&pid));
    // An agent that sleeps has said all that it has to say.
    let begun = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "sleep\n");
    let settled = agents.iter().all(|pid| !alive(*pid) || begun(pid));
    (!strange && settled).then_some(facts)
}

/// A context that ended by compaction has its accepted bytes on disk, under both names.
fn bytes(session: &Session, facts: &Facts) -> Vec<String> {
    let compacted = (1..=facts.current()).filter(|run| facts.run(*run).end == Some(super::facts::End::Compacted));
    let mut wrong = Vec::new();
    for run in compacted.map(|run| format!("{run:04}")) {
        let good = Some(session.good_handoff(&format!("run {run}")));
        for name in ["accepted", "handoff"] {
            if session.text(&format!("scratch/{name}-{run}.md")) != good {
                wrong.push(format!("{name}-{run}.md is not what was accepted"));
            }
        }
    }
    wrong
}

fn describe(before: (Stage, [Racer; 2], &Facts), session: &Session) -> String {
    let (stage, [one, other], start) = before;
    let name = |racer: Racer| format!("{:?} of {}", racer.verb, racer.run);
    let log = session.text("log/events.ndjson").unwrap_or_default();
    format!(
        "{} with {}, {stage:?}, began as\n    {start:?}\n  is now\n    {:?}\n{log}",
        name(one),
        name(other),
        Facts::of(session)
    )
}

/// Ends everything, and gives what the two have said.
fn last_words(world: &World, children: [Child; 2]) -> String {
    world.end();
    let mut words = String::new();
    for mut child in children {
        let _ = child.kill();
        let said = child.wait_with_output().unwrap();
        words += &format!(
            "--\n{}{}",
            String::from_utf8_lossy(&said.stdout).chars().take(600).collect::<String>(),
            String::from_utf8_lossy(&said.stderr)
        );
    }
    words
}
