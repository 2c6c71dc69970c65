//! The command line of `orbh-pager`.

use clap::{Parser, Subcommand};

/// Tell a working agent of what came for it: messages, questions, answers, a context that fills up
///
/// A pager is a process that waits, and ends with the Page when something came: the agent arms one in the background, and
/// hears of its end. It only announces: what it shows stays pending until the session's own Page has shown it.
#[derive(Debug, Parser)]
#[command(name = "orbh-pager", bin_name = "orbh pager", version, disable_help_subcommand = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Wait for the next event that this run has not been told of, and print the Page; `orbh page arm` is the same
    Arm {
        /// Print the Page after so many seconds, although nothing came
        #[arg(long, value_name = "SECONDS")]
        max_wait: Option<u64>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show whether a pager is armed, by which process, and what is pending
    Status {
        /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
        id: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print a line of JSON for each event and each change of sessions, until interrupted; consume nothing
    Watch {
        /// The sessions: ids, or unique beginnings of 4 characters or more [default: the session of this run]
        #[arg(value_name = "ID", conflicts_with = "all")]
        ids: Vec<String>,
        /// Every session, also those to come
        #[arg(long)]
        all: bool,
        /// Print JSON, a line each: there is no other form
        #[arg(long)]
        json: bool,
    },
}

impl Verb {
    /// Whether failures go to standard output as JSON.
    pub fn json(&self) -> bool {
        match self {
            Verb::Arm { json, .. } | Verb::Status { json, .. } | Verb::Watch { json, .. } => *json,
        }
    }
}
