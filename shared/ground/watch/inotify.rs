//! inotify, through the notify crate.
//!
//! Promises: the bell rings for each event that matters and for no other; one's own reading never rings it, because
//! `Access` events are dropped, except the close of a `*.lock` by one who had it open for writing: that is what the
//! death of a lease's holder looks like. An overflow rings it too. Never decides anything: who hears it looks again.

use super::bell::{Bell, with_signals_blocked};
use super::plan::Point;
use super::source::Told;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long to wait for notify's thread to close its descriptors (it takes 5 to 20 ms).
const CLOSING: Duration = Duration::from_secs(1);

/// notify's watcher with its thread.
pub(super) struct Inotify {
    watcher: Option<RecommendedWatcher>,
    closed: Receiver<()>,
    known: Arc<Mutex<Known>>,
}

/// What the event handler must know of the watch, and the watch of the events.
#[derive(Default)]
struct Known {
    points: Vec<Point>,
    /// Armed paths whose watch the kernel or notify has dropped, or may have.
    doubtful: Vec<PathBuf>,
    /// The scanned directories that something was told of, and whether that is not all.
    told: Told,
    lost: bool,
}

impl Inotify {
    /// Starts notify's thread. An error at the limit of instances, or when there is no thread to be had.
    pub(super) fn new(bell: &Arc<Bell>) -> io::Result<Inotify> {
        let known = Arc::new(Mutex::new(Known::default()));
        let (open, closed) = channel();
        let handler = Handler { bell: Arc::clone(bell), known: Arc::clone(&known), _open: open };
        let start = || RecommendedWatcher::new(handler, Config::default());
        let mut watcher = with_signals_blocked(start)?.map_err(io_error)?;
        // notify ignores that its thread could not be started, and then panics in watch() and in drop; only this call
        // reports it.
        if let Err(error) = watcher.configure(Config::default()) {
            std::mem::forget(watcher);
            return Err(io_error(error));
        }
        Ok(Inotify { watcher: Some(watcher), closed, known })
    }

    /// Which events matter from now on.
    pub(super) fn set_points<'p>(&self, points: impl Iterator<Item = &'p Point>) {
        lock(&self.known).points = points.cloned().collect();
    }

    /// The armed paths that must be armed anew.
    pub(super) fn take_doubtful(&self) -> Vec<PathBuf> {
        std::mem::take(&mut lock(&self.known).doubtful)
    }

    /// What was touched since the last time; `None` when events were lost.
    pub(super) fn take_touched(&self) -> Option<Told> {
        let mut known = lock(&self.known);
        let told = std::mem::take(&mut known.told);
        (!std::mem::take(&mut known.lost)).then_some(told)
    }

    /// Watches one directory.
    pub(super) fn arm(&mut self, point: &Point) -> io::Result<()> {
        let Some(watcher) = &mut self.watcher else { return Ok(()) };
        watcher.watch(&point.path, RecursiveMode::NonRecursive).map_err(io_error)
    }

    /// Watches it no longer. It may be gone already, which is why errors mean nothing here.
    pub(super) fn disarm(&mut self, path: &Path) {
        if let Some(watcher) = &mut self.watcher {
            let _ = watcher.unwatch(path);
        }
    }
}

impl Drop for Inotify {
    fn drop(&mut self) {
        // notify's thread closes inotify and epoll, then drops the handler and with it the sender: an error comes.
        drop(self.watcher.take());
        let _ = self.closed.recv_timeout(CLOSING);
    }
}

struct Handler {
    bell: Arc<Bell>,
    known: Arc<Mutex<Known>>,
    _open: Sender<()>,
}

impl notify::EventHandler for Handler {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        match event {
            Ok(event) if !event.need_rescan() => self.handle(&event),
            // Events are lost: among them may be the removal of a directory, hence of its watch.
            Ok(_) | Err(_) => {
                let mut known = lock(&self.known);
                known.lost = true;
                known.doubtful = known.points.iter().map(|point| point.path.clone()).collect();
                self.bell.ring();
            }
        }
    }
}

impl Handler {
    fn handle(&self, event: &Event) {
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "lock");
        let lock_closed = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) if event.paths.iter().any(is_lock) => true,
            EventKind::Access(_) => return,
            _ => false,
        };
        let Known { points, doubtful, told, .. } = &mut *lock(&self.known);
        if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
            // notify drops the watch of a path that it sees go, and of all below it, *after* it has called us. It may
            // have been armed anew in between, or be the same directory moved back: then it is there, and unwatched.
            let went = |point: &&Point| event.paths.iter().any(|path| point.path.starts_with(path));
            doubtful.extend(points.iter().filter(went).map(|point| point.path.clone()));
        }
        let concerned = |point: &&Point| event.paths.iter().any(|path| point.cares_for(path));
        let mut any = false;
        for point in points.iter().filter(concerned) {
            any = true;
            told.dirs.insert(point.path.clone());
            if lock_closed {
                told.locks.insert(point.path.clone());
            }
        }
        if any {
            if lock_closed { self.bell.ring_lock() } else { self.bell.ring() }
        }
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    // Plain data, replaced whole: a panic elsewhere leaves nothing half done.
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        ErrorKind::Io(error) => error,
        ErrorKind::MaxFilesWatch => io::Error::from_raw_os_error(nix::libc::ENOSPC),
        ErrorKind::PathNotFound => io::ErrorKind::NotFound.into(),
        _ => io::Error::other(error),
    }
}
