//! What happened, a line an event, for people and `tail -f`. No verb decides by it, and a failure to write it fails
//! nothing.

use super::id::RunNumber;
use super::layout;
use super::session::Spool;
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A line of log/events.ndjson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: At,
    /// What, as a stable word.
    pub event: String,
    /// The run that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunNumber>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Where the log is.
pub fn path(spool: &Spool) -> PathBuf {
    spool.dir().join(layout::LOG).join(layout::EVENTS)
}

/// Appends an event.
pub fn note(spool: &Spool, event: &str, run: Option<RunNumber>, text: impl Into<String>) {
    let event = Event { at: At::now(), event: event.to_owned(), run, text: text.into() };
    let append = || -> anyhow::Result<()> {
        Dir::open(&spool.dir().join(layout::LOG))?.append_line(layout::EVENTS, &fact::to_line(&event)?, false)
    };
    let _ = append();
}
