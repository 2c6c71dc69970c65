//! The inbox: a Maildir. Whatever can deliver to a Maildir sends to a session, whatever reads one shows it, and what it
//! moves or flags there is right for us.
//!
//! Pending is what is in new/, or in cur/ without the flag S: a mail tool moves a message from new/ to cur/ before
//! anybody has seen it. What is moved back to new/ is pending again, whatever its flags. A message is told from others
//! by its name up to the colon, which never changes.
//!
//! A message appears whole: it is written and synced in tmp/, renamed into new/, and new/ is synced. Marking one as
//! shown is a rename as well, and is not synced: after a power loss it is shown once more.

mod name;

use super::id::MessageId;
use super::layout;
use super::session::Spool;
use crate::ground::clock::At;
use crate::ground::dir::{Dir, Written};
use anyhow::{Context, Result};
pub(super) use name::host;
pub use name::{Flag, MailName};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// What a Maildir consists of.
pub(super) const MAILDIR: [&str; 3] = [layout::INBOX_TMP, layout::INBOX_NEW, layout::INBOX_CUR];

/// Where in the Maildir a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// new/.
    New,
    /// cur/.
    Cur,
}

impl Place {
    /// Both.
    pub const ALL: [Place; 2] = [Place::New, Place::Cur];

    /// The name of its directory.
    pub fn name(self) -> &'static str {
        match self {
            Place::New => layout::INBOX_NEW,
            Place::Cur => layout::INBOX_CUR,
        }
    }
}

/// A message as its name tells, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub place: Place,
    /// Its name there.
    pub name: MailName,
}

impl Entry {
    /// Whether the session has not been shown it.
    pub fn pending(&self) -> bool {
        self.place == Place::New || !self.name.has(Flag::Seen)
    }

    /// Whether it puts a question that no verb has marked as answered.
    pub fn asks(&self) -> bool {
        self.id().is_question() && !self.name.has(Flag::Replied)
    }

    /// Its id.
    pub fn id(&self) -> MessageId {
        self.name.id()
    }
}

/// What of an inbox concerns the session now.
#[derive(Debug, Default)]
pub struct Current {
    /// What it has not been shown, oldest first.
    pub pending: Vec<Entry>,
    /// The questions that no verb has marked as answered, oldest first.
    pub questions: Vec<Entry>,
}

/// The inbox of a session.
#[derive(Debug, Clone)]
pub struct Inbox {
    dir: PathBuf,
}

impl Inbox {
    /// The inbox of the session with this spool; nothing is looked at.
    pub fn of(spool: &Spool) -> Inbox {
        Inbox::below(spool.dir())
    }

    /// The inbox of a spool that is being made at `dir`.
    pub(super) fn below(dir: &Path) -> Inbox {
        Inbox { dir: dir.join(layout::INBOX) }
    }

    /// Where it is.
    pub fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// The directory of a place.
    pub fn place(&self, place: Place) -> PathBuf {
        self.dir.join(place.name())
    }

