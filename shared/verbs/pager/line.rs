//! The lines of `pager watch`, one JSON object each: `v`, `event`, `session`, `at`, then what the event has to say.

use super::status::{Arming, Kind};
use super::stream::Seen;
use crate::ground::clock::At;
use crate::spool::asked;
use crate::spool::facts::RunKind;
use crate::spool::id::{MessageId, RunNumber, SessionId};
use crate::spool::inbox::{Entry, Inbox};
use crate::spool::letter;
use crate::spool::session::Spool;
use crate::verbs::events::Event;
use crate::verbs::obligations::gist;
use crate::verbs::overview::State;
use crate::verbs::overview::compaction::Phase;
use serde::Serialize;

/// How much of a text is read for its gist, in bytes.
const HEAD: u64 = 8 * 1024;

/// A line.
#[derive(Debug, Serialize)]
pub struct Line {
    event: &'static str,
    session: SessionId,
    at: At,
    #[serde(flatten)]
    body: Body,
}

impl Line {
    pub(super) fn new(session: &SessionId, body: Body) -> Line {
        Line { event: body.event(), session: session.clone(), at: At::now(), body }
    }
}

/// What a line says besides.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    /// A session, when it is first looked at.
    Session {
        new: bool,
        title: Option<String>,
        state: State,
        compacting: bool,
        phase: Phase,
        run: Option<RunNumber>,
        #[serde(flatten)]
        full: Full,
        pager: Arming,
        pid: Option<i32>,
        messages: usize,
        questions: usize,
        answers: usize,
        pending: Vec<MessageId>,
    },
    /// A message came.
    Message { id: MessageId, from: String, from_session: Option<SessionId>, subject: String },
    /// A message came that puts a question.
    Question { id: MessageId, from: String, from_session: Option<SessionId>, subject: String, gist: String },
    /// A question of the session was answered.
    Answer { id: MessageId, from: Option<String>, question: String, gist: String },
    /// An event is not pending any more.
    Consumed { kind: Kind, id: Option<MessageId> },
    /// The work state is another one.
    State { from: State, to: State },
    /// The mark is, or the phase.
    Compaction { compacting: bool, from: Phase, to: Phase },
    /// There is another run.
    Run { run: RunNumber, kind: RunKind },
    /// A pager was armed, held, let go, or has left.
    Pager { from: Arming, to: Arming, pid: Option<i32> },
    /// The context is another percent full.
    Context {
        #[serde(flatten)]
        full: Full,
    },
    /// The spool was removed.
    Forgotten {},
}

/// How full a context is.
#[derive(Debug, Serialize)]
pub(super) struct Full {
    used: Option<u64>,
    max: Option<u64>,
    percent: Option<u64>,
    advised: bool,
}

impl Full {
    fn of(seen: &Seen) -> Full {
        let context = seen.context.as_ref();
        Full {
            used: context.and_then(|context| context.used),
            max: context.and_then(|context| context.max),
            percent: context.and_then(|context| context.percent),
            advised: context.is_some_and(|context| context.advised()),
        }
    }
}

impl Body {
    fn event(&self) -> &'static str {
        match self {
            Body::Session { .. } => "session",
            Body::Message { .. } => "message",
            Body::Question { .. } => "question",
            Body::Answer { .. } => "answer",
            Body::Consumed { .. } => "consumed",
            Body::State { .. } => "state",
            Body::Compaction { .. } => "compaction",
            Body::Run { .. } => "run",
            Body::Pager { .. } => "pager",
            Body::Context { .. } => "context",
            Body::Forgotten {} => "forgotten",
        }
    }

    pub(super) fn session(seen: &Seen, new: bool) -> Body {
        Body::Session {
            new,
            title: seen.title.clone(),
            state: seen.state,
            compacting: seen.compacting,
            phase: seen.phase,
            run: seen.run.as_ref().map(|run| run.run),
            full: Full::of(seen),
            pager: seen.armed.pager,
            pid: seen.armed.pid,
            messages: seen.count(Kind::Message),
            questions: seen.count(Kind::Question),
            answers: seen.count(Kind::Answer),
            pending: seen.pending.iter().filter_map(|(_, event)| event.id()).collect(),
        }
    }

    /// What is another than before, but for the events.
    pub(super) fn changes(before: &Seen, now: &Seen) -> Vec<Body> {
        let mut changes = Vec::new();
        let number = |seen: &Seen| seen.run.as_ref().map(|run| run.run);
        if let Some(run) = now.run.as_ref().filter(|_| number(before) != number(now)) {
            changes.push(Body::Run { run: run.run, kind: run.kind });
        }
        if before.state != now.state {
            changes.push(Body::State { from: before.state, to: now.state });
        }
        if (before.compacting, before.phase) != (now.compacting, now.phase) {
            changes.push(Body::Compaction { compacting: now.compacting, from: before.phase, to: now.phase });
        }
        // Of another context in which as much is used nothing is to be told but that it is another one.
        let percent = |seen: &Seen| {
            let context = seen.context.as_ref();
            context.map(|context| (context.percent, context.used.is_some(), context.advised()))
        };
        if percent(before) != percent(now) {
            changes.push(Body::Context { full: Full::of(now) });
        }
        let armed = |seen: &Seen| (seen.armed.pager, seen.armed.pid);
        if armed(before) != armed(now) {
            let (from, to) = (before.armed.pager, now.armed.pager);
            changes.push(Body::Pager { from, to, pid: now.armed.pid });
        }
        changes
    }
}

pub(super) fn consumed(event: &Event) -> Body {
    Body::Consumed { kind: Kind::of(event), id: event.id() }
}

/// An event with what it is about. What cannot be read, or went meanwhile, is told without.
pub(super) fn shown(spool: &Spool, event: &Event) -> Body {
    match event {
        Event::Message(entry) => mail(spool, entry),
        Event::Answer(id) => answer(spool, id.clone()),
        Event::Advisory(_) => consumed(event),
    }
}

fn mail(spool: &Spool, entry: &Entry) -> Body {
    let letter = letter::read(&Inbox::of(spool), entry, HEAD).ok().flatten();
    let id = entry.id();
    let question = letter.as_ref().map_or(id.is_question(), |letter| letter.question.is_some());
    let (from, from_session, subject, text) = match letter {
        Some(letter) => (letter.from, letter.session, letter.subject, letter.text),
        None => ("unknown".to_owned(), None, "a message that cannot be read".to_owned(), String::new()),
    };
    match question {
        true => Body::Question { id, from, from_session, subject, gist: gist(&text) },
        false => Body::Message { id, from, from_session, subject },
    }
}

fn answer(spool: &Spool, id: MessageId) -> Body {
    let found = asked::find(spool, &id).ok().flatten();
    let from = found.as_ref().and_then(|question| question.request.here()).map(|request| request.to.to_string());
    let text = |read: Option<String>| gist(&read.unwrap_or_default());
    let question = text(found.as_ref().and_then(|question| question.text(HEAD).ok()));
    let answer = found.and_then(|question| question.answer(HEAD).ok().flatten()).map(|(text, _)| text);
    Body::Answer { id, from, question, gist: text(answer) }
}
