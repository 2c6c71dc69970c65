//! The facts of a session's runs, read once, and what follows from them alone.
//!
//! A file that cannot be understood is *unknown*, not absent: it is kept as damage with its path, offset and reason,
//! and hides neither the session nor its neighbours. Whoever needs just that fact gets the damage as an error.

use super::facts::{End, Hold, Intent, KillOrder, Mode, PidRecord, Return, Run, RunKind};
use super::id::RunNumber;
use super::layout;
use super::session::Spool;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::{Fault, Kind, damage, unreadable};
use crate::ground::process;
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::path::Path;

/// How often a look without the claim is taken again because it does not fit together.
const LOOKS: usize = 3;

/// What a reader is going to do with what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To decide by it: a fact that may not be read is a failing system call.
    Decide,
    /// To show it: a fact that may not be read is unknown, as a damaged one is.
    Show,
}

/// A fact as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<T> {
    /// It is not there.
    Absent,
    /// It is there.
    Here(T),
    /// Something is there that cannot be understood; why, in a sentence that names the path.
    Damaged(String),
}

impl<T> Found<T> {
    /// The fact, if it is there and whole.
    pub fn here(&self) -> Option<&T> {
        match self {
            Found::Here(fact) => Some(fact),
            _ => None,
        }
    }

    /// Whether anything is there, whole or damaged.
    pub fn exists(&self) -> bool {
        !matches!(self, Found::Absent)
    }

    /// The fact, `None` when absent, an error when damaged.
    pub fn get(&self) -> Result<Option<&T>> {
        match self {
            Found::Absent => Ok(None),
            Found::Here(fact) => Ok(Some(fact)),
            Found::Damaged(message) => Err(Fault::new(Kind::Damaged, message.clone()).into()),
        }
    }
}

impl<T: DeserializeOwned> Found<T> {
    /// Reads it. Only damage is kept; a failing system call is an error.
    pub fn read(path: &Path) -> Result<Found<T>> {
        Found::read_for(Purpose::Decide, path)
    }

    /// The same for a purpose.
    pub fn read_for(purpose: Purpose, path: &Path) -> Result<Found<T>> {
        match fact::load(path) {
            Ok(Some(fact)) => Ok(Found::Here(fact)),
            Ok(None) => Ok(Found::Absent),
            Err(error) => {
                let why = match purpose {
                    Purpose::Show => unreadable(&error),
                    Purpose::Decide => damage(&error),
                };
                why.map(Found::Damaged).ok_or(error)
            }
        }
    }
}

/// What is known of one run.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// Its number.
    pub number: RunNumber,
    /// run.json.
    pub run: Found<Run>,
    /// pid.
    pub pid: Found<PidRecord>,
    /// kill.json.
    pub kill: Found<KillOrder>,
    /// end.json.
    pub end: Found<End>,
    /// returns/N.json.
    pub returned: Found<Return>,
}

impl RunFacts {
    /// Reads them.
    pub fn read(spool: &Spool, number: RunNumber) -> Result<RunFacts> {
        RunFacts::read_for(Purpose::Decide, spool, number)
    }

    fn read_for(purpose: Purpose, spool: &Spool, number: RunNumber) -> Result<RunFacts> {
        let dir = spool.run(number);
        Ok(RunFacts {
            number,
            run: Found::read_for(purpose, &dir.join(layout::RUN))?,
            pid: Found::read_for(purpose, &dir.join(layout::PID))?,
            kill: Found::read_for(purpose, &dir.join(layout::KILL))?,
            end: Found::read_for(purpose, &dir.join(layout::END))?,
            returned: Found::read_for(purpose, &spool.returns().join(layout::return_fact(number)))?,
        })
    }

    /// Neither ended nor, headless, returned.
    pub fn open(&self, mode: Mode) -> bool {
        !self.end.exists() && (mode == Mode::Interactive || !self.returned.exists())
    }

    /// Whether its process, if it has one, was started in this boot of the machine.
    pub fn this_boot(&self) -> bool {
        let started = self.pid.here().and_then(|pid| pid.boot_id.as_deref());
        let boot = started.or_else(|| self.run.here().map(|run| run.boot_id.as_str()));
        boot.is_none_or(|boot| boot == process::boot_id())
    }

    /// Whether the number of its process means it here: in another pid namespace nobody can tell whether it lives, nor
    /// end it.
    pub fn within_reach(&self) -> bool {
        let there = self.pid.here().and_then(|pid| pid.pid_namespace.as_deref());
        there.is_none_or(|there| process::pid_namespace().is_none_or(|here| here == there))
    }

    /// Whether its recorded process still runs, on this machine and in this boot.
    pub fn process_alive(&self) -> bool {
        self.this_boot() && self.pid.here().and_then(PidRecord::process).is_some_and(process::Proc::alive)
    }

