//! The command line of `orbh-log`.

use clap::Parser;

/// Show what happened in a session, an event a line
///
/// The log is for people and never decides anything. A line has the time, the run, the event, and a sentence.
#[derive(Debug, Parser)]
#[command(name = "orbh-log", bin_name = "orbh log", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
    pub id: Option<String>,
    /// Go on with what happens, until the session is over or the command is interrupted
    #[arg(short, long)]
    pub follow: bool,
    /// Print the events as they are written, one JSON object a line
    #[arg(long)]
    pub json: bool,
}
