//! What a manager does next, from the facts alone. It has no effect and no memory, so whatever died before, the next
//! manager finds its way from here (the order of steps is that of orbh-spool(5), SUCCESSION).

use crate::spool::facts::{Intent, RunKind};
use crate::spool::id::RunNumber;
use crate::spool::snapshot::{RunFacts, Snapshot};
use anyhow::Result;

/// How often a manager tries to start the successor of one context by itself.
pub const ATTEMPTS: u32 = 3;

/// One step of a manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// End the context that handed off.
    EndContext(Intent),
    /// Make the directory and the facts of a new run.
    Create(Creation),
    /// Spawn the exec shim of a run that has no process yet.
    Start(RunNumber),
    /// The process of the successor is recorded, but still the shim's.
    AwaitExec(RunNumber),
    /// The successor of this run is on its way: the intent is carried out.
    DropIntent(RunNumber),
    /// The intent fits no run that could be replaced (a hand edit, or a sandboxed agent's): call it off.
    CallOff(RunNumber),
    /// A run has a tombstone for a process: write that it failed to start.
    Bury(RunNumber),
    /// A run is ordered to end.
    Kill(RunNumber),
    /// The process of a run is gone: write how it ended.
    Reap(RunNumber),
    /// A run has returned but its process lives: give it a little time, then stop it.
    LetGo(RunNumber),
    /// A run works: wait for something to happen.
    Keep(RunNumber),
    /// Nothing is left to do for a manager.
    Leave(Leave),
}

/// Why a manager leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// The newest run has ended, and nothing was asked for beyond that.
    Over,
    /// Three successors failed to start. The intent stays, for an explicit recovery.
    GaveUp,
}

/// A run to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    /// Its number.
    pub number: RunNumber,
    /// Why it is created.
    pub kind: RunKind,
    /// Of kind compact: whose context it replaces.
    pub closes: Option<RunNumber>,
    /// The run before it, whose work it continues.
    pub continues: Option<RunNumber>,
    /// The intent that it carries out, if one stands; it must stand still when the run is created.
    pub intent: Option<Intent>,
}

/// What the facts of the snapshot do not tell.
pub struct Knowledge<'a> {
    /// A new run is asked for, once the current one is over.
    pub resume: bool,
    /// How many successors may still be tried.
    pub attempts_left: u32,
    /// Whether the harness of a run with a recorded process has been started, or is gone.
    pub past_exec: &'a dyn Fn(&RunFacts) -> bool,
    /// Whether a run has given a verb, and so became a context.
    pub awake: &'a dyn Fn(RunNumber) -> bool,
}

/// The next step.
pub fn decide(snapshot: &Snapshot, knowledge: &Knowledge) -> Result<Step> {
    match snapshot.intent.get()? {
        Some(intent) => relaunch(snapshot, knowledge, intent),
        None => keep(snapshot, knowledge),
    }
}

fn relaunch(snapshot: &Snapshot, knowledge: &Knowledge, intent: &Intent) -> Result<Step> {
    let closing = intent.closing;
    let Some(attempt) = snapshot.newest_attempt(closing) else {
        let Some(run) = snapshot.run(closing) else { return Ok(Step::CallOff(closing)) };
        if run.end.get()?.is_some() {
            return next_attempt(snapshot, intent);
        }
        // An order to kill that came first: the intent goes with the run.
        return Ok(if run.kill.get()?.is_some() { Step::Kill(closing) } else { Step::EndContext(intent.clone()) });
    };
    if attempt.end.get()?.is_none() {
        return Ok(match attempt.pid.get()? {
            None => Step::Start(attempt.number),
            Some(pid) if pid.process().is_none() => Step::Bury(attempt.number),
            Some(_) if (knowledge.past_exec)(attempt) => Step::DropIntent(closing),
            Some(_) => Step::AwaitExec(attempt.number),
        });
    }
    if !attempt.spawn_failed() {
        return Ok(Step::DropIntent(closing));
    }
    if knowledge.attempts_left == 0 {
        return Ok(Step::Leave(Leave::GaveUp));
    }
    next_attempt(snapshot, intent)
}

/// Only what was current when the handoff was accepted, or an attempt to replace it, can have a successor after it.
fn next_attempt(snapshot: &Snapshot, intent: &Intent) -> Result<Step> {
    let fits = |run: &RunFacts| run.end.exists() && (run.number == intent.closing || run.replaces(intent.closing));
    Ok(match snapshot.current()?.is_some_and(fits) {
        true => Step::Create(successor(snapshot, intent)),
        false => Step::CallOff(intent.closing),
    })
}

fn successor(snapshot: &Snapshot, intent: &Intent) -> Creation {
    Creation {
        number: snapshot.next_number(),
        kind: RunKind::Compact,
        closes: Some(intent.closing),
        continues: Some(intent.closing),
        intent: Some(intent.clone()),
    }
}

fn keep(snapshot: &Snapshot, knowledge: &Knowledge) -> Result<Step> {
    let Some(run) = snapshot.current()? else {
        let number = snapshot.next_number();
        return Ok(Step::Create(Creation {
            number,
            kind: RunKind::Launch,
            closes: None,
            continues: None,
            intent: None,
        }));
    };
    if run.end.get()?.is_some() {
        return Ok(match knowledge.resume {
            true => Step::Create(resumed(snapshot, knowledge, run)),
            false => Step::Leave(Leave::Over),
        });
    }
    Ok(match run.pid.get()? {
        None => Step::Start(run.number),
        Some(pid) if pid.process().is_none() => Step::Bury(run.number),
        // What cannot be read is no order, and no result, for which a run that lives would be stopped.
        Some(_) if run.kill.get()?.is_some() => Step::Kill(run.number),
        Some(_) if !run.process_alive() => Step::Reap(run.number),
        Some(_) if run.returned.get()?.is_some() => Step::LetGo(run.number),
        Some(_) => Step::Keep(run.number),
    })
}

/// What `resume` begins. A successor that died before it became a context is tried again from the handoff, never from
/// the conversation that the handoff replaced.
fn resumed(snapshot: &Snapshot, knowledge: &Knowledge, current: &RunFacts) -> Creation {
    let number = snapshot.next_number();
    let stillborn = snapshot.hold.here().and_then(|hold| {
        let successor = snapshot.successor(hold.run)?;
        let mut attempts = snapshot.runs.iter().filter(|run| run.replaces(hold.run));
        let nobody = attempts.all(|run| run.end.exists() && !(knowledge.awake)(run.number));
        nobody.then_some((hold.run, successor.number))
    });
    match stillborn {
        Some((closed, first)) => {
            Creation { number, kind: RunKind::Compact, closes: Some(closed), continues: Some(first), intent: None }
        }
        None => Creation { number, kind: RunKind::Resume, closes: None, continues: Some(current.number), intent: None },
    }
}
