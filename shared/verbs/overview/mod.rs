//! What a session is at, derived from its facts and leases. Nothing of it is stored, so nothing of it can be wrong.

pub mod compaction;

use crate::ground::clock::At;
use crate::ground::dir::open_read;
use crate::ground::fault::unreadable;
use crate::ground::lease::{self, Holder, Probe};
use crate::ground::process;
use crate::harness::occupancy::{self, Occupancy};
use crate::spool::asked::{self, Standing};
use crate::spool::facts::{Addressee, Class, End, Mode, Reason, RunKind, Session};
use crate::spool::id::{MessageId, RunNumber, SessionId, Target};
use crate::spool::session::Spool;
use crate::spool::snapshot::{Found, Purpose, RunFacts, Snapshot};
use crate::spool::{keys, layout};
use crate::verbs::succession::finish::compactions;
use anyhow::Result;
use compaction::Compaction;
use serde::Serialize;
use std::fmt;
use std::fs::Metadata;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::str::FromStr;

/// How much of the end of a harness's output is looked at for its last words.
const LAST: u64 = 4096;
/// The most characters of them that are shown.
const WORDS: usize = 200;

/// The work state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A run is open, or its successor is on the way.
    Working,
    /// The same, and a question of it waits for a person.
    NeedsInput,
    /// It returned its result.
    Finished,
    /// Its newest run ended without a result.
    FailedUnreturned,
    /// Its newest run was killed.
    Killed,
    /// Its newest run died while nobody watched, or nobody is there to carry it on.
    Lost,
    /// A fact that decides is damaged.
    Unknown,
}

impl State {
    /// All of them.
    pub const ALL: [State; 7] = [
        State::Working,
        State::NeedsInput,
        State::Finished,
        State::FailedUnreturned,
        State::Killed,
        State::Lost,
        State::Unknown,
    ];

    /// Whether nothing more happens by itself, and nobody need do anything.
    pub fn quiet(self) -> bool {
        matches!(self, State::Finished | State::Killed)
    }

    /// Whether a run is open, or its successor is on the way.
    pub fn works(self) -> bool {
        matches!(self, State::Working | State::NeedsInput)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Working => "working",
            State::NeedsInput => "needs-input",
            State::Finished => "finished",
            State::FailedUnreturned => "failed-unreturned",
            State::Killed => "killed",
            State::Lost => "lost",
            State::Unknown => "unknown",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for State {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        let found = State::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| format!("a state is one of: {}", names.join(" ")))
    }
}

/// The newest run of a session, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunLine {
    /// Its number.
    pub run: RunNumber,
    /// Why it was created.
    pub kind: RunKind,
    /// When it was created.
    pub started_at: At,
    /// Its process, while it has not ended.
    pub pid: Option<i32>,
    /// How it ended.
    pub end: Option<Reason>,
    /// Why, for people.
    pub detail: Option<String>,
}

/// A session as people and scripts see it.
#[derive(Debug, Clone, Serialize)]
pub struct Overview {
    /// Its id.
    pub session: SessionId,
    /// What it is at.
    pub state: State,
    /// What to do about that, where there is something.
    pub hint: Option<String>,
    /// Whether it is shown as `[Compacting...]`.
    pub compacting: bool,
    /// Where its compaction is.
    pub compaction: Compaction,
    /// `title` of its keys.
    pub title: Option<String>,
    /// `description` of its keys.
    pub description: Option<String>,
    /// Headless or interactive.
    pub mode: Option<Mode>,
    /// The class that it was granted.
    pub class: Option<Class>,
    /// The target in force.
    pub target: Option<Target>,
    /// Its newest run.
    pub run: Option<RunLine>,
    /// How many runs it has had.
    pub runs: usize,
    /// How full its context is.
    pub context: Option<Occupancy>,
    /// Its manager, while one lives.
    pub manager: Option<Holder>,
    /// Who launched it.
    pub parent: Option<SessionId>,
    /// The session that it continues.
    pub continues: Option<SessionId>,
    /// When it was launched.
    pub created_at: Option<At>,
    /// Where it works.
    pub cwd: Option<PathBuf>,
    /// Its spool.
    pub spool: PathBuf,
    /// What of it cannot be read, a sentence each.
    pub damage: Vec<String>,
}

