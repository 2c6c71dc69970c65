//! The command line of `orbh-page`.

use clap::Parser;

/// Show a session's live state and every open obligation
///
/// State, occupancy, compaction, what is owed, and what to know: 12 KiB of text at most, saying what it left out. Without
/// ID, inside a run, it is one's own Page: what an agent reads first, at natural seams of its work, and before it
/// returns. With ID it is somebody else's, seen by an observer, who changes nothing.
#[derive(Debug, Parser)]
#[command(name = "orbh-page", bin_name = "orbh page", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
    pub id: Option<String>,
    /// Look only: count nothing as read, also when it is one's own
    #[arg(long)]
    pub no_mutate: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
