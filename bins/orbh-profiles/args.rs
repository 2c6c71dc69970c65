//! The command line of `orbh-profiles`.

use clap::{Parser, Subcommand};

/// List the profiles that a session can run on, and show one
///
/// A profile is one way to start a harness: RUNTIME/PROFILE is what `launch` and `compact handoff --into` take. Built-in
/// ones are named after the models that the harnesses offer; a file of one's own is laid over the one of its name.
#[derive(Debug, Parser)]
#[command(name = "orbh-profiles", version, disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
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
    /// Show one profile: what it is made of, and the command that a session on it would run
    Show {
        /// RUNTIME/PROFILE
        target: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
