//! `compact finish` and `compact abort`: the two ways to release a hold.

use super::nobody_else;
use crate::ground::clock::At;
use crate::ground::dir::{Dir, read};
use crate::ground::fact;
use crate::ground::fault::{Finding, Refusal};
use crate::spool::facts::Compaction;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::verbs::caller::Caller;
use crate::verbs::claim::Claim;
use anyhow::Result;

/// Finishes the compaction whose successor the calling run is, or continues (R24).
pub fn finish(caller: &Caller) -> Result<Compaction> {
    let claim = Claim::take(&caller.spool, "compact finish")?;
    let snapshot = caller.snapshot()?;
    caller.check(&snapshot)?;
    let Some(hold) = snapshot.hold.get()? else { return refuse_without_hold(caller) };
    if hold.run == caller.run {
        let message = format!("run {} itself began this compaction; finishing it is for its successor", caller.run);
        let fix = match snapshot.intent.exists() {
            true => "its handoff was accepted: do nothing more",
            false => "'orbh compact handoff' hands off; 'orbh compact abort' calls it off",
        };
        return Err(Refusal::one(Finding::new("not-the-successor", message, fix)).into());
    }
    if !snapshot.succeeds(caller.run, hold.run) {
        let message = format!("run {} does not continue the handoff of run {}", caller.run, hold.run);
        let fix = "a hold without a successor is over by itself; 'orbh compact start' begins anew";
        return Err(Refusal::one(Finding::new("not-the-successor", message, fix)).into());
    }
    let scratch = Dir::open(&caller.spool.scratch())?;
    claim.insist()?;
    // Compared under the claim: a slow finish must not take away the intent of the next compaction.
    if snapshot.intent.get()?.is_some_and(|intent| intent.closing == hold.run) {
        scratch.remove(layout::INTENT)?;
    }
    // A list that is none must not keep the hold up for ever.
    scratch.free_for_file(layout::COMPACTIONS)?;
    let earlier = compactions(&caller.spool)?;
    let line = match earlier.iter().find(|line| line.closed == hold.run) {
        Some(line) => line.clone(),
        None => {
            let count = earlier.len() + 1;
            let (since, finished_at) = (hold.since, At::now());
            let line = Compaction { closed: hold.run, run: caller.run, since, finished_at, count };
            scratch.append_line(layout::COMPACTIONS, &fact::to_line(&line)?, true)?;
            line
        }
    };
    // Last: until then, finish can be given again.
    scratch.remove(layout::HOLD)?;
    log::note(&caller.spool, "compaction-finished", Some(caller.run), format!("run {} was replaced", hold.run));
    Ok(line)
}

fn refuse_without_hold(caller: &Caller) -> Result<Compaction> {
    let last = compactions(&caller.spool)?.pop();
    let finding = match last.filter(|last| last.run == caller.run) {
        Some(last) => {
            let message = format!("run {} finished this compaction already, at {}", caller.run, last.finished_at);
            Finding::new("already-finished", message, "go on with the duty")
        }
        None => {
            let message = format!("session {} has no compaction to finish", caller.session.id);
            Finding::new("no-compaction", message, "go on with the duty; 'orbh compact start' begins one")
        }
    };
    Err(Refusal::one(finding).into())
}

/// Calls off the compaction that the calling session has begun, before its handoff was accepted (R26). False: there
/// was none.
pub fn abort(caller: &Caller) -> Result<bool> {
    let claim = Claim::take(&caller.spool, "compact abort")?;
    let snapshot = caller.snapshot()?;
    caller.check(&snapshot)?;
    nobody_else(&snapshot, &caller.session.id, caller.run)?;
    let Some(hold) = snapshot.hold.get()? else { return Ok(false) };
    if snapshot.successor(hold.run).is_some() {
        let message = format!("the compaction of run {} has its successor; it can only be finished", hold.run);
        let fix = "read the handoff, then 'orbh compact finish'";
        return Err(Refusal::one(Finding::new("compaction-unfinished", message, fix)).into());
    }
    claim.insist()?;
    let scratch = Dir::open(&caller.spool.scratch())?;
    // Who retired an intent may have died before that was durable; it must not come back without its hold.
    scratch.sync()?;
    scratch.remove(layout::HOLD)?;
    log::note(&caller.spool, "compaction-aborted", Some(caller.run), "");
    Ok(true)
}

/// The finished compactions of a session, oldest first. A line that a crash cut short is passed over.
pub fn compactions(spool: &Spool) -> Result<Vec<Compaction>> {
    let Some(bytes) = read(&spool.scratch().join(layout::COMPACTIONS))? else { return Ok(Vec::new()) };
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
