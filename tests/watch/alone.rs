//! What needs a process of its own: to be stopped, to have limits, to be counted.
//!
//! The test binary runs itself again for that one test, with `CHILD` set to the directory to work in.

use super::{ALL, PATIENCE, REPORTING, assert_woken, finds, settle, watch_of};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use shared::ground::watch::{Backend, Watch};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Set in the child, for the child: no verb of orbh knows it.
const CHILD: &str = "ORBH_TEST_WATCH_CHILD";

/// This test again in a process of its own, and the lines that it says.
struct Again {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Again {
    /// `script` runs in a user namespace of its own; `$@` is the test.
    fn start(test: &str, place: &Path, script: Option<&str>) -> Again {
        let binary = std::env::current_exe().unwrap();
        let mut command = match script {
            None => Command::new(&binary),
            Some(script) => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]).arg(&binary);
                command
            }
        };
        let module = module_path!().split_once("::").unwrap().1;
        command.args(["--exact", &format!("{module}::{test}"), "--nocapture", "--test-threads=1"]);
        command.env(CHILD, place).stdin(Stdio::null()).stdout(Stdio::piped());
        // SAFETY: prctl is async-signal-safe. A failed test must not leave a stopped child behind.
        unsafe { command.pre_exec(die_with_parent) };
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Again { child, lines }
    }

    /// The next thing it says.
    #[track_caller]
    fn hear(&mut self) -> String {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if let Some((_, word)) = line.trim_end().split_once("child: ") {
                return word.to_owned();
            }
            line.clear();
        }
        panic!("the child said nothing more");
    }

    #[track_caller]
    fn end(mut self) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
    }
}

fn die_with_parent() -> std::io::Result<()> {
    // SAFETY: prctl takes both by value.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    Ok(())
}

fn say(word: impl std::fmt::Display) {
    println!("child: {word}");
}

/// The directory to work in, in the child.
fn in_child() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// In memory where possible: thousands of files make an ext4 without a journal slow for minutes.
fn fast_place() -> TempDir {
    let place = tempfile::Builder::new();
    place.tempdir_in("/dev/shm").or_else(|_| place.tempdir()).unwrap()
}

fn stopped(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
}

/// Enough for the queue of inotify (16,384) to overflow, and for what follows to be lost: that a directory is replaced.
#[test]
fn twenty_thousand_files_while_nobody_reads_cost_a_scan_and_no_data() {
    const TEST: &str = "twenty_thousand_files_while_nobody_reads_cost_a_scan_and_no_data";
    if let Some(place) = in_child() {
        let backend = fs::read_to_string(place.join("backend")).unwrap().parse().unwrap();
        let dirs = [place.join("many"), place.join("replaced")];
        let mut watch = Watch::new(Some(backend)).unwrap();
        for dir in &dirs {
            watch.add(dir).unwrap();
        }
        watch.drain();
        say("armed");
        assert_woken(&mut watch);
        settle(&mut watch);
        say(fs::read_dir(&dirs[0]).unwrap().count());
        assert!(finds(&mut watch, &dirs[1].join("message")));
        return say("found");
    }
    for backend in REPORTING {
        let place = fast_place();
        let at = |name: &str| place.path().join(name);
        for name in ["many", "replaced", "other"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("backend"), backend.to_string()).unwrap();
        let mut reader = Again::start(TEST, place.path(), None);
        assert_eq!(reader.hear(), "armed");
        let pid = Pid::from_raw(reader.child.id() as i32);
        kill(pid, Signal::SIGSTOP).unwrap();
        while !stopped(pid) {
            std::thread::yield_now();
        }
        for number in 0..20_000 {
            File::create(at("many").join(number.to_string())).unwrap();
        }
        fs::rename(at("replaced"), at("away")).unwrap();
        fs::rename(at("other"), at("replaced")).unwrap();
        kill(pid, Signal::SIGCONT).unwrap();
        assert_eq!(reader.hear(), "20000");
        fs::write(at("replaced/message"), "x").unwrap();
        assert_eq!(reader.hear(), "found");
        reader.end();
    }
}

