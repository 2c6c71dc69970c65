//! The command line of `orbh-compact`.

use clap::{Parser, Subcommand};

/// Replace the context of the calling session, by a handoff that its agent writes
///
/// Compaction is always self-compaction: all but `status` work inside a run only. A session keeps its id, its files
/// and everything open while its context is replaced.
#[derive(Debug, Parser)]
#[command(name = "orbh-compact", version, disable_help_subcommand = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Begin: hold the pager, print where to write the handoff, its contract, and the Page
    ///
    /// Ends nothing and can be given again at any occupancy.
    Start {
        /// Print one JSON object: run, path, contract, obligations, page
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Hand off: check the handoff, end this context, relaunch the session from the handoff
    ///
    /// Every refusal leaves the context alive and ends with the line `Your context will NOT end.` After `accepted`
    /// there is nothing more to do in this context.
    Handoff {
        /// Relaunch on another target, RUNTIME/PROFILE
        #[arg(long, value_name = "RUNTIME/PROFILE")]
        into: Option<String>,
        /// Relaunch with this account of the harness
        #[arg(long, value_name = "NAME", requires = "into")]
        account: Option<String>,
        /// Only check; change nothing
        #[arg(long)]
        check: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Finish: the successor has read the handoff and every file that it lists
    Finish {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Call the compaction off, before its handoff was accepted
    Abort {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Show where a session's compaction is, since when, and why
    Status {
        /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
        id: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
