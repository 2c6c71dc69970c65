//! Whether a pager is armed for a session, by which process, and what it has to tell. Writes nothing, starts nothing.

use crate::ground::clock::At;
use crate::ground::lease::{self, Probe};
use crate::spool::id::{MessageId, RunNumber, SessionId};
use crate::spool::session::Spool;
use crate::spool::snapshot::Snapshot;
use crate::spool::{announced, layout};
use crate::verbs::events::{self, Event};
use crate::verbs::overview::Overview;
use crate::verbs::page::advises;
use anyhow::Result;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;

/// Whether a pager waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arming {
    /// It tells of the next event.
    Armed,
    /// It waits for the end of a compaction first.
    Held,
    /// There is none.
    Unarmed,
}

impl fmt::Display for Arming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Arming::Armed => "armed",
            Arming::Held => "held",
            Arming::Unarmed => "unarmed",
        })
    }
}

/// The pager of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Armed {
    /// Whether it waits.
    pub pager: Arming,
    /// Its process.
    pub pid: Option<i32>,
    /// The run that it is armed for.
    pub run: Option<RunNumber>,
    /// Since when.
    pub armed_at: Option<At>,
    /// How it is told of changes: `inotify`, `dnotify` or `polling`; unknown in the moment in which it is armed.
    pub watch: Option<String>,
}

impl Armed {
    pub(super) fn not() -> Armed {
        Armed { pager: Arming::Unarmed, pid: None, run: None, armed_at: None, watch: None }
    }

    /// Looks; `snapshot` says whether a hold is effective.
    pub fn read(spool: &Spool, snapshot: &Snapshot) -> Result<Armed> {
        let Probe::Held(holder) = lease::probe(&spool.scratch().join(layout::PAGER))? else {
            return Ok(Armed::not());
        };
        let held = snapshot.effective_hold().is_some();
        let pager = if held { Arming::Held } else { Arming::Armed };
        let run = holder.as_ref().and_then(|holder| holder.run.as_ref()?.parse().ok());
        let armed_at = holder.as_ref().and_then(|holder| holder.armed_at);
        let pid = holder.as_ref().map(|holder| holder.pid);
        Ok(Armed { pager, pid, run, armed_at, watch: holder.and_then(|holder| holder.watch) })
    }
}

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A message.
    Message,
    /// A message that puts a question.
    Question,
    /// An answer to a question of the session.
    Answer,
    /// The advice to compact.
    Advisory,
}

impl Kind {
    /// The kind of an event, as far as names tell.
    pub fn of(event: &Event) -> Kind {
        match event {
            Event::Message(entry) if entry.id().is_question() => Kind::Question,
            Event::Message(_) => Kind::Message,
            Event::Answer(_) => Kind::Answer,
            Event::Advisory(_) => Kind::Advisory,
        }
    }
}

/// An event that is pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// What it is.
    pub kind: Kind,
    /// The id of the message or question; none of an advisory.
    pub id: Option<MessageId>,
    /// The current run has been told of it.
    pub announced: bool,
}

impl Pending {
    fn of(event: &Event, told: &HashSet<String>) -> Pending {
        Pending { kind: Kind::of(event), id: event.id(), announced: told.contains(&event.name()) }
    }
}

/// The pager of a session, and what is pending for it.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The session.
    pub session: SessionId,
    /// Whether one waits.
    #[serde(flatten)]
    pub armed: Armed,
    /// How many of what is pending the current run has been told of.
    pub announced: usize,
    /// What is pending: answers first, then messages, oldest first.
    pub pending: Vec<Pending>,
}

impl Status {
    /// Looks.
    pub fn read(spool: &Spool) -> Result<Status> {
        let (overview, snapshot) = Overview::with_facts(spool)?;
        let armed = Armed::read(spool, &snapshot)?;
        let current = snapshot.current()?.map(|run| run.number);
        let told = current.map(|run| announced::read_of(spool, run)).unwrap_or_default();
        let advisory = advises(&overview).filter(|context| !events::advised(spool, *context)).map(Event::Advisory);
        let pending = events::pending(spool)?.into_iter().chain(advisory);
        let pending: Vec<Pending> = pending.map(|event| Pending::of(&event, &told)).collect();
        let announced = pending.iter().filter(|one| one.announced).count();
        Ok(Status { session: spool.id().clone(), armed, announced, pending })
    }

    /// How many events of a kind are pending.
    pub fn count(&self, kind: Kind) -> usize {
        self.pending.iter().filter(|one| one.kind == kind).count()
    }
}
