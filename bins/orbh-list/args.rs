//! The command line of `orbh-list`.

use clap::Parser;
use shared::verbs::overview::State;

/// List the sessions, the newest last
///
/// Without --all those are left out that are finished or killed. A session that cannot be read is listed as `unknown`.
#[derive(Debug, Parser)]
#[command(name = "orbh-list", version, disable_help_subcommand = true)]
pub struct Args {
    /// All of them
    #[arg(long)]
    pub all: bool,
    /// Each below the one that launched it
    #[arg(long)]
    pub tree: bool,
    /// Only those in this state: working, finished, failed-unreturned, killed, lost, unknown
    #[arg(long, value_name = "STATE", hide_possible_values = true)]
    pub state: Option<State>,
    /// Only those on this runtime
    #[arg(long, value_name = "RUNTIME")]
    pub runtime: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
