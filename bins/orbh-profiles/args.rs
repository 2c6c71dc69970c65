//! The command line of `orbh-profiles`.

use clap::{Parser, Subcommand};

/// List the profiles that a session can run on, and show one
///
/// A profile is one way to start a harness: RUNTIME/PROFILE is what `launch` and `compact handoff --into` take. Built-in
/// ones are named after the models that the harnesses offer: claude/sonnet may do what needs no asking, codex/gpt-6-sol
/// works in a sandbox, and either with -full appended does whatever its user may. A file of one's own,
/// $ORBH_CONFIG/profiles/RUNTIME/PROFILE.json, is laid over the built-in one of its name.
#[derive(Debug, Parser)]
#[command(
    name = "orbh-profiles",
    bin_name = "orbh profiles",
    version,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// List only those of this runtime: claude, codex or command
    pub runtime: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// What else to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show one profile: what it is made of, and the program that is started for it
    ///
    /// Refused, with the reason, when a session could not be launched on it here.
    Show {
        /// The profile, such as claude/sonnet
        #[arg(value_name = "RUNTIME/PROFILE")]
        target: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
