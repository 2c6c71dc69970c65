//! `orbh message`: what its verbs have in common, and each of them beside this file.

use crate::args::{Args, Verb};
use crate::{list, request, send, show};
use anyhow::Result;
use shared::face::input;
use shared::face::output::tell;
use shared::face::text::clean;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::{Entry, Flag, Inbox};
use shared::spool::session::Spool;
use shared::verbs::environment::Environment;
use shared::verbs::mail::{self, Way};
use shared::verbs::overview::Overview;
use std::path::Path;

/// The shortest beginning of an id that names a message.
const SHORTEST_PREFIX: usize = 4;

impl Verb {
    /// Whether failures are to be JSON as well.
    pub fn json(&self) -> bool {
        match self {
            Verb::Send(args) => args.json,
            Verb::List(args) => args.json,
            Verb::Show(args) => args.json,
            Verb::Request(args) => args.json,
        }
    }
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    match &args.verb {
        Verb::Send(args) => send::run(args, environment),
        Verb::List(args) => list::run(args, environment),
        Verb::Show(args) => show::run(args, environment),
        Verb::Request(args) => request::run(args, environment),
    }
}

/// Says something that is not the answer.
pub fn note(text: &str) {
    tell(&format!("orbh-message: {}\n", clean(text)));
}

/// The text that was given; one that says nothing is refused.
pub fn text(argument: Option<&str>, file: Option<&Path>, subject: Option<&str>) -> Result<String> {
    let nothing = || Fault::new(Kind::Usage, "no text was given").hint("give it as an argument, '-', or --file FILE");
    let text = input::text(argument, file)?.ok_or_else(nothing)?;
    if text.trim().is_empty() && subject.is_none_or(|subject| subject.trim().is_empty()) {
        let finding =
            Finding::new("empty-message", "the message is empty", "say something, in the text or the subject");
        return Err(Refusal::one(finding).into());
    }
    Ok(text)
}

/// What was sent where, in a line.
pub fn queued(id: &MessageId, to: &SessionId, way: Way) -> String {
    let by = if way == Way::Outbox { ", by way of the outbox" } else { "" };
    format!("queued {id} for session {to}{by}\n")
}

/// What has become of a message.
pub fn state(entry: &Entry) -> &'static str {
    match (entry.name.has(Flag::Replied), entry.pending()) {
        (true, _) => "answered",
        (false, true) => "new",
        (false, false) => "shown",
    }
}

/// The message that `text` names: a whole id, or a unique beginning of one.
pub fn find(spool: &Spool, text: &str) -> Result<Entry> {
    let known = |letter: char| letter.is_ascii_digit() || matches!(letter, 'a'..='f' | 'm' | 'q');
    if text.len() < SHORTEST_PREFIX || !text.chars().all(known) {
        let message = format!("'{}' does not name a message", text.escape_debug());
        let hint = "an id is m or q and nine hexadecimal digits; 4 characters of it are enough";
        return Err(Fault::new(Kind::Usage, message).hint(hint).into());
    }
    let found = Inbox::of(spool).find(text)?;
    let mut ids: Vec<String> = found.iter().map(|entry| entry.id().to_string()).collect();
    ids.dedup();
    match (found.into_iter().next(), ids.as_slice()) {
        (Some(entry), [_]) => Ok(entry),
        (None, _) => {
            let message = format!("session {} has no message '{text}'", spool.id());
            let hint = format!("'orbh message list {} --all' shows what there is", spool.id());
            Err(Fault::new(Kind::Missing, message).hint(hint).into())
        }
        (Some(_), several) => {
            let message = format!("'{text}' names {} messages: {}", several.len(), several.join(" "));
            Err(Fault::new(Kind::Usage, message).hint("give more characters of the id").into())
        }
    }
}

/// Says so when a session has no run that would read what it was sent.
pub fn warn_of_an_ended(to: &Spool) {
    // Most have one: then a few names are all that is looked at.
    if mail::ended(to).is_none() {
        return;
    }
    let Ok(overview) = Overview::read(to) else { return };
    if !overview.state.works() {
        let id = to.id();
        note(&format!(
            "session {id} has no run ({}): the message waits, and 'orbh resume {id}' reads it",
            overview.state
        ));
    }
}
