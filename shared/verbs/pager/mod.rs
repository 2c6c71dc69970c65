//! The pager: what tells a run of events while it works ([`arm`]), who looks whether one is armed ([`status`]), and the
//! stream of events and changes of any number of sessions ([`stream`]).
//!
//! It only announces: what it shows stays pending until the session's own Page has shown it.

pub mod arm;
mod aside;
mod line;
pub mod status;
pub mod stream;

use crate::spool::asked;
use crate::spool::inbox::{Inbox, Place};
use crate::spool::session::Spool;
use std::path::PathBuf;

/// The directories in which it shows that something came for a session, or that its run or its hold is another one.
///
/// Not the directory of the run, where the harness writes its output: see [`aside`].
fn watched(spool: &Spool) -> Vec<PathBuf> {
    let inbox = Inbox::of(spool);
    let mut dirs = vec![spool.scratch(), spool.runs(), spool.returns(), spool.asked()];
    dirs.extend(Place::ALL.map(|place| inbox.place(place)));
    // What cannot be read is said by who looks for answers there.
    dirs.extend(asked::unsettled(spool).unwrap_or_default());
    dirs
}
