//! Stopping a whole tree of processes: TERM, grace, KILL, until none is left.
//!
//! The caller says again and again which processes are to go; what was named once stays on the list until it is dead,
//! also when it has left the tree since. A stopped process is continued so that it can obey. A process is signalled
//! through a pidfd only, so a stranger with a reused number is never hit.

use super::fault::{Fault, Kind};
use super::process::{PidFd, Proc};
use anyhow::Result;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// After KILL a process is gone at once, unless the kernel holds it (a dead network disk): then we give up after this.
const KILL_BOUND: Duration = Duration::from_secs(30);
/// How often the list is made again while nothing is reported to have died.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Stops everything that `list` names, now and while it is at work, and returns when `list` is empty and all are dead.
/// They are asked in the order of the list: parents first, so that none sees its child end and goes on.
pub fn stop(mut list: impl FnMut() -> Vec<Proc>, grace: Duration) -> Result<()> {
    let begin = Instant::now();
    let mut asked: HashSet<Proc> = HashSet::new();
    loop {
        let mut targets = list();
        let listed: HashSet<Proc> = targets.iter().copied().collect();
        targets.extend(asked.iter().copied().filter(|process| !listed.contains(process) && process.alive()));
        if targets.is_empty() {
            return Ok(());
        }
        let age = begin.elapsed();
        if age > grace + KILL_BOUND {
            let pids: Vec<String> = targets.iter().map(|process| process.pid.to_string()).collect();
            let message = format!("cannot stop the processes {}: they survive SIGKILL", pids.join(" "));
            return Err(Fault::new(Kind::Busy, message).into());
        }
        let mut ends = Vec::new();
        for process in targets {
            let Some(handle) = process.open()? else { continue };
            let first = asked.insert(process);
            signal(&handle, age >= grace, first)?;
            ends.push(handle);
        }
        let left = grace.saturating_sub(age);
        wait_for_any(&ends, if left.is_zero() { LOOK_AGAIN } else { LOOK_AGAIN.min(left) });
    }
}

fn signal(handle: &PidFd, out_of_patience: bool, first: bool) -> Result<()> {
    if out_of_patience {
        handle.signal(Signal::SIGKILL)?;
    } else if first {
        handle.signal(Signal::SIGTERM)?;
        handle.signal(Signal::SIGCONT)?;
    }
    Ok(())
}

fn wait_for_any(ends: &[PidFd], bound: Duration) {
    let mut fds: Vec<PollFd> = ends.iter().map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN)).collect();
    // An interrupted or failed wait only means that the list is made again sooner.
    let _ = poll(&mut fds, PollTimeout::try_from(bound).unwrap_or(PollTimeout::ZERO));
}
