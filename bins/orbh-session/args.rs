//! The command line of `orbh-session`.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// What a session says about itself, and its result
///
/// A key is a file in the spool that people and scripts read; the keys `title` and `description` are shown in lists.
/// Inside a run these commands are about the session itself; `--session` names another one of the same user.
#[derive(Debug, Parser)]
#[command(name = "orbh-session", bin_name = "orbh session", version, disable_help_subcommand = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Tell people what this session is at, in lists and on its Page
    Register {
        /// A few words, for lists
        title: String,
        /// A sentence more
        description: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Set a key, a file of its own in the spool
    Set {
        /// A letter or digit, then up to 63 of A-Z a-z 0-9 . _ -
        key: String,
        /// The value (`-` reads it from standard input)
        #[arg(required_unless_present = "file")]
        value: Option<String>,
        /// Read the value from this file
        #[arg(long, value_name = "FILE", conflicts_with = "value")]
        file: Option<PathBuf>,
        /// The session [default: the session of this run]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the value of a key, or all keys
    Get {
        /// The key [default: all of them, as KEY=VALUE]
        key: Option<String>,
        /// The session [default: the session of this run]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove a key
    Unset {
        /// The key
        key: String,
        /// The session [default: the session of this run]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// End the turn with a result; the session is finished
    ///
    /// It closes the run: no verb of it does anything afterwards. A harness that has not exited 5 seconds later is
    /// stopped. Everything open should be collected before: read your Page.
    Return {
        /// The result (`-` reads it from standard input)
        #[arg(required_unless_present = "file")]
        text: Option<String>,
        /// Read the result from this file
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        file: Option<PathBuf>,
        /// The session is finished (the default)
        #[arg(long)]
        finish: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
