//! A process under strace(1): which state-changing system calls it makes, and one of them met by death or by an error.
//!
//! A call is named as strace counts it: by its name and by the how-manieth of that name it is. That is the same in every
//! run of one scene, as long as the process does the same.

use crate::harness::{Cmd, DEADLINE, Outcome, alive, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What changes anything that outlives the process: names and bytes on disk, and other processes. Not open(2), which the
/// reading of /proc makes uncountable: a file that it creates is met at the next call, which writes it.
const CHANGING: [&str; 29] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "unlink",
    "unlinkat",
    "rmdir",
    "ftruncate",
    "fchmod",
    "fchmodat",
    "kill",
    "tgkill",
    "pidfd_send_signal",
    "clone",
    "clone3",
    "fork",
    "vfork",
    "execve",
    "setsid",
];

/// How long a point may come after everything else is done; a longer time costs only the sweeps that fail.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is written to an eventfd.
const WAKE: &str = r#""\1\0\0\0\0\0\0\0", 8)"#;

/// What is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// The calls that change anything.
    Changing,
    /// The calls that open or create a file in the spool: those whose descriptor or path is one of its directories.
    Opening,
    /// Every one.
    All,
}

/// A system call of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub name: String,
    /// From one, by name.
    pub count: usize,
    /// As it was recorded, for people.
    pub text: String,
}

impl fmt::Display for Point {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{} {} ({})", self.name, self.count, self.text)
    }
}

/// What meets the process at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is killed before the call.
    DeathBefore,
    /// It is killed when the call is done.
    DeathAfter,
    /// The call fails so, and does nothing.
    Error(&'static str),
}

impl fmt::Display for Fate {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fate::DeathBefore => write!(to, "killed before"),
            Fate::DeathAfter => write!(to, "killed after"),
            Fate::Error(name) => write!(to, "{name} at"),
        }
    }
}

/// Whether a fate met the waking of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strayed {
    /// It did not.
    No,
    /// Of several that were followed, one had its point as well; what it says after that says nothing.
    Also,
    /// Nothing else was met.
    Wholly,
}

/// A process that runs under strace.
pub struct Traced {
    strace: Child,
    dir: PathBuf,
    fate: Option<Fate>,
    point: Option<Point>,
    follow: bool,
    /// The process has been seen.
    begun: bool,
}

/// How a traced process is started.
#[derive(Debug, Clone)]
pub struct Tracing {
    pub calls: Calls,
    /// The spool.
    pub spool: PathBuf,
    /// With its threads and forks, until they execute another program.
    pub follow: bool,
}

