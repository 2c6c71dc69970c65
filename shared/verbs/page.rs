//! The Page: a session's live state and every open obligation. `face::page` renders it.

use super::obligations::{self, Obligation};
use super::overview::Overview;
use super::overview::compaction::Phase;
use crate::spool::session::Spool;
use anyhow::Result;
use serde::Serialize;

/// A Page.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// The session as it is seen from outside, too.
    #[serde(flatten)]
    pub overview: Overview,
    /// What is open.
    pub obligations: Vec<Obligation>,
    /// What the session should know.
    pub notices: Vec<String>,
}

impl Page {
    /// Looks at a session. Consumes nothing.
    pub fn read(spool: &Spool) -> Result<Page> {
        let overview = Overview::read(spool)?;
        let notices = notices(&overview);
        Ok(Page { overview, obligations: obligations::open(spool), notices })
    }
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
    if compaction.phase == Phase::Idle && overview.context.as_ref().is_some_and(|context| context.advised()) {
        notices.push("the context is at 80 percent or more: compact soon, with 'orbh compact start'".to_owned());
    }
    if overview.context.as_ref().is_some_and(|context| context.compacted_natively) {
        notices.push(
            "the harness has compacted this context by itself: what stood before is gone from it; look at your files \
             again, and hand off earlier"
                .to_owned(),
        );
    }
    if let Some(hint) = overview.hint.as_ref().filter(|_| compaction.hint.is_none()) {
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
