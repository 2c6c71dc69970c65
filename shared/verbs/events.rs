//! What a session should hear of: the events that are pending for it, from durable state alone. The Page shows them,
//! the pager fires for them, and the session's own Page consumes them, after they were printed.
//!
//! An event is named by its kind and id, such as `message/m0123abcde`: the same name for as long as it is pending.

use crate::ground::dir::Dir;
use crate::spool::id::{MessageId, RunNumber};
use crate::spool::inbox::{Entry, Flag, Inbox};
use crate::spool::session::Spool;
use crate::spool::{announced, asked, layout};
use anyhow::Result;
use std::collections::HashSet;

/// A pending event, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A message, or a question that came as one.
    Message(Entry),
    /// An answer to a question of this session.
    Answer(MessageId),
    /// The context that began in this run has reached the share of its window at which to compact.
    Advisory(RunNumber),
}

impl Event {
    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Event::Message(entry) => format!("message/{}", entry.id()),
            Event::Answer(id) => format!("answer/{id}"),
            Event::Advisory(context) => format!("advisory/{context}"),
        }
    }
}

/// The pending events but for the advisory, which comes of the occupancy: answers first, then messages, oldest first.
/// Reads names, not texts.
pub fn pending(spool: &Spool) -> Result<Vec<Event>> {
    pending_of(spool, Inbox::of(spool).pending()?)
}

/// The same, where it is known which messages are.
pub fn pending_of(spool: &Spool, messages: Vec<Entry>) -> Result<Vec<Event>> {
    let answers = asked::answered(spool)?.into_iter().map(Event::Answer);
    Ok(answers.chain(messages.into_iter().map(Event::Message)).collect())
}

/// Whether the advisory of the context that began in `context` was shown.
pub fn advised(spool: &Spool, context: RunNumber) -> bool {
    spool.scratch().join(layout::advised(context)).symlink_metadata().is_ok()
}

/// Takes what the current run has been shown for consumed. Hold the claim, and have checked under it that the run is
/// current and open and that no hold is effective.
pub fn consume(spool: &Spool, run: RunNumber, shown: &[Event]) -> Result<()> {
    let inbox = Inbox::of(spool);
    // One that cannot be marked, and is shown again, keeps none of the others from being marked.
    let mut failed = inbox.mark(shown.iter().filter_map(Event::message), Flag::Seen).err();
    for event in shown {
        let marked = match event {
            Event::Message(_) => Ok(()),
            Event::Answer(id) => asked::mark_seen(spool, id),
            Event::Advisory(context) => advise(spool, *context),
        };
        failed = failed.or(marked.err());
    }
    // What comes back later is news again.
    let told = announced::read_of(spool, run);
    let over: Vec<String> = shown.iter().map(Event::name).filter(|name| told.contains(name)).collect();
    announced::append(spool, run, &over.iter().map(|name| format!("-{name}")).collect::<Vec<_>>())?;
    failed.map_or(Ok(()), Err)
}

/// Notes that the run has been shown these, which stay pending.
pub fn announce(spool: &Spool, run: RunNumber, shown: &[Event], told: &HashSet<String>) -> Result<()> {
    for event in shown {
        if let Event::Advisory(context) = event {
            advise(spool, *context)?;
        }
    }
    let stays = |event: &&Event| !matches!(event, Event::Advisory(_));
    let names = shown.iter().filter(stays).map(Event::name).filter(|name| !told.contains(name));
    announced::append(spool, run, &names.collect::<Vec<_>>())
}

fn advise(spool: &Spool, context: RunNumber) -> Result<()> {
    let dir = Dir::open(&spool.scratch())?;
    dir.draft(b"", 0o600)?.create(&layout::advised(context)).map(|_| ())
}

impl Event {
    /// The id of the message or the question; none of an advisory.
    pub fn id(&self) -> Option<MessageId> {
        match self {
            Event::Message(entry) => Some(entry.id()),
            Event::Answer(id) => Some(id.clone()),
            Event::Advisory(_) => None,
        }
    }

    /// Whether it puts a question to the session.
    pub fn asks(&self) -> bool {
        self.message().is_some_and(Entry::asks)
    }

    fn message(&self) -> Option<&Entry> {
        match self {
            Event::Message(entry) => Some(entry),
            _ => None,
        }
    }
}
