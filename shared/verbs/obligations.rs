//! What a session still owes or is owed, from durable state alone, each with the command that collects it. A fresh
//! context remembers none of it, so the handoff has to list it.

use super::overview::{Overview, State};
use crate::ground::clock::At;
use crate::ground::fault::{Fault, Kind};
use crate::ground::foreign::clean;
use crate::spool::asked::{self, Standing};
use crate::spool::child;
use crate::spool::facts::{Addressee, Request};
use crate::spool::id::{MessageId, SessionId};
use crate::spool::inbox::{Entry, Inbox};
use crate::spool::letter;
use crate::spool::session::Spool;
use crate::spool::snapshot::Found;
use anyhow::Result;
use serde::Serialize;
use std::fmt;

/// The most characters of a question that are shown as its gist.
const GIST: usize = 160;
/// How much of a question is read for that, in bytes.
const HEAD: u64 = 4096;

/// One open obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obligation {
    /// What kind of thing is open: `question`, one that somebody put to this session; `asked`, one that this session
    /// put; `session`, one that it launched.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// What it is, in a few words.
    pub what: String,
    /// The command that collects it.
    pub collect: String,
    /// Since when it is open, as far as that is known; of what came by mail in whole seconds, the part of one cut off.
    pub since: Option<At>,
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "- {} {}: {}; collect with `{}`", self.kind, self.id, clean(&self.what), self.collect)
    }
}

/// What is open, and the damage that was met while looking, a sentence each.
#[derive(Debug, Default)]
pub struct Open {
    /// The obligations, in the order in which one should act.
    pub obligations: Vec<Obligation>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// The open obligations of a session: questions that were put to it, questions that it put, and the sessions that it
/// launched and that still work.
pub fn open(spool: &Spool) -> Open {
    open_of(spool, Inbox::of(spool).questions())
}

/// The same, where it is known which questions lie in the inbox.
pub fn open_of(spool: &Spool, questions: Result<Vec<Entry>>) -> Open {
    let mut open = Open::default();
    open.questions(spool, questions);
    open.asked(spool);
    open.children(spool);
    open
}

impl Open {
    /// What failed to be read is unknown, not absent.
    fn take<T: Default>(&mut self, found: anyhow::Result<T>) -> T {
        found.unwrap_or_else(|error| {
            self.damage.push(format!("{error:#}"));
            T::default()
        })
    }

    fn questions(&mut self, spool: &Spool, questions: Result<Vec<Entry>>) {
        let inbox = Inbox::of(spool);
        for entry in self.take(questions) {
            let Some(letter) = self.take(letter::read(&inbox, &entry, letter::HEAD)) else { continue };
            let Some((asker, id)) = letter.question.filter(|(_, id)| *id == entry.id()) else { continue };
            if !self.stands(spool, &asker, &id) {
                continue;
            }
            self.obligations.push(Obligation {
                kind: "question",
                what: format!("{} asks: {}", letter.from, gist(&letter.text)),
                collect: format!("orbh respond {asker} {id} TEXT"),
                id: id.to_string(),
                since: entry.name.seconds().map(At::from_seconds),
            });
        }
    }

    fn asked(&mut self, spool: &Spool) {
        let (questions, damage) =
            self.take(asked::all(spool, |standing| matches!(standing, Standing::Open | Standing::Answered)));
        self.damage.extend(damage);
        for question in questions {
            let text = self.take(question.text(HEAD));
            let whom = match question.request.here().map(|request| &request.to) {
                Some(Addressee::Human) => "a person".to_owned(),
                Some(Addressee::Session(id)) => format!("session {id}"),
                None => "somebody".to_owned(),
            };
            let state = if question.standing == Standing::Open { "waits for an answer" } else { "has its answer" };
            self.obligations.push(Obligation {
                kind: "asked",
                what: format!("this session's question to {whom} {state}: {}", gist(&text)),
                collect: format!("orbh session answer {}", question.id),
                id: question.id.to_string(),
                since: question.request.here().map(|request: &Request| request.at),
            });
        }
    }

    /// Whether a question that came by mail is still to be answered: the record of the asker says so.
    fn stands(&mut self, spool: &Spool, asker: &SessionId, id: &MessageId) -> bool {
        let found = spool.root().session(asker).and_then(|asker| asked::find(&asker, id));
        let Some(question) = self.take(forgotten(found)) else { return false };
        match &question.request {
            Found::Damaged(why) => {
                self.damage.push(why.clone());
                false
            }
            request => {
                let to_me = request.here().is_some_and(|it| it.to == Addressee::Session(spool.id().clone()));
                to_me && question.standing == Standing::Open
            }
        }
    }

    fn children(&mut self, spool: &Spool) {
        for id in child::ids(spool) {
            let found = spool.root().session(&id).and_then(|child| Overview::read(&child).map(Some));
            let Some(overview) = self.take(forgotten(found)) else { continue };
            if overview.state == State::Unknown {
                let why = overview.damage.first().map_or_else(String::new, |why| format!(": {why}"));
                self.damage.push(format!("whether session {id}, launched by this session, works is unknown{why}"));
            }
            if !overview.state.works() {
                continue;
            }
            self.obligations.push(Obligation {
                kind: "session",
                what: format!(
                    "launched by this session, {}: {}",
                    overview.state,
                    overview.title.as_deref().unwrap_or("no title")
                ),
                collect: format!("orbh result {id}"),
                since: overview.created_at,
                id: id.into(),
            });
        }
    }
}

/// A session that somebody has forgotten meanwhile is owed nothing and owes nothing.
fn forgotten<T>(found: anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
    match found {
        Err(error) if error.downcast_ref::<Fault>().is_some_and(|fault| fault.kind == Kind::Missing) => Ok(None),
        found => found,
    }
}

/// The beginning of a text on one line.
pub fn gist(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.chars().count() {
        0..=GIST => words,
        _ => words.chars().take(GIST - 1).chain(['…']).collect(),
    }
}

/// The section of a handoff that these make, one a line; `- none` when there are none.
pub fn section(obligations: &[Obligation]) -> String {
    if obligations.is_empty() {
        return "- none\n".to_owned();
    }
    obligations.iter().map(|obligation| format!("{obligation}\n")).collect()
}
