//! The command line of `orbh-respond`.

use clap::Parser;
use std::path::PathBuf;

/// Answer a question that a session has put
///
/// A person answers what a session asked a person with `orbh session ask`; the agent of a session answers what another
/// session asked its own with `orbh message request`. Of several answers the first one counts, and the others are refused.
///
/// `orbh list` shows with the state needs-input which sessions wait for a person, and the command for each.
#[derive(Debug, Parser)]
#[command(name = "orbh-respond", bin_name = "orbh respond", version, disable_help_subcommand = true)]
#[command(override_usage = "orbh respond [OPTIONS] ID [QID] TEXT\n       \
    orbh respond [OPTIONS] ID [QID] --file FILE")]
pub struct Args {
    /// The session that asked: its id, or a unique beginning of 4 characters or more
    #[arg(value_name = "ID")]
    pub id: String,
    /// The question, then the answer (`-` reads it from standard input)
    ///
    /// Without a question the only one is meant that is open there and that you may answer; if there are several, they are
    /// listed and nothing is answered.
    #[arg(value_names = ["QID", "TEXT"], num_args = 0..=2)]
    pub words: Vec<String>,
    /// Read the answer from this file instead
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
