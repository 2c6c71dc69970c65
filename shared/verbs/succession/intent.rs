//! The relaunch intent: the fact that a handoff was accepted, and calling it off.

use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::spool::facts::Intent;
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::spool::snapshot::Found;
use anyhow::Result;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The hash that an intent carries, as sha256sum(1) prints it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[derive(Serialize)]
struct CalledOff<'a> {
    #[serde(flatten)]
    intent: &'a Intent,
    by: &'a str,
    cancelled_at: At,
}

/// The same for an order to kill, which a damaged intent must not stand in the way of: that one is put aside.
pub fn retire_for_kill(spool: &Spool, closing: RunNumber) -> Result<bool> {
    let found: Found<Intent> = Found::read(&spool.scratch().join(layout::INTENT))?;
    if matches!(found, Found::Damaged(_)) {
        Dir::open(&spool.scratch())?.rename_away(layout::INTENT, layout::DAMAGED)?;
        log::note(spool, "relaunch-cancelled", Some(closing), "by kill: it was damaged");
        return Ok(true);
    }
    retire(spool, closing, "kill")
}

/// Retires an intent that closes `closing`; false when there is none. Hold the claim: when it is let go, the intent is
/// durably gone.
pub fn retire(spool: &Spool, closing: RunNumber, by: &str) -> Result<bool> {
    let scratch = Dir::open(&spool.scratch())?;
    let found: Found<Intent> = Found::read(&spool.scratch().join(layout::INTENT))?;
    let Some(intent) = found.get()?.filter(|intent| intent.closing == closing) else {
        // Who called it off before may have died between the rename and its fsync: a power loss would bring it back.
        scratch.sync()?;
        return Ok(false);
    };
    scratch.rename_away(layout::INTENT, layout::CANCELLED)?;
    // Who called it off, for people; that it was called off is done already.
    let _ = fact::replace(&scratch, layout::CANCELLED, &CalledOff { intent, by, cancelled_at: At::now() });
    log::note(spool, "relaunch-cancelled", Some(closing), format!("by {by}"));
    Ok(true)
}
