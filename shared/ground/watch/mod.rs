//! Watching directories: to be woken when one of them may have changed, together with signals and processes.
//!
//! Promises
//! - Watch, then scan: a change after [`Watch::add`] or [`Watch::drain`] returned is reported. The order of a caller is
//!   `add…`, then in a loop `drain`, scan, `wait`. An event says "look again" and never what happened; lost, merged
//!   or overflowed ones cost a scan, never data.
//! - A directory that is missing, removed and made again, replaced by a rename, or reached by another symlink is
//!   watched on: as soon as its own name appears, goes or changes, the caller is woken, and `drain` arms it anew.
//! - One's own reading never wakes: not listing, opening, reading, nor closing what was opened for reading. One's
//!   own writing does, so a scan that writes each time spins; so does opening a `*.lock` for writing to probe it.
//! - The death of a lease's holder wakes, because its `*.lock` (held open for writing) is closed. The kernel says so
//!   before it drops the flock, so that a fast reader finds it still held: it is reported once more after 20 ms.
//!   dnotify has no such event; see [`Watch::want_lease_deaths`].
//! - inotify, else dnotify, else polling, when the caller prefers none; no timer while one of the first two suffices.
//!   A directory on a network file system, or one that could not be armed, adds a timer of one second.
//! - The caller's signal mask, handlers and signalfds are left alone; the one helper thread has all signals blocked.
//!   With dnotify SIGIO and SIGURG are sent to that thread, and a process must not use these two itself.
//!
//! Never reads the environment, follows no tree (each directory is added by itself), and keeps nothing after drop.
//! Not noticed until the next drain: a directory further up than the parent that is renamed away while all below it
//! stays, and a file system that is mounted over or unmounted from a watched path.

mod bell;
mod dnotify;
mod inotify;
mod plan;
mod remote;
mod source;
mod wait;

pub use source::Backend;
pub use wait::Woken;

pub use remote::is_remote;

use anyhow::{Context, bail};
use bell::Bell;
use plan::{Identity, Point, plan};
use source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often to look where nothing is reported.
const TICK: Duration = Duration::from_secs(1);
/// When to look again after a lock file was closed. The kernel drops the lock a few microseconds after the event.
const SETTLE: Duration = Duration::from_millis(20);
/// How often to try to arm what changes while it is armed, before the timer is left to do it.
const ATTEMPTS: usize = 16;

/// A set of watched directories. See the module for what it promises.
pub struct Watch {
    bell: Arc<Bell>,
    source: Source,
    /// The caller wants this backend and no other.
    insisted: bool,
    lease_deaths: bool,
    dirs: BTreeSet<PathBuf>,
    armed: BTreeMap<Identity, Armed>,
    /// Something that ought to be armed is not.
    deficient: bool,
    /// When the caller last looked, or was told to.
    looked: Instant,
    /// When to look once more, after the close of a lock file.
    again: Option<Instant>,
    /// Where that was.
    to_see_again: Touched,
}

/// Where something may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// In any of the watched directories.
    Any,
    /// In these alone, by the paths by which they were added; where several lead to one directory, by one of them.
    Only(BTreeSet<PathBuf>),
}

impl Touched {
    fn nowhere() -> Touched {
        Touched::Only(BTreeSet::new())
    }

    /// Makes it reach there, too.
    pub fn add(&mut self, other: &Touched) {
        match (&mut *self, other) {
            (Touched::Only(dirs), Touched::Only(more)) => dirs.extend(more.iter().cloned()),
            _ => *self = Touched::Any,
        }
    }
}

struct Armed {
    point: Point,
    /// Changes may come from elsewhere, without an event.
    remote: bool,
}

impl Watch {
    /// A watch of nothing yet. With `prefer` that backend or an error; without, the best one there is.
    pub fn new(prefer: Option<Backend>) -> anyhow::Result<Watch> {
        let bell = Arc::new(Bell::new().context("cannot create an eventfd")?);
        let source = match prefer {
            Some(backend) => Source::new(backend, &bell).with_context(|| format!("cannot start {backend}"))?,
            None => Source::best(Backend::Inotify, &bell),
        };
        Ok(Watch {
            bell,
            source,
            insisted: prefer.is_some(),
            lease_deaths: false,
            dirs: BTreeSet::new(),
            armed: BTreeMap::new(),
            deficient: false,
            looked: Instant::now(),
            again: None,
            to_see_again: Touched::nowhere(),
        })
    }

    /// Watches `dir`, an absolute path, from now on; twice is the same as once.
    ///
    /// A missing directory is watched as soon as it exists. At a limit of the system the whole watch falls back to the
    /// next backend. An error, and nothing added, when `dir` is relative, no directory, or may not be read.
    pub fn add(&mut self, dir: &Path) -> anyhow::Result<()> {
        let what = || format!("cannot watch '{}'", dir.display());
        if !dir.is_absolute() {
            bail!("{}: not an absolute path", what());
        }
        match dir.metadata() {
            Ok(stat) if !stat.is_dir() => return Err(io::Error::from(io::ErrorKind::NotADirectory)).with_context(what),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(what),
            _ => {}
        }
        // Without `.` and doubled or trailing slashes, so that events name it in the same way.
        let dir: PathBuf = dir.components().collect();
        if !self.dirs.insert(dir.clone()) {
            return Ok(());
        }
        let mut failed = Vec::new();
        self.rearm(&mut failed);
        if let Some((_, error)) = failed.into_iter().find(|(path, _)| *path == dir) {
            self.remove(&dir);
            return Err(error).with_context(what);
        }
        Ok(())
    }

