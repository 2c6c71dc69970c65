//! The command line of `orbh-inspect`.

use clap::Parser;

/// Show everything about a session: its state, its runs, its files
///
/// Also what is damaged, and the command to give next where there is one. Writes nothing.
#[derive(Debug, Parser)]
#[command(name = "orbh-inspect", bin_name = "orbh inspect", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
    pub id: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
