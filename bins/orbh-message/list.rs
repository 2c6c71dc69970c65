//! `message list`.

use crate::args::List;
use crate::run::{note, state};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::face::text::{clean, columns, cut, span};
use shared::ground::clock::At;
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::{Entry, Inbox};
use shared::spool::letter::{self, Letter};
use shared::spool::outbox::{self, Order};
use shared::spool::session::Spool;
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;

/// How many of those that were shown are listed.
const NEWEST: usize = 20;
/// How much of a message is read for its headers, in bytes.
const HEADERS: u64 = 8 * 1024;
/// The most characters of a sender, of the title of one, and of a subject.
const FROM_WIDTH: usize = 40;
/// See there.
const NAME_WIDTH: usize = 28;
/// See there.
const SUBJECT_WIDTH: usize = 100;

#[derive(Serialize)]
struct Line {
    id: MessageId,
    state: &'static str,
    place: &'static str,
    from: String,
    session: Option<SessionId>,
    at: Option<At>,
    subject: String,
    damage: Option<String>,
}

pub fn run(args: &List, environment: &Environment) -> Result<u8> {
    let spool = meant(environment, args.id.as_deref(), "orbh message list")?;
    let own = if args.sent { Some(meant(environment, None, "orbh message list --sent")?) } else { None };
    let inbox = Inbox::of(&spool);
    let entries = inbox.entries(|_| true)?;
    let newest = entries.len().saturating_sub(NEWEST);
    let listed = |at: usize, entry: &Entry| own.is_some() || args.all || at >= newest || entry.pending();
    let (wanted, left): (Vec<_>, Vec<_>) = entries.iter().enumerate().partition(|(at, entry)| listed(*at, entry));
    let by = own.as_ref().map(Spool::id);
    let mut lines: Vec<Line> = wanted.into_iter().filter_map(|(_, entry)| line(&inbox, entry, by)).collect();
    if let Some(own) = &own {
        lines.extend(queued(own, &spool)?);
        lines.sort_by_key(|line| line.at);
        if !args.all {
            let older = lines.len().saturating_sub(NEWEST);
            let mut at = 0..;
            lines.retain(|line| at.next().is_some_and(|at| at >= older) || line.state == "queued");
        }
    }
    match args.json {
        true => lines.iter().try_for_each(print_json)?,
        false => print(&columns(&lines.iter().map(row).collect::<Vec<_>>()))?,
    }
    let mut status = 0;
    for damage in lines.iter().filter_map(|line| line.damage.as_ref()) {
        note(damage);
        status = 65;
    }
    if !left.is_empty() && !args.json {
        note(&format!("{} older ones are not listed; --all lists them", left.len()));
    }
    Ok(status)
}

/// A message of an inbox; of those that `by` has sent, if one is named. `None` when it is gone.
fn line(inbox: &Inbox, entry: &Entry, by: Option<&SessionId>) -> Option<Line> {
    let known = match letter::read(inbox, entry, HEADERS) {
        Ok(letter) => Ok(letter?),
        Err(error) => Err(format!("{error:#}")),
    };
    if by.is_some() && known.as_ref().ok().and_then(|letter| letter.session.as_ref()) != by {
        return None;
    }
    let state = match state(entry) {
        "new" if by.is_some() => "queued",
        state => state,
    };
    let (id, place) = (entry.id(), entry.place.name());
    Some(match known {
        Ok(Letter { from, session, at, subject, .. }) => {
            Line { id, state, place, from, session, at, subject, damage: None }
        }
        Err(damage) => {
            let at = entry.name.seconds().map(At::from_seconds);
            let (from, subject) = ("unknown".to_owned(), "a message that cannot be read".to_owned());
            Line { id, state, place, from, session: None, at, subject, damage: Some(damage) }
        }
    })
}

/// What this session has sent to that one and its manager has not delivered yet.
fn queued(own: &Spool, to: &Spool) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (_, order) in outbox::waiting(own)? {
        if let Some(Order::Message { id, at, subject, text, .. }) = order.here().filter(|order| order.to() == to.id()) {
            lines.push(Line {
                id: id.clone(),
                state: "queued",
                place: "outbox",
                from: format!("session {}", own.id()),
                session: Some(own.id().clone()),
                at: Some(*at),
                subject: subject.clone().unwrap_or_else(|| letter::subject_of(text)),
                damage: None,
            });
        }
    }
    Ok(lines)
}

fn row(line: &Line) -> Vec<String> {
    let age = line.at.map_or_else(|| "-".to_owned(), |at| span(at.age()));
    // The address of a session is a long one.
    let from = match (&line.session, line.from.split_once(" <")) {
        (Some(session), Some((name, _))) => format!("{} ({})", cut(name, NAME_WIDTH), &session.as_str()[..8]),
        _ => line.from.clone(),
    };
    let from = cut(&clean(&from), FROM_WIDTH);
    vec![line.id.to_string(), line.state.to_owned(), age, from, cut(&clean(&line.subject), SUBJECT_WIDTH)]
}