    /// Where a message is.
    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.place(entry.place).join(entry.name.as_os_str())
    }

    /// The messages for which `wanted` holds, oldest first. An inbox that does not exist is an empty one.
    pub fn entries(&self, wanted: impl Fn(&Entry) -> bool) -> Result<Vec<Entry>> {
        self.scan(|_, _| true, wanted)
    }

    /// What the session has not been shown, oldest first.
    pub fn pending(&self) -> Result<Vec<Entry>> {
        self.scan(may_be_pending, Entry::pending)
    }

    /// The questions that no verb has marked as answered, oldest first.
    pub fn questions(&self) -> Result<Vec<Entry>> {
        self.scan(may_be_question, Entry::asks)
    }

    /// Both, by one look.
    pub fn current(&self) -> Result<Current> {
        let either = |place, name: &[u8]| may_be_pending(place, name) || may_be_question(place, name);
        let found = self.scan(either, |entry| entry.pending() || entry.asks())?;
        let questions = found.iter().filter(|entry| entry.asks()).cloned().collect();
        let pending = found.into_iter().filter(Entry::pending).collect();
        Ok(Current { pending, questions })
    }

    /// Those of which `hint` thinks so by the bytes of their name, and `wanted` says so. Most of a large inbox was shown
    /// long ago: nothing is made of a name before the hint.
    fn scan(&self, hint: impl Fn(Place, &[u8]) -> bool, wanted: impl Fn(&Entry) -> bool) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for place in Place::ALL {
            let path = self.place(place);
            let Some(dir) = Dir::open_if_there(&path)? else { continue };
            dir.each_name(|name| {
                if hint(place, name)
                    && let Some(name) = MailName::parse(OsString::from_vec(name.to_vec()))
                {
                    let entry = Entry { place, name };
                    if wanted(&entry) {
                        entries.push(entry);
                    }
                }
            })?;
        }
        entries.sort_by_cached_key(|entry| entry.name.order());
        // Moved from new/ to cur/ between the two looks: it is there once.
        entries.dedup_by(|later, first| later.name.same(&first.name));
        Ok(entries)
    }

    /// The messages whose id begins with `text`.
    pub fn find(&self, text: &str) -> Result<Vec<Entry>> {
        self.entries(|entry| entry.id().as_str().starts_with(text))
    }

    /// Delivers a message that was composed for `id`, as of `at`; `Before` when it was delivered already, and perhaps
    /// moved on since. Makes the Maildir where it is missing.
    pub fn deliver(&self, id: &MessageId, at: At, message: &[u8]) -> Result<Written> {
        let name = MailName::of(id, at);
        // By its id: who delivers it again reads from the record when it was put, which has no microseconds.
        let known = |entry: &Entry| entry.id() == *id;
        if id.is_question() && !self.entries(known)?.is_empty() {
            return Ok(Written::Before);
        }
        let open = |name: &str| Dir::open(&self.dir.join(name));
        let (tmp, new) = match (open(layout::INBOX_TMP), open(layout::INBOX_NEW)) {
            (Ok(tmp), Ok(new)) => (tmp, new),
            _ => {
                self.make()?;
                (open(layout::INBOX_TMP)?, open(layout::INBOX_NEW)?)
            }
        };
        let draft = tmp.draft(message, 0o600)?;
        draft.sync()?;
        let written = draft.create_in(&new, name.base())?;
        new.sync()?;
        Ok(written)
    }

    /// Makes what is missing of the Maildir, durable.
    pub fn make(&self) -> Result<()> {
        let spool = self.dir.parent().context("an inbox is in a spool")?;
        Dir::open(spool)?.make_dir(layout::INBOX)?;
        let inbox = Dir::open(&self.dir)?;
        for name in MAILDIR {
            inbox.make_dir(name)?;
        }
        Ok(())
    }

    /// Marks messages as they are now; those that somebody has moved meanwhile stay as they are, and pending. One that cannot
    /// be marked keeps none of the others from being marked; the first failure is reported.
    pub fn mark<'e>(&self, entries: impl IntoIterator<Item = &'e Entry>, flag: Flag) -> Result<()> {
        let mut dirs: Option<(Dir, Dir)> = None;
        let mut failed = None;
        for entry in entries {
            if dirs.is_none() {
                if self.place(Place::Cur).symlink_metadata().is_err() {
                    self.make()?;
                }
                dirs = Some((Dir::open(&self.place(Place::New))?, Dir::open(&self.place(Place::Cur))?));
            }
            let Some((new, cur)) = &dirs else { continue };
            let from = if entry.place == Place::New { new } else { cur };
            let moved = from.move_to(entry.name.as_os_str(), cur, entry.name.with(flag).as_os_str());
            failed = failed.or(moved.err());
        }
        failed.map_or(Ok(()), Err)
    }
}

fn may_be_pending(place: Place, name: &[u8]) -> bool {
    place == Place::New || !name::flagged(name, Flag::Seen)
}

fn may_be_question(_: Place, name: &[u8]) -> bool {
    name::marks_question(name) && !name::flagged(name, Flag::Replied)
}
