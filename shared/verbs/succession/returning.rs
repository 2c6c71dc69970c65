//! `session return`: the result of a run, which closes a headless one to all verbs.

use super::nobody_else;
use crate::ground::clock::At;
use crate::ground::dir::{Dir, Written};
use crate::ground::fact;
use crate::ground::fault::{Finding, Refusal};
use crate::spool::facts::{Disposition, Return};
use crate::spool::layout;
use crate::spool::log;
use crate::verbs::caller::Caller;
use crate::verbs::claim::Claim;
use anyhow::Result;

/// Delivers the result of the calling run, and finishes the session.
pub fn give_back(caller: &Caller, text: &str) -> Result<Return> {
    let claim = Claim::take(&caller.spool, "session return")?;
    let snapshot = caller.snapshot()?;
    caller.check(&snapshot)?;
    nobody_else(&snapshot, &caller.session.id, caller.run)?;
    let returns = Dir::open(&caller.spool.returns())?;
    claim.insist()?;
    // The hold of this very context goes first; one that an unfinished successor inherited stays, for all to see.
    if snapshot.hold.get()?.is_some_and(|hold| hold.run == caller.run) {
        let scratch = Dir::open(&caller.spool.scratch())?;
        // Who retired an intent may have died before that was durable; it must not come back without its hold.
        scratch.sync()?;
        scratch.remove(layout::HOLD)?;
    }
    let given = Return { run: caller.run, disposition: Disposition::Finish, at: At::now() };
    // The text before the fact: whoever sees the fact finds the text. A text without its fact is a crash's, replaced.
    returns.replace(&layout::return_text(caller.run), text.as_bytes())?;
    if fact::create(&returns, &layout::return_fact(caller.run), &given)? == Written::Before {
        let message = format!("run {} has returned before", caller.run);
        return Err(Refusal::one(Finding::new("already-returned", message, "a run returns once")).into());
    }
    log::note(&caller.spool, "returned", Some(caller.run), format!("{} bytes", text.len()));
    Ok(given)
}
