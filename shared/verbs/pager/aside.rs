//! Watching, aside, where somebody writes all the time: a run's output, and the transcript of its harness.
//!
//! Promises: who is woken by it is woken once a second at most, however much is written there, and sees what was written
//! last; nothing is done while nothing is written. It takes no inotify instance, of which a user has few, where dnotify
//! is to be had.

use crate::ground::watch::{Backend, Watch};
use anyhow::Result;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The pace of looking.
const PACE: Duration = Duration::from_secs(1);
/// How often to ask for directories that appear while they are asked for.
const ATTEMPTS: usize = 4;

/// The directories aside.
pub(super) struct Aside {
    watch: Watch,
    /// When somebody looked last.
    looked: Option<Instant>,
    /// Something was written since.
    rung: bool,
}

impl Aside {
    /// Of nothing yet. `prefer` is what the caller insists on.
    pub(super) fn new(prefer: Option<Backend>) -> Result<Aside> {
        let watch = match prefer {
            Some(_) => Watch::new(prefer)?,
            None => Watch::new(Some(Backend::Dnotify)).or_else(|_| Watch::new(None))?,
        };
        Ok(Aside { watch, looked: None, rung: true })
    }

    /// It is time to look again, as soon as the pace allows.
    pub(super) fn ring(&mut self) {
        self.rung = true;
    }

    /// Whether something was written since the last look, or it is time to look all the same.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.rung || self.next().is_some_and(|next| next <= now)
    }

    /// Whether it is time to look. If so, what is written from now on rings again.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        if self.looked.is_some() && self.next().is_none_or(|next| next > now) {
            return false;
        }
        self.watch.drain();
        self.rung = false;
        self.looked = Some(now);
        true
    }

    /// When to look next, as far as that is known.
    pub(super) fn next(&self) -> Option<Instant> {
        let pause = if self.rung { Some(PACE) } else { self.watch.interval().map(|interval| interval.max(PACE)) };
        Some(self.looked? + pause?)
    }

    /// What becomes readable when something is written, unless that is known.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.watch.fd().filter(|_| !self.rung)
    }

    /// Watches the directories that `places` names, and no others.
    pub(super) fn follow(&mut self, places: impl Fn() -> Vec<PathBuf>) {
        for _ in 0..ATTEMPTS {
            // One that appeared before its parent was watched is found by asking once more.
            if !self.watch.watch_only(places()) {
                return;
            }
        }
        self.rung = true;
    }
}
