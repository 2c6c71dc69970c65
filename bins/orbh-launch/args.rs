//! The command line of `orbh-launch`.

use clap::Parser;
use std::path::PathBuf;

/// Launch a new headless session, and print its id
///
/// Returns once the session's first run has come up. Inside a run the new session becomes a child of the calling one.
#[derive(Debug, Parser)]
#[command(name = "orbh-launch", version, disable_help_subcommand = true)]
pub struct Args {
    /// [RUNTIME/PROFILE] PROMPT: what to run it on, and its duty (`-` reads the duty from standard input)
    ///
    /// Without a target the first one of $ORBH_CONFIG/default-targets that is available is taken.
    #[arg(value_name = "[RUNTIME/PROFILE] PROMPT", num_args = 0..=2)]
    pub words: Vec<String>,
    /// Read the duty from this file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What people see in lists
    #[arg(long)]
    pub title: Option<String>,
    /// A sentence more
    #[arg(long)]
    pub description: Option<String>,
    /// Where its harness works [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The account of the harness
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// The session that it continues
    #[arg(long, value_name = "ID")]
    pub continues: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
