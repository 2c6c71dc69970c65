//! Delivering what a run has put into the outbox of its session, because its sandbox keeps it from other spools.
//!
//! An order is input, whoever wrote it. The manager composes the message, so that it comes from this session whatever
//! the order says; an answer goes to a question that was put to this session, and to no other. What cannot be carried
//! out comes back as a message from orbh; what fails for want of something that may come back is tried again.
//!
//! An order goes only after what it orders is durable: a manager that dies in between leaves it to the next one, which
//! delivers under the same name. Nothing of this stops the manager, or keeps it from its other duties for long.

use super::Manager;
use crate::ground::clock::At;
use crate::ground::dir::Written;
use crate::ground::fault::{Fault, Kind};
use crate::spool::asked::{self, Standing};
use crate::spool::facts::Addressee;
use crate::spool::id::{MessageId, SessionId};
use crate::spool::inbox::{Entry, Flag, Inbox};
use crate::spool::letter::{self, Sender};
use crate::spool::outbox::{self, Order};
use crate::spool::snapshot::Found;
use crate::spool::{layout, log};
use crate::verbs::mail::{self, Parcel};
use anyhow::Result;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long it delivers before it looks after its run again.
const TURN: Duration = Duration::from_millis(50);
/// How long a manager that is about to leave goes on delivering.
const LAST_TURN: Duration = Duration::from_secs(10);
/// How long an order waits that failed, doubled with each failure.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// The longest such wait.
const RETRY_LAST: Duration = Duration::from_secs(60);
/// So often it is tried where the manager may not write.
const BARRED_TRIES: u32 = 2;
/// How much of a text comes back, in characters.
const QUOTED: usize = 2000;

/// What the manager remembers of the outbox.
#[derive(Default)]
pub(super) struct Delivery {
    /// The orders that failed, until when each waits, how often, and of what.
    failed: HashMap<String, Failed>,
    /// It has looked through the outbox: what came later nobody has begun to deliver before.
    looked: bool,
    /// What the outbox itself failed of last.
    outbox: Option<String>,
}

struct Failed {
    due: Instant,
    times: u32,
    why: String,
}

/// What came of an order.
enum Outcome {
    /// It is carried out.
    Done,
    /// It never will be, and why.
    Never(String),
}

