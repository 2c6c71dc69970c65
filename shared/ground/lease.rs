//! Leases: alive means a held flock(2), never a number in a file.
//!
//! The kernel drops the lock when its holder dies, so there is nothing stale to clean up. The JSON in a lease file
//! only informs people. A lease file is never unlinked by orbh; when somebody else replaced it, the taker notices by
//! comparing the inode of what it locked with what the name leads to now. The descriptor is close-on-exec, so no child
//! inherits a lease by accident.
//!
//! fs2's methods are shadowed by the standard library's since Rust 1.89, hence the long spelling, here alone.

use super::clock::At;
use super::dir::{Dir, insist_mode, irregular, not_opened, open_read};
use super::fact;
use super::process::Proc;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a taker tries before it says that a lease is owned: longer than any reader's momentary probe.
pub const PROBE_BOUND: Duration = Duration::from_millis(100);

/// The first pause between two tries: a manager is woken by the very fact whose writer still holds the claim.
const FIRST_PAUSE: Duration = Duration::from_micros(100);

/// What a lease file says about its holder. It informs people; nothing decides by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process that took it.
    pub pid: i32,
    /// Its start time in clock ticks after boot (field 22 of /proc/PID/stat), against pid reuse.
    #[serde(default)]
    pub start: u64,
    /// What it holds it for: a verb, or the kind of a manager.
    #[serde(default)]
    pub kind: String,
    /// For a manager: the orders that it understands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verbs: Vec<String>,
    /// For a pager: the run that it is armed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// For a pager: since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub armed_at: Option<At>,
    /// For a pager: how it is told of changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
}

impl Holder {
    /// This process, holding it for `kind`.
    pub fn me(kind: &str) -> Self {
        let pid = std::process::id().cast_signed();
        let start = Proc::me().map_or(0, |proc| proc.start);
        Holder { pid, start, ..Holder::unknown(kind) }
    }

    /// A process of which nothing is known.
    pub fn unknown(kind: &str) -> Self {
        let (verbs, run, armed_at, watch) = Default::default();
        Holder { pid: 0, start: 0, kind: kind.to_owned(), verbs, run, armed_at, watch }
    }
}

/// A held lease; dropping it lets it go.
#[derive(Debug)]
pub struct Lease {
    file: File,
    path: PathBuf,
}

impl Lease {
    /// Writes down who holds it. Only information: a full disk must not keep a manager from recovering a session.
    pub fn inform(&mut self, holder: &Holder) -> Result<()> {
        let text = fact::to_line(holder)? + "\n";
        let file = &mut self.file;
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        Ok(())
    }

    /// Whether the name of the lease leads to what is locked no longer: somebody removed or replaced the file, and
    /// another one may hold the lease as well by now.
    pub fn lost(&self) -> Result<bool> {
        let what = || format!("cannot look at the lease '{}'", self.path.display());
        let locked = self.file.metadata().with_context(what)?;
        match std::fs::symlink_metadata(&self.path) {
            Ok(named) => Ok(named.ino() != locked.ino() || named.dev() != locked.dev()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
            Err(error) => Err(error).with_context(what),
        }
    }
}

/// What a momentary shared probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Nobody holds it.
    Free,
    /// Somebody does; who, as far as the file tells.
    Held(Option<Holder>),
}

impl Probe {
    /// Whether somebody holds it.
    pub fn held(&self) -> bool {
        matches!(self, Probe::Held(_))
    }
}

/// The answer to a bounded try.
#[derive(Debug)]
pub enum Taken {
    /// It is ours until dropped.
    Ours(Lease),
    /// It stayed another's until the bound ran out; who, as far as the file tells.
    Owned(Option<Holder>),
}

/// Takes the lease at `path`, trying until `bound` has passed.
pub fn take(path: &Path, holder: &Holder, bound: Duration) -> Result<Taken> {
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(lease) = try_take(path, holder)? {
            return Ok(Taken::Ours(lease));
        }
        let left = bound.saturating_sub(begin.elapsed());
        if left.is_zero() {
            // Somebody who took it without writing (flock(1)) left the name of the one before.
            let holds = |holder: &Holder| Proc { pid: holder.pid, start: holder.start }.alive();
            return Ok(Taken::Owned(holder_of(path).filter(holds)));
        }
        // flock(2) has no time-out, and a signal-driven one would disturb the caller's signals: a short, growing pause.
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(16));
    }
}

fn try_take(path: &Path, holder: &Holder) -> Result<Option<Lease>> {
    let doing = || format!("cannot take the lease '{}'", path.display());
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput)).with_context(doing);
    };
    // Through the directory as it was opened without a symlink on the way: a lease is never made somewhere else.
    let dir = Dir::open(parent)?;
    let fd = openat(dir.fd(), name, flags, Mode::S_IRUSR | Mode::S_IWUSR)
        .map_err(|errno| not_opened(errno, path, "take the lease"))?;
    let file = File::from(fd);
    if !file.metadata().with_context(doing)?.is_file() {
        return Err(irregular(path).into());
    }
    insist_mode(&file, 0o600).with_context(doing)?;
    match fs2::FileExt::try_lock_exclusive(&file) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(error).with_context(doing),
    }
    // Somebody may have replaced the file between our open and our lock: then we hold a lock that nobody else sees.
    let mut lease = Lease { file, path: path.to_owned() };
    if lease.lost()? {
        return Ok(None);
    }
    lease.inform(holder)?;
    Ok(Some(lease))
}

/// Locks the directory itself, trying until `bound` has passed: for a moment in which one process changes what is in it.
/// It is locked until `dir` is dropped; false: it stayed another's. Where a directory cannot be locked (a network file
/// system), nobody's is.
pub fn alone(dir: &Dir, bound: Duration) -> Result<bool> {
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match fs2::FileExt::try_lock_exclusive(dir.file()) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if cannot_be_locked(&error) => return Ok(true),
            Err(error) => return Err(error).with_context(|| format!("cannot lock '{}'", dir.path().display())),
        }
        let left = bound.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(16));
    }
}

/// NFS locks for writing only what is open for writing, which no directory is.
fn cannot_be_locked(error: &std::io::Error) -> bool {
    let known = [Errno::EBADF, Errno::ENOLCK, Errno::EOPNOTSUPP, Errno::ENOSYS, Errno::EINVAL];
    error.raw_os_error().is_some_and(|errno| known.contains(&Errno::from_raw(errno)))
}

/// Whether the lease at `path` is held, by a momentary shared lock. Writes nothing, creates nothing.
pub fn probe(path: &Path) -> Result<Probe> {
    let Some(file) = open_read(path)? else { return Ok(Probe::Free) };
    if !file.metadata().with_context(|| format!("cannot stat '{}'", path.display()))?.is_file() {
        return Err(irregular(path).into());
    }
    match fs2::FileExt::try_lock_shared(&file) {
        Ok(()) => Ok(Probe::Free),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(Probe::Held(holder_in(file))),
        Err(error) => Err(error).with_context(|| format!("cannot probe the lease '{}'", path.display())),
    }
}

fn holder_of(path: &Path) -> Option<Holder> {
    open_read(path).ok().flatten().and_then(holder_in)
}

fn holder_in(file: File) -> Option<Holder> {
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// How to name a holder in a sentence: `pid 4711 (compact handoff)`.
pub fn describe(holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) if !holder.kind.is_empty() => format!("pid {} ({})", holder.pid, holder.kind),
        Some(holder) => format!("pid {}", holder.pid),
        None => "an unknown process".to_owned(),
    }
}