    /// Watches these and no others, for the price of one look around; says whether one of them was not watched before.
    ///
    /// Never fails: what may not be read, or is no directory, is watched from above, or looked at once a second.
    pub fn watch_only(&mut self, dirs: impl IntoIterator<Item = PathBuf>) -> bool {
        let wanted: BTreeSet<PathBuf> = dirs.into_iter().map(|dir| dir.components().collect()).collect();
        if wanted == self.dirs {
            return false;
        }
        let more = !wanted.is_subset(&self.dirs);
        self.dirs = wanted;
        self.rearm(&mut Vec::new());
        more
    }

    /// Watches `dir` no longer.
    pub fn remove(&mut self, dir: &Path) {
        if self.dirs.remove(&dir.components().collect::<PathBuf>()) {
            self.rearm(&mut Vec::new());
        }
    }

    /// Asks for [`Watch::interval`] to be one second where the death of a lease's holder is not reported: with dnotify.
    pub fn want_lease_deaths(&mut self, wanted: bool) {
        self.lease_deaths = wanted;
    }

    /// What is in use now.
    pub fn backend(&self) -> Backend {
        self.source.backend()
    }

    /// The descriptor that becomes readable when something may have changed; None when polling.
    ///
    /// For a caller with a poll loop of its own, which must then also mind [`Watch::interval`], counted from `drain`.
    /// Not to be read from: `drain` does that.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        (self.backend() != Backend::Poll).then(|| self.bell.as_fd())
    }

    /// How often the caller must look again although nothing was reported; None when everything is reported.
    ///
    /// May differ after each `add`, `remove` and `drain`. `wait` minds it by itself.
    pub fn interval(&self) -> Option<Duration> {
        if self.again.is_some() { Some(SETTLE) } else { self.interval_of_ticks() }
    }

    fn interval_of_ticks(&self) -> Option<Duration> {
        let unheard = match self.backend() {
            Backend::Inotify => false,
            Backend::Dnotify => self.lease_deaths,
            Backend::Poll => true,
        };
        let remote = self.armed.values().any(|armed| armed.remote);
        (unheard || self.deficient || remote).then_some(TICK)
    }

    /// Forgets what was reported, and arms anew what was made, removed or replaced; to be called *before* the scan.
    /// Answers where to look.
    pub fn drain(&mut self) -> Touched {
        let now = Instant::now();
        let lock_closed = self.bell.silence();
        if lock_closed {
            self.again = Some(now + SETTLE);
        } else if self.again.is_some_and(|again| again <= now) {
            self.again = None;
        }
        self.looked = now;
        let told = self.source.take_touched();
        let rearmed = self.rearm(&mut Vec::new());
        let all_told = !rearmed && self.interval_of_ticks().is_none();
        let (mut touched, locks) = match told {
            Some(told) if all_told => (Touched::Only(told.dirs), Touched::Only(told.locks)),
            _ => (Touched::Any, Touched::Any),
        };
        // Where a lock was closed there is something to see perhaps only after a moment.
        touched.add(&self.to_see_again);
        match (lock_closed, self.again) {
            (true, _) => self.to_see_again.add(&locks),
            (false, None) => self.to_see_again = Touched::nowhere(),
            (false, Some(_)) => {}
        }
        touched
    }

    /// Waits until something may have changed, one of `others` is readable (or closed), or `timeout` has passed.
    ///
    /// Reports all that is so at that moment. `changed` stays true until `drain`; without a `timeout` it waits for
    /// ever. A signal does not end it, and the time goes on while the clock is set.
    pub fn wait(&mut self, others: &[BorrowedFd<'_>], timeout: Option<Duration>) -> anyhow::Result<Woken> {
        wait::wait(self, others, timeout).context("cannot wait for changes")
    }

    /// Arms what must be armed and is not, disarms the rest; says whether that was anything.
    fn rearm(&mut self, failed: &mut Vec<(PathBuf, io::Error)>) -> bool {
        let mut changed = false;
        for _ in 0..ATTEMPTS {
            failed.clear();
            let wanted = plan(&self.dirs);
            let doubtful = self.source.take_doubtful();
            let stale = |(id, armed): &(&Identity, &Armed)| {
                let serves = wanted.get(id).is_some_and(|wanted| wanted.same_arming(&armed.point));
                !serves || doubtful.contains(&armed.point.path)
            };
            let gone: Vec<Identity> = self.armed.iter().filter(stale).map(|(id, _)| *id).collect();
            // All disarming first: one path can be another directory now, one directory have another path.
            for id in &gone {
                if let Some(armed) = self.armed.remove(id) {
                    self.source.disarm(&armed.point.path);
                }
            }
            self.source.set_points(&wanted);
            let mut fresh = false;
            for (id, point) in wanted {
                if let Some(armed) = self.armed.get_mut(&id) {
                    armed.point = point;
                    continue;
                }
                match self.source.arm(&point) {
                    Ok(()) => {
                        let remote = is_remote(&point.path);
                        self.armed.insert(id, Armed { point, remote });
                        fresh = true;
                    }
                    Err(error) if !self.insisted && source::is_limit(&error) => {
                        self.fall_back();
                        fresh = true;
                        break;
                    }
                    // Gone since the plan was made: make another one.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => fresh = true,
                    Err(error) => failed.push((point.path, error)),
                }
            }
            changed |= fresh || !gone.is_empty();
            // Only a plan that needed no arming was made after all of it was armed: then nothing slipped in between.
            if !fresh {
                self.deficient = !failed.is_empty();
                return changed;
            }
        }
        self.deficient = true;
        changed
    }

    fn fall_back(&mut self) {
        let next = match self.backend() {
            Backend::Inotify => Backend::Dnotify,
            Backend::Dnotify | Backend::Poll => Backend::Poll,
        };
        self.armed.clear();
        self.source = Source::best(next, &self.bell);
    }
}