impl Traced {
    /// Starts `command`; what it says, and the trace, go to files in `dir`.
    pub fn start(command: Cmd, dir: &Path, tracing: &Tracing, at: Option<(&Point, Fate)>) -> Traced {
        let traced = command.bare();
        std::fs::create_dir_all(dir).unwrap();
        let mut strace = std::process::Command::new("strace");
        strace.arg("-o").arg(dir.join("trace")).args(["-a", "1", "-s", "40", "--quiet=attach,personality"]);
        if tracing.follow {
            strace.args(["-f", "--detach-on=execve"]);
        }
        let calls = match tracing.calls {
            Calls::Changing => CHANGING.map(|name| format!("?{name}")).join(","),
            Calls::Opening => "openat,openat2".to_owned(),
            Calls::All => "all".to_owned(),
        };
        if tracing.calls == Calls::Opening {
            let below = [
                "scratch",
                "returns",
                "keys",
                "log",
                "runs",
                "runs/0001",
                "runs/0002",
                "inbox",
                "inbox/tmp",
                "inbox/new",
                "inbox/cur",
                "outbox",
                "asked",
                "asked/q0123abcde",
            ];
            let dirs = below.iter().map(|below| tracing.spool.join(below)).chain([tracing.spool.clone()]);
            strace.args(dirs.flat_map(|dir| ["-P".into(), dir.into_os_string()]));
        }
        strace.args(["-e", &format!("trace={calls}")]);
        if let Some((point, fate)) = at {
            let what = match fate {
                Fate::DeathBefore => "signal=KILL".to_owned(),
                // Long enough for it to be found there; it is killed as soon as it is.
                Fate::DeathAfter => format!("delay_exit={}", 10 * DEADLINE.as_micros()),
                Fate::Error(name) => format!("error={name}"),
            };
            strace.args(["-e", &format!("inject={}:{what}:when={}", point.name, point.count)]);
        }
        strace.arg("--").arg(traced.get_program()).args(traced.get_args());
        strace.env_clear().envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));
        strace.current_dir(traced.get_current_dir().unwrap());
        let file = |name: &str| std::fs::File::create(dir.join(name)).unwrap();
        strace.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        Traced {
            strace: strace.spawn().unwrap(),
            dir: dir.to_owned(),
            fate: at.map(|(_, fate)| fate),
            follow: tracing.follow,
            point: at.map(|(point, _)| point.clone()),
            begun: false,
        }
    }

    /// Whether it is a manager that has its run: it says so, or tries to.
    pub fn is_up(&self) -> bool {
        self.text("stderr").contains("managing session") || self.text("trace").contains("write(2, \"managing session")
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir.join(name)).unwrap_or_default()).into_owned()
    }

    /// The traced process itself, for as long as it lives.
    pub fn pid(&self) -> Option<i32> {
        let strace = self.strace.id();
        let children = std::fs::read_to_string(format!("/proc/{strace}/task/{strace}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    }

    /// The followed processes that have come to the point, themselves or by one of their threads.
    fn victims(&self, trace: &str) -> Vec<i32> {
        let Some(point) = &self.point else { return Vec::new() };
        let mut counts = std::collections::BTreeMap::new();
        let mut owners = std::collections::BTreeMap::new();
        let begins = format!("{}(", point.name);
        for line in trace.lines() {
            let Some((pid, call)) = line.split_once(' ') else { continue };
            let thread =
                call.split_once("parent_tid=[").and_then(|(_, rest)| rest.split(']').next()?.parse::<i32>().ok());
            if let (Some(thread), Ok(owner)) = (thread, pid.parse::<i32>()) {
                owners.insert(thread, owner);
            }
            if let Ok(pid) = pid.parse::<i32>()
                && call.trim_start().starts_with(&begins)
            {
                *counts.entry(pid).or_insert(0) += 1;
            }
        }
        counts
            .into_iter()
            .filter(|(_, count)| *count >= point.count)
            .map(|(pid, _)| *owners.get(&pid).unwrap_or(&pid))
            .collect()
    }

    /// Where it says that a process is held right after its call.
    fn delayed(trace: &str) -> Option<&str> {
        trace.lines().find(|line| line.ends_with("(DELAYED)"))
    }

    /// Waits until the process is held right after its call, and leaves it there. False: it never comes there.
    pub fn reaches(&mut self, mut done: impl FnMut(&Traced) -> bool) -> bool {
        let mut done_since: Option<Instant> = None;
        wait_for("the point to be reached, or passed over", || {
            let held = Traced::delayed(&self.text("trace")).is_some();
            if done_since.is_none() && (self.ended().is_some() || done(self)) {
                done_since = Some(Instant::now());
            }
            let over = done_since.is_some_and(|since| since.elapsed() >= PATIENCE);
            (held || over).then_some(held)
        })
    }

    /// Whether the point was reached and its fate has been met.
    pub fn met(&mut self) -> bool {
        let trace = self.text("trace");
        match self.fate {
            None => false,
            // A process holds its leases until the last of its threads is gone.
            Some(Fate::DeathBefore) => {
                trace.contains("+++ killed by SIGKILL") && self.victims(&trace).into_iter().all(all_gone)
            }
            Some(Fate::DeathAfter) => {
                let Some(line) = Traced::delayed(&trace) else { return false };
                let followed = line.split(' ').next().and_then(|word| word.parse().ok());
                // Held still by strace, which would let it die only when its timer has run out: nobody else can have
                // this number, and it executes nothing more when strace is gone.
                if let Some(pid) = followed.or_else(|| self.pid()).filter(|pid| alive(*pid)) {
                    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                    let _ = self.strace.kill();
                    wait_for("a process killed at a call to be dead", || all_gone(pid).then_some(()));
                }
                true
            }
            Some(Fate::Error(_)) => trace.contains("(INJECTED)"),
        }
    }

    /// Whether it was met at the waking of a thread, which is no point: how many of these there are is left to chance.
    pub fn strayed(&self) -> Strayed {
        let marks = ["(INJECTED)", "(DELAYED)", "= ?"];
        let trace = self.text("trace");
        let met: Vec<&str> = trace.lines().filter(|line| marks.iter().any(|mark| line.ends_with(mark))).collect();
        let wakes = met.iter().filter(|line| line.contains(WAKE)).count();
        match wakes {
            0 => Strayed::No,
            _ if wakes == met.len() => Strayed::Wholly,
            _ => Strayed::Also,
        }
    }

    /// How the process ended, once it has.
    pub fn ended(&mut self) -> Option<Outcome> {
        let status = self.strace.try_wait().unwrap()?;
        let said = self.text("stderr");
        // Without what strace has to say itself.
        let stderr = said.split_inclusive('\n').filter(|line| !line.starts_with("strace: ")).collect();
        Some(Outcome { code: status.code(), stdout: self.text("stdout"), stderr })
    }

    /// Waits until the process has ended or met its fate, and, if that left it alive, `done` holds of it.
    /// `None` when it has not ended by itself.
    pub fn finish(&mut self, mut done: impl FnMut(&Traced) -> bool) -> Option<Outcome> {
        let begin = Instant::now();
        let mut done_since: Option<Instant> = None;
        loop {
            let met = self.met();
            if let Some(outcome) = self.ended() {
                return Some(outcome);
            }
            let died = met && matches!(self.fate, Some(Fate::DeathBefore | Fate::DeathAfter));
            // strace stays with what was forked off and lives on.
            let there = self.pid().is_some();
            // Not what strace forks to try out what it may do.
            self.begun |= there && !self.text("trace").is_empty();
            let forked_off = self.follow && self.begun && !there;
            if done_since.is_none() && (forked_off || done(self)) {
                done_since = Some(Instant::now());
            }
            // What is done may be followed by the very call that is to be met.
            let enough = if met || self.fate.is_none() { Duration::ZERO } else { PATIENCE };
            if died || done_since.is_some_and(|since| since.elapsed() >= enough) || begin.elapsed() > DEADLINE {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The points of a finished trace, in their order; each name and count once. What a process does as another program,
    /// as the shim does when it is the harness, is none.
    pub fn points(&self) -> Vec<Point> {
        let mut counts = std::collections::BTreeMap::new();
        let mut points: Vec<Point> = Vec::new();
        let mut executed = false;
        for line in self.text("trace").lines() {
            if executed {
                break;
            }
            let (pid, call) = match line.split_once(' ') {
                Some((pid, call)) if pid.parse::<i32>().is_ok() => (pid, call.trim_start()),
                _ => ("", line),
            };
            let Some((name, _)) = call.split_once('(') else { continue };
            if name.contains([' ', '<', '+', '-']) {
                continue;
            }
            let count = counts.entry((pid.to_owned(), name.to_owned())).or_insert(0_usize);
            *count += 1;
            // strace's own; and the waking of a thread of the process itself, which changes nothing and cannot fail.
            let begins = name == "execve" && *count == 1;
            executed = name == "execve" && *count == 2;
            let wakes = call.contains(WAKE);
            let known = points.iter().any(|point| point.name == name && point.count == *count);
            if !begins && !wakes && !known {
                points.push(Point { name: name.to_owned(), count: *count, text: call.to_owned() });
            }
        }
        points
    }
}

/// Whether no thread of a process is left.
fn all_gone(pid: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    let state = |task: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
    };
    tasks.filter_map(state).all(|state| matches!(state, 'Z' | 'X'))
}

impl Drop for Traced {
    /// Whatever else it traces goes on; what is left of a world ends with the world.
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}
