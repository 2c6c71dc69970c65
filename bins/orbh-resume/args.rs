//! The command line of `orbh-resume`.

use clap::Parser;
use std::path::PathBuf;

/// Begin a new run of a session that has none
///
/// Continues the native conversation where the harness can; otherwise the new run gets the duty and the last accepted
/// handoff. A relaunch that is pending is taken to its end first. A successor that died before its model answered and
/// before it gave a verb is started from its handoff again. With --into it all goes on elsewhere, which is the way out
/// where a target cannot be used. Returns once the run has come up.
#[derive(Debug, Parser)]
#[command(name = "orbh-resume", bin_name = "orbh resume", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more
    pub id: String,
    /// What to add to the prompt of the new run (`-` reads it from standard input)
    pub prompt: Option<String>,
    /// Read what to add from this file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub file: Option<PathBuf>,
    /// Run it on another target from now on; a relaunch that is pending goes there, too
    #[arg(long, value_name = "RUNTIME/PROFILE")]
    pub into: Option<String>,
    /// Use this account of the harness there
    #[arg(long, value_name = "NAME", requires = "into")]
    pub account: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
