//! How often a manager looks while a run only has to be kept.
//!
//! Each change in the spool is worth a look, and a look has its price: a harness that writes without a pause must not
//! keep its manager busy. But what changes a few files and then waits for the manager, as `handoff` does, must not wait
//! for a pause either. So looks may come in a burst, and only in the long run are they APART.

use std::time::{Duration, Instant};

/// How far apart looks are in the long run.
const APART: Duration = Duration::from_millis(20);
/// How many may come at once.
const BURST: u32 = 16;

/// When the next look is due.
pub(super) struct Pace {
    due: Instant,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { due: Instant::now() }
    }

    /// Counts a look, and waits if there were too many.
    pub(super) fn keep(&mut self) {
        let now = Instant::now();
        std::thread::sleep(self.due.saturating_duration_since(now).saturating_sub(APART * BURST));
        self.due = self.due.max(now) + APART;
    }
}
