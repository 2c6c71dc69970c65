//! The one place that blocks: poll(2) on the bell, the caller's descriptors and the clock.
//!
//! Promises to return for each of them, all that are due at once, and for nothing else. Never reads the caller's
//! descriptors, and uses the monotonic clock only.

use super::Watch;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why [`Watch::wait`] returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woken {
    /// Something may have changed, or it is time to look: drain and scan.
    pub changed: bool,
    /// Which of the other descriptors are readable, closed or broken, in the order in which they were given.
    pub others: Vec<bool>,
    /// The timeout passed, and nothing else happened.
    pub timed_out: bool,
}

pub(super) fn wait(watch: &mut Watch, others: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Woken> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let bell = Arc::clone(&watch.bell);
        // From the last look and not from now: others that are often ready must not put it off for ever.
        let look = watch.interval().map(|interval| watch.again.unwrap_or(watch.looked + interval));
        let until = if bell.rung() { Some(Instant::now()) } else { look.into_iter().chain(deadline).min() };
        let mut fds = vec![bell.pollfd()];
        fds.extend(others.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        match poll(&mut fds, until.map_or(PollTimeout::NONE, pause)) {
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let mut ready = fds.iter().map(|fd| fd.revents().is_some_and(|revents| !revents.is_empty()));
        let awake = ready.next().unwrap_or(false);
        let others: Vec<bool> = ready.collect();

        let now = Instant::now();
        let mut changed = bell.rung();
        if awake && !changed {
            // A name above changed: of interest only if one of the directories is another one now.
            changed = bell.take_above() && watch.rearm(&mut Vec::new()) || bell.rung();
        }
        if look.is_some_and(|look| look <= now) {
            changed = true;
            watch.looked = now;
            watch.again = watch.again.filter(|again| *again > now);
        }
        let other = others.contains(&true);
        let due = deadline.is_some_and(|deadline| deadline <= now);
        if changed || other || due {
            return Ok(Woken { changed, others, timed_out: due && !changed && !other });
        }
    }
}

/// Rounded up, or the last millisecond would be spent spinning; what is too long is waited for in parts.
fn pause(until: Instant) -> PollTimeout {
    let left = until.saturating_duration_since(Instant::now());
    let ms = left.as_nanos().div_ceil(1_000_000);
    PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX)
}
