//! Looking at a session from outside, and playing fate with its processes.

use super::{Cmd, Outcome, Session, World, alive, bin_dir, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What `handoff` says last whenever the context goes on.
pub const NOT_ENDED: &str = "Your context will NOT end.";

/// Every path below a directory, with what is there: the bytes of a file, the goal of a link.
pub type Fingerprint = BTreeMap<String, Vec<u8>>;

/// The fingerprint of a directory without the paths that `leave_out` names.
pub fn fingerprint(dir: &Path, leave_out: impl Fn(&str) -> bool) -> Fingerprint {
    let entries = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    let mut found = Fingerprint::new();
    for entry in entries {
        let below = entry.path().strip_prefix(dir).unwrap().display().to_string();
        if leave_out(&below) {
            continue;
        }
        let content = if entry.file_type().is_file() {
            std::fs::read(entry.path()).unwrap_or_default()
        } else if entry.file_type().is_symlink() {
            std::fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else {
            b"a directory".to_vec()
        };
        found.insert(below, content);
    }
    found
}

/// When anything below a directory, or a name in it, was changed: to prove that nothing was.
pub fn changes(dir: &Path) -> BTreeMap<String, (u64, i64, i64)> {
    let entries = walkdir::WalkDir::new(dir).into_iter().filter_map(Result::ok);
    let of = |entry: walkdir::DirEntry| {
        let metadata = entry.path().symlink_metadata().unwrap();
        (entry.path().display().to_string(), (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
    };
    entries.map(of).collect()
}

/// The paths by which two fingerprints differ.
pub fn difference(before: &Fingerprint, after: &Fingerprint) -> Vec<String> {
    let all = before.keys().chain(after.keys());
    let mut paths: Vec<String> = all.filter(|path| before.get(*path) != after.get(*path)).cloned().collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Sends a signal to a process that this test is responsible for.
#[track_caller]
pub fn signal(pid: i32, what: Signal) {
    assert!(pid > 1);
    kill(Pid::from_raw(pid), what).unwrap();
}

/// Kills a process, and waits until it is dead.
#[track_caller]
pub fn kill_dead(pid: i32) {
    signal(pid, Signal::SIGKILL);
    wait_for("a killed process to be dead", || (!alive(pid)).then_some(()));
}

/// The end of a command that was spawned.
#[track_caller]
pub fn outcome(child: Child) -> Outcome {
    child.wait_with_output().unwrap().into()
}

impl Outcome {
    /// Asserts that it is a refused handoff: the last line of standard error says so.
    #[track_caller]
    pub fn not_ended(self) -> Self {
        assert_eq!(self.stderr.lines().last(), Some(NOT_ENDED), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

/// Kills a child that takes too long.
struct Watchdog {
    end: Option<std::sync::mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watchdog {
    fn over(child: &Child, bound: std::time::Duration) -> Watchdog {
        let pid = child.id().cast_signed();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(bound).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        });
        Watchdog { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

impl Cmd {
    pub fn args<S: AsRef<std::ffi::OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Runs it to its end, and kills it when it takes longer: then its status is none.
    pub fn run_within(self, bound: std::time::Duration) -> Outcome {
        let child = self.spawn();
        let watchdog = Watchdog::over(&child, bound);
        let out = outcome(child);
        drop(watchdog);
        out
    }

    /// Runs it to its end on a terminal of its own; all that it showed there, with line ends as a program writes them.
    pub fn on_terminal(self) -> String {
        self.terminal(false)
    }

    /// The same for a program that also reads its keys there. One that waits for more of them is killed.
    pub fn at_terminal(self) -> String {
        self.terminal(true)
    }

    fn terminal(mut self, keys: bool) -> String {
        let (mut master, mut slave) = (0, 0);
        let none = std::ptr::null_mut();
        // SAFETY: two places for descriptors, and no name, settings or size.
        let made = unsafe { nix::libc::openpty(&raw mut master, &raw mut slave, none, none.cast(), none.cast()) };
        assert_eq!(made, 0, "no terminal to be had");
        // SAFETY: both were just opened for us.
        let (master, slave) = unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) };
        self.command.stdin(if keys { Stdio::from(slave.try_clone().unwrap()) } else { Stdio::null() });
        self.command.stdout(slave.try_clone().unwrap()).stderr(slave);
        let mut child = self.command.spawn().unwrap();
        let _watchdog = Watchdog::over(&child, super::DEADLINE);
        // It holds the other end of the terminal until it goes.
        drop(self);
        let mut shown = Vec::new();
        // Reading fails (EIO) once nobody has the other end open any more.
        let _ = (&master).read_to_end(&mut shown);
        child.wait().unwrap();
        String::from_utf8(shown).unwrap().replace("\r\n", "\n")
    }

    /// A program that sleeps far longer than any test takes.
    pub fn sleeping(mut self) -> Child {
        self.command.arg("1000");
        self.spawn()
    }
}

impl World {
    /// Waits for a file of the work directory that an agent writes, whole with its newline.
    #[track_caller]
    pub fn wait_line(&self, name: &str) -> String {
        wait_for(name, || {
            let text = std::fs::read_to_string(self.work().join(name)).ok()?;
            text.ends_with('\n').then(|| text.trim_end().to_owned())
        })
    }

    /// Waits for the number of a process that an agent writes.
    #[track_caller]
    pub fn wait_pid(&self, name: &str) -> i32 {
        self.wait_line(name).parse().unwrap()
    }
}

impl Session<'_> {
    /// The spool, byte by byte, but for what no verb decides by: the log, and the names of holders in lease files.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint(&self.path(""), |path| path.starts_with("log/") || path.ends_with(".lock"))
    }

    /// The words of the log, each with its run.
    pub fn events(&self) -> Vec<String> {
        let text = self.text("log/events.ndjson").unwrap();
        let line = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            let run = event["run"].as_str().map_or(String::new(), |run| format!(" {run}"));
            format!("{}{run}", event["event"].as_str().unwrap())
        };
        text.lines().map(line).collect()
    }

    /// A verb of a run, as `flint orbh …`.
    #[track_caller]
    pub fn flint(&self, run: &str, args: &[&str]) -> Cmd {
        let mut cmd = self.verb(run, ["orbh"].iter().chain(args));
        let mut flint = Command::new(bin_dir().join("flint"));
        flint.args(cmd.command.get_args()).env_clear().current_dir(self.world.work());
        flint.envs(cmd.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        cmd.command = flint;
        cmd
    }

    /// Whether somebody holds the manager lease.
    pub fn managed(&self) -> bool {
        shared::ground::lease::probe(&self.path("scratch/manager.lock")).unwrap().held()
    }

    /// Kills the manager with SIGKILL; returns who it was.
    #[track_caller]
    pub fn kill_manager(&self) -> i32 {
        let manager = self.manager_pid();
        kill_dead(manager);
        manager
    }

    /// Starts a `handoff` that is accepted while the manager is stopped, so that the time after acceptance lasts as
    /// long as the test wants. Returns the stopped manager and the waiting verb.
    #[track_caller]
    pub fn accept_without_manager(&self, run: &str, args: &[&str]) -> (i32, Child) {
        self.verb(run, ["compact", "start"]).run().exits(0);
        self.write_good_handoff(run);
        let manager = self.stop_manager();
        let verb = self.verb(run, ["compact", "handoff"].iter().chain(args)).spawn();
        self.wait_fact("scratch/relaunch.json");
        (manager, verb)
    }

    /// Takes the temporary names that this manager would write under in the spool itself: it cannot put a target in force,
    /// so it waits with its successor half made, and another one does not.
    pub fn take_temporary_names(&self, manager: i32) {
        let start = shared::ground::process::stat(manager).unwrap().proc.start;
        for serial in 0..1000 {
            std::fs::write(self.path(&format!(".tmp-{manager}-{start}-{serial}")), "").unwrap();
        }
    }

    /// Stops the manager with SIGSTOP, at a moment at which it does not hold the compaction claim.
    #[track_caller]
    pub fn stop_manager(&self) -> i32 {
        let manager = self.manager_pid();
        let stopped = || shared::ground::process::stat(manager).is_some_and(|stat| stat.state == 'T');
        let claim = self.path("scratch/compaction.lock");
        wait_for("the manager to be stopped without the claim", || {
            signal(manager, Signal::SIGSTOP);
            wait_for("the manager to be stopped", || stopped().then_some(()));
            if shared::ground::lease::probe(&claim).unwrap().held() {
                signal(manager, Signal::SIGCONT);
                return None;
            }
            Some(manager)
        })
    }

    /// Returns as a run, ends its harness as one that has returned ends by itself, and waits until nobody keeps the
    /// session any longer.
    #[track_caller]
    pub fn return_and_exit(&self, run: &str) {
        self.verb(run, ["session", "return", "done"]).run().ok();
        signal(self.pid(run), Signal::SIGTERM);
        assert_eq!(self.wait_end(run), "returned");
        wait_for("the manager to leave", || (!self.managed()).then_some(()));
    }

    /// Waits until no relaunch is pending and a run has its process.
    #[track_caller]
    pub fn wait_relaunched(&self, run: &str) -> i32 {
        let pid = self.pid(run);
        wait_for("the intent to be carried out", || (!self.exists("scratch/relaunch.json")).then_some(()));
        pid
    }

    #[track_caller]
    pub fn wait_state(&self, state: &str) {
        let mut last = String::new();
        wait_for(state, || {
            last = self.state();
            (last == state).then_some(())
        });
    }

    /// The numbers of the runs that have a directory.
    pub fn runs(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("runs")).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with(".tmp-"));
        names.sort();
        names
    }
}
