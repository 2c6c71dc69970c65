//! Processes, named so that a reused number is never mistaken: pid and start time together, signals through a pidfd.
//!
//! Facts relied on: field 22 of /proc/PID/stat is the start time in clock ticks after boot, counted after the last `)`
//! because the command's name may hold anything (proc_pid_stat(5)); `kill(pid, 0)` calls a zombie alive, so state Z
//! and X count as dead here once no other thread is left (field 20, num_threads); pidfd_open(2) and pidfd_send_signal(2) never reach a later owner of the number.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A process that cannot be confused with a later one of the same number (within one boot).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proc {
    /// Its number.
    pub pid: i32,
    /// Its start time, in clock ticks after boot.
    pub start: u64,
}

/// What /proc/PID/stat says.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// Who it is.
    pub proc: Proc,
    /// Its parent.
    pub parent: i32,
    /// Its state letter: `R`, `S`, `T`, `Z`, … of its first thread.
    pub state: char,
    /// How many threads it has, the first one included.
    pub threads: u32,
}

impl Stat {
    /// Whether it can still do anything. A first thread that has ended is shown as a zombie while others run on, or
    /// still hold the process's files and locks on their way out: only without any other is the process dead.
    pub fn lives(&self) -> bool {
        !matches!(self.state, 'Z' | 'X') || self.threads > 1
    }
}

impl Proc {
    /// The process of that number, zombies included; `None` when there is none.
    pub fn of(pid: i32) -> Option<Proc> {
        stat(pid).map(|stat| stat.proc)
    }

    /// This process.
    pub fn me() -> Option<Proc> {
        // Every temporary name and every lease tells it; only a fork makes it another one.
        static KNOWN: Mutex<Option<Proc>> = Mutex::new(None);
        let pid = std::process::id().cast_signed();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none_or(|known| known.pid != pid) {
            *known = Proc::of(pid);
        }
        *known
    }

    /// Whether exactly this process still runs.
    pub fn alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.proc == self && stat.lives())
    }

    /// A descriptor that names exactly this process; `None` when it is gone.
    pub fn open(self) -> Result<Option<PidFd>> {
        // SAFETY: a plain system call on integers.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) };
        if fd < 0 {
            return match Errno::last() {
                Errno::ESRCH => Ok(None),
                errno => Err(std::io::Error::from(errno)).with_context(|| format!("cannot open process {}", self.pid)),
            };
        }
        // SAFETY: the call just returned this descriptor to us.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
        // Looked at only now: the number cannot have changed hands since, the descriptor holds it.
        Ok(self.alive().then_some(PidFd { fd }))
    }
}

/// A process by descriptor. It becomes readable when the process has ended.
#[derive(Debug)]
pub struct PidFd {
    fd: OwnedFd,
}

impl PidFd {
    /// Sends the signal; false when the process is gone.
    pub fn signal(&self, signal: Signal) -> Result<bool> {
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a null siginfo is allowed, the descriptor is ours.
        let sent = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, self.fd.as_raw_fd(), signal as libc::c_int, nothing, 0)
        };
        match sent {
            0 => Ok(true),
            _ if Errno::last() == Errno::ESRCH => Ok(false),
            _ => Err(std::io::Error::last_os_error()).with_context(|| format!("cannot send {signal}")),
        }
    }
}

impl std::os::fd::AsFd for PidFd {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Reads /proc/PID/stat.
pub fn stat(pid: i32) -> Option<Stat> {
    let mut file = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    // One read gives all of it: the name is cut at 64 bytes, and 50 numbers follow. A tree is listed while a session has
    // no context, so what std::fs::read asks besides, for each process of the machine, is time that somebody waits.
    let mut buffer = [0; 2048];
    let length = file.read(&mut buffer).ok()?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // The state is field 3 and the parent field 4: field 20 is the sixteenth of what is left, 22 the second after it.
    let threads = fields.nth(15)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    Some(Stat { proc: Proc { pid, start }, parent, state, threads })
}

/// Every process of the machine that we may see.
pub fn all() -> Vec<Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter_map(stat).collect()
}

/// These processes and all that descends from them, by what the kernel lists as the children of each; `None` where it
/// keeps no such lists (CONFIG_PROC_CHILDREN). However many processes the machine has, only these are read.
///
/// What is born, or orphaned to another parent, while the lists are read may be missing: enough to begin with, and no
/// proof that nothing is left.
pub fn below(roots: &[i32]) -> Option<Vec<Stat>> {
    let me = std::process::id();
    std::fs::metadata(format!("/proc/{me}/task/{me}/children")).ok()?;
    let mut open = roots.to_vec();
    let mut found: Vec<Stat> = Vec::new();
    while let Some(pid) = open.pop() {
        if found.iter().all(|known| known.proc.pid != pid) {
            found.extend(stat(pid));
            open.extend(children(pid));
        }
    }
    Some(found)
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// The living descendants of the processes `roots`, without the roots, as `processes` has them; whatever `spare` says
/// is left out together with all below it.
pub fn descendants(processes: &[Stat], roots: &[i32], spare: &dyn Fn(&Stat) -> bool) -> Vec<Proc> {
    let mut children: HashMap<i32, Vec<&Stat>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut open = roots.to_vec();
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if spare(child) {
                continue;
            }
            open.push(child.proc.pid);
            if child.lives() {
                found.push(child.proc);
            }
        }
    }
    found
}

