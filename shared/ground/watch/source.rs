//! The backends behind one face, and which of them to take.
//!
//! Promises that there always is one: polling cannot fail. Never changes from one to another by itself.

use super::bell::Bell;
use super::dnotify::Dnotify;
use super::inotify::Inotify;
use super::plan::{Plan, Point};
use nix::libc;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io, str};

/// How changes are heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// inotify(7): all events, also the death of a lease's holder. 128 instances a user.
    Inotify,
    /// fcntl(2) `F_NOTIFY`: no limit but that of descriptors; silent about the death of a lease's holder.
    Dnotify,
    /// Looking once a second.
    Poll,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Inotify => "inotify",
            Backend::Dnotify => "dnotify",
            Backend::Poll => "polling",
        })
    }
}

impl str::FromStr for Backend {
    type Err = anyhow::Error;

    /// The same words as those of Display.
    fn from_str(word: &str) -> anyhow::Result<Backend> {
        match word {
            "inotify" => Ok(Backend::Inotify),
            "dnotify" => Ok(Backend::Dnotify),
            "polling" => Ok(Backend::Poll),
            _ => anyhow::bail!("no such way to watch: '{word}' (there are inotify, dnotify and polling)"),
        }
    }
}

/// The armed directories of which something was told.
#[derive(Default)]
pub(super) struct Told {
    pub(super) dirs: BTreeSet<PathBuf>,
    /// Those in which a lock file was closed.
    pub(super) locks: BTreeSet<PathBuf>,
}

/// A running backend.
pub(super) enum Source {
    Inotify(Inotify),
    Dnotify(Dnotify),
    Poll,
}

impl Source {
    /// This one or an error.
    pub(super) fn new(backend: Backend, bell: &Arc<Bell>) -> io::Result<Source> {
        Ok(match backend {
            Backend::Inotify => Source::Inotify(Inotify::new(bell)?),
            Backend::Dnotify => Source::Dnotify(Dnotify::new(bell)?),
            Backend::Poll => Source::Poll,
        })
    }

    /// The best one that can be had, `from` or what comes after it.
    pub(super) fn best(from: Backend, bell: &Arc<Bell>) -> Source {
        let after = match from {
            Backend::Inotify => Backend::Dnotify,
            Backend::Dnotify => Backend::Poll,
            Backend::Poll => return Source::Poll,
        };
        Source::new(from, bell).unwrap_or_else(|_| Source::best(after, bell))
    }

    pub(super) fn backend(&self) -> Backend {
        match self {
            Source::Inotify(_) => Backend::Inotify,
            Source::Dnotify(_) => Backend::Dnotify,
            Source::Poll => Backend::Poll,
        }
    }

    /// Which points matter; to be told before one of them is armed.
    pub(super) fn set_points(&self, plan: &Plan) {
        if let Source::Inotify(inotify) = self {
            inotify.set_points(plan.values());
        }
    }

    /// Armed paths that may be armed no longer.
    pub(super) fn take_doubtful(&self) -> Vec<PathBuf> {
        match self {
            Source::Inotify(inotify) => inotify.take_doubtful(),
            // A descriptor keeps its directory, and a directory its watch.
            Source::Dnotify(_) | Source::Poll => Vec::new(),
        }
    }

    /// What was touched since the last time; `None` when that is not known.
    pub(super) fn take_touched(&self) -> Option<Told> {
        match self {
            Source::Inotify(inotify) => inotify.take_touched(),
            Source::Dnotify(_) | Source::Poll => None,
        }
    }

    pub(super) fn arm(&mut self, point: &Point) -> io::Result<()> {
        match self {
            Source::Inotify(inotify) => inotify.arm(point),
            Source::Dnotify(dnotify) => dnotify.arm(point),
            Source::Poll => Ok(()),
        }
    }

    pub(super) fn disarm(&mut self, path: &Path) {
        match self {
            Source::Inotify(inotify) => inotify.disarm(path),
            Source::Dnotify(dnotify) => dnotify.disarm(path),
            Source::Poll => {}
        }
    }
}

/// Whether another backend would have a chance: a limit of the system, or a call that this kernel does not have.
pub(super) fn is_limit(error: &io::Error) -> bool {
    let limits = [libc::ENOSPC, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOSYS, libc::EINVAL];
    error.raw_os_error().is_some_and(|errno| limits.contains(&errno))
}
