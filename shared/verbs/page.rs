//! The Page: a session's live state, what is new for it, and every open obligation. `face::page` renders it.

use super::events::{self, Event};
use super::obligations::{self, Obligation};
use super::overview::compaction::Phase;
use super::overview::{Overview, State};
use crate::ground::clock::At;
use crate::harness::occupancy;
use crate::spool::asked;
use crate::spool::id::{MessageId, RunNumber, SessionId};
use crate::spool::inbox::{Entry, Inbox};
use crate::spool::letter::{self, HEAD};
use crate::spool::session::Spool;
use crate::spool::snapshot::Snapshot;
use anyhow::Result;
use serde::Serialize;
use std::collections::HashSet;

/// More messages than these do not fit into the text of a Page; the rest is counted, not read.
const DETAILED: usize = 100;
/// How much of a message is read for the text of a Page, in bytes.
const GIST: u64 = 8 * 1024;

/// A message that the session has not consumed.
#[derive(Debug, Clone, Serialize)]
pub struct Mail {
    /// `message`, or `question` when it puts one.
    pub kind: &'static str,
    /// Its id.
    pub id: MessageId,
    /// Who sent it, as it says itself.
    pub from: String,
    /// The session that sent it, as it says itself.
    pub session: Option<SessionId>,
    /// When it was sent.
    pub at: Option<At>,
    /// What it is about.
    pub subject: String,
    /// Its text, or the beginning of it.
    pub text: String,
    /// Whether there is more of it.
    pub more: bool,
    /// How many attachments it has.
    pub attachments: usize,
    /// The run has been shown it before.
    pub shown_before: bool,
    /// The command that shows all of it.
    pub show: String,
    /// The command that answers the question.
    pub respond: Option<String>,
    /// Why it cannot be read. Such a one stays pending until somebody mends it.
    pub damage: Option<String>,
    /// What it is to the pager.
    #[serde(skip)]
    pub event: Event,
}

/// An answer to a question of the session that it has not consumed.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The id of the question.
    pub id: MessageId,
    /// Who was asked: `human`, or a session.
    pub to: Option<String>,
    /// The question.
    pub question: String,
    /// The answer, or the beginning of it.
    pub text: String,
    /// Whether there is more of it.
    pub more: bool,
    /// When it was answered.
    pub at: Option<At>,
    /// The run has been shown it before.
    pub shown_before: bool,
    /// The command that shows all of it.
    pub show: String,
    /// Why it cannot be read. Such a one stays pending until somebody mends it.
    pub damage: Option<String>,
    /// What it is to the pager.
    #[serde(skip)]
    pub event: Event,
}

/// A Page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// The session as it is seen from outside, too.
    #[serde(flatten)]
    pub overview: Overview,
    /// Answers to its questions.
    pub answers: Vec<Answer>,
    /// Messages to it.
    pub messages: Vec<Mail>,
    /// How many more messages wait.
    pub messages_waiting: usize,
    /// What is open.
    pub obligations: Vec<Obligation>,
    /// What the session should know.
    pub notices: Vec<String>,
    /// The advisory that is among the notices.
    #[serde(skip)]
    pub advisory: Option<Event>,
}

/// For whom a Page is read.
#[derive(Debug, Default)]
pub struct Reader {
    /// What the run has been told of.
    pub told: HashSet<String>,
    /// What it has not been told of comes first: the pager's Page.
    pub news_first: bool,
    /// Everything is wanted, and more of each text: `--json`.
    pub whole: bool,
}

/// What a Page says that does not come and go with messages.
#[derive(Debug, Clone)]
pub struct Standing {
    overview: Overview,
    obligations: Vec<Obligation>,
    facts: Snapshot,
}

impl Standing {
    /// Looks at a session.
    pub fn read(spool: &Spool) -> Result<Standing> {
        Standing::of(spool, Inbox::of(spool).questions())
    }

