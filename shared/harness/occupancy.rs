//! Occupancy: how full a context is, as its harness reports it. Never guessed, and never 0 for want of a number.

use super::Runtime;
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
    /// When that file was last written.
    pub measured_at: Option<At>,
}

impl Occupancy {
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
        Some(Runtime::Command) | None => reported(spool, number, run),
    }
}

/// What a harness of the `command` runtime wrote to the file that ORBH_CONTEXT_FILE names.
fn reported(spool: &Spool, number: RunNumber, run: &Run) -> Result<Occupancy> {
    let path = spool.scratch().join(layout::context(number));
    let report: Option<ContextReport> = fact::load(&path)?;
    let max = report.as_ref().and_then(|report| report.max).or(run.context_window).filter(|max| *max > 0);
    let used = report.as_ref().map(|report| report.used);
    let percent = used.zip(max).map(|(used, max)| {
        let share = (u128::from(used) * 100 + u128::from(max) / 2) / u128::from(max);
        u64::try_from(share).unwrap_or(u64::MAX)
    });
    let measured_at = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok().map(At::from);
    let measured_at = measured_at.filter(|_| used.is_some());
    Ok(Occupancy { run: number, used, max, percent, source: used.map(|_| path), measured_at })
}
