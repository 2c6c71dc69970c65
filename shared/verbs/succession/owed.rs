//! The handoff against durable state: what is open must be named in it, or the successor never hears of it (R34, R35).
//!
//! What was open when the hold began is demanded, by its id; what came later is told, or a busy session could never
//! hand off. Times are those of the wall clock, so that in doubt a thing counts as old: one of unknown time, one of a
//! time that is yet to come, and everything when the hold began before its own run did. What cannot be read is named,
//! and hides nothing else.

use crate::ground::clock::At;
use crate::ground::fault::Finding;
use crate::spool::facts::Hold;
use crate::spool::id::SessionId;
use crate::spool::session::Spool;
use crate::verbs::contract::Owed;
use crate::verbs::obligations::{self, Obligation};
use std::collections::HashSet;
use std::path::Path;

/// The shortest beginning of the id of a session that names it.
const SHORTEST: usize = 8;
/// More than these are counted, not told: whoever reads it has little room left.
const MOST: usize = 100;

/// What durable state says to a draft.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// What is open and old, and not named.
    pub(super) findings: Vec<Finding>,
    /// What is newer, and what cannot be read.
    pub(super) warnings: Vec<Finding>,
}

/// The moment from which on something is new.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since {
    hold: Option<At>,
}

impl Since {
    /// For the run that began at `started`, with the hold that it has, if it has one.
    pub(super) fn of(hold: Option<&Hold>, started: Option<At>) -> Since {
        // Set back in between, the clock tells nothing.
        let hold = hold.map(|hold| hold.since).filter(|since| started.is_none_or(|started| started <= *since));
        Since { hold }
    }

    fn is_new(self, at: Option<At>) -> bool {
        let (Some(hold), Some(at)) = (self.hold, at) else { return false };
        at > hold && at <= At::now()
    }
}

/// Holds what a draft lists against what the session has open.
pub(super) fn judge(spool: &Spool, path: &Path, owed: &Owed, since: Since) -> Judged {
    let open = obligations::open(spool);
    let named = Named::of(spool, &owed.items);
    let mut judged = Judged::default();
    for obligation in open.obligations.iter().filter(|obligation| !named.has(obligation)) {
        let new = since.is_new(obligation.since);
        let list = if new { &mut judged.warnings } else { &mut judged.findings };
        list.push(finding(obligation, path, owed, new));
    }
    for list in [&mut judged.findings, &mut judged.warnings] {
        let more = list.len().saturating_sub(MOST);
        if more > 0 {
            list.truncate(MOST);
            let message = format!("{more} more obligations are not named in '## OPEN OBLIGATIONS'");
            list.push(Finding::new("obligation-more", message, "'orbh compact start' prints them all").at(path));
        }
    }
    judged.warnings.extend(open.damage.iter().take(MOST).map(|why| {
        let message = format!("what is open cannot all be read: {why}");
        Finding::new("obligation-unknown", message, "name in the handoff what you know of it")
    }));
    judged
}

fn finding(obligation: &Obligation, path: &Path, owed: &Owed, new: bool) -> Finding {
    let id = &obligation.id;
    let what = match obligation.kind {
        "question" => format!("the question {id} to this session"),
        "asked" => format!("the question {id} of this session"),
        kind => format!("the {kind} {id}"),
    };
    let (code, message) = match (owed.none, new) {
        (_, true) => ("obligation-new", format!("{what} came after 'orbh compact start', and is not named")),
        (true, false) => ("obligation-missing", format!("'- none' is not true: {what} is open")),
        (false, false) => ("obligation-missing", format!("{what} is open, and is not named in '## OPEN OBLIGATIONS'")),
    };
    let fix = match owed.none {
        true => format!("put in the place of '- none' the line: {obligation}"),
        false => format!("add the line: {obligation}"),
    };
    let finding = Finding::new(code, message, fix).at(path);
    match owed.line {
        Some(line) => finding.line(line),
        None => finding,
    }
}

/// What the items of a handoff name.
struct Named<'a> {
    words: HashSet<&'a str>,
    sessions: Vec<SessionId>,
}

impl<'a> Named<'a> {
    fn of(spool: &Spool, items: &'a [String]) -> Named<'a> {
        let apart = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
        let words: HashSet<&str> =
            items.iter().flat_map(|item| item.split(apart)).map(|word| word.trim_matches('-')).collect();
        // A beginning names one session of all there are, not only one of those that are open.
        Named { words, sessions: spool.root().ids().unwrap_or_default() }
    }

    fn has(&self, obligation: &Obligation) -> bool {
        let id = obligation.id.as_str();
        if self.words.contains(id) {
            return true;
        }
        obligation.kind == "session" && self.words.iter().any(|word| self.begins(word, id))
    }

    fn begins(&self, word: &str, id: &str) -> bool {
        let alone = || self.sessions.iter().filter(|other| other.as_str().starts_with(word)).count() <= 1;
        word.len() >= SHORTEST && id.starts_with(word) && alone()
    }
}
