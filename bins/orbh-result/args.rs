//! The command line of `orbh-result`.

use clap::Parser;

/// Print the result that a session returned
///
/// It does not wait: exit status 1 says that there is no result yet, and in which state the session is.
#[derive(Debug, Parser)]
#[command(name = "orbh-result", bin_name = "orbh result", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more
    pub id: String,
    /// The result of this run [default: the newest that there is]
    #[arg(long, value_name = "N")]
    pub run: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