    fn of(spool: &Spool, questions: Result<Vec<Entry>>) -> Result<Standing> {
        let (mut overview, facts) = Overview::with_facts(spool)?;
        let open = obligations::open_of(spool, questions);
        overview.damage.extend(open.damage);
        overview.damage.sort();
        overview.damage.dedup();
        Ok(Standing { overview, obligations: open.obligations, facts })
    }

    /// The facts that were looked at.
    pub fn facts(&self) -> &Snapshot {
        &self.facts
    }

    /// The same, with the occupancy as it is now: it changes all the time, and is not in the spool for every harness. One
    /// that cannot be read stays as it was.
    pub fn with_occupancy(mut self, spool: &Spool) -> Standing {
        let now = self.facts.current().ok().flatten().and_then(|current| {
            let run = current.run.here()?;
            occupancy::read(spool, current.number, run).ok()
        });
        self.overview.context = now.or(self.overview.context);
        self
    }

    /// Whether all of it is in the spool of the session itself, so that who watches that hears of every change.
    pub fn is_own(&self) -> bool {
        self.overview.damage.is_empty() && self.obligations.iter().all(|obligation| obligation.kind == "asked")
    }
}

impl Page {
    /// Looks at a session. Consumes nothing.
    pub fn read(spool: &Spool, reader: &Reader) -> Result<Page> {
        // What comes meanwhile is new on the next one.
        let (pending, questions) = match Inbox::of(spool).current() {
            Ok(current) => (events::pending_of(spool, current.pending), Ok(current.questions)),
            Err(error) => (Err(error), Ok(Vec::new())),
        };
        Ok(Page::of(spool, Standing::of(spool, questions)?, pending, reader))
    }

    /// The same, of what is known already: what stands, and what is pending.
    pub fn of(spool: &Spool, standing: Standing, pending: Result<Vec<Event>>, reader: &Reader) -> Page {
        let Standing { mut overview, obligations, .. } = standing;
        let mut pending = pending.unwrap_or_else(|error| {
            overview.damage.push(format!("{error:#}"));
            Vec::new()
        });
        if reader.news_first {
            pending.sort_by_key(|event| reader.told.contains(&event.name()));
        }
        let (mut answers, mut messages, mut waiting) = (Vec::new(), Vec::new(), 0);
        let mut damaged: Vec<Mail> = Vec::new();
        for event in pending {
            let shown_before = reader.told.contains(&event.name());
            match &event {
                Event::Answer(id) => answers.extend(answer(spool, &id.clone(), reader, event, shown_before)),
                Event::Message(_) if !reader.whole && messages.len() >= DETAILED => waiting += 1,
                Event::Message(entry) => match mail(spool, &entry.clone(), reader, event, shown_before) {
                    Some(mail) if mail.damage.is_some() => damaged.push(mail),
                    found => messages.extend(found),
                },
                Event::Advisory(_) => {}
            }
        }
        // What cannot be read stays, and must not stand before what can be for ever.
        messages.extend(damaged);
        let notices = notices(&overview);
        let advisory = advises(&overview).map(Event::Advisory);
        Page { overview, answers, messages, messages_waiting: waiting, obligations, notices, advisory }
    }
}

impl Page {
    /// What the whole of it shows, and of what it says that it cannot be read.
    pub fn events(&self) -> (Vec<Event>, Vec<Event>) {
        let answers = self.answers.iter().map(|answer| (&answer.event, answer.damage.is_some()));
        let messages = self.messages.iter().map(|mail| (&mail.event, mail.damage.is_some()));
        let advisory = self.advisory.iter().map(|event| (event, false));
        let (unread, shown): (Vec<_>, Vec<_>) =
            answers.chain(messages).chain(advisory).partition(|(_, damaged)| *damaged);
        let events = |list: Vec<(&Event, bool)>| list.into_iter().map(|(event, _)| event.clone()).collect();
        (events(shown), events(unread))
    }
}

