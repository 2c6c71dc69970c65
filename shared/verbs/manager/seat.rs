//! A manager whose lease file is removed or replaced under it, or whose scratch/ goes with everything in it.
//!
//! It holds a lock then that nobody else sees. What it does next must not be done by two: it takes the lease again, and
//! where somebody else was quicker, it leaves the session to that one.

use super::{Left, Manager, keeper};
use crate::ground::lease::{self, PROBE_BOUND, Taken};
use crate::spool::layout;
use crate::spool::log;
use anyhow::Result;
use std::time::{Duration, Instant};

/// How long to look whether the lease went because all of the spool goes: what was made anew in it would keep rm(1)
/// from removing it.
const SETTLE: Duration = Duration::from_secs(1);
/// How often to look meanwhile.
const LOOK: Duration = Duration::from_millis(50);

impl Manager<'_> {
    /// Makes sure that the lease which is held is the one that others see; `Some` when this manager is to leave.
    pub(super) fn keep_lease(&mut self) -> Result<Option<Left>> {
        if !self.lease.lost()? {
            return Ok(None);
        }
        let begin = Instant::now();
        while begin.elapsed() < SETTLE {
            self.watch.wait(&[], Some(LOOK))?;
            self.watch.drain();
            // Put back as it was: what is locked is what others see.
            if !self.lease.lost()? {
                return Ok(None);
            }
            // Replaced, and not removed: there is nothing to wait for.
            if self.spool.scratch().join(layout::MANAGER).symlink_metadata().is_ok() {
                break;
            }
            if self.session_goes() {
                // All of the spool, perhaps: the next look finds that out.
                self.spool.session()?;
            }
        }
        self.spool.mend()?;
        match lease::take(&self.spool.scratch().join(layout::MANAGER), &keeper(), PROBE_BOUND)? {
            Taken::Ours(lease) => {
                self.lease = lease;
                log::note(&self.spool, "lease-taken-again", None, "its file was removed or replaced");
                Ok(None)
            }
            // Put back just now: it is this manager itself that holds it.
            Taken::Owned(_) if !self.lease.lost()? => Ok(None),
            Taken::Owned(owner) => {
                let who = lease::describe(owner.as_ref());
                log::note(&self.spool, "manager-left", None, format!("its lease was replaced, and {who} holds it"));
                Ok(Some(Left::Replaced))
            }
        }
    }

    fn session_goes(&self) -> bool {
        let session = self.spool.dir().join(layout::SESSION);
        session.symlink_metadata().is_err() || self.spool.runs().symlink_metadata().is_err()
    }
}
