//! The command line of `orbh-context`.

use clap::Parser;

/// Show how full a session's context is
///
/// Prints used tokens, the size of the window, and the share in use: the number of the Page's CONTEXT line, without the
/// Page. What the harness has not told is `unknown`, never 0. Writes nothing.
#[derive(Debug, Parser)]
#[command(name = "orbh-context", bin_name = "orbh context", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
    pub id: Option<String>,
    /// Print one JSON object (with --watch one a line)
    #[arg(long)]
    pub json: bool,
    /// Print it again at each change, until the session no longer works or the command is interrupted
    #[arg(long)]
    pub watch: bool,
}
