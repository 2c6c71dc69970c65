//! The command line of `orbh-launch`.

use clap::Parser;
use std::path::PathBuf;

/// Launch a new headless session, and print its id
///
/// Returns once the session's first run has come up; a manager in the background keeps the session from then on, and
/// the terminal can be closed. Inside a run the new session becomes a child of the calling one.
///
/// What its agent may do without asking is the class of the profile, which `orbh profiles` shows; launching it grants
/// that to the session for good.
#[derive(Debug, Parser)]
#[command(name = "orbh-launch", bin_name = "orbh launch", version, disable_help_subcommand = true)]
#[command(override_usage = "orbh launch [OPTIONS] [RUNTIME/PROFILE] PROMPT\n       \
    orbh launch [OPTIONS] [RUNTIME/PROFILE] --file FILE")]
pub struct Args {
    /// What to run it on, then its duty (`-` reads the duty from standard input)
    ///
    /// `orbh profiles` lists the targets: claude/sonnet, codex/gpt-6-sol-full, or command/NAME for a program of one's own.
    /// A single word is the duty. Without a target the first one of $ORBH_CONFIG/default-targets that is available is
    /// taken.
    #[arg(value_names = ["RUNTIME/PROFILE", "PROMPT"], num_args = 0..=2)]
    pub words: Vec<String>,
    /// Read the duty from this file instead
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What people see in lists: a few words
    #[arg(long)]
    pub title: Option<String>,
    /// A sentence more
    #[arg(long)]
    pub description: Option<String>,
    /// Where its harness works [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Use this account of the harness, made by `orbh accounts add` [default: the harness's usual home]
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// The session that it continues: its prompt names that one's spool
    #[arg(long, value_name = "ID")]
    pub continues: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
