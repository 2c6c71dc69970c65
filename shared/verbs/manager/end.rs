//! Ending a run: first every process of it dies, then the end is written, under the claim.

use super::Manager;
use super::tree::{self, View};
use crate::ground::clock::At;
use crate::ground::dir::{self, Dir, Written};
use crate::ground::fact;
use crate::ground::fault::damage;
use crate::ground::stop::stop;
use crate::spool::facts::{End, Intent, PidRecord, Reason};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::spool::snapshot::RunFacts;
use crate::verbs::claim::Claim;
use crate::verbs::succession::intent;
use anyhow::Result;
use nix::sys::wait::WaitStatus;

impl Manager<'_> {
    /// Ends the context that handed off. The accepted bytes are checked before anything dies, and take the place of
    /// the draft before the end is written.
    pub(super) fn end_context(&mut self, intent: &Intent, run: &RunFacts) -> Result<()> {
        let closing = intent.closing;
        let accepted = self.spool.scratch().join(layout::accepted(closing));
        // Something else in its place (a symbolic link, a FIFO) is not what was accepted either.
        let found = match dir::read(&accepted) {
            Err(error) if damage(&error).is_some() => None,
            other => other?,
        };
        let Some(bytes) = found.filter(|bytes| intent::sha256(bytes) == intent.sha256) else {
            let claim = Claim::take(&self.spool, "manager")?;
            claim.insist()?;
            intent::retire(&self.spool, closing, "the manager: the accepted handoff is not what was accepted")?;
            return Ok(());
        };
        log::note(&self.spool, "context-ending", Some(closing), "");
        self.stop_processes(run)?;
        let scratch = Dir::open(&self.spool.scratch())?;
        // A dying agent may have taken them away meanwhile; nothing of it lives any more.
        if dir::read(&accepted).ok().flatten().as_ref() != Some(&bytes) {
            scratch.replace_mode(&layout::accepted(closing), &bytes, 0o400)?;
        }
        scratch.link_over(&layout::accepted(closing), &layout::handoff(closing))?;
        let dir = Dir::open(&self.spool.run(closing))?;
        let end = ended(Reason::Compacted, self.status_of(run), None);
        let draft = dir.draft(&fact::to_text(&end)?, 0o600)?;
        draft.sync()?;
        // Before the end has its name: where a context has ended, its successor's handoff is on disk.
        scratch.sync()?;
        let claim = Claim::take(&self.spool, "manager")?;
        if self.intent()?.is_none_or(|now| now.closing != closing) {
            return Ok(());
        }
        claim.insist()?;
        if draft.create(layout::END)? == Written::Now {
            dir.sync()?;
            self.synced.current = Some((closing, true));
            log::note(&self.spool, "run-ended", Some(closing), end.reason.to_string());
        }
        Ok(())
    }

    /// Carries out an order to kill.
    pub(super) fn kill(&mut self, run: &RunFacts) -> Result<()> {
        self.stop_processes(run)?;
        let status = self.status_of(run);
        let claim = Claim::take(&self.spool, "manager")?;
        claim.insist()?;
        // What was accepted while the run was dying goes with it.
        intent::retire_for_kill(&self.spool, run.number)?;
        self.write_end(run.number, &ended(Reason::Killed, status, None))
    }

    /// Writes the end of a run whose process is gone. What it left behind is stopped first: an ended run has no
    /// processes.
    pub(super) fn settle(&mut self, run: &RunFacts) -> Result<()> {
        self.stop_processes(run)?;
        let status = self.status_of(run);
        let claim = Claim::take(&self.spool, "manager")?;
        let snapshot = self.snapshot()?;
        let Some(now) = snapshot.run(run.number) else { return Ok(()) };
        // A handoff that was accepted just before its context died by itself is carried out, not lost; and an order to
        // kill that came meanwhile names the reason.
        if snapshot.intent.get()?.is_some_and(|intent| intent.closing == run.number) {
            return Ok(());
        }
        // Its verbs may have died between a name and its fsync: one that gave a result, one that took its own handoff back.
        dir::sync_path(&self.spool.scratch())?;
        if now.returned.exists() {
            dir::sync_path(&self.spool.returns())?;
        }
        let reason = match status {
            _ if now.kill.exists() => Reason::Killed,
            _ if now.returned.exists() => Reason::Returned,
            Some(WaitStatus::Exited(..)) => Reason::Exited,
            Some(WaitStatus::Signaled(..)) => Reason::Signalled,
            _ => Reason::Lost,
        };
        claim.insist()?;
        self.write_end(run.number, &ended(reason, status, None))
    }

    /// Writes an end, unless there is one. The claim is held.
    pub(super) fn write_end(&self, number: RunNumber, end: &End) -> Result<()> {
        write_end(&self.spool, number, end)
    }

    pub(super) fn stop_processes(&mut self, run: &RunFacts) -> Result<()> {
        let view = if self.started == Some(run.number) { View::Parent } else { View::Stranger };
        let grace = self.environment.grace();
        // A session waits for this: where the absence of children proves that nothing of the run is left, the processes
        // of the whole machine are not read once more.
        let list = || match self.reap() {
            false if view == View::Parent => Vec::new(),
            _ => tree::of_run(&self.spool, run, view),
        };
        stop(list, grace)?;
        // The last chance to learn which conversation it was: a resume goes on in it.
        self.learn(Some(run))?;
        self.reap();
        Ok(())
    }

    fn status_of(&mut self, run: &RunFacts) -> Option<WaitStatus> {
        let pid = run.pid.here().and_then(PidRecord::process)?.pid;
        self.statuses.get(&pid).copied()
    }
}

/// Writes the end of a run, unless there is one. The claim is held.
pub fn write_end(spool: &Spool, number: RunNumber, end: &End) -> Result<()> {
    if fact::create(&Dir::open(&spool.run(number))?, layout::END, end)? == Written::Now {
        log::note(spool, "run-ended", Some(number), end.reason.to_string());
    }
    Ok(())
}

/// The end of a run, with what wait(2) told of its process.
pub fn ended(reason: Reason, status: Option<WaitStatus>, detail: Option<String>) -> End {
    let (code, signal) = match status {
        Some(WaitStatus::Exited(_, code)) => (Some(code), None),
        Some(WaitStatus::Signaled(_, signal, _)) => (None, Some(signal as i32)),
        _ => (None, None),
    };
    End { reason, code, signal, at: At::now(), detail }
}
