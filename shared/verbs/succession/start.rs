//! `compact start`: the hold.

use super::{finished_before, nobody_else};
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::Refusal;
use crate::spool::facts::Hold;
use crate::spool::layout;
use crate::spool::log;
use crate::verbs::caller::Caller;
use crate::verbs::claim::Claim;
use anyhow::Result;

/// Holds the pager of the calling session, from now or still. Ends nothing; can be given again (R11, R12).
pub fn start(caller: &Caller) -> Result<Hold> {
    let claim = Claim::take(&caller.spool, "compact start")?;
    let snapshot = caller.snapshot()?;
    caller.check(&snapshot)?;
    nobody_else(&snapshot, &caller.session.id, caller.run)?;
    if let Some(finding) = finished_before(&snapshot, caller.run) {
        return Err(Refusal::one(finding).into());
    }
    if let Some(hold) = snapshot.hold.get()?.filter(|hold| hold.run == caller.run) {
        return Ok(hold.clone());
    }
    // One that is not effective, of a context that died before it handed off, is over by itself.
    claim.insist()?;
    let hold = Hold { run: caller.run, since: At::now() };
    fact::replace(&Dir::open(&caller.spool.scratch())?, layout::HOLD, &hold)?;
    log::note(&caller.spool, "compaction-started", Some(caller.run), "");
    Ok(hold)
}
