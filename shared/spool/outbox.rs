//! The outbox: what a run sends to others and may not deliver itself, because its sandbox lets it write its own side of
//! its own spool only. The manager, outside, delivers it, checks it as it would any input, and takes it away.
//!
//! An order can be carried out twice without harm: a message has the same name in the inbox each time, and an answer is
//! a fact.

use super::id::{MessageId, SessionId};
use super::layout;
use super::session::Spool;
use super::snapshot::{Found, Purpose};
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::PathBuf;

/// How the name of an order ends.
const ENDING: &str = ".json";

/// The longest text that goes by way of the outbox, in bytes.
pub const LONGEST: usize = 400 * 1024;

/// What is to be delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Order {
    /// A message to a session, from this one; with the id of a question it puts that.
    Message {
        /// Its id.
        id: MessageId,
        /// The session that it is for.
        to: SessionId,
        /// When it was written.
        at: At,
        /// What it is about; by default the first line of the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
        /// The Message-ID of the message that it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        in_reply_to: Option<String>,
        /// Its text.
        text: String,
    },
    /// An answer to a question that another session put to this one.
    Answer {
        /// The id of the question.
        id: MessageId,
        /// The session that asked.
        to: SessionId,
        /// When it was written.
        at: At,
        /// The answer.
        text: String,
    },
}

impl Order {
    /// The name of its file.
    pub fn file(&self) -> String {
        match self {
            Order::Message { id, .. } => format!("{id}.json"),
            Order::Answer { id, to, .. } => format!("answer-{id}-{to}.json"),
        }
    }

    /// The session that it is for.
    pub fn to(&self) -> &SessionId {
        match self {
            Order::Message { to, .. } | Order::Answer { to, .. } => to,
        }
    }
}

/// Where the outbox is.
pub fn path(spool: &Spool) -> PathBuf {
    spool.dir().join(layout::OUTBOX)
}

/// Whether a failure to write into another session's spool is one that the outbox is there for: the sandbox of the run.
pub fn barred(error: &anyhow::Error) -> bool {
    let kinds = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
    let barred = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| kinds.contains(&error.kind()))
    };
    error.chain().any(barred)
}

/// Whether an order is short enough. It is a fact, and JSON needs up to six bytes for one.
pub fn fits(order: &Order) -> Result<bool> {
    let (Order::Message { text, .. } | Order::Answer { text, .. }) = order;
    Ok(text.len() <= LONGEST && fact::to_text(order)?.len() as u64 <= fact::LARGEST)
}

/// Puts an order into the outbox, whole and durable.
pub fn put(spool: &Spool, order: &Order) -> Result<()> {
    let path = path(spool);
    if path.symlink_metadata().is_err() {
        Dir::open(spool.dir())?.make_dir(layout::OUTBOX)?;
    }
    fact::create(&Dir::open(&path)?, &order.file(), order).map(|_| ())
}

/// The names of the orders that wait there, each with the time at which it was written, oldest first. Reads none.
pub fn names(spool: &Spool) -> Result<Vec<(String, At)>> {
    let path = path(spool);
    match path.symlink_metadata() {
        Ok(found) if !found.is_dir() => {
            Dir::open(&path)?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        _ => {}
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&path).with_context(|| format!("cannot read '{}'", path.display()))? {
        let entry = entry.with_context(|| format!("cannot read '{}'", path.display()))?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.ends_with(ENDING) && !name.starts_with('.')) else {
            continue;
        };
        // Not followed: whatever stands there is an order, if only one to be refused.
        let Ok(written) = entry.metadata().and_then(|found| found.modified()) else { continue };
        names.push((name.to_owned(), At::from(written)));
    }
    names.sort_by(|(one, first), (other, then)| (first, one).cmp(&(then, other)));
    Ok(names)
}

/// One of them.
pub fn read(spool: &Spool, name: &str) -> Result<Found<Order>> {
    Found::read_for(Purpose::Show, &path(spool).join(name))
}

/// What waits there: the name of each file and what it orders, oldest first.
pub fn waiting(spool: &Spool) -> Result<Vec<(String, Found<Order>)>> {
    let mut orders = Vec::new();
    for (name, _) in names(spool)? {
        let order = read(spool, &name)?;
        if order.exists() {
            orders.push((name, order));
        }
    }
    Ok(orders)
}

/// Puts an order aside that can never be carried out: under a name that is no order, for somebody to look at.
pub fn refuse(spool: &Spool, name: &str) -> Result<()> {
    Dir::open(&path(spool))?.rename_away(name, &format!("{name}{}", layout::REFUSED))
}

/// Takes an order away, once it is carried out.
pub fn remove(spool: &Spool, name: &str) -> Result<()> {
    Dir::open(&path(spool))?.remove(name).map(|_| ())
}
