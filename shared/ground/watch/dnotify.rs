//! dnotify, fcntl(2) `F_NOTIFY`: what is left when a user has no inotify instances any more.
//!
//! Promises: one descriptor a directory and one thread in all; the signals of dnotify go to that thread alone (by
//! `F_SETOWN_EX`), where they are blocked and waited for, so that the caller's signal mask, handlers, signalfds and
//! children never meet them. The signals are SIGIO for a scanned directory and SIGURG for one above. They are not
//! realtime ones on purpose: those queue up one by one, share a limit with all processes of the user, and at that
//! limit the kernel sends SIGIO instead; two ordinary signals merge and cannot overflow.
//!
//! Never reports a file's close, hence not the death of a lease's holder. Its descriptors keep the directory's inode
//! (a removed one lives on until the next `rearm`, and its file system cannot be unmounted).

use super::bell::{Bell, with_signals_blocked};
use super::plan::Point;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc::{self, c_int, c_ulong};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::Mode;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::thread::JoinHandleExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

// include/uapi/linux/fcntl.h; libc has F_NOTIFY, but not these.
const DN_MODIFY: c_ulong = 0x02;
const DN_CREATE: c_ulong = 0x04;
const DN_DELETE: c_ulong = 0x08;
const DN_RENAME: c_ulong = 0x10;
const DN_ATTRIB: c_ulong = 0x20;
const DN_MULTISHOT: c_ulong = 0x8000_0000;
const NAMES: c_ulong = DN_CREATE | DN_DELETE | DN_RENAME;

// include/uapi/asm-generic/fcntl.h. F_SETSIG is 10 everywhere but on alpha, hppa, mips and sparc.
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;
const F_OWNER_TID: c_int = 0;

#[repr(C)]
struct Owner {
    kind: c_int,
    pid: libc::pid_t,
}

/// The listening thread and a descriptor for each armed directory.
pub(super) struct Dnotify {
    armed: HashMap<PathBuf, OwnedFd>,
    listener: Option<JoinHandle<()>>,
    thread: libc::pid_t,
    stop: Arc<AtomicBool>,
}

impl Dnotify {
    /// Starts the listener. An error when the kernel has no dnotify, has it switched off, or gives no thread.
    pub(super) fn new(bell: &Arc<Bell>) -> io::Result<Dnotify> {
        probe()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let (bell, stopped) = (Arc::clone(bell), Arc::clone(&stop));
        let listen = move || {
            let _ = tell.send(nix::unistd::gettid().as_raw());
            let signals = SigSet::from_iter([Signal::SIGIO, Signal::SIGURG]);
            while !stopped.load(SeqCst) {
                match signals.wait() {
                    Ok(Signal::SIGURG) => bell.ring_above(),
                    // An error here is an unknown signal number: better one look too many.
                    Ok(_) | Err(_) => bell.ring(),
                }
            }
        };
        let builder = std::thread::Builder::new().name("dnotify".to_owned()).stack_size(64 * 1024);
        let listener = Some(with_signals_blocked(|| builder.spawn(listen))??);
        let thread = told.recv().map_err(io::Error::other)?;
        Ok(Dnotify { armed: HashMap::new(), listener, thread, stop })
    }

    /// Watches one directory.
    pub(super) fn arm(&mut self, point: &Point) -> io::Result<()> {
        let fd = open(&point.path, OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        // The owner before the watch: F_NOTIFY makes the whole process the owner if there is none.
        let owner = Owner { kind: F_OWNER_TID, pid: self.thread };
        // SAFETY: F_SETOWN_EX reads one struct f_owner_ex, which outlives the call.
        Errno::result(unsafe { libc::fcntl(fd.as_raw_fd(), F_SETOWN_EX, &raw const owner) })?;
        let events = if point.scanned {
            NAMES | DN_MODIFY | DN_ATTRIB
        } else {
            // SAFETY: F_SETSIG takes a signal number by value.
            Errno::result(unsafe { libc::fcntl(fd.as_raw_fd(), F_SETSIG, libc::SIGURG) })?;
            NAMES
        };
        notify(&fd, events | DN_MULTISHOT)?;
        self.armed.insert(point.path.clone(), fd);
        Ok(())
    }

    /// Watches it no longer.
    pub(super) fn disarm(&mut self, path: &Path) {
        self.armed.remove(path);
    }
}

impl Drop for Dnotify {
    fn drop(&mut self) {
        self.armed.clear();
        self.stop.store(true, SeqCst);
        if let Some(listener) = self.listener.take() {
            // SAFETY: the thread was not joined yet, so its handle is valid; SIGIO is blocked there, and waited for.
            unsafe { libc::pthread_kill(listener.as_pthread_t(), libc::SIGIO) };
            let _ = listener.join();
        }
    }
}

fn notify(fd: &OwnedFd, events: c_ulong) -> io::Result<()> {
    // SAFETY: F_NOTIFY takes a mask by value.
    Errno::result(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_NOTIFY, events) })?;
    Ok(())
}

/// Asks for no events at all, which the kernel grants, unless dnotify is not compiled in or `fs.dir-notify-enable`
/// is 0: then even this is EINVAL (fcntl_dirnotify in fs/notify/dnotify/dnotify.c).
fn probe() -> io::Result<()> {
    match open("/", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()) {
        Ok(root) => notify(&root, 0),
        // Says nothing about dnotify; arming will tell.
        Err(_) => Ok(()),
    }
}
