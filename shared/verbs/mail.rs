//! Sending a message to a session: into its inbox, or, where a sandbox does not let the sender write there, into the
//! sender's own outbox, from which its manager delivers it.

use super::caller::Caller;
use crate::ground::clock::At;
use crate::ground::dir::Written;
use crate::ground::fault::{Finding, Refusal};
use crate::ground::lease::{self, Probe};
use crate::spool::id::{MessageId, RunNumber, SessionId};
use crate::spool::inbox::Inbox;
use crate::spool::letter::{self, Draft, Sender};
use crate::spool::outbox::{self, Order};
use crate::spool::session::Spool;
use crate::spool::{keys, layout};
use anyhow::Result;
use nix::unistd::{User, geteuid};
use serde::Serialize;

/// The order that a manager understands which delivers what lies in the outbox.
pub const DELIVERS: &str = "deliver";

/// What is sent.
#[derive(Debug)]
pub struct Parcel<'a> {
    /// Its id; with that of a question it puts it.
    pub id: &'a MessageId,
    /// When it was written.
    pub at: At,
    /// What it is about; by default the first line of the text.
    pub subject: Option<&'a str>,
    /// The message that it answers, by the Message-ID of that.
    pub in_reply_to: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

/// Which way it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Into the inbox of the session that it is for.
    Inbox,
    /// Into the outbox of the session that sends it.
    Outbox,
}

impl Parcel<'_> {
    /// Delivers it from `from` to a session.
    pub fn deliver(&self, from: &Sender, to: &Spool) -> Result<Written> {
        let message = letter::compose(&Draft {
            id: self.id,
            at: self.at,
            from,
            to: to.id(),
            subject: self.subject,
            in_reply_to: self.in_reply_to,
            text: self.text,
        });
        Inbox::of(to).deliver(self.id, self.at, &message)
    }

    /// Sends it from a run. The claim of its session is held, and the run was checked under it.
    pub fn send(&self, caller: &Caller, to: &Spool) -> Result<Way> {
        match self.deliver(&session(&caller.spool), to) {
            Ok(_) => Ok(Way::Inbox),
            Err(error) if outbox::barred(&error) => {
                put(&caller.spool, &self.order(to.id()))?;
                Ok(Way::Outbox)
            }
            Err(error) => Err(error),
        }
    }

    fn order(&self, to: &SessionId) -> Order {
        Order::Message {
            id: self.id.clone(),
            to: to.clone(),
            at: self.at,
            subject: self.subject.map(str::to_owned),
            in_reply_to: self.in_reply_to.map(str::to_owned),
            text: self.text.to_owned(),
        }
    }
}

/// A session as the sender of a message, with its title.
pub fn session(spool: &Spool) -> Sender {
    // Without it rather than not at all.
    let title = keys::get(spool, layout::TITLE).ok().flatten();
    Sender::Session(spool.id().clone(), title)
}

/// Whoever calls from outside of every run, by the name of the user.
pub fn user() -> Sender {
    let uid = geteuid();
    let user = User::from_uid(uid).ok().flatten().map(|user| user.name);
    Sender::User(user.unwrap_or_else(|| format!("uid-{uid}")))
}

/// Puts an order into the outbox of the session that sends it; one that is too long is refused.
pub fn put(own: &Spool, order: &Order) -> Result<()> {
    if outbox::fits(order)? {
        return outbox::put(own, order);
    }
    let message = format!(
        "the spool of session {} cannot be written from here, and a text that goes by way of the outbox has {} bytes \
         at most, fewer with many control characters",
        order.to(),
        outbox::LONGEST,
    );
    let fix = "write the text into a file that the other session can read, and send its path";
    Err(Refusal::one(Finding::new("outbox-too-long", message, fix)).into())
}

/// What there is to be said of an outbox that nobody delivers from; `None` when a manager does.
pub fn undelivered(spool: &Spool) -> Option<String> {
    let probe = lease::probe(&spool.scratch().join(layout::MANAGER)).unwrap_or(Probe::Free);
    let why = match probe {
        Probe::Held(holder) if holder.as_ref().is_none_or(|one| one.verbs.iter().any(|verb| verb == DELIVERS)) => {
            return None;
        }
        Probe::Held(_) => "the manager of this session is of an older orbh, which delivers nothing",
        Probe::Free => "the manager of this session is gone",
    };
    Some(format!("{why}; 'orbh resume {}', from outside, puts one in its place", spool.id()))
}

/// The newest run of a session, when that has ended: perhaps nobody is there to read. Looks at names only.
pub fn ended(spool: &Spool) -> Option<RunNumber> {
    let entries = std::fs::read_dir(spool.runs()).ok()?;
    let number = |name: std::ffi::OsString| name.to_str()?.parse::<RunNumber>().ok();
    let newest = entries.flatten().filter_map(|entry| number(entry.file_name())).max()?;
    let there = |path: std::path::PathBuf| path.symlink_metadata().is_ok();
    let over = there(spool.run(newest).join(layout::END)) || there(spool.returns().join(layout::return_fact(newest)));
    over.then_some(newest)
}
