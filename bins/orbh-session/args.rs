//! The command line of `orbh-session`.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// What a session says about itself, its questions, and its result
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
    /// Ask a person, and wait for the answer
    ///
    /// Prints the answer. The id of the question stands on standard error as soon as the question is on disk; from then on
    /// nothing that happens to this process or to its context loses it: it stays open until somebody answers with
    /// `orbh respond`, and whichever context the session has then collects the answer with `orbh session answer`.
    Ask {
        /// The question (`-` reads it from standard input)
        #[arg(required_unless_present = "file")]
        text: Option<String>,
        /// Read the question from this file
        #[arg(long, value_name = "FILE", conflicts_with = "text")]
        file: Option<PathBuf>,
        /// Print the id of the question and do not wait
        #[arg(long, conflicts_with = "timeout")]
        deferred: bool,
        /// Wait so many seconds at most; the question stays open
        #[arg(long, value_name = "S")]
        timeout: Option<u64>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the answer to a question of the session, waiting for it; or list its questions
    ///
    /// In the session's own run an answer that was printed counts as seen. For an observer, who names the session, nothing
    /// is waited for and nothing is marked.
    Answer {
        /// The question [default: list all of them]
        #[arg(value_name = "QID")]
        question: Option<String>,
        /// Look at the questions of this session, as an observer
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Wait so many seconds at most
        #[arg(long, value_name = "S")]
        timeout: Option<u64>,
        /// Print one JSON object, in a list one a line
        #[arg(long)]
        json: bool,
    },
    /// Call an open question of this session off
    Cancel {
        /// The question
        #[arg(value_name = "QID")]
        question: String,
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