#[test]
fn a_dropped_watch_leaves_no_descriptor_and_no_thread() {
    const TEST: &str = "a_dropped_watch_leaves_no_descriptor_and_no_thread";
    let count = |of: &str| fs::read_dir(Path::new("/proc/self").join(of)).unwrap().count();
    if let Some(place) = in_child() {
        for backend in ALL {
            let before = (count("fd"), count("task"));
            for _ in 0..3 {
                let watch = watch_of(backend, &place);
                assert_eq!(count("task") > before.1, backend != Backend::Poll);
                drop(watch);
                assert_eq!(count("fd"), before.0, "{backend}");
            }
            // A thread that has closed everything may still be on its way out.
            let start = Instant::now();
            while count("task") > before.1 {
                assert!(start.elapsed() < PATIENCE, "{backend}");
                std::thread::yield_now();
            }
        }
        return say("counted");
    }
    let place = tempfile::tempdir().unwrap();
    let mut child = Again::start(TEST, place.path(), None);
    assert_eq!(child.hear(), "counted");
    child.end();
}

/// A user namespace has limits of its own, so that nobody else's watches fail meanwhile.
fn limited(test: &str, place: &Path, limit: &str) -> Option<Again> {
    let set = format!("echo {limit}");
    let tried = Command::new("unshare").args(["--user", "--map-root-user", "sh", "-c", &set]).output();
    if !tried.as_ref().is_ok_and(|tried| tried.status.success()) {
        eprintln!("skipped: no user namespace with its own limits: {tried:?}");
        return None;
    }
    Some(Again::start(test, place, Some(&format!("{set} && exec \"$@\""))))
}

#[test]
fn at_the_limit_of_inotify_instances_dnotify_is_used() {
    const TEST: &str = "at_the_limit_of_inotify_instances_dnotify_is_used";
    if let Some(place) = in_child() {
        // SAFETY: takes flags by value.
        assert_eq!(unsafe { libc::inotify_init1(libc::IN_CLOEXEC) }, -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EMFILE));
        assert!(Watch::new(Some(Backend::Inotify)).is_err());
        let mut watch = Watch::new(None).unwrap();
        watch.add(&place).unwrap();
        assert_eq!((watch.backend(), watch.interval()), (Backend::Dnotify, None));
        watch.drain();
        say("armed");
        assert_woken(&mut watch);
        return say("woken");
    }
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("new");
    fs::create_dir(&dir).unwrap();
    let Some(mut child) = limited(TEST, &dir, "0 >/proc/sys/user/max_inotify_instances") else { return };
    assert_eq!(child.hear(), "armed");
    fs::write(place.path().join("tmp"), "x").unwrap();
    fs::rename(place.path().join("tmp"), dir.join("message")).unwrap();
    assert_eq!(child.hear(), "woken");
    child.end();
}

#[test]
fn at_the_limit_of_inotify_watches_all_directories_move_to_dnotify() {
    const TEST: &str = "at_the_limit_of_inotify_watches_all_directories_move_to_dnotify";
    if let Some(place) = in_child() {
        let dirs = ["one", "two"].map(|name| place.join(name));
        let mut watch = Watch::new(None).unwrap();
        watch.add(&dirs[0]).unwrap();
        assert_eq!(watch.backend(), Backend::Inotify);
        watch.add(&dirs[1]).unwrap();
        assert_eq!((watch.backend(), watch.interval()), (Backend::Dnotify, None));
        for dir in &dirs {
            settle(&mut watch);
            fs::write(dir.join("message"), "x").unwrap();
            assert_woken(&mut watch);
        }
        return say("woken");
    }
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    // One for the directory, one for that above.
    let Some(mut child) = limited(TEST, place.path(), "2 >/proc/sys/user/max_inotify_watches") else { return };
    assert_eq!(child.hear(), "woken");
    child.end();
}

#[test]
fn at_the_limit_of_descriptors_polling_is_used() {
    const TEST: &str = "at_the_limit_of_descriptors_polling_is_used";
    if let Some(place) = in_child() {
        let mut watch = Watch::new(None).unwrap();
        assert_eq!(watch.backend(), Backend::Dnotify);
        // Descriptors are numbered without gaps here, so the next one is the first that is not to be had.
        let next = std::os::fd::AsRawFd::as_raw_fd(&File::open("/").unwrap());
        let none = libc::rlimit { rlim_cur: next as u64, rlim_max: next as u64 };
        // SAFETY: setrlimit reads one struct.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) }, 0);
        watch.add(&place).unwrap();
        assert_eq!((watch.backend(), watch.interval()), (Backend::Poll, Some(Duration::from_secs(1))));
        return say("polling");
    }
    let place = tempfile::tempdir().unwrap();
    let Some(mut child) = limited(TEST, place.path(), "0 >/proc/sys/user/max_inotify_instances") else { return };
    assert_eq!(child.hear(), "polling");
    child.end();
}
