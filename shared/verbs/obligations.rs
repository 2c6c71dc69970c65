//! What a session still owes or is owed, from durable state alone, each with the command that collects it. A fresh
//! context remembers none of it, so the handoff has to list it.

use super::overview::{Overview, State};
use crate::ground::foreign::clean;
use crate::spool::child;
use crate::spool::id::SessionId;
use crate::spool::session::Spool;
use serde::Serialize;
use std::fmt;

/// One open obligation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obligation {
    /// What kind of thing is open: `session`, one that this session launched.
    pub kind: &'static str,
    /// Its id.
    pub id: SessionId,
    /// What it is, in a few words.
    pub what: String,
    /// The command that collects it.
    pub collect: String,
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "- {} {}: {}; collect with `{}`", self.kind, self.id, clean(&self.what), self.collect)
    }
}

/// The open obligations of a session: the sessions that it launched and that still work.
pub fn open(spool: &Spool) -> Vec<Obligation> {
    let children = child::ids(spool).into_iter().filter_map(|id| {
        let overview = Overview::read(&spool.root().session(&id).ok()?).ok()?;
        (overview.state == State::Working).then_some((id, overview))
    });
    children
        .map(|(id, overview)| Obligation {
            kind: "session",
            what: format!(
                "launched by this session, {}: {}",
                overview.state,
                overview.title.as_deref().unwrap_or("no title")
            ),
            collect: format!("orbh result {id}"),
            id,
        })
        .collect()
}

/// The section of a handoff that these make, one a line; `- none` when there are none.
pub fn section(obligations: &[Obligation]) -> String {
    if obligations.is_empty() {
        return "- none\n".to_owned();
    }
    obligations.iter().map(|obligation| format!("{obligation}\n")).collect()
}
