//! The command line of `orbh-accounts`.

use clap::{Parser, Subcommand};

/// List and add accounts: isolated homes of a harness
///
/// An account is a directory in which a harness keeps its settings, credentials and transcripts, apart from those of
/// its usual home. `launch --account`, and --account after --into in `compact handoff`, `relaunch` and `resume`,
/// choose one. claude and codex have accounts; a program of one's own (`command`) has none.
#[derive(Debug, Parser)]
#[command(
    name = "orbh-accounts",
    bin_name = "orbh accounts",
    version,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// List only those of this runtime: claude or codex
    pub runtime: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// What else to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the accounts, as without a word
    List {
        /// List only those of this runtime: claude or codex
        runtime: Option<String>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Make the home of a new account, and say how to log in there
    ///
    /// The home is an empty directory that nobody else may read; its path is printed. Logging in there, once, is left
    /// to the person: orbh never touches a credential.
    Add {
        /// Whose account it is: claude or codex
        runtime: String,
        /// Its name: a letter or digit, then up to 63 of A-Z a-z 0-9 . _ -
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
