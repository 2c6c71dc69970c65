//! shared::ground::watch, with real files and processes: each test waits for an event with a deadline, none sleeps.

#![allow(clippy::unwrap_used)]

mod alone;
mod replaced;

use nix::libc;
use nix::sys::signal::Signal;
use shared::ground::watch::{Backend, Watch};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const REPORTING: [Backend; 2] = [Backend::Inotify, Backend::Dnotify];
const ALL: [Backend; 3] = [Backend::Inotify, Backend::Dnotify, Backend::Poll];
const PATIENCE: Duration = Duration::from_secs(20);
const QUIET: Duration = Duration::from_millis(300);

/// A directory `new` in a fresh place, watched and drained.
fn watched(backend: Backend) -> (TempDir, PathBuf, Watch) {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("new");
    fs::create_dir(&dir).unwrap();
    let watch = watch_of(backend, &dir);
    (place, dir, watch)
}

fn watch_of(backend: Backend, dir: &Path) -> Watch {
    let mut watch = Watch::new(Some(backend)).unwrap();
    assert_eq!(watch.backend(), backend);
    watch.add(dir).unwrap();
    watch.drain();
    watch
}

#[track_caller]
fn assert_woken(watch: &mut Watch) {
    let woken = watch.wait(&[], Some(PATIENCE)).unwrap();
    assert!(woken.changed && !woken.timed_out, "{}: not woken", watch.backend());
}

#[track_caller]
fn assert_quiet(watch: &mut Watch) {
    let woken = watch.wait(&[], Some(QUIET)).unwrap();
    assert!(woken.timed_out && !woken.changed, "{}: woken for nothing", watch.backend());
}

/// Drains until nothing more comes.
#[track_caller]
fn settle(watch: &mut Watch) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        watch.drain();
        if watch.wait(&[], Some(Duration::from_millis(100))).unwrap().timed_out {
            return;
        }
    }
    panic!("{}: it never becomes quiet", watch.backend());
}

/// Waits and scans until `name` is there, as a caller would; says whether it came in time.
fn finds(watch: &mut Watch, path: &Path) -> bool {
    let start = Instant::now();
    loop {
        watch.drain();
        if path.exists() {
            return true;
        }
        if start.elapsed() > PATIENCE {
            return false;
        }
        watch.wait(&[], Some(PATIENCE.saturating_sub(start.elapsed()))).unwrap();
    }
}

#[test]
fn a_rename_into_a_watched_directory_wakes() {
    for backend in ALL {
        let (place, dir, mut watch) = watched(backend);
        fs::write(place.path().join("tmp"), "x").unwrap();
        fs::rename(place.path().join("tmp"), dir.join("message")).unwrap();
        assert_woken(&mut watch);
    }
}

#[test]
fn what_was_reported_stays_reported_until_it_is_drained() {
    for backend in REPORTING {
        let (_place, dir, mut watch) = watched(backend);
        fs::write(dir.join("message"), "x").unwrap();
        assert_woken(&mut watch);
        assert_woken(&mut watch);
        settle(&mut watch);
        assert_quiet(&mut watch);
    }
}

#[test]
fn ones_own_reading_does_not_wake() {
    for backend in REPORTING {
        let (place, dir, mut watch) = watched(backend);
        fs::write(dir.join("message"), "x").unwrap();
        fs::write(dir.join("a.lock"), "x").unwrap();
        settle(&mut watch);
        let start = Instant::now();
        let mut scans = 0;
        while start.elapsed() < QUIET {
            watch.drain();
            scans += 1;
            for entry in fs::read_dir(&dir).unwrap() {
                fs::read(entry.unwrap().path()).unwrap();
            }
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
            watch.wait(&[], Some(QUIET.saturating_sub(start.elapsed()))).unwrap();
        }
        assert!(scans <= 2, "{backend}: {scans} scans in an idle moment");
        assert_eq!(watch.interval(), None);
    }
}

#[test]
fn of_all_closes_only_that_of_a_lock_that_was_open_for_writing_wakes() {
    let (_place, dir, mut watch) = watched(Backend::Inotify);
    for name in ["message", "a.lock"] {
        fs::write(dir.join(name), "x").unwrap();
    }
    settle(&mut watch);
    drop(File::options().write(true).open(dir.join("message")).unwrap());
    drop(File::open(dir.join("a.lock")).unwrap());
    assert_quiet(&mut watch);
    drop(File::options().write(true).open(dir.join("a.lock")).unwrap());
    assert_woken(&mut watch);
}

