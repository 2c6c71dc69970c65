//! What a run has been told of and has not consumed: scratch/announced-N, an event a line, `-EVENT` once it is consumed.
//!
//! The pager does not fire twice for what stands there, and the Page says of it that it was shown before. It belongs to a
//! run: another context remembers nothing of it. Never synced: after a power loss the run is gone.

use super::id::RunNumber;
use super::layout;
use super::session::Spool;
use crate::ground::dir::{Dir, read};
use anyhow::Result;
use std::collections::HashSet;

/// The events that `run` was told of. What cannot be read counts as nothing told: better once more than never.
pub fn read_of(spool: &Spool, run: RunNumber) -> HashSet<String> {
    let path = spool.scratch().join(layout::announced(run));
    let bytes = read(&path).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut told = HashSet::new();
    for line in text.lines() {
        match line.strip_prefix('-') {
            Some(consumed) => {
                told.remove(consumed);
            }
            None => {
                told.insert(line.to_owned());
            }
        }
    }
    told
}

/// Adds lines: events, or `-EVENT` for those that were consumed.
pub fn append(spool: &Spool, run: RunNumber, lines: &[String]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    Dir::open(&spool.scratch())?.append_line(&layout::announced(run), &lines.join("\n"), false)
}
