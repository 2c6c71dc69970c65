//! Occupancy: how full a context is, as its harness reports it. Never guessed, and never 0 for want of a number.

use super::Runtime;
use super::{native, transcript};
use crate::ground::clock::At;
use crate::ground::fact;
use crate::spool::facts::{ContextReport, Run};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::session::Spool;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// At this share of the window, in percent, a session is advised to compact.
pub const ADVISED_PERCENT: u64 = 80;

/// How full a context is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// The run whose context it is.
    pub run: RunNumber,
    /// Tokens in use; absent when the harness has not told yet.
    pub used: Option<u64>,
    /// The size of the window in tokens; absent when neither harness nor profile tells.
    pub max: Option<u64>,
    /// The share in use, rounded to a whole percent; may exceed 100.
    pub percent: Option<u64>,
    /// The file that `used` was read from.
    pub source: Option<PathBuf>,
    /// When it was measured: when that file, or the record in it, was written.
    pub measured_at: Option<At>,
    /// The harness has compacted the conversation by itself: what the context held before is not there any more.
    pub compacted_natively: bool,
}

impl Occupancy {
    /// Puts it together; a window of 0 tokens is none, and without a use there is no time of measuring.
    fn new(run: RunNumber, used: Option<u64>, max: Option<u64>, source: Option<PathBuf>, at: Option<At>) -> Self {
        let max = max.filter(|max| *max > 0);
        let percent = used.zip(max).map(|(used, max)| {
            let share = (u128::from(used) * 100 + u128::from(max) / 2) / u128::from(max);
            u64::try_from(share).unwrap_or(u64::MAX)
        });
        let measured_at = at.filter(|_| used.is_some());
        Occupancy { run, used, max, percent, source, measured_at, compacted_natively: false }
    }

    /// Whether it is time to compact, as far as is known.
    pub fn advised(&self) -> bool {
        matches!((self.used, self.max), (Some(used), Some(max)) if used.saturating_mul(100) >= max.saturating_mul(ADVISED_PERCENT))
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.used, self.max, self.percent) {
            (Some(used), Some(max), Some(percent)) => write!(f, "{used} / {max} ({percent}%)"),
            (Some(used), _, _) => write!(f, "{used} / unknown"),
            (None, Some(max), _) => write!(f, "unknown / {max}"),
            (None, None, _) => write!(f, "unknown"),
        }
    }
}

/// Reads the occupancy of a run's context.
pub fn read(spool: &Spool, number: RunNumber, run: &Run) -> Result<Occupancy> {
    match Runtime::named(&run.target.runtime) {
        Some(runtime @ (Runtime::Claude | Runtime::Codex)) => transcribed(spool, number, run, runtime),
        Some(Runtime::Command) | None => reported(spool, run),
    }
}

/// What a harness of the `command` runtime wrote to the file that ORBH_CONTEXT_FILE names.
fn reported(spool: &Spool, run: &Run) -> Result<Occupancy> {
    let path = spool.scratch().join(layout::context(run.context));
    let report: Option<ContextReport> = fact::load(&path)?;
    let max = report.as_ref().and_then(|report| report.max).or(run.context_window);
    let used = report.as_ref().map(|report| report.used);
    let written = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok().map(At::from);
    let source = used.map(|_| path);
    Ok(Occupancy::new(run.context, used, max, source, written))
}

/// What the harness's own transcript says.
fn transcribed(spool: &Spool, number: RunNumber, run: &Run, runtime: Runtime) -> Result<Occupancy> {
    let nothing = Occupancy::new(run.context, None, run.context_window, None, None);
    let Some(found) = native::read(spool, number)? else { return Ok(nothing) };
    let Some(path) = native::find_transcript(run, &found) else { return Ok(nothing) };
    // Not ours: one that cannot be read, or shrinks meanwhile, tells nothing, and must not take the session along.
    let usage = match runtime {
        Runtime::Claude => transcript::claude(&path).ok().flatten(),
        Runtime::Codex => transcript::codex(&path).ok().flatten(),
        Runtime::Command => None,
    };
    let Some(usage) = usage else { return Ok(nothing) };
    // What the profile says comes first: a person wrote it, for just this case.
    let max = run.context_window.or(usage.max);
    let measured_at = usage.measured_at.as_deref().and_then(|at| at.parse().ok());
    let source = usage.used.map(|_| path);
    let occupancy = Occupancy::new(run.context, usage.used, max, source, measured_at);
    Ok(Occupancy { compacted_natively: usage.compacted_natively, ..occupancy })
}
