//! Looking at the facts, and deciding by them what comes next.
//!
//! What a step is decided by must be durable before the step has its effect: whoever wrote it may have died before its
//! fsync, and after a power loss the effect must not be there without the cause. So scratch/, runs/ and the directory
//! of the current run are synced before a step, whoever wrote there, unless they are known to be durable ([`Synced`]).

use super::Manager;
use super::decide::{ATTEMPTS, Knowledge, Step, decide};
use super::start::SHIM;
use super::tree;
use crate::ground::dir;
use crate::harness::native;
use crate::spool::facts::{Hold, InForce, Intent, PidRecord};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::snapshot::{Found, RunFacts, Snapshot};
use crate::verbs::claim::Claim;
use crate::verbs::launch::Order;
use anyhow::Result;

/// What was seen, and what is to be done.
pub(super) struct Look {
    pub(super) step: Step,
    pub(super) snapshot: Snapshot,
    /// The claim under which that was decided; none for what changes nothing.
    pub(super) claim: Option<Claim>,
}

/// What this manager knows to be durable.
#[derive(Default)]
pub(super) struct Synced {
    /// The hold and the intent as they stood in scratch/ when it was synced. The same again need no second sync: an
    /// intent tells when it was written, so another one is never equal to it.
    marks: Option<(Found<Hold>, Found<Intent>)>,
    /// The names in runs/. Only who holds the manager lease makes any there, so after one sync it knows of all, and of
    /// its own ones whether it has synced them.
    pub(super) runs: bool,
    /// The names in the directory of the current run, and whether its end is among them.
    pub(super) current: Option<(RunNumber, bool)>,
    /// The intent by which was decided last, under the claim.
    intent: Option<Intent>,
}

impl Manager<'_> {
    /// Looks without the claim first: taking it touches the watched directory, and a manager that took it to find that
    /// there is nothing to do would wake itself for ever. After a step of a relaunch, and when an intent has come, there
    /// is something to do.
    pub(super) fn look(&mut self) -> Result<Look> {
        if !std::mem::take(&mut self.stepped) && !self.intent_is_new() {
            let (step, snapshot) = self.decide()?;
            if waits(&step) {
                return Ok(Look { step, snapshot, claim: None });
            }
        }
        let claim = self.claim(None)?;
        let (step, snapshot) = self.decide()?;
        self.synced.intent = snapshot.intent.here().cloned();
        if waits(&step) {
            return Ok(Look { step, snapshot, claim: None });
        }
        // After the facts were read and before anything is done by them: who wrote them under the claim before us may
        // have died of it. Nobody writes any meanwhile.
        self.make_durable(&snapshot)?;
        // A relaunch has several.
        self.stepped = snapshot.intent.exists();
        Ok(Look { step, snapshot, claim: Some(claim) })
    }

    /// Whether there is an intent that nothing was decided by yet.
    fn intent_is_new(&self) -> bool {
        self.intent().is_ok_and(|now| now.is_some() && now != self.synced.intent)
    }

    /// Makes durable what was seen.
    fn make_durable(&mut self, seen: &Snapshot) -> Result<()> {
        let marks = (seen.hold.clone(), seen.intent.clone());
        // Of an intent that is gone it cannot be told when it went, or who took it away.
        if marks.1.here().is_none() || self.synced.marks.as_ref() != Some(&marks) {
            dir::sync_path(&self.spool.scratch())?;
            self.synced.marks = Some(marks);
        }
        if !self.synced.runs {
            dir::sync_path(&self.spool.runs())?;
            self.synced.runs = true;
        }
        // Another manager may have died between the name of run.json or of an end and the fsync, and the shim of an
        // attempt too. A process must not be recorded where there is no run, nor may a run be there without the end of
        // the one before it: an attempt that failed to start would count as the successor.
        let current = seen.current()?.map(|run| (run.number, run.end.exists()));
        if let Some((number, _)) = current.filter(|_| self.synced.current != current) {
            dir::sync_path(&self.spool.run(number))?;
            self.synced.current = current;
        }
        Ok(())
    }

    /// The claim, if it is not held already.
    pub(super) fn claim(&self, held: Option<Claim>) -> Result<Claim> {
        held.map_or_else(|| Claim::take(&self.spool, "manager"), Ok)
    }

    /// The facts that decide, as they are now.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        let newest = |seen: &Snapshot| seen.runs.iter().rev().find(|run| run.run.exists()).map(|run| run.number);
        Snapshot::recent(&self.spool, self.session.mode, self.seen.as_ref().and_then(newest))
    }

    /// The intent as it is now.
    pub(super) fn intent(&self) -> Result<Option<Intent>> {
        let found: Found<Intent> = Found::read(&self.spool.scratch().join(layout::INTENT))?;
        Ok(found.get()?.cloned())
    }

    /// Somebody who sends the relaunch to another target, or account, wants it tried there: what failed on the way, or
    /// was buried before it started, does not count.
    fn count_anew(&mut self, snapshot: &Snapshot) {
        let Some(intent) = snapshot.intent.here() else { return };
        let wanted = InForce { target: intent.target.clone(), account: intent.account.clone() };
        if self.attempted.as_ref() != Some(&wanted) {
            self.attempts = 0;
            self.attempted = Some(wanted);
        }
    }

    fn decide(&mut self) -> Result<(Step, Snapshot)> {
        let snapshot = self.snapshot()?;
        self.nothing_vanished(&snapshot)?;
        snapshot.current()?.map_or(Ok(()), |run| tree::of_this_machine(&self.spool, run))?;
        self.count_anew(&snapshot);
        let scratch = self.spool.scratch();
        let knowledge = Knowledge {
            resume: matches!(self.order, Order::Resume(_)),
            attempts_left: ATTEMPTS.saturating_sub(self.attempts),
            past_exec: &|run| self.executed == Some(run.number) || !run.process_alive() || has_become_harness(run),
            awake: &|number| {
                scratch.join(layout::awake(number)).symlink_metadata().is_ok()
                    || snapshot
                        .run(number)
                        .and_then(|facts| facts.run.here())
                        .is_some_and(|run| native::answered(&self.spool, number, run))
            },
        };
        let step = decide(&snapshot, &knowledge)?;
        Ok((step, snapshot))
    }
}

/// Whether a step only waits, and changes nothing in the spool.
fn waits(step: &Step) -> bool {
    matches!(step, Step::Keep(_) | Step::AwaitExec(_) | Step::LetGo(_))
}

/// Whether the process of a run is no longer the exec shim.
fn has_become_harness(run: &RunFacts) -> bool {
    let Some(process) = run.pid.here().and_then(PidRecord::process) else { return false };
    match std::fs::read_link(format!("/proc/{}/exe", process.pid)) {
        Ok(path) => path.file_name().is_none_or(|name| name != SHIM),
        Err(_) => !process.alive(),
    }
}