impl Manager<'_> {
    /// Delivers for a moment; says when to go on, if there is something to go on with.
    pub(super) fn deliver(&mut self) -> Option<Duration> {
        let names = match outbox::names(&self.spool) {
            Ok(names) => names,
            Err(error) => {
                let why = format!("{error:#}");
                if self.delivery.outbox.as_ref() != Some(&why) {
                    log::note(&self.spool, "outbox-unreadable", None, why.clone());
                    self.delivery.outbox = Some(why);
                }
                return Some(RETRY_LAST);
            }
        };
        self.delivery.outbox = None;
        if names.is_empty() {
            self.delivery.failed.clear();
            self.delivery.looked = true;
            return None;
        }
        // From here on: one order is carried out in each turn, however long the list took.
        let begin = Instant::now();
        let mut next: Option<Instant> = None;
        for (name, written) in names {
            if begin.elapsed() >= TURN {
                return Some(Duration::ZERO);
            }
            let due = self.delivery.failed.get(&name).map(|failed| failed.due).filter(|due| *due > Instant::now());
            let due = due.or_else(|| self.carry_out(&name, written).err().map(|error| self.put_off(&name, &error)));
            next = next.into_iter().chain(due).min();
        }
        self.delivery.looked = true;
        next.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Delivers what the last run has left, before nobody does.
    pub(super) fn deliver_the_rest(&mut self) {
        let begin = Instant::now();
        while begin.elapsed() < LAST_TURN && self.deliver() == Some(Duration::ZERO) {}
    }

    /// Notes that an order failed; when it is due again.
    fn put_off(&mut self, name: &str, error: &anyhow::Error) -> Instant {
        let why = format!("{error:#}");
        let before = self.delivery.failed.remove(name);
        if before.as_ref().is_none_or(|before| before.why != why) {
            log::note(&self.spool, "delivery-waits", None, format!("{name}: {why}"));
        }
        let times = before.map_or(0, |before| before.times);
        let due = Instant::now() + RETRY_FIRST.saturating_mul(1 << times.min(6)).min(RETRY_LAST);
        self.delivery.failed.insert(name.to_owned(), Failed { due, times: times + 1, why });
        due
    }

    /// Carries out one order, or sends it back. An error is a failure to be tried again.
    fn carry_out(&self, name: &str, written: At) -> Result<()> {
        let order = match outbox::read(&self.spool, name)? {
            Found::Absent => return Ok(()),
            Found::Damaged(why) => {
                self.send_back(name, written, None, &why)?;
                return outbox::refuse(&self.spool, name);
            }
            Found::Here(order) if order.file() != name => {
                self.send_back(name, written, None, "its name is not that of what it orders")?;
                return outbox::refuse(&self.spool, name);
            }
            Found::Here(order) => order,
        };
        // Another manager may have died when it had delivered it, and it may be read already.
        let doubtful = !self.delivery.looked || self.delivery.failed.contains_key(name);
        let outcome = match &order {
            Order::Message { .. } => self.message(&order, written, doubtful),
            Order::Answer { id, to, text, .. } => self.answer(id, to, text),
        };
        // Who may not write there may be allowed to in a moment: an administrator is at work, say.
        let tried = self.delivery.failed.get(name).is_some_and(|failed| failed.times >= BARRED_TRIES);
        match outcome.or_else(|error| hopeless(&error, tried).map(Outcome::Never).ok_or(error))? {
            Outcome::Done => log::note(&self.spool, "delivered", None, told(&order)),
            Outcome::Never(why) => self.send_back(name, written, Some(&order), &why)?,
        }
        outbox::remove(&self.spool, name)
    }

    fn message(&self, order: &Order, written: At, doubtful: bool) -> Result<Outcome> {
        let Order::Message { id, to, at, subject, in_reply_to, text } = order else { return Ok(Outcome::Done) };
        if id.is_question() {
            let put = asked::find(&self.spool, id)?;
            let addressed = |to: &SessionId| Addressee::Session(to.clone());
            match put.filter(|put| put.request.here().is_some_and(|request| request.to == addressed(to))) {
                None => return Ok(Outcome::Never("this session has put no such question to that one".to_owned())),
                // Called off, or answered by a person: nobody has to be asked any more.
                Some(put) if put.standing != Standing::Open => return Ok(Outcome::Done),
                Some(_) => {}
            }
        }
        let to = self.spool.root().session(to)?;
        if doubtful && !Inbox::of(&to).find(id.as_str())?.is_empty() {
            return Ok(Outcome::Done);
        }
        // Never in the future, where it would stand behind all that comes later.
        let at = (*at).min(written).min(At::now());
        let (subject, in_reply_to) = (subject.as_deref(), in_reply_to.as_deref());
        Parcel { id, at, subject, in_reply_to, text }.deliver(&mail::session(&self.spool), &to)?;
        Ok(Outcome::Done)
    }

    fn answer(&self, id: &MessageId, to: &SessionId, text: &str) -> Result<Outcome> {
        let never = |why: &str| Ok(Outcome::Never(why.to_owned()));
        let asker = self.spool.root().session(to)?;
        let me = Addressee::Session(self.spool.id().clone());
        let question = asked::find(&asker, id)?;
        let Some(question) =
            question.filter(|question| question.request.here().is_some_and(|request| request.to == me))
        else {
            return never("that session has put no such question to this one");
        };
        if text.trim().is_empty() {
            return never("the answer is empty");
        }
        match question.standing {
            Standing::CalledOff => return never("the question was called off"),
            Standing::Open => {}
            // By this very order, perhaps.
            Standing::Answered | Standing::Seen => return self.answered_by(&question, text),
        }
        if asked::answer(&asker, id, text)? == Written::Before {
            return self.answered_by(&question, text);
        }
        let inbox = Inbox::of(&self.spool);
        let put: Vec<Entry> = inbox.find(id.as_str())?;
        inbox.mark(put.iter().filter(|entry| !entry.name.has(Flag::Replied)), Flag::Replied)?;
        Ok(Outcome::Done)
    }

    fn answered_by(&self, question: &asked::Question, text: &str) -> Result<Outcome> {
        let most = outbox::LONGEST as u64 * 2;
        let ours = question.answer(most)?.is_some_and(|(answer, more)| !more && answer == text);
        Ok(if ours { Outcome::Done } else { Outcome::Never("the question was answered before".to_owned()) })
    }

    /// Tells the session, by a message into its own inbox, what was not carried out and why. The same message each time.
    fn send_back(&self, name: &str, written: At, order: Option<&Order>, why: &str) -> Result<()> {
        log::note(&self.spool, "not-delivered", None, format!("{name}: {why}"));
        let (what, in_reply_to, text) = match order {
            None => (format!("the order outbox/{name}"), None, None),
            Some(Order::Message { id, to, text, .. }) => {
                if id.is_question() && asked::find(&self.spool, id)?.is_some() {
                    // Who waits for an answer would wait for ever.
                    asked::call_off(&self.spool, id)?;
                }
                let what = if id.is_question() { "question" } else { "message" };
                (format!("{what} {id} for session {to}"), Some(letter::message_id(id, to)), Some(text))
            }
            Some(Order::Answer { id, to, text, .. }) => {
                (format!("the answer to question {id} of session {to}"), None, Some(text))
            }
        };
        let mut words = format!("{what} was not delivered: {why}.\n");
        if order.is_none() {
            words += &format!("It lies there as {name}{} now.\n", layout::REFUSED);
        }
        if let Some(text) = text {
            words += "\nIt began:\n\n";
            for line in text.chars().take(QUOTED).collect::<String>().lines() {
                words += &format!("> {line}\n");
            }
        }
        let id = MessageId::derived(format!("{name} {written}").as_bytes());
        // Told already, by a manager that died before it took the order away.
        if !Inbox::of(&self.spool).find(id.as_str())?.is_empty() {
            return Ok(());
        }
        let subject = format!("not delivered: {what}");
        let in_reply_to = in_reply_to.as_deref();
        let parcel = Parcel { id: &id, at: written.min(At::now()), subject: Some(&subject), in_reply_to, text: &words };
        parcel.deliver(&Sender::Orbh, &self.spool).map(drop)
    }
}

/// Why an order that failed so can never be carried out; `None` for what may succeed later. A permission that is lacking
/// after some tries is not to be had.
fn hopeless(error: &anyhow::Error, tried: bool) -> Option<String> {
    let fault = error.chain().find_map(|cause| cause.downcast_ref::<Fault>());
    let never =
        fault.is_some_and(|fault| !matches!(fault.kind, Kind::System | Kind::Busy)) || tried && outbox::barred(error);
    never.then(|| format!("{error:#}"))
}

fn told(order: &Order) -> String {
    match order {
        Order::Message { id, to, .. } => format!("{id} to session {to}"),
        Order::Answer { id, to, .. } => format!("the answer to {id} of session {to}"),
    }
}
