//! Starting the manager of a session in the background, and learning whether its run came up.
//!
//! The handshake is the end of the manager's standard error: it keeps that open until its run has started or could
//! not be, then lets it go. What it says before is for the one who waits. A manager that dies lets it go as well; the
//! facts in the spool say what has become of the run.

use super::environment::Environment;
use crate::ground::fault::{Fault, Kind};
use crate::spool::session::Spool;
use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The program that manages headless sessions.
pub const MANAGER: &str = "orbh-relaunch";

/// What a manager says, and leaves, that finds another one in its place.
pub const NOT_ALONE: &str = "has a manager already";

/// How long a run may take to come up before the one who started it is told that it is still on its way.
pub const HANDSHAKE: Duration = Duration::from_secs(30);

/// What a manager is to do beyond keeping the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Nothing: finish what is pending, keep what runs.
    Keep,
    /// When no run is open, begin a new one; with this text added to its prompt.
    Resume(Option<String>),
}

/// What came of a manager that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What it said before it let go of its standard error.
    pub said: String,
    /// What kind of failure it was, if it is one that a caller branches on: damage, something missing, busy. Else a
    /// system call failed, if anything did; the facts in the spool say so.
    pub kind: Kind,
}

impl Heard {
    /// What it said, as a part of a sentence of somebody else: in one line, without its name.
    pub fn reason(&self) -> String {
        let said = self.said.strip_prefix(MANAGER).and_then(|said| said.strip_prefix(": ")).unwrap_or(&self.said);
        said.lines().filter(|line| !line.starts_with("hint: ")).collect::<Vec<_>>().join("; ")
    }
}

/// Starts a manager and waits until it has let go of its standard error; returns what it said there.
pub fn start_manager(environment: &Environment, spool: &Spool, order: &Order, bound: Duration) -> Result<Heard> {
    let mut command = environment.outside_run(MANAGER);
    command.arg("--background").arg(spool.id().as_str()).env("ORBH_ROOT", spool.root().path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).current_dir("/");
    if let Order::Resume(text) = order {
        command.arg("--resume");
        if text.is_some() {
            command.stdin(Stdio::piped());
        }
    }
    let starting = || format!("cannot start '{}'", environment.program(MANAGER).display());
    let mut child = command.spawn().with_context(starting)?;
    if let (Order::Resume(Some(text)), Some(mut stdin)) = (order, child.stdin.take()) {
        stdin.write_all(text.as_bytes()).context("cannot pass the prompt to the manager")?;
    }
    let said = child.stderr.take().map(|stderr| read_until_closed(stderr, bound)).transpose()?;
    // The child itself only forks the manager off, and passes on its status; it has ended by now, or does so any moment.
    let status = child.wait().ok().and_then(|status| status.code());
    let of_manager = |kind: &Kind| status == Some(i32::from(kind.status()));
    let kind = [Kind::Damaged, Kind::Missing, Kind::Busy].into_iter().find(of_manager).unwrap_or(Kind::System);
    Ok(Heard { said: said.unwrap_or_default().trim_end().to_owned(), kind })
}

fn read_until_closed(mut from: std::process::ChildStderr, bound: Duration) -> Result<String> {
    let begin = Instant::now();
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let left = bound.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Err(Fault::new(Kind::Busy, format!("the run has not come up within {} s", bound.as_secs()))
                .hint("'orbh list' shows whether it does; 'orbh log ID' what happens")
                .into());
        }
        let mut fds = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        if poll(&mut fds, timeout).unwrap_or(0) == 0 {
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(String::from_utf8_lossy(&said).into_owned()),
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("cannot hear from the manager"),
        }
    }
}
