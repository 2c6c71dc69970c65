//! The command line of `orbh-demo`.

use clap::Parser;

/// Live through a whole compaction, on a bundled agent, with no account and no network
///
/// A session is launched in a temporary root on a small shell script as its agent. The script fills its context, hands
/// off (refused once), and its successor finishes the work. Every step is told as it happens.
#[derive(Debug, Parser)]
#[command(name = "orbh-demo", bin_name = "orbh demo", version, disable_help_subcommand = true)]
pub struct Args {
    /// How long the agent thinks between its steps, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.8)]
    pub pace: f64,
    /// Print the session's events as JSON, one object a line, instead of the tale
    #[arg(long)]
    pub json: bool,
}
