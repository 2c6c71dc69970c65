//! The compaction claim: held across check and commit, never while waiting or spawning.

use crate::ground::fault::{Fault, Kind};
use crate::ground::lease::{self, Holder, Lease, Taken};
use crate::spool::id::SessionId;
use crate::spool::layout;
use crate::spool::session::Spool;
use anyhow::Result;
use std::time::Duration;

/// Longer than any claim is held; a holder that is stopped (SIGSTOP) outlasts it, and is named.
const BOUND: Duration = Duration::from_secs(10);

/// The claim, while it is ours.
#[derive(Debug)]
pub struct Claim {
    lease: Lease,
    session: SessionId,
}

impl Claim {
    /// Takes the claim of a session for `verb`, or names who holds it when the bound has run out.
    pub fn take(spool: &Spool, verb: &str) -> Result<Claim> {
        let path = spool.scratch().join(layout::CLAIM);
        if !spool.scratch().exists() && spool.dir().exists() {
            let message = format!("'{}' is missing", spool.scratch().display());
            let hint = format!("its manager makes it again in a moment; without one 'orbh resume {}' does", spool.id());
            return Err(Fault::new(Kind::Damaged, message).hint(hint).into());
        }
        match lease::take(&path, &Holder::me(verb), BOUND)? {
            Taken::Ours(lease) => Ok(Claim { lease, session: spool.id().clone() }),
            Taken::Owned(holder) => {
                let who = lease::describe(holder.as_ref());
                let message = format!("cannot take the compaction claim of session {}: {who} holds it", spool.id());
                let hint = match holder {
                    Some(holder) => format!("try again; if that process is stopped: kill -CONT {}", holder.pid),
                    None => format!("try again; 'fuser -v {}' names it", path.display()),
                };
                Err(Fault::new(Kind::Busy, message).hint(hint).into())
            }
        }
    }

    /// Fails when the lock file was removed or replaced under us: another one may hold the claim as well, and what was
    /// checked under it may not hold any more. Called last before a commit.
    pub fn insist(&self) -> Result<()> {
        if !self.lease.lost()? {
            return Ok(());
        }
        let message = format!("the compaction claim of session {} was taken away: its file was replaced", self.session);
        Err(Fault::new(Kind::Busy, message).hint("try again").into())
    }
}