    /// Whether it ended because its program could not be started.
    pub fn spawn_failed(&self) -> bool {
        self.end.here().is_some_and(|end| end.reason == super::facts::Reason::SpawnFailed)
    }

    /// Whether it is of kind compact and closes `closing`.
    pub fn replaces(&self, closing: RunNumber) -> bool {
        self.run.here().is_some_and(|run| run.kind == RunKind::Compact && run.closes == Some(closing))
    }

    /// The damage in its facts, a sentence each.
    pub fn damage(&self) -> Vec<&str> {
        fn of<T>(found: &Found<T>) -> Option<&str> {
            match found {
                Found::Damaged(message) => Some(message),
                _ => None,
            }
        }
        [of(&self.run), of(&self.pid), of(&self.kill), of(&self.end), of(&self.returned)]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// The facts of a session that its succession is decided by.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Headless or in a pane.
    pub mode: Mode,
    /// The runs that have a directory, rising: all of them, or in a [`Snapshot::recent`] the newest.
    pub runs: Vec<RunFacts>,
    /// Runs below this one were not read.
    pub unread: Option<RunNumber>,
    /// compacting.json.
    pub hold: Found<Hold>,
    /// relaunch.json.
    pub intent: Found<Intent>,
}

impl Snapshot {
    /// Reads it. For a decision, hold the compaction claim meanwhile; for a look, do not.
    pub fn read(spool: &Spool, mode: Mode) -> Result<Snapshot> {
        Snapshot::read_for(Purpose::Decide, spool, mode)
    }

    /// Nothing: what is left where not even the list of runs can be had.
    pub fn nothing(mode: Mode) -> Snapshot {
        Snapshot { mode, runs: Vec::new(), unread: None, hold: Found::Absent, intent: Found::Absent }
    }

    /// Reads it for a purpose.
    pub fn read_for(purpose: Purpose, spool: &Spool, mode: Mode) -> Result<Snapshot> {
        let mut snapshot = Snapshot::read_once(purpose, spool, mode)?;
        // Without the claim an intent may come or go while the runs are read, and the two would not fit together.
        for _ in 0..LOOKS {
            let intent = Found::read_for(purpose, &spool.scratch().join(layout::INTENT))?;
            if intent == snapshot.intent {
                break;
            }
            snapshot = Snapshot::read_once(purpose, spool, mode)?;
        }
        Ok(snapshot)
    }

    fn read_once(purpose: Purpose, spool: &Spool, mode: Mode) -> Result<Snapshot> {
        let (hold, intent) = Snapshot::marks(purpose, spool)?;
        let runs = numbers(spool)?.into_iter().map(|number| RunFacts::read_for(purpose, spool, number));
        let runs = runs.collect::<Result<_>>()?;
        Ok(Snapshot { mode, runs, unread: None, hold, intent })
    }

    fn marks(purpose: Purpose, spool: &Spool) -> Result<(Found<Hold>, Found<Intent>)> {
        let (hold, intent) = (spool.scratch().join(layout::HOLD), spool.scratch().join(layout::INTENT));
        Ok((Found::read_for(purpose, &hold)?, Found::read_for(purpose, &intent)?))
    }

    /// What a manager decides by, once, however many runs a session has had: the runs from the current one upwards, and
    /// from those below it that the hold, the intent, or `since` names (what replaces a run comes after it).
    ///
    /// `since` is a run with run.json that the caller saw before, while it was the only one to make runs: then nothing
    /// is listed, and those above it are the next numbers, as far as they are there.
    pub fn recent(spool: &Spool, mode: Mode, since: Option<RunNumber>) -> Result<Snapshot> {
        let (hold, intent) = Snapshot::marks(Purpose::Decide, spool)?;
        let named = [since, hold.here().map(|hold| hold.run), intent.here().map(|intent| intent.closing)];
        let lowest = named.into_iter().flatten().min();
        let mut runs: Vec<RunFacts> = Vec::new();
        if let (Some(since), Some(lowest)) = (since, lowest) {
            let mut number = lowest;
            loop {
                let there = std::fs::symlink_metadata(spool.run(number)).is_ok_and(|metadata| metadata.is_dir());
                if there {
                    runs.push(RunFacts::read(spool, number)?);
                } else if number > since {
                    break;
                }
                number = number.next();
            }
            return Ok(Snapshot { mode, runs, unread: Some(lowest), hold, intent });
        }
        let mut numbers = numbers(spool)?;
        let mut current = false;
        while let Some(number) = numbers.pop_if(|number| !current || lowest.is_some_and(|lowest| *number >= lowest)) {
            let facts = RunFacts::read(spool, number)?;
            current |= facts.run.exists();
            runs.push(facts);
        }
        runs.reverse();
        let unread = runs.first().map(|run| run.number);
        Ok(Snapshot { mode, runs, unread, hold, intent })
    }

