//! The succession: how a context is replaced, by verbs that each check everything first and then write one fact.
//!
//! The order of the system calls is the one that orbh-spool(5) gives under SUCCESSION. Every verb takes the claim,
//! checks under it that its own run is the current open one, commits, and lets the claim go. None waits or spawns
//! while it holds it.

pub mod finish;
pub mod handoff;
pub mod intent;
pub mod kill;
mod owed;
pub mod redirect;
pub mod returning;
pub mod start;

use crate::ground::fault::{Finding, Refusal};
use crate::spool::id::{RunNumber, SessionId};
use crate::spool::snapshot::Snapshot;
use anyhow::Result;

/// Refuses when an accepted handoff owns the session (R21).
fn nobody_else(snapshot: &Snapshot, id: &SessionId, me: RunNumber) -> Result<()> {
    match owned(snapshot, id, me)? {
        Some(finding) => Err(Refusal::one(finding).into()),
        None => Ok(()),
    }
}

fn owned(snapshot: &Snapshot, id: &SessionId, me: RunNumber) -> Result<Option<Finding>> {
    Ok(snapshot.intent.get()?.map(|intent| {
        if snapshot.succeeds(me, intent.closing) {
            // The manager has not dropped the intent yet, or died before it could: `finish` does it as well.
            let message = format!("run {me} takes the place of run {}, and has not finished that yet", intent.closing);
            let fix = "read the handoff, then run 'orbh compact finish' first";
            return Finding::new("compaction-unfinished", message, fix);
        }
        if intent.closing == me {
            let message = format!("the handoff of this run was accepted at {}: this context ends", intent.at);
            return Finding::new("accepted", message, "do nothing more");
        }
        let message = format!(
            "another compaction owns session {id}: the handoff of run {} was accepted at {}",
            intent.closing, intent.at
        );
        Finding::new("compaction-owned", message, "do nothing more; its successor is on the way")
    }))
}

/// Refuses when an earlier compaction was never finished.
fn finished_before(snapshot: &Snapshot, me: RunNumber) -> Option<Finding> {
    let hold = snapshot.effective_hold().filter(|hold| hold.run != me)?;
    let message = format!("the compaction of run {} was never finished", hold.run);
    Some(Finding::new("compaction-unfinished", message, "read its handoff, then run 'orbh compact finish' first"))
}
