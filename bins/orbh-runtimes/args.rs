//! The command line of `orbh-runtimes`.

use clap::Parser;

/// List the harnesses that orbh knows, which are installed, and how to install them
#[derive(Debug, Parser)]
#[command(name = "orbh-runtimes", version, disable_help_subcommand = true)]
pub struct Args {
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
