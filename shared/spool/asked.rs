//! The questions that a session put: a directory each, in the spool of the one who asked, whoever is to answer.
//!
//! It exists from request.json on, and is open until answer.md has a text or `cancelled` exists. Each is written once,
//! and one of the two: who answers or calls off has the question for itself meanwhile, by a lock on its directory, so
//! that of several the first one counts. A person may answer with an editor: a file with a text under that name is an
//! answer. `seen` says that the session has been shown it.

use super::facts::Request;
use super::id::MessageId;
use super::layout;
use super::session::Spool;
use super::snapshot::{Found, Purpose};
use crate::ground::clock::At;
use crate::ground::dir::{Dir, TEMPORARY, Written, read_head};
use crate::ground::fact;
use crate::ground::fault::{Fault, Kind};
use crate::ground::lease;
use anyhow::Result;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than anybody has a question for itself; a holder that is stopped (SIGSTOP) outlasts it.
const BOUND: Duration = Duration::from_secs(10);

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has answered.
    Open,
    /// There is an answer that the session has not been shown.
    Answered,
    /// The session has been shown the answer.
    Seen,
    /// The session called it off.
    CalledOff,
}

impl Standing {
    /// Its name in JSON and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Open => "open",
            Standing::Answered => "answered",
            Standing::Seen => "seen",
            Standing::CalledOff => "cancelled",
        }
    }
}

/// A question, as far as its names tell; its texts are read when they are asked for.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its id.
    pub id: MessageId,
    /// Where it stands.
    pub standing: Standing,
    /// request.json.
    pub request: Found<Request>,
    dir: PathBuf,
}

impl Question {
    /// Its text.
    pub fn text(&self, most: u64) -> Result<String> {
        self.read(layout::QUESTION, most).map(|found| found.map_or_else(String::new, |(text, _)| text))
    }

    /// The answer and whether there is more of it than was read; `None` while there is none.
    pub fn answer(&self, most: u64) -> Result<Option<(String, bool)>> {
        self.read(layout::ANSWER, most)
    }

    /// When it was answered.
    pub fn answered_at(&self) -> Option<At> {
        let path = self.dir.join(layout::ANSWER);
        path.symlink_metadata().and_then(|found| found.modified()).ok().map(At::from)
    }

    /// Where it is.
    pub fn dir(&self) -> &PathBuf {
        &self.dir
    }

    fn read(&self, name: &str, most: u64) -> Result<Option<(String, bool)>> {
        let read = read_head(&self.dir.join(name), most)?;
        Ok(read.map(|(bytes, more)| (String::from_utf8_lossy(&bytes).into_owned(), more)))
    }
}

/// Puts a question. It is there, whole and durable, when this returns: built aside, then renamed.
pub fn put(spool: &Spool, request: &Request, text: &str) -> Result<()> {
    let asked = spool.asked();
    if asked.symlink_metadata().is_err() {
        Dir::open(spool.dir())?.make_dir(layout::ASKED)?;
    }
    let parent = Dir::open(&asked)?;
    let taken = asked.join(request.id.as_str()).symlink_metadata().is_ok();
    let temporary = format!("{TEMPORARY}{}", request.id);
    if taken || parent.add_dir(&temporary)? == Written::Before {
        let message = format!("there is a question {} already", request.id);
        return Err(Fault::new(Kind::Busy, message).hint("try again").into());
    }
    let build = || -> Result<()> {
        let dir = Dir::open(&asked.join(&temporary))?;
        let question = dir.draft(text.as_bytes(), 0o600)?;
        let fact = dir.draft(&fact::to_text(request)?, 0o600)?;
        question.sync()?;
        fact.sync()?;
        question.create(layout::QUESTION)?;
        fact.create(layout::REQUEST)?;
        dir.sync()?;
        parent.rename(&temporary, request.id.as_str())
    };
    build().inspect_err(|_| {
        // What could not be built whole is taken away again, as far as that is possible.
        let _ = std::fs::remove_dir_all(asked.join(&temporary));
    })
}

/// Answers it; `Before` when somebody was quicker, who answered or called it off: [`find`] says which.
pub fn answer(spool: &Spool, id: &MessageId, text: &str) -> Result<Written> {
    let dir = alone(spool, id)?;
    if standing(spool, id) != Standing::Open {
        return Ok(Written::Before);
    }
    // What an editor or a shell has made and not yet written to is no answer, and not in the way of one.
    match dir.path().join(layout::ANSWER).symlink_metadata().is_ok() {
        true => dir.replace(layout::ANSWER, text.as_bytes()).map(|()| Written::Now),
        false => dir.create(layout::ANSWER, text.as_bytes()),
    }
}