#[test]
fn the_death_of_a_lock_holder_wakes_and_is_reported_once_more() {
    let (_place, dir, mut watch) = watched(Backend::Inotify);
    let script = "exec 9<>x.lock; flock 9; echo ready; read x";
    let mut holder = Command::new("sh");
    holder.args(["-c", script]).current_dir(&dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    settle(&mut watch);
    holder.kill().unwrap();
    assert_woken(&mut watch);
    watch.drain();
    let start = Instant::now();
    assert_woken(&mut watch);
    assert!(start.elapsed() < Duration::from_secs(1));
    // The waiter polls nothing but the watch, and yet finds the lock free in the end.
    let lock = File::open(dir.join("x.lock")).unwrap();
    lock.try_lock_shared().unwrap();
    holder.wait().unwrap();
    settle(&mut watch);
    assert_quiet(&mut watch);
}

#[test]
fn dnotify_sees_the_death_of_a_lock_holder_at_the_interval_if_it_is_asked_for() {
    let (_place, _dir, mut watch) = watched(Backend::Dnotify);
    assert_eq!(watch.interval(), None);
    watch.want_lease_deaths(true);
    assert_eq!(watch.interval(), Some(Duration::from_secs(1)));
    assert!(watch.fd().is_some());
    assert_woken(&mut watch);
    watch.want_lease_deaths(false);
    settle(&mut watch);
    let (_place, _dir, mut watch) = watched(Backend::Inotify);
    watch.want_lease_deaths(true);
    assert_eq!(watch.interval(), None);
}

#[test]
fn polling_says_look_again_at_each_interval_though_others_are_ready() {
    let (_place, _dir, mut watch) = watched(Backend::Poll);
    assert!(watch.fd().is_none());
    assert_eq!(watch.interval(), Some(Duration::from_secs(1)));
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"x").unwrap();
    let start = Instant::now();
    while !watch.wait(&[reader.as_fd()], Some(PATIENCE)).unwrap().changed {
        assert!(start.elapsed() < PATIENCE);
    }
    assert!(start.elapsed() > Duration::from_millis(900));
}

#[test]
fn a_wait_reports_which_of_the_others_is_ready() {
    for backend in ALL {
        let (_place, dir, mut watch) = watched(backend);
        let (idle, _open) = std::io::pipe().unwrap();
        let (ready, mut writer) = std::io::pipe().unwrap();
        let (closed, end) = std::io::pipe().unwrap();
        drop(end);
        writer.write_all(b"x").unwrap();
        let woken = watch.wait(&[idle.as_fd(), ready.as_fd(), closed.as_fd()], Some(PATIENCE)).unwrap();
        assert_eq!((woken.others, woken.timed_out), (vec![false, true, true], false));
        if backend != Backend::Poll {
            fs::write(dir.join("message"), "x").unwrap();
            assert_woken(&mut watch);
            let both = watch.wait(&[ready.as_fd()], None).unwrap();
            assert_eq!((both.changed, both.others), (true, vec![true]));
        }
    }
}

#[test]
fn a_signal_does_not_end_a_wait() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, sigaction};
    extern "C" fn nothing(_: libc::c_int) {}
    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing; no other test uses SIGUSR2.
    unsafe { sigaction(Signal::SIGUSR2, &action) }.unwrap();
    let (_place, _dir, mut watch) = watched(Backend::Inotify);
    let waiter = unsafe { libc::pthread_self() };
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let sender = std::thread::spawn(move || {
        let mut sent = 0;
        while stopped.recv_timeout(Duration::from_millis(5)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            // SAFETY: the waiter lives until it has joined this thread.
            unsafe { libc::pthread_kill(waiter, libc::SIGUSR2) };
            sent += 1;
        }
        sent
    });
    let start = Instant::now();
    let woken = watch.wait(&[], Some(QUIET)).unwrap();
    let elapsed = start.elapsed();
    drop(stop);
    assert!(sender.join().unwrap() > 0);
    assert!(woken.timed_out && elapsed >= QUIET && elapsed < PATIENCE, "{woken:?} after {elapsed:?}");
}

#[test]
fn what_cannot_be_watched_is_refused_by_name() {
    for backend in ALL {
        let (_place, dir, mut watch) = watched(backend);
        let file = dir.join("file");
        fs::write(&file, "x").unwrap();
        let error = format!("{:#}", watch.add(&file).unwrap_err());
        assert_eq!(error, format!("cannot watch '{}': not a directory", file.display()));
        let error = format!("{:#}", watch.add(Path::new("new")).unwrap_err());
        assert_eq!(error, "cannot watch 'new': not an absolute path");
    }
}

#[test]
fn the_words_for_backends_are_read_as_they_are_written() {
    for backend in ALL {
        assert_eq!(backend.to_string().parse::<Backend>().unwrap(), backend);
    }
    assert!("kqueue".parse::<Backend>().is_err());
}

#[test]
fn signals_go_to_the_caller_and_never_to_the_helper_thread() {
    let mask = |status: PathBuf| {
        let status = fs::read_to_string(status).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?.trim().to_owned();
        Some((status.contains("notify"), u64::from_str_radix(&line, 16).unwrap()))
    };
    let mine = || mask("/proc/thread-self/status".into()).unwrap().1;
    let before = mine();
    for backend in REPORTING {
        let (_place, _dir, _watch) = watched(backend);
        assert_eq!(mine(), before, "{backend}");
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        let helpers = tasks.filter_map(|task| mask(task.unwrap().path().join("status"))).filter(|(helper, _)| *helper);
        let masks: Vec<u64> = helpers.map(|(_, mask)| mask).collect();
        assert!(!masks.is_empty());
        for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGWINCH] {
            assert!(masks.iter().all(|mask| mask & 1 << (signal as u32 - 1) != 0), "{backend}: {signal}");
        }
    }
}

#[test]
fn a_watch_can_be_moved_to_another_thread() {
    for backend in REPORTING {
        let (_place, dir, mut watch) = watched(backend);
        let waiter = std::thread::spawn(move || watch.wait(&[], Some(PATIENCE)).unwrap());
        fs::write(dir.join("message"), "x").unwrap();
        assert!(waiter.join().unwrap().changed);
    }
}
