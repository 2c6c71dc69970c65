//! The command line of `orbh-message`.

use clap::{ArgGroup, Args as Group, Parser, Subcommand};
use std::path::PathBuf;

/// Mail between sessions: send, list, show, and ask
///
/// A message is a file in the inbox of a session, which is a Maildir; the session finds it on its next Page. Anybody may
/// send: a session, a person, a script, and whatever else can deliver to a Maildir.
#[derive(Debug, Parser)]
#[command(name = "orbh-message", bin_name = "orbh message", version, disable_help_subcommand = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Send a message to a session, and print its id
    ///
    /// It is on disk when this returns with status 0. Inside a run it comes from the session, else from the user. The
    /// session need not have a run: what it is sent waits for it.
    Send(Send),
    /// List the messages of a session, oldest first
    ///
    /// What it has not been shown, and the newest 20; a line each: id, state (new, shown or answered), age, sender,
    /// subject.
    List(List),
    /// Show a message, and change nothing
    ///
    /// Only the session's own Page counts a message as shown.
    Show(Show),
    /// Put a question to another session, and wait for its answer
    ///
    /// Inside a run only. The question stays open until it is answered or called off, whatever becomes of the wait: it
    /// is an obligation on the Page, and the answer is on the Page as well.
    Request(Request),
}

/// Sends.
#[derive(Debug, Group)]
#[command(group = ArgGroup::new("what").args(["id", "reply_to"]).required(true).multiple(true))]
pub struct Send {
    /// The session: its id, or a unique beginning of 4 characters or more; with --reply-to by default who sent that
    pub id: Option<String>,
    /// The text (`-` reads it from standard input)
    pub text: Option<String>,
    /// What it is about [default: the first line of the text]
    #[arg(long)]
    pub subject: Option<String>,
    /// The message of one's own inbox that this answers: its id, or a unique beginning of 4 characters or more
    #[arg(long, value_name = "MESSAGE")]
    pub reply_to: Option<String>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Lists.
#[derive(Debug, Group)]
pub struct List {
    /// The session: its id, or a unique beginning of 4 characters or more [default: the session of this run]
    pub id: Option<String>,
    /// Only what this session has sent to it, and whether that is queued, shown or answered
    #[arg(long, requires = "id")]
    pub sent: bool,
    /// All of them, however many
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Shows.
#[derive(Debug, Group)]
pub struct Show {
    /// The message: its id, or a unique beginning of 4 characters or more
    pub message: String,
    /// The session in whose inbox it is [default: the session of this run]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print the file as it is
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Asks.
#[derive(Debug, Group)]
pub struct Request {
    /// The session: its id, or a unique beginning of 4 characters or more
    pub id: String,
    /// The question (`-` reads it from standard input)
    #[arg(required_unless_present = "file")]
    pub text: Option<String>,
    /// What it is about [default: the first line of the question]
    #[arg(long)]
    pub subject: Option<String>,
    /// Read the question from this file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Do not wait: print the id of the question; the answer will be on the Page
    #[arg(long, conflicts_with = "timeout")]
    pub deferred: bool,
    /// Wait for so many seconds at most; the question stays open
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