impl Overview {
    /// A session of which nothing can be read; `why` in a sentence.
    pub fn unreadable(spool: &Spool, why: String) -> Overview {
        Overview {
            session: spool.id().clone(),
            state: State::Unknown,
            hint: Some(format!("orbh inspect {}", spool.id())),
            compacting: false,
            compaction: Compaction::unknown(),
            title: None,
            description: None,
            mode: None,
            class: None,
            target: None,
            run: None,
            runs: 0,
            context: None,
            manager: None,
            parent: None,
            continues: None,
            created_at: None,
            cwd: None,
            spool: spool.dir().to_owned(),
            damage: vec![why],
        }
    }

    /// Looks at a session. Damage, and what may not be read, becomes part of the answer; only a system call that fails
    /// otherwise is an error.
    pub fn read(spool: &Spool) -> Result<Overview> {
        Overview::with_facts(spool).map(|(overview, _)| overview)
    }

    /// The same, and the facts that were looked at.
    pub fn with_facts(spool: &Spool) -> Result<(Overview, Snapshot)> {
        let mut damage = Vec::new();
        let session: Option<Session> = tolerate(spool.session().map(Some), &mut damage)?.flatten();
        let mode = session.as_ref().map_or(Mode::Headless, |session| session.mode);
        let look = || Snapshot::read_for(Purpose::Show, spool, mode);
        let mut snapshot = look();
        let probed = tolerate(lease::probe(&spool.scratch().join(layout::MANAGER)), &mut damage)?;
        // A run that was open, and no manager now: it may have ended in between, and its manager have left.
        if probed == Some(Probe::Free) && snapshot.as_ref().is_ok_and(is_open) {
            snapshot = look();
        }
        let snapshot = tolerate(snapshot, &mut damage)?;
        let runs_unknown = snapshot.is_none();
        let snapshot = snapshot.unwrap_or_else(|| Snapshot::nothing(mode));
        damage.extend(snapshot.damage());
        let unknown = probed.is_none() || runs_unknown;
        let manager = match probed {
            Some(Probe::Held(holder)) => Some(holder.unwrap_or_else(unknown_holder)),
            Some(Probe::Free) | None => None,
        };
        let newest = snapshot.current().ok().flatten();
        let context = tolerate(context(spool, newest), &mut damage)?.flatten();
        let done = tolerate(compactions(spool), &mut damage)?.unwrap_or_default();
        let mut compaction = Compaction::derive(spool, &snapshot, manager.is_some(), &done);
        let (state, mut hint) = state(spool, &snapshot, manager.is_some());
        if let Some(stopped) = manager.as_ref().filter(|manager| is_stopped(manager)) {
            let pid = stopped.pid;
            hint = Some(format!("kill -CONT {pid}"));
            compaction.hint.clone_from(&hint);
            let also = format!("its manager, pid {pid}, is stopped");
            compaction.reason = Some(compaction.reason.map_or(also.clone(), |reason| format!("{reason}; {also}")));
        }
        let state = if session.is_none() || unknown { State::Unknown } else { state };
        let waits = match state {
            State::Working => tolerate(waits_for_person(spool), &mut damage)?.flatten(),
            _ => None,
        };
        let state = if waits.is_some() { State::NeedsInput } else { state };
        let hint = hint.or_else(|| waits.map(|id| format!("orbh respond {} {id} TEXT", spool.id())));
        // Whether somebody keeps it cannot be told, so nobody is sent to put another one there.
        let hint = if unknown { Some(format!("orbh inspect {}", spool.id())) } else { hint };
        let overview = Overview {
            session: spool.id().clone(),
            state,
            hint: hint.or_else(|| compaction.hint.clone()),
            compacting: snapshot.effective_hold().is_some(),
            compaction,
            title: tolerate(keys::get(spool, layout::TITLE), &mut damage)?.flatten(),
            description: tolerate(keys::get(spool, layout::DESCRIPTION), &mut damage)?.flatten(),
            mode: session.as_ref().map(|session| session.mode),
            class: session.as_ref().map(|session| session.class),
            target: tolerate(spool.in_force(), &mut damage)?.flatten().map(|in_force| in_force.target),
            run: newest.and_then(|run| run_line(spool, run)),
            runs: snapshot.runs.iter().filter(|run| run.run.exists()).count(),
            context,
            manager,
            parent: session.as_ref().and_then(|session| session.parent.clone()),
            continues: session.as_ref().and_then(|session| session.continues.clone()),
            created_at: session.as_ref().map(|session| session.created_at),
            cwd: session.map(|session| session.cwd),
            spool: spool.dir().to_owned(),
            damage,
        };
        Ok((overview, snapshot))
    }
}

