//! The command line of `orbh-shim`.

use clap::Parser;
use std::path::PathBuf;

/// Record the process of a run, then become its harness
///
/// Started by a manager; of no use otherwise. It creates the file `pid` of the run exclusively, makes it durable, and
/// only then executes the program that run.json names. If that fails it writes the end of the run itself.
#[derive(Debug, Parser)]
#[command(name = "orbh-shim", version, disable_help_subcommand = true)]
pub struct Args {
    /// The directory of the run
    pub run: PathBuf,
}
