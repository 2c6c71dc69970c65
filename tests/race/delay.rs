//! Delays on the way of a verb and of a manager, by strace, and by a signal.

use super::chance::Chance;
use crate::harness::{Session, can_trace, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use shared::ground::process::Proc;
use std::process::{Child, Command, Stdio};

/// Calls that may be delayed, as strace names them, and the highest count of each that is tried.
const CALLS: [(&str, u64); 12] = [
    ("openat", 120),
    ("fsync", 6),
    ("linkat", 2),
    ("?rename,renameat,renameat2", 3),
    ("?unlink,unlinkat", 4),
    ("?mkdir,mkdirat", 2),
    ("getdents64", 6),
    ("write", 4),
    ("?vfork,clone,?clone3", 2),
    ("close", 80),
    ("?poll,ppoll", 3),
    ("read", 60),
];

/// What lets strace delay one call, once; `reach` times as many of each are tried as a verb makes. Every other time it is
/// just before a lease is taken: what was seen before that may be true no longer. Now and then the beginning is late, too.
fn injections(chance: &mut Chance, reach: u64) -> Vec<String> {
    let leases = chance.below(2) == 0;
    let (names, most) =
        if leases { ("flock", 3) } else { CALLS[usize::try_from(chance.below(CALLS.len() as u64)).unwrap()] };
    let mut line = vec!["-e".to_owned(), format!("trace=execve,{names}")];
    let mut inject = |names: &str, chance: &mut Chance, when: u64| {
        let delay = chance.delay().as_micros();
        line.extend(["-e".to_owned(), format!("inject={names}:delay_enter={delay}:when={when}")]);
    };
    if chance.below(3) == 0 {
        inject("execve", chance, 1);
    }
    let when = 1 + chance.below(most * reach);
    inject(names, chance, when);
    line
}

/// Runs what follows under strace, which delays a few of its calls; or, now and then, without any delay.
pub fn delays(chance: &mut Chance, reach: u64) -> Vec<String> {
    if !can_trace() || chance.below(5) == 0 {
        return Vec::new();
    }
    let mut line: Vec<String> = ["strace", "-o", "/dev/null"].map(str::to_owned).into();
    line.extend(injections(chance, reach));
    line
}

/// Who holds the manager lease, if it has said so.
pub fn manager(session: &Session) -> Option<Proc> {
    if !session.managed() {
        return None;
    }
    let holder: Value = serde_json::from_str(&session.text("scratch/manager.lock")?).ok()?;
    Some(Proc { pid: i32::try_from(holder["pid"].as_i64()?).ok()?, start: holder["start"].as_u64()? })
}

/// The manager of a race, if one is there at its beginning; strace may be at it.
pub struct Slowed {
    manager: Option<Proc>,
    strace: Option<Child>,
}

impl Slowed {
    /// Lets strace delay a few of its calls, every other time, where it may attach.
    pub fn new(session: &Session, chance: &mut Chance) -> Slowed {
        let mut slowed = Slowed { manager: manager(session), strace: None };
        let Some(manager) = slowed.manager.filter(|_| can_trace() && chance.below(2) == 0) else {
            return slowed;
        };
        let mut command = Command::new("strace");
        command.args(["-q", "-o", "/dev/null", "-p", &manager.pid.to_string()]).args(injections(chance, 3));
        let mut strace = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let traced = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", manager.pid)).unwrap_or_default();
            status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
        };
        // It has attached, or says by its end that it may not.
        wait_for("strace to attach", || (traced() || strace.try_wait().unwrap().is_some()).then_some(()));
        slowed.strace = Some(strace);
        slowed
    }

    /// Stops it somewhere for a while, a few times, unless strace is at it.
    pub fn halt(&self, chance: &mut Chance) {
        let Some(manager) = self.manager.filter(|_| self.strace.is_none()) else { return };
        for _ in 0..chance.below(3) {
            for what in [Signal::SIGSTOP, Signal::SIGCONT] {
                std::thread::sleep(chance.delay());
                if manager.alive() {
                    let _ = kill(Pid::from_raw(manager.pid), what);
                }
            }
        }
    }
}

impl Drop for Slowed {
    /// It lets go of the manager.
    fn drop(&mut self) {
        if let Some(mut strace) = self.strace.take() {
            if strace.try_wait().unwrap().is_none() {
                let _ = kill(Pid::from_raw(strace.id().cast_signed()), Signal::SIGTERM);
            }
            let _ = strace.wait();
        }
    }
}
