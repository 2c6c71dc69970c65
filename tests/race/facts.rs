//! What is on disk and who keeps it, as the reference model sees a session: small enough to be searched, and equal
//! exactly when no verb could tell the difference.

use crate::harness::Session;
use serde_json::Value;
use shared::ground::lease::{Probe, probe};
use shared::ground::process::Proc;

/// The number of a run; the first is 1.
pub type Number = u8;

/// Why a run was created.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    Launch,
    Compact,
    Resume,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum End {
    Compacted,
    Returned,
    Killed,
    SpawnFailed,
    /// Exited, signalled or lost: it died without a word.
    Died,
}

/// A run.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Run {
    pub kind: Kind,
    pub closes: Option<Number>,
    pub continues: Option<Number>,
    pub other_target: bool,
    pub started: bool,
    /// Its process is gone.
    pub dead: bool,
    pub killed: bool,
    pub returned: bool,
    pub end: Option<End>,
    /// Whether it has given a verb. It may appear a moment after the end, and is not compared.
    pub awake: bool,
}

/// An accepted handoff: the run that it closes, and whether it goes to the other target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Intent {
    pub closing: Number,
    pub other_target: bool,
}

/// Who holds the manager lease.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Keeper {
    Nobody,
    /// A manager: whether it is to begin a new run, the run that it started itself, and the racer that it is, or whom it
    /// came up for.
    Manager {
        resume: bool,
        own: Option<Number>,
        racer: Option<usize>,
    },
    /// A `kill` that found no manager.
    Killer(usize),
}

/// A session.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Facts {
    pub runs: Vec<Run>,
    pub hold: Option<Number>,
    pub intent: Option<Intent>,
    pub cancelled: Option<Intent>,
    /// The finished compactions: closed, by.
    pub finished: Vec<(Number, Number)>,
    /// Whether the other target is in force.
    pub other_target: bool,
    pub keeper: Keeper,
}

impl Facts {
    pub fn current(&self) -> Number {
        Number::try_from(self.runs.len()).unwrap()
    }

    pub fn run(&self, number: Number) -> &Run {
        &self.runs[usize::from(number) - 1]
    }

    pub fn run_mut(&mut self, number: Number) -> &mut Run {
        &mut self.runs[usize::from(number) - 1]
    }

    /// Only what is compared: not who of several the keeper is, nor who is awake.
    pub fn compared(&self) -> Facts {
        let mut facts = self.clone();
        facts.runs.iter_mut().for_each(|run| run.awake = false);
        if let Keeper::Manager { .. } = facts.keeper {
            facts.keeper = Keeper::Manager { resume: false, own: None, racer: None };
        }
        facts
    }

    /// Looks at the spool. `None` while a run is half there.
    pub fn of(session: &Session) -> Option<Facts> {
        let number = |value: &Value| value.as_str().and_then(|text| text.parse::<Number>().ok());
        let other = |value: &Value| value["target"] == "command/other";
        let intent = |name: &str| {
            let fact = session.fact(&format!("scratch/{name}"))?;
            Some(Intent { closing: number(&fact["closing"])?, other_target: other(&fact) })
        };
        let mut runs = Vec::new();
        for name in session.runs() {
            let fact = session.fact(&format!("runs/{name}/run.json"))?;
            let at = |file: &str| format!("runs/{name}/{file}");
            let process = session.fact(&at("pid")).filter(|pid| pid["pid"] != 0).and_then(|record| {
                let pid = i32::try_from(record["pid"].as_i64()?).ok()?;
                Some(Proc { pid, start: record["start"].as_u64()? })
            });
            let kind = match fact["kind"].as_str()? {
                "launch" => Kind::Launch,
                "compact" => Kind::Compact,
                _ => Kind::Resume,
            };
            let end = session.fact(&at("end.json")).map(|end| match end["reason"].as_str() {
                Some("compacted") => End::Compacted,
                Some("returned") => End::Returned,
                Some("killed") => End::Killed,
                Some("spawn-failed") => End::SpawnFailed,
                _ => End::Died,
            });
            runs.push(Run {
                kind,
                closes: number(&fact["closes"]),
                continues: number(&fact["continues"]),
                other_target: other(&fact),
                started: process.is_some(),
                dead: process.is_some_and(|process| !process.alive()),
                killed: session.exists(&at("kill.json")),
                returned: session.exists(&format!("returns/{name}.json")),
                end,
                awake: session.exists(&format!("scratch/awake-{name}")),
            });
        }
        let lines = session.text("scratch/compactions.ndjson").unwrap_or_default();
        let line = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some((number(&line["closed"])?, number(&line["run"])?))
        };
        let keeper = match probe(&session.path("scratch/manager.lock")).unwrap() {
            Probe::Free => Keeper::Nobody,
            Probe::Held(Some(holder)) if holder.kind == "kill" => Keeper::Killer(0),
            Probe::Held(_) => Keeper::Manager { resume: false, own: None, racer: None },
        };
        Some(Facts {
            runs,
            hold: session.fact("scratch/compacting.json").and_then(|hold| number(&hold["run"])),
            intent: intent("relaunch.json"),
            cancelled: intent("relaunch.cancelled.json"),
            finished: lines.lines().filter_map(line).collect(),
            other_target: other(&session.fact("target.json")?),
            keeper,
        })
    }
}

impl std::fmt::Debug for Facts {
    /// One line, with what is not there left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, run) in self.runs.iter().enumerate() {
            write!(f, "{}{} {:?}", if index == 0 { "" } else { ", " }, index + 1, run.kind)?;
            let closes = run.closes.map(|closed| format!(" closes {closed}"));
            let continues = run.continues.map(|before| format!(" continues {before}"));
            let end = run.end.map(|end| format!(" ended {end:?}"));
            let words = [closes, continues, end].into_iter().flatten();
            words.into_iter().try_for_each(|word| f.write_str(&word))?;
            let marks = [
                (run.other_target, " elsewhere"),
                (!run.started, " not started"),
                (run.dead, " dead"),
                (run.killed, " kill.json"),
                (run.returned, " returned"),
                (run.awake, " awake"),
            ];
            marks.iter().filter(|(set, _)| *set).try_for_each(|(_, word)| f.write_str(word))?;
        }
        write!(f, "; hold {:?}, intent {:?}, cancelled {:?}", self.hold, self.intent, self.cancelled)?;
        write!(f, ", finished {:?}, elsewhere {}, {:?}", self.finished, self.other_target, self.keeper)
    }
}