    /// The facts of all runs from the newest down to the first; those that were not read are read as they are asked for.
    pub fn downwards<'a>(&'a self, spool: &'a Spool) -> impl Iterator<Item = Result<RunFacts>> + 'a {
        let below = self.unread.map(|lowest| move || older(spool, lowest));
        let read = self.runs.iter().rev().cloned().map(Ok);
        read.chain(below.into_iter().flat_map(|list| list()))
    }

    /// The highest run that has run.json. A damaged one there is an error: who could say what comes after it?
    pub fn current(&self) -> Result<Option<&RunFacts>> {
        match self.runs.iter().rev().find(|run| run.run.exists()) {
            Some(run) => run.run.get().map(|_| Some(run)),
            None => Ok(None),
        }
    }

    /// The run of that number.
    pub fn run(&self, number: RunNumber) -> Option<&RunFacts> {
        self.runs.iter().find(|run| run.number == number)
    }

    /// The first run of kind compact that closes `closing` and did not fail to start.
    pub fn successor(&self, closing: RunNumber) -> Option<&RunFacts> {
        self.runs.iter().find(|run| run.replaces(closing) && !run.spawn_failed())
    }

    /// The newest attempt to replace `closing`, failed ones included.
    pub fn newest_attempt(&self, closing: RunNumber) -> Option<&RunFacts> {
        self.runs.iter().rev().find(|run| run.replaces(closing))
    }

    /// The hold, if it is effective: then the pager is held and `[Compacting...]` is shown.
    pub fn effective_hold(&self) -> Option<&Hold> {
        let hold = self.hold.here()?;
        let intended = self.intent.here().is_some_and(|intent| intent.closing == hold.run);
        let replaced = self.successor(hold.run).is_some();
        let own = self.runs.iter().rev().find(|run| run.run.exists());
        let own = own.is_some_and(|run| run.number == hold.run && run.open(self.mode));
        (intended || replaced || own).then_some(hold)
    }

    /// Whether `run` is the successor of `closing`, or continues it.
    pub fn succeeds(&self, run: RunNumber, closing: RunNumber) -> bool {
        let Some(successor) = self.successor(closing) else { return false };
        let mut at = Some(run);
        while let Some(number) = at {
            if number == successor.number {
                return true;
            }
            let before = self.run(number).and_then(|run| run.run.here()).and_then(|run| run.continues);
            at = before.filter(|before| *before < number);
        }
        false
    }

    /// The number for a new run: a top directory that never got its run.json is taken over.
    pub fn next_number(&self) -> RunNumber {
        match self.runs.last() {
            Some(top) if top.run.exists() => top.number.next(),
            Some(top) => top.number,
            None => RunNumber::FIRST,
        }
    }

    /// The damage in all facts, a sentence each.
    pub fn damage(&self) -> Vec<String> {
        let mut damage: Vec<String> = self.runs.iter().flat_map(RunFacts::damage).map(str::to_owned).collect();
        if let Found::Damaged(message) = &self.hold {
            damage.push(message.clone());
        }
        if let Found::Damaged(message) = &self.intent {
            damage.push(message.clone());
        }
        damage
    }
}

/// The highest run that has run.json, as [`Snapshot::current`] finds it, for who needs nothing else of the session.
pub fn newest(spool: &Spool) -> Result<Option<(RunNumber, Run)>> {
    for number in numbers(spool)?.into_iter().rev() {
        let run: Found<Run> = Found::read_for(Purpose::Show, &spool.run(number).join(layout::RUN))?;
        if run.exists() {
            return Ok(run.get()?.map(|run| (number, run.clone())));
        }
    }
    Ok(None)
}

/// The facts of the runs below `lowest`, from the newest down.
fn older(spool: &Spool, lowest: RunNumber) -> Box<dyn Iterator<Item = Result<RunFacts>> + '_> {
    match numbers(spool) {
        Ok(mut numbers) => {
            numbers.retain(|number| *number < lowest);
            Box::new(numbers.into_iter().rev().map(|number| RunFacts::read(spool, number)))
        }
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

fn numbers(spool: &Spool) -> Result<Vec<RunNumber>> {
    let dir = spool.runs();
    let mut numbers = Vec::new();
    // Not through a symbolic link, which read_dir(3) follows.
    if dir.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        Dir::open(&dir)?;
    }
    let entries = match std::fs::read_dir(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(spool.missing(&dir).into()),
        entries => entries.with_context(|| format!("cannot read '{}'", dir.display()))?,
    };
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read '{}'", dir.display()))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.parse::<RunNumber>().ok());
        // Only directories, and only names as we write them: `1` beside `0001` must not make two runs of one.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        numbers.extend(number.filter(|number| number.to_string().as_str() == name));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