/// The oldest open question of the session that a person has to answer.
fn waits_for_person(spool: &Spool) -> Result<Option<MessageId>> {
    let (questions, _) = asked::all(spool, |standing| standing == Standing::Open)?;
    let to_person =
        |question: &asked::Question| question.request.here().is_some_and(|request| request.to == Addressee::Human);
    Ok(questions.into_iter().find(to_person).map(|question| question.id))
}

fn is_open(snapshot: &Snapshot) -> bool {
    snapshot.current().is_ok_and(|current| current.is_some_and(|run| run.open(snapshot.mode)))
}

/// Whether a manager does nothing although it lives: somebody sent it SIGSTOP.
fn is_stopped(manager: &Holder) -> bool {
    let same = |stat: &process::Stat| stat.proc.start == manager.start && matches!(stat.state, 'T' | 't');
    process::stat(manager.pid).is_some_and(|stat| same(&stat))
}

fn unknown_holder() -> Holder {
    Holder::unknown("unknown")
}

/// Keeps damage and what may not be read, and lets other failing system calls through.
fn tolerate<T>(result: Result<T>, damage: &mut Vec<String>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            damage.push(unreadable(&error).ok_or(error)?);
            Ok(None)
        }
    }
}

fn context(spool: &Spool, newest: Option<&RunFacts>) -> Result<Option<Occupancy>> {
    let Some(newest) = newest else { return Ok(None) };
    let Some(run) = newest.run.here() else { return Ok(None) };
    occupancy::read(spool, newest.number, run).map(Some)
}

/// A run in short; `None` when its run.json cannot be read. Of one that ended by itself, with the harness's last words.
pub fn run_line(spool: &Spool, run: &RunFacts) -> Option<RunLine> {
    let fact = run.run.here()?;
    let end = run.end.here();
    let process = run.pid.here().and_then(|pid| pid.process());
    Some(RunLine {
        run: run.number,
        kind: fact.kind,
        started_at: fact.started_at,
        pid: process.filter(|_| end.is_none()).map(|process| process.pid),
        end: end.map(|end| end.reason),
        detail: end.and_then(|end| describe_end(spool, run.number, end)),
    })
}

fn describe_end(spool: &Spool, number: RunNumber, end: &End) -> Option<String> {
    let status = || end.code.map(|code| format!("exit status {code}"));
    let told = end.detail.clone().or_else(status).or_else(|| end.signal.map(|signal| format!("signal {signal}")))?;
    let alone = matches!(end.reason, Reason::Exited | Reason::Signalled);
    Some(match last_words(spool, number).filter(|_| alone) {
        Some(words) => format!("{told}: {words}"),
        None => told,
    })
}

/// The last line that the harness of a run wrote, as far as it can be had: most often it says why it ended.
fn last_words(spool: &Spool, number: RunNumber) -> Option<String> {
    let mut file = open_read(&spool.run(number).join(layout::OUTPUT)).ok()??;
    let length = file.metadata().ok().filter(Metadata::is_file)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST))).ok()?;
    let mut bytes = Vec::new();
    file.take(LAST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(WORDS).collect())
}

fn state(spool: &Spool, snapshot: &Snapshot, managed: bool) -> (State, Option<String>) {
    let id = spool.id();
    let resume = || Some(format!("orbh resume {id}"));
    let current = match snapshot.current() {
        Ok(Some(current)) => current,
        Ok(None) if managed => return (State::Working, None),
        Ok(None) => return (State::Lost, resume()),
        Err(_) => return (State::Unknown, Some(format!("orbh inspect {id}"))),
    };
    if snapshot.intent.exists() {
        return if managed { (State::Working, None) } else { (State::Lost, resume()) };
    }
    match current.returned {
        Found::Here(_) => return (State::Finished, None),
        Found::Damaged(_) => return (State::Unknown, Some(format!("orbh inspect {id}"))),
        Found::Absent => {}
    }
    match current.end.here().map(|end| end.reason) {
        None if current.end.exists() => (State::Unknown, Some(format!("orbh inspect {id}"))),
        None if managed => (State::Working, None),
        // Who could say whether it lives?
        None if matches!(current.pid, Found::Damaged(_)) => (State::Unknown, Some(format!("orbh inspect {id}"))),
        None if current.process_alive() => (State::Working, resume()),
        None | Some(Reason::Lost) => (State::Lost, resume()),
        Some(Reason::Returned) => (State::Finished, None),
        Some(Reason::Killed) => (State::Killed, None),
        Some(Reason::Exited | Reason::Signalled | Reason::SpawnFailed | Reason::Compacted) => {
            (State::FailedUnreturned, resume())
        }
    }
}
