//! The command line of `orbh-accounts`.

use clap::{Parser, Subcommand};

/// List and add accounts: isolated homes of a harness
///
/// An account is a directory in which a harness keeps its settings, credentials and transcripts, apart from everybody
/// else's. `launch --account` and `compact handoff --into R/P --account` choose one.
#[derive(Debug, Parser)]
#[command(name = "orbh-accounts", version, disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Only those of this runtime
    pub runtime: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// What else to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the accounts
    List {
        /// Only those of this runtime
        runtime: Option<String>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Make the home of a new account, empty, and say how to log in there
    Add {
        /// The runtime
        runtime: String,
        /// A letter or digit, then up to 63 of A-Z a-z 0-9 . _ -
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