/// The ancestors of a process, itself included, up to init.
pub fn ancestors(pid: i32) -> Vec<i32> {
    let mut line = vec![pid];
    let mut at = pid;
    while let Some(stat) = stat(at) {
        if stat.parent <= 0 || line.contains(&stat.parent) {
            break;
        }
        at = stat.parent;
        line.push(at);
    }
    line
}

/// The content of a file of /proc about the memory of a process, by one read(2): that is of one moment. By two it may end
/// where the first one did, because the process has executed another program in between.
fn read_at_once(path: &str) -> std::io::Result<Vec<u8>> {
    let mut room = 64 * 1024;
    loop {
        let mut bytes = vec![0; room];
        let length = File::open(path)?.read(&mut bytes)?;
        if length < room {
            bytes.truncate(length);
            return Ok(bytes);
        }
        room *= 4;
    }
}

/// How long a process may be in the middle of execve(2) before it is taken for one without an environment.
const EXEC_BOUND: Duration = Duration::from_millis(200);

/// So often the environment of a process that has a command line may read empty before it is taken for none.
const EMPTY_LOOKS: u32 = 16;

/// The environment that a process was started with; `None` when it cannot be read.
///
/// In the middle of execve(2) it reads empty: the old one is gone, or goes while it is read, and the new one is not yet
/// told of. So an empty one is read again: as long as there is no command line, which is told of together with it,
/// although there is a program (a thread of the kernel and a zombie have none), and a few times more with one, because
/// each look may meet another execve(2).
fn environment(pid: i32) -> Option<Vec<u8>> {
    let read = |name: &str| read_at_once(&format!("/proc/{pid}/{name}")).ok();
    let begin = Instant::now();
    let mut pause = Duration::from_micros(20);
    let mut left = EMPTY_LOOKS;
    loop {
        let environment = read("environ")?;
        if !environment.is_empty() || left == 0 || begin.elapsed() > EXEC_BOUND {
            return Some(environment);
        }
        // What has a command line now may have got its environment since it was read.
        if std::fs::read_link(format!("/proc/{pid}/exe")).is_err() {
            left = 0;
        } else if read("cmdline").is_none_or(|line| !line.is_empty()) {
            left -= 1;
        } else {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

/// Whether the environment that a process was started with has all of these `NAME=value` entries.
pub fn environment_has(pid: i32, entries: &[String]) -> bool {
    let Some(environment) = environment(pid) else { return false };
    let has = |entry: &String| environment.split(|byte| *byte == 0).any(|one| one == entry.as_bytes());
    entries.iter().all(has)
}

/// The same for any one of them.
pub fn environment_has_any(pid: i32, entries: &[String]) -> bool {
    if entries.is_empty() {
        return false;
    }
    let Some(environment) = environment(pid) else { return false };
    environment.split(|byte| *byte == 0).any(|one| entries.iter().any(|entry| entry.as_bytes() == one))
}

/// Whether the environment that a process was started with gives each of these names a value.
pub fn environment_sets(pid: i32, names: &[&str]) -> bool {
    let Some(environment) = environment(pid) else { return false };
    let sets = |name: &&str| {
        environment.split(|byte| *byte == 0).any(|one| {
            let value = one.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            value.is_some_and(|value| !value.is_empty())
        })
    };
    names.iter().all(sets)
}

/// The name of the program that a process executes, also when its file was removed since; `None` when that cannot be
/// read.
pub fn program(pid: i32) -> Option<String> {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(" (deleted)").unwrap_or(name).to_owned())
}

/// The identity of this boot of the machine: start times of different boots cannot be compared.
pub fn boot_id() -> &'static str {
    static KNOWN: OnceLock<String> = OnceLock::new();
    let read = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    KNOWN.get_or_init(|| read().map(|id| id.trim().to_owned()).unwrap_or_default())
}

/// The pid namespace that we are in: numbers of another one mean other processes here, or none.
pub fn pid_namespace() -> Option<String> {
    std::fs::read_link("/proc/self/ns/pid").ok().map(|link| link.to_string_lossy().into_owned())
}

/// The name of this machine.
pub fn host() -> String {
    nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Makes orphans below this process its children, so that none of them leaves its tree.
pub fn become_subreaper() -> Result<()> {
    // SAFETY: a plain system call on integers.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()).context("cannot become a child subreaper"),
    }
}

/// Closes every descriptor but the standard ones: what a daemon inherited by accident would stay open as long as it
/// lives, and a pipe among it would keep somebody's reader waiting. Call it before anything is opened.
pub fn close_inherited() {
    // SAFETY: a plain system call on integers; nothing of ours is open above the standard streams yet. Where the kernel
    // lacks close_range(2) (before 5.9) what was inherited stays open.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}
