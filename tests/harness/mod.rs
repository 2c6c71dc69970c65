//! A world of its own for each test: root, configuration, home and work directory in a temporary directory, a clean
//! environment, and nothing alive of it afterwards.

mod fake;
mod look;
pub mod model;
mod session;
mod witness;

pub use fake::private_dir;
pub use look::{Fingerprint, NOT_ENDED, changes, difference, fingerprint, kill_dead, outcome, signal};
pub use session::Session;
pub use witness::can_trace;

use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// However slow the machine is: what has not happened by then does not happen.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Waits for a fact; panics with `what` when it does not come.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < DEADLINE, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the tests run as the superuser, who passes every permission check.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Whether exactly this pid is a living process (a zombie is not).
pub fn alive(pid: i32) -> bool {
    shared::ground::process::stat(pid).is_some_and(|stat| stat.lives())
}

/// The directory of the binaries under test.
pub fn bin_dir() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_orbh")).parent().unwrap().to_owned()
}

/// What a command did.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Outcome {
    /// Asserts the exit status.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts exit status 0 and nothing on standard error; returns standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        let outcome = self.exits(0);
        assert_eq!(outcome.stderr, "", "stdout: {}", outcome.stdout);
        outcome.stdout
    }

    /// Asserts a failure as people are to see it: this status, nothing on standard output, and on standard error one
    /// sentence that begins with the program's name and has all of these texts, then hints.
    #[track_caller]
    pub fn fails(self, code: i32, texts: &[&str]) -> Self {
        let outcome = self.exits(code);
        assert_eq!(outcome.stdout, "");
        let first = outcome.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("orbh"), "no sentence of a verb: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        texts.iter().fold(outcome, |outcome, text| outcome.says(text))
    }

    /// Asserts that a `handoff` was not refused. It ends with 75, or with its context, whose processes it belongs to by
    /// its environment: then it may not even have come to say that it is accepted.
    #[track_caller]
    pub fn accepted(self) -> Self {
        assert!(matches!(self.code, Some(75) | None), "{self:?}");
        assert!(self.code.is_none() || self.stdout.contains("accepted"), "{self:?}");
        assert!(!self.stderr.contains("NOT end"), "{self:?}");
        self
    }

    /// Asserts that standard error has this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no {text:?} in stderr: {}\nstdout: {}", self.stderr, self.stdout);
        self
    }

    /// Standard output as one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {}\nstderr: {}", self.stdout, self.stderr))
    }
}

/// A command in a world, not started yet.
pub struct Cmd {
    command: Command,
    stdin: Option<Vec<u8>>,
}

impl Cmd {
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn bare_args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    fn bare_arg(mut self, arg: &str) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Runs it to its end with standard output led to this file, so that `stdout` stays empty.
    pub fn run_into(mut self, path: &str) -> Outcome {
        let out = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        self.command.stdout(out).stderr(Stdio::piped()).stdin(Stdio::null());
        self.command.spawn().unwrap().wait_with_output().unwrap().into()
    }

    /// Runs it to its end with a standard output that nobody reads any more.
    pub fn run_unread(mut self) -> std::process::ExitStatus {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.command.stdout(writer).stderr(Stdio::null()).stdin(Stdio::null());
        self.command.status().unwrap()
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Outcome {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.spawn().unwrap();
        if let (Some(bytes), Some(mut stdin)) = (self.stdin.take(), child.stdin.take()) {
            // Who does not read all of its input is judged by what it does, not by that.
            let _ = std::io::Write::write_all(&mut stdin, &bytes);
        }
        child.wait_with_output().unwrap().into()
    }

    /// Starts it; standard output and standard error are pipes.
    pub fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        self.command.spawn().unwrap()
    }

    /// The command as it would be started, for one that starts it under another program.
    pub fn as_command(&self) -> &Command {
        &self.command
    }

    /// The bare command, for whatever else is to be done with it.
    pub fn bare(self) -> Command {
        self.command
    }
}