/// The context that ought to be compacted, if one should.
pub fn advises(overview: &Overview) -> Option<RunNumber> {
    let context = overview.context.as_ref().filter(|_| overview.compaction.phase == Phase::Idle);
    context.filter(|context| context.advised()).map(|context| context.run)
}

/// A message that went meanwhile is none.
fn mail(spool: &Spool, entry: &Entry, reader: &Reader, event: Event, shown_before: bool) -> Option<Mail> {
    let most = if reader.whole { HEAD } else { GIST };
    let id = entry.id();
    let show = format!("orbh message show {id}");
    let letter = match letter::read(&Inbox::of(spool), entry, most) {
        Ok(letter) => letter?,
        Err(error) => {
            return Some(Mail {
                kind: "message",
                id,
                from: "unknown".to_owned(),
                session: None,
                at: entry.name.seconds().map(At::from_seconds),
                subject: "a message that cannot be read".to_owned(),
                text: String::new(),
                more: true,
                attachments: 0,
                shown_before,
                show,
                respond: None,
                damage: Some(format!("{error:#}")),
                event,
            });
        }
    };
    let respond = letter.respond();
    Some(Mail {
        kind: if respond.is_some() { "question" } else { "message" },
        id,
        from: letter.from,
        session: letter.session,
        at: letter.at,
        subject: letter.subject,
        text: letter.text,
        more: letter.more,
        attachments: letter.attachments,
        shown_before,
        show,
        respond,
        damage: None,
        event,
    })
}

fn answer(spool: &Spool, id: &MessageId, reader: &Reader, event: Event, shown_before: bool) -> Option<Answer> {
    let most = if reader.whole { HEAD } else { GIST };
    let show = format!("orbh session answer {id}");
    let nothing = |damage: Option<String>| Answer {
        id: id.clone(),
        to: None,
        question: String::new(),
        text: String::new(),
        more: true,
        at: None,
        shown_before,
        show: show.clone(),
        damage,
        event: event.clone(),
    };
    let read = || -> Result<Option<Answer>> {
        let Some(question) = asked::find(spool, id)? else { return Ok(None) };
        let Some((text, more)) = question.answer(most)? else { return Ok(None) };
        let to = question.request.here().map(|request| request.to.to_string());
        let (asked, at) = (question.text(most)?, question.answered_at());
        Ok(Some(Answer { to, question: asked, text, more, at, ..nothing(None) }))
    };
    read().unwrap_or_else(|error| Some(nothing(Some(format!("{error:#}")))))
}

fn notices(overview: &Overview) -> Vec<String> {
    let mut notices = Vec::new();
    let compaction = &overview.compaction;
    if compaction.phase == Phase::Bootstrapping {
        notices.push(
            "this context succeeds one that handed off: read the handoff and every file that it lists, then run \
             'orbh compact finish'"
                .to_owned(),
        );
    }
    if advises(overview).is_some() {
        notices.push("the context is at 80 percent or more: compact soon, with 'orbh compact start'".to_owned());
    }
    if overview.context.as_ref().is_some_and(|context| context.compacted_natively) {
        notices.push(
            "the harness has compacted this context by itself: what stood before is gone from it; look at your files \
             again, and hand off earlier"
                .to_owned(),
        );
    }
    let outside = overview.state != State::NeedsInput && compaction.hint.is_none();
    if let Some(hint) = overview.hint.as_ref().filter(|_| outside) {
        notices.push(format!("the session needs somebody outside: {hint}"));
    }
    if compaction.looping {
        notices.push(
            "this session was compacted several times within minutes: hand off fewer and smaller files, or split the \
             duty"
                .to_owned(),
        );
    }
    if compaction.overdue {
        notices.push(format!("the compaction takes longer than it should ({})", compaction.phase));
    }
    notices.extend(overview.damage.iter().map(|damage| format!("damage: {damage}")));
    notices
}
