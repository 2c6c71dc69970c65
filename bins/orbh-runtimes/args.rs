//! The command line of `orbh-runtimes`.

use clap::Parser;

/// List the harnesses that orbh knows, which are installed, and how to install them
///
/// Each program is looked for in PATH and asked for its version, for 10 seconds at most; nothing is installed.
/// `orbh profiles` lists what can be launched on them.
#[derive(Debug, Parser)]
#[command(name = "orbh-runtimes", bin_name = "orbh runtimes", version, disable_help_subcommand = true)]
pub struct Args {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
