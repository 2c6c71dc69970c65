//! Where the compaction of a session is: its phase, since when, and why it is not further.

use crate::ground::clock::At;
use crate::spool::facts::{Compaction as Finished, Hold, Intent, PidRecord};
use crate::spool::id::RunNumber;
use crate::spool::session::Spool;
use crate::spool::snapshot::{RunFacts, Snapshot};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// This many compactions within [`LOOP_SPAN`] look like a loop.
const LOOP_COUNT: usize = 3;
/// See [`LOOP_COUNT`].
const LOOP_SPAN: Duration = Duration::from_secs(15 * 60);

/// The phase of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// There is none.
    Idle,
    /// The agent writes its handoff.
    Drafting,
    /// The handoff was accepted; the old context ends, the new one starts.
    Relaunching,
    /// The new context reads, and has not run `compact finish`.
    Bootstrapping,
    /// It does not go on by itself.
    Failed,
}

impl Phase {
    /// After this long somebody should look why it is not further.
    fn deadline(self) -> Option<Duration> {
        match self {
            Phase::Idle | Phase::Failed => None,
            Phase::Drafting | Phase::Bootstrapping => Some(Duration::from_secs(30 * 60)),
            Phase::Relaunching => Some(Duration::from_secs(90)),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Idle => "idle",
            Phase::Drafting => "drafting",
            Phase::Relaunching => "relaunching",
            Phase::Bootstrapping => "bootstrapping",
            Phase::Failed => "failed",
        })
    }
}

/// Where the compaction of a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compaction {
    /// The phase.
    pub phase: Phase,
    /// The run whose context is replaced.
    pub run: Option<RunNumber>,
    /// When the phase began.
    pub since: Option<At>,
    /// How long ago that is, in seconds.
    pub age_s: Option<u64>,
    /// Whether it takes longer than it should.
    pub overdue: bool,
    /// What it waits for, or why it failed.
    pub reason: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// When the last one was finished.
    pub last_completed: Option<At>,
    /// How many were finished.
    pub count: usize,
    /// Several were finished within minutes: the duty may not fit the window.
    pub looping: bool,
}

struct Situation {
    phase: Phase,
    run: RunNumber,
    since: At,
    reason: String,
    hint: Option<String>,
}

impl Compaction {
    /// Of a session that cannot be read.
    pub(super) fn unknown() -> Compaction {
        Compaction {
            phase: Phase::Idle,
            run: None,
            since: None,
            age_s: None,
            overdue: false,
            reason: None,
            hint: None,
            last_completed: None,
            count: 0,
            looping: false,
        }
    }

    /// Derives it from the facts; `managed` says whether a manager lives, `done` what was finished before.
    pub fn derive(spool: &Spool, snapshot: &Snapshot, managed: bool, done: &[Finished]) -> Compaction {
        // A successor that has its process is up, although its manager has yet to put the intent away.
        let up = |intent: &Intent| {
            snapshot.successor(intent.closing).is_some_and(|run| run.pid.here().and_then(PidRecord::process).is_some())
        };
        let pending = snapshot.intent.here().filter(|intent| !up(intent));
        let situation = match (pending, snapshot.effective_hold()) {
            (Some(intent), _) => Some(relaunching(spool, snapshot, intent, managed)),
            (None, Some(hold)) => Some(held(spool, snapshot, hold, managed)),
            (None, None) => None,
        };
        let phase = situation.as_ref().map_or(Phase::Idle, |situation| situation.phase);
        let age = situation.as_ref().map(|situation| situation.since.age());
        let overdue = matches!((phase.deadline(), age), (Some(deadline), Some(age)) if age > deadline);
        let recent = done.iter().filter(|line| line.finished_at.age() < LOOP_SPAN).count();
        Compaction {
            phase,
            run: situation.as_ref().map(|situation| situation.run),
            since: situation.as_ref().map(|situation| situation.since),
            age_s: age.map(|age| age.as_secs()),
            overdue,
            reason: situation.as_ref().map(|situation| situation.reason.clone()),
            hint: situation.and_then(|situation| situation.hint),
            last_completed: done.last().map(|line| line.finished_at),
            count: done.len(),
            looping: recent >= LOOP_COUNT,
        }
    }
}

fn relaunching(spool: &Spool, snapshot: &Snapshot, intent: &Intent, managed: bool) -> Situation {
    let id = spool.id();
    let run = intent.closing;
    let attempt = snapshot.newest_attempt(run);
    let failure = attempt.filter(|attempt| attempt.spawn_failed()).map(failure);
    let (phase, reason) = match (&failure, managed) {
        (Some(failure), true) => (Phase::Relaunching, format!("{failure}; it is tried again")),
        (Some(failure), false) => (Phase::Failed, failure.clone()),
        (None, true) if attempt.is_some() => (Phase::Relaunching, "the new context starts".to_owned()),
        (None, true) if snapshot.run(run).is_some_and(|run| run.end.exists()) => {
            (Phase::Relaunching, format!("the context of run {run} is over, and its successor is created"))
        }
        (None, true) => (Phase::Relaunching, format!("the context of run {run} ends")),
        (None, false) => (Phase::Failed, "the session's manager is gone".to_owned()),
    };
    let hint = (phase == Phase::Failed).then(|| {
        format!("orbh resume {id}   (or with --into RUNTIME/PROFILE; 'orbh relaunch {id} --cancel' calls it off)")
    });
    Situation { phase, run, since: intent.at, reason, hint }
}

fn failure(attempt: &RunFacts) -> String {
    let detail = attempt.end.here().and_then(|end| end.detail.clone()).unwrap_or_else(|| "no reason known".to_owned());
    format!("run {} could not be started: {detail}", attempt.number)
}

fn held(spool: &Spool, snapshot: &Snapshot, hold: &Hold, managed: bool) -> Situation {
    let id = spool.id();
    let run = hold.run;
    let current = snapshot.current().ok().flatten();
    let Some(successor) = snapshot.successor(run) else {
        let alive = managed || current.is_some_and(RunFacts::process_alive);
        let killed = current.is_some_and(|current| current.kill.exists());
        let (phase, reason, hint) = match alive {
            true if killed => (Phase::Drafting, format!("run {run} is being killed"), None),
            true => (Phase::Drafting, format!("the agent of run {run} writes its handoff"), None),
            false => (Phase::Failed, format!("run {run} died while it drafted"), Some(format!("orbh resume {id}"))),
        };
        return Situation { phase, run, since: hold.since, reason, hint };
    };
    let newest = current.unwrap_or(successor);
    let number = newest.number;
    let over = newest.end.here().map(|end| end.reason.to_string());
    let over = over.or_else(|| newest.returned.exists().then(|| "returned".to_owned()));
    let failed = match over {
        Some(how) => Some(format!("run {number} ended ({how}) without 'orbh compact finish'")),
        None if !managed && !newest.process_alive() => Some(format!("run {number} died before 'orbh compact finish'")),
        None => None,
    };
    let since = newest.run.here().map_or(hold.since, |run| run.started_at);
    match failed {
        Some(reason) => Situation { phase: Phase::Failed, run, since, reason, hint: Some(format!("orbh resume {id}")) },
        None => {
            let reason = format!("run {number} has not run 'orbh compact finish' yet");
            Situation { phase: Phase::Bootstrapping, run, since, reason, hint: None }
        }
    }
}