/// Calls it off; `Before` when that was done before, or somebody has answered: [`find`] says which.
pub fn call_off(spool: &Spool, id: &MessageId) -> Result<Written> {
    let dir = alone(spool, id)?;
    match standing(spool, id) {
        Standing::Open => dir.create(layout::CALLED_OFF, b""),
        _ => Ok(Written::Before),
    }
}

/// The directory of a question, for us alone until it is dropped.
fn alone(spool: &Spool, id: &MessageId) -> Result<Dir> {
    let dir = Dir::open(&spool.asked().join(id.as_str()))?;
    if lease::alone(&dir, BOUND)? {
        return Ok(dir);
    }
    let message = format!("cannot have '{}' alone: another process holds it", dir.path().display());
    Err(Fault::new(Kind::Busy, message).hint(format!("try again; 'fuser -v {}' names it", dir.path().display())).into())
}

/// Marks its answer as shown. Not synced: after a power loss it is shown once more.
pub fn mark_seen(spool: &Spool, id: &MessageId) -> Result<()> {
    let dir = Dir::open(&spool.asked().join(id.as_str()))?;
    dir.draft(b"", 0o600)?.create(layout::SEEN).map(|_| ())
}

/// One question; `None` when there is none of that id.
pub fn find(spool: &Spool, id: &MessageId) -> Result<Option<Question>> {
    look(Purpose::Decide, spool, id)
}

/// All questions for which `wanted` holds, oldest first, and the damage among them. An unfinished one is none.
pub fn all(spool: &Spool, wanted: impl Fn(Standing) -> bool) -> Result<(Vec<Question>, Vec<String>)> {
    let mut questions = Vec::new();
    let mut damage = Vec::new();
    for id in ids(spool)? {
        let standing = standing(spool, &id);
        if !wanted(standing) {
            continue;
        }
        let Some(question) = look(Purpose::Show, spool, &id)? else { continue };
        if let Found::Damaged(why) = &question.request {
            damage.push(why.clone());
        }
        questions.push(question);
    }
    questions.sort_by_key(|question| question.request.here().map(|request| request.at));
    Ok((questions, damage))
}

/// The ids of the questions that have an answer which the session has not been shown; nothing is read for it.
pub fn answered(spool: &Spool) -> Result<Vec<MessageId>> {
    let mut answered = ids(spool)?;
    answered.retain(|id| standing(spool, id) == Standing::Answered);
    Ok(answered)
}

/// The directories of the questions whose standing may change, or may have to be shown: those that are open, or whose
/// answer the session has not been shown.
pub fn unsettled(spool: &Spool) -> Result<Vec<PathBuf>> {
    let open = |id: &MessageId| matches!(standing(spool, id), Standing::Open | Standing::Answered);
    Ok(ids(spool)?.into_iter().filter(open).map(|id| spool.asked().join(id.as_str())).collect())
}

fn look(purpose: Purpose, spool: &Spool, id: &MessageId) -> Result<Option<Question>> {
    let dir = spool.asked().join(id.as_str());
    let mut request: Found<Request> = Found::read_for(purpose, &dir.join(layout::REQUEST))?;
    if let Some(other) = request.here().filter(|request| request.id != *id) {
        let message = format!("'{}' speaks of another question, {}", dir.display(), other.id);
        request = Found::Damaged(message);
    }
    let standing = standing(spool, id);
    Ok(request.exists().then(|| Question { id: id.clone(), standing, request, dir }))
}

fn standing(spool: &Spool, id: &MessageId) -> Standing {
    let dir = spool.asked().join(id.as_str());
    let there = |name: &str| dir.join(name).symlink_metadata();
    if there(layout::CALLED_OFF).is_ok() {
        return Standing::CalledOff;
    }
    // What is no file is an answer that nobody can read, and not none.
    match there(layout::ANSWER) {
        Ok(found) if found.is_file() && found.len() == 0 => Standing::Open,
        Ok(_) if there(layout::SEEN).is_ok() => Standing::Seen,
        Ok(_) => Standing::Answered,
        Err(_) => Standing::Open,
    }
}

fn ids(spool: &Spool) -> Result<Vec<MessageId>> {
    let mut ids = Vec::new();
    if let Some(dir) = Dir::open_if_there(&spool.asked())? {
        dir.each_name(|name| {
            ids.extend(std::str::from_utf8(name).ok().and_then(|name| name.parse::<MessageId>().ok()))
        })?;
    }
    Ok(ids)
}
