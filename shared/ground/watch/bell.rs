//! The bell: what the thread that hears of changes and the thread that waits for them share.
//!
//! Promises: a ring that comes after [`Bell::silence`] returned is never lost, and costs one system call however
//! many changes follow it. Never blocks either side, and never says what changed: a ring means "look again".

use nix::poll::PollFd;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{SigSet, SigmaskHow};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// An eventfd for poll(2), and flags that say how urgent it is.
pub(super) struct Bell {
    fd: EventFd,
    changed: AtomicBool,
    above: AtomicBool,
    lock_closed: AtomicBool,
}

impl Bell {
    /// A silent bell.
    pub(super) fn new() -> io::Result<Bell> {
        let fd = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let flag = || AtomicBool::new(false);
        Ok(Bell { fd, changed: flag(), above: flag(), lock_closed: flag() })
    }

    /// Something changed in a directory that the caller scans.
    pub(super) fn ring(&self) {
        if !self.changed.swap(true, SeqCst) {
            self.wake();
        }
    }

    /// A lock file was closed by one who had it open for writing.
    pub(super) fn ring_lock(&self) {
        self.lock_closed.store(true, SeqCst);
        self.ring();
    }

    /// A name changed above the directories that the caller scans: perhaps one of them is another directory now.
    pub(super) fn ring_above(&self) {
        if !self.above.swap(true, SeqCst) {
            self.wake();
        }
    }

    /// Whether something changed since the last [`Bell::silence`].
    pub(super) fn rung(&self) -> bool {
        self.changed.load(SeqCst)
    }

    /// Forgets everything; says whether a lock file was closed since the last time.
    pub(super) fn silence(&self) -> bool {
        // The counter first, the flags after it. The other way round a ring in between would lose its wake and leave
        // its flag: fd() would stay silent for ever. This way round it leaves a wake without a flag: one idle look.
        self.hush();
        self.changed.store(false, SeqCst);
        self.above.store(false, SeqCst);
        self.lock_closed.swap(false, SeqCst)
    }

    /// Takes a wake that was not for the caller; says whether a name changed above.
    pub(super) fn take_above(&self) -> bool {
        self.hush();
        if self.rung() {
            // It rang while the counter was read, and its wake went with the rest.
            self.wake();
        }
        self.above.swap(false, SeqCst)
    }

    /// What to give to poll(2).
    pub(super) fn pollfd(&self) -> PollFd<'_> {
        PollFd::new(self.as_fd(), nix::poll::PollFlags::POLLIN)
    }

    fn wake(&self) {
        // EAGAIN means that the counter is full: then it is readable, and that is all that is wanted.
        let _ = self.fd.write(1);
    }

    fn hush(&self) {
        // EAGAIN means that it was silent.
        let _ = self.fd.read();
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Runs `spawn` while every signal is blocked, so that a thread which it starts has them all blocked for good.
///
/// A caller that later blocks SIGTERM or SIGCHLD for a signalfd blocks them in its own threads only; the kernel would
/// hand them to this one instead, and the process would die of them. The caller's own mask is put back.
pub(super) fn with_signals_blocked<T>(spawn: impl FnOnce() -> T) -> io::Result<T> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let result = spawn();
    before.thread_set_mask()?;
    Ok(result)
}
