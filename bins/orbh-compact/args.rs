//! The command line of `orbh-compact`.

use clap::{Parser, Subcommand};

/// Replace the context of the calling session, by a handoff that its agent writes
///
/// The agent of a session whose context fills up writes down what a successor must know, and hands off; the old
/// context ends, and a fresh one begins from what was written. The session keeps its id, its spool and everything open.
///
/// The order is: `start`, write the file that it names, `handoff`; then, in the fresh context, read that file and
/// `finish`. Compaction is always self-compaction: all but `status` work inside a run only.
#[derive(Debug, Parser)]
#[command(name = "orbh-compact", bin_name = "orbh compact", version, disable_help_subcommand = true)]
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
    /// The path is printed first and last; between them stand the contract of the handoff, the open obligations in the
    /// form that the handoff wants, and the Page, of which nothing counts as read. Ends nothing, works at any
    /// occupancy, and can be given again.
    Start {
        /// Print one JSON object: run, path, contract, obligations, section, page
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Hand off: check the handoff, end this context, relaunch the session from the handoff
    ///
    /// Everything that is wrong is reported together, while it can be mended. Every refusal leaves the context alive
    /// and ends with the line `Your context will NOT end.` After `accepted` there is nothing more to do in this
    /// context: the command waits for the end of it, and does so again when it is given again.
    Handoff {
        /// Relaunch on this target [default: the one in force]
        #[arg(long, value_name = "RUNTIME/PROFILE")]
        into: Option<String>,
        /// Relaunch with this account of the harness
        #[arg(long, value_name = "NAME", requires = "into")]
        account: Option<String>,
        /// Only check, and change nothing
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
    ///
    /// Given by the successor, or by a run that continues it, and only then does the pager speak again. Until then the
    /// session is shown as compacting.
    Finish {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Call the compaction off, before its handoff was accepted
    ///
    /// The hold is released and the context goes on; the draft stays where it is.
    Abort {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Refused: only the session itself can compact
        #[arg(hide = true)]
        id: Option<String>,
    },
    /// Show where a session's compaction is, since when, and why
    ///
    /// The phase is idle, drafting, relaunching, bootstrapping or failed. Works from anywhere and writes nothing.
    Status {
        /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
        id: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
