//! The command line of `orbh-kill`.

use clap::Parser;

/// End the current run of a session, with all its processes
///
/// Each of them gets TERM, and KILL after a grace (ORBH_KILL_GRACE_MS). Returns when all are dead. The session stays,
/// and can be resumed. A relaunch that is pending for this run is called off.
#[derive(Debug, Parser)]
#[command(name = "orbh-kill", bin_name = "orbh kill", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more
    pub id: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
