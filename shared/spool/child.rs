//! The sessions that a session launched, by the links that lead to them.

use super::id::SessionId;
use super::layout;
use super::session::Spool;
use crate::ground::lease::{self, Probe};
use crate::ground::process::Proc;

/// The ids of the sessions that this one launched, sorted.
pub fn ids(spool: &Spool) -> Vec<SessionId> {
    let Ok(entries) = std::fs::read_dir(spool.dir().join(layout::LINKS)) else { return Vec::new() };
    let mut ids: Vec<SessionId> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(layout::LINK_CHILD)?.parse().ok())
        .collect();
    ids.sort();
    ids
}

/// The managers of those sessions that live now. They are not of the parent's run, although they descend from it.
pub fn managers(spool: &Spool) -> Vec<Proc> {
    // Where the links are gone with the whole spool, any other session may be one of them.
    let links = spool.dir().join(layout::LINKS).exists();
    let ids = if links { ids(spool) } else { spool.root().ids().unwrap_or_default() };
    ids.into_iter()
        .filter(|id| id != spool.id())
        .filter_map(|id| manager(&Spool::at(spool.root().clone(), id)))
        .collect()
}

fn manager(child: &Spool) -> Option<Proc> {
    match lease::probe(&child.scratch().join(layout::MANAGER)) {
        Ok(Probe::Held(Some(holder))) => Some(Proc { pid: holder.pid, start: holder.start }),
        _ => None,
    }
}