/// A root, a configuration, a home and a work directory.
pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> World {
        World::under(&std::env::temp_dir())
    }

    /// A world on a file system without a disk, where there is one: where very many are needed.
    pub fn fast() -> World {
        let memory = Path::new("/dev/shm");
        let runs = |stat: nix::sys::statvfs::Statvfs| !stat.flags().contains(nix::sys::statvfs::FsFlags::ST_NOEXEC);
        let writable = nix::unistd::access(memory, nix::unistd::AccessFlags::W_OK).is_ok();
        match writable && nix::sys::statvfs::statvfs(memory).is_ok_and(runs) {
            true => World::under(memory),
            false => World::new(),
        }
    }

    /// A world in a directory of that one, for instance on another file system.
    pub fn under(dir: &Path) -> World {
        let dir = tempfile::Builder::new().prefix("orbh-test-").tempdir_in(dir).unwrap();
        let world = World { dir };
        for path in [world.config(), world.home(), world.work()] {
            std::fs::create_dir(path).unwrap();
        }
        world
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    pub fn config(&self) -> PathBuf {
        self.path().join("config")
    }

    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// A program in this world's clean environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Cmd {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", bin_dir().display()))
            .env("HOME", self.home())
            .env("ORBH_ROOT", self.root())
            .env("ORBH_CONFIG", self.config())
            .env("ORBH_KILL_GRACE_MS", "300")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.work());
        Cmd { command, stdin: None }
    }

    /// `orbh ARGS`, by the real dispatcher.
    pub fn orbh<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Cmd {
        let mut cmd = self.program(env!("CARGO_BIN_EXE_orbh"));
        cmd.command.args(args);
        cmd
    }

    /// A line of shell in this world's clean environment; `$ORBH` is the dispatcher.
    pub fn shell(&self, line: &str) -> Cmd {
        let mut cmd = self.program("bash").env("ORBH", env!("CARGO_BIN_EXE_orbh"));
        cmd.command.args(["-c", line]);
        cmd
    }

    /// A line of shell as the superuser of a user and mount namespace of its own; `None`, and a word about it, where
    /// the machine does not allow that.
    pub fn mounting_shell(&self, line: &str) -> Option<Cmd> {
        let possible = self.program("unshare").bare_arg("-rm").bare_arg("true").run().code == Some(0);
        if !possible {
            eprintln!("skipped: no user namespaces here");
            return None;
        }
        let cmd = self.program("unshare").env("ORBH", env!("CARGO_BIN_EXE_orbh"));
        Some(["-rm", "bash", "-c", line].into_iter().fold(cmd, Cmd::bare_arg))
    }

    /// Writes the profile command/NAME.
    pub fn profile(&self, name: &str, json: &Value) {
        self.profile_of("command", name, json);
    }

    /// Writes the profile RUNTIME/NAME.
    pub fn profile_of(&self, runtime: &str, name: &str, json: &Value) {
        let dir = self.config().join("profiles").join(runtime);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.json")), json.to_string()).unwrap();
    }

    /// Writes an executable file.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A shell script as an agent, with the profile command/NAME of class full and a window of 200,000 tokens.
    pub fn agent(&self, name: &str, script: &str) {
        let path = self.script(&format!("agent-{name}"), &format!("#!/bin/sh\n{script}"));
        self.profile(name, &serde_json::json!({"command": [path], "class": "full", "context_window": 200_000}));
    }

    /// An agent that does nothing, for ever; the test plays its part with [`Session::verb`].
    pub fn idle_agent(&self) {
        self.agent("idle", "exec sleep 100000\n");
    }

    /// Launches a session.
    #[track_caller]
    pub fn launch(&self, target: &str, prompt: &str) -> Session<'_> {
        let out = self.orbh(["launch", target, prompt]).run().ok();
        Session::new(self, out.trim())
    }

    /// A session of an agent that does nothing.
    #[track_caller]
    pub fn idle_session(&self) -> Session<'_> {
        self.idle_agent();
        self.launch("command/idle", "do nothing")
    }

    /// Every process whose environment names this world's root.
    pub fn processes(&self) -> Vec<i32> {
        let mark = [format!("ORBH_ROOT={}", self.root().display())];
        let me = std::process::id().cast_signed();
        let all = shared::ground::process::all().into_iter().filter(|one| one.lives() && one.proc.pid != me);
        all.map(|one| one.proc.pid).filter(|pid| shared::ground::process::environment_has(*pid, &mark)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.end();
    }
}

impl World {
    /// Ends what the test left behind: processes that carry this very root in their environment, and no other.
    pub fn end(&self) {
        let begin = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() || begin.elapsed() > DEADLINE {
                return;
            }
            for pid in left {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
