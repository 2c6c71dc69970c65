//! A spool that is removed while its manager lives: the session is forgotten.
//!
//! `rm -r` takes one file after the other, and a manager that looks in between must not take what is left for the facts
//! of a session: without its `pid` a run looks as if it had never been started. But a fact never goes by itself, so one
//! that was seen and is not there any more says what is going on.

use super::Left;
use super::Manager;
use super::tree::{self, View};
use crate::ground::fault::{Fault, Kind};
use crate::ground::stop::stop;
use crate::spool::layout;
use crate::spool::snapshot::{Found, RunFacts, Snapshot};
use anyhow::Result;
use std::time::{Duration, Instant};

/// How long the removal of a spool may take, once it is seen to have begun.
const REMOVAL: Duration = Duration::from_secs(10);
/// How often to look whether it is done.
const LOOK: Duration = Duration::from_millis(50);

impl Manager<'_> {
    /// Fails when a fact of a run is gone that was there at the last look; nothing must be done by what is left.
    pub(super) fn nothing_vanished(&mut self, now: &Snapshot) -> Result<()> {
        let before = self.seen.iter().flat_map(deciding);
        if let Some(run) = before.filter(|run| vanished(run, now.run(run.number))).map(|run| run.number).next() {
            let path = self.spool.run(run);
            let message =
                format!("facts of run {run} were removed from '{}': nothing is done any more", path.display());
            return Err(Fault::new(Kind::Damaged, message).hint(format!("orbh inspect {}", self.spool.id())).into());
        }
        let mut seen = now.clone();
        for run in &mut seen.runs {
            let before = self.seen.as_ref().and_then(|seen| seen.run(run.number));
            before.inspect(|before| remember(run, before));
        }
        self.seen = Some(seen);
        Ok(())
    }

    /// Whether the spool was removed; waits for a removal that has begun.
    pub(super) fn taken_away(&mut self) -> Result<bool> {
        let begin = Instant::now();
        loop {
            self.watch.drain();
            if !there(self.spool.dir()) {
                return Ok(true);
            }
            let whole = [self.spool.runs(), self.spool.scratch(), self.spool.dir().join(layout::SESSION)];
            let begun = !whole.iter().all(|path| there(path)) || self.lacks_facts();
            if !begun || begin.elapsed() > REMOVAL {
                return Ok(false);
            }
            self.watch.wait(&[], Some(LOOK))?;
        }
    }

    fn lacks_facts(&self) -> bool {
        let Some(seen) = &self.seen else { return false };
        let Ok(now) = self.snapshot() else { return true };
        deciding(seen).any(|run| vanished(run, now.run(run.number)))
    }

    /// Stops the run that was the current one, and leaves. The managers of other sessions are spared.
    pub(super) fn forget(&mut self) -> Result<Left> {
        let current = self.seen.take().and_then(|seen| seen.runs.into_iter().rev().find(|run| run.pid.exists()));
        if let Some(run) = current {
            let view = if self.started == Some(run.number) { View::Parent } else { View::Stranger };
            stop(|| tree::of_run(&self.spool, &run, view), self.environment.grace())?;
            self.reap();
        }
        Ok(Left::Forgotten)
    }
}

fn there(path: &std::path::Path) -> bool {
    // Only what is surely gone: an I/O error or a permission that was taken away is no order to end a run.
    use std::io::ErrorKind::{NotADirectory, NotFound};
    !matches!(path.symlink_metadata(), Err(error) if matches!(error.kind(), NotFound | NotADirectory))
}

/// The runs whose facts decide what is done next: the newest. What an administrator clears away of the others is no
/// reason to stop.
fn deciding(seen: &Snapshot) -> impl Iterator<Item = &RunFacts> {
    let newest = seen.runs.iter().rev().find(|run| run.run.exists()).map(|run| run.number);
    seen.runs.iter().filter(move |run| Some(run.number) >= newest)
}

/// A fact that was whole is not forgotten because it is damaged now: when the damage is taken away, it is still missing.
fn remember(now: &mut RunFacts, before: &RunFacts) {
    fn keep<T: Clone>(now: &mut Found<T>, before: &Found<T>) {
        if matches!((&*now, before), (Found::Damaged(_), Found::Here(_))) {
            now.clone_from(before);
        }
    }
    keep(&mut now.run, &before.run);
    keep(&mut now.pid, &before.pid);
    keep(&mut now.end, &before.end);
}

/// What never could be read is somebody's to move away.
fn vanished(before: &RunFacts, now: Option<&RunFacts>) -> bool {
    let Some(now) = now else { return before.run.here().is_some() };
    let gone = [
        before.run.here().is_some() && !now.run.exists(),
        before.pid.here().is_some() && !now.pid.exists(),
        before.end.here().is_some() && !now.end.exists(),
    ];
    gone.contains(&true)
}
