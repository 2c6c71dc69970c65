//! Starting a run through the exec shim (orbh-shim), which records its process before it becomes the harness.

use super::Manager;
use crate::ground::clock::At;
use crate::ground::dir::{Dir, Written};
use crate::ground::fact;
use crate::harness::Runtime;
use crate::spool::facts::{End, PidRecord, Reason, Run};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::snapshot::{Found, RunFacts};
use crate::verbs::claim::Claim;
use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{ChildStderr, Command, Stdio};

/// The program that records a process and becomes the harness.
pub const SHIM: &str = "orbh-shim";
/// A shim that dies before it has recorded anything is tried this often.
const STARTS: u32 = 3;

/// What a manager heard of a shim.
enum Heard {
    /// All that it had to say; it has become the harness, or is gone.
    All(String),
    /// A signal that is for the manager came first.
    Signal(Signal),
    /// Somebody else wrote the end of the run meanwhile.
    Ended,
}

impl Manager<'_> {
    /// Spawns the shim of a run and waits until it has become the harness or ended.
    pub(super) fn start(&mut self, number: RunNumber) -> Result<Option<Signal>> {
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        self.started = None;
        self.starts += 1;
        self.statuses.clear();
        let said = match self.spawn_shim(number, &nonce) {
            Ok(ear) => match self.listen(number, ear)? {
                Heard::All(said) => said,
                Heard::Signal(signal) => return Ok(Some(signal)),
                Heard::Ended => return Ok(None),
            },
            Err(error) => format!("{error:#}"),
        };
        self.reap();
        // The shim's own end proves nothing: what it recorded does.
        let recorded: Found<PidRecord> = Found::read(&self.spool.run(number).join(layout::PID))?;
        match recorded {
            Found::Absent if self.starts >= STARTS => self.give_up_start(number, &said)?,
            Found::Absent => {}
            Found::Here(record) if record.nonce == nonce => {
                // Only then are its processes below this one; those of another manager's late shim are not.
                self.started = Some(number);
                self.executed = Some(number);
                self.starts = 0;
                log::note(&self.spool, "run-started", Some(number), format!("pid {}", record.pid));
            }
            Found::Here(_) | Found::Damaged(_) => {}
        }
        Ok(None)
    }

    /// Hears the shim out. A shim that does not go on (somebody stopped it, a disk hangs) keeps its manager from nothing:
    /// it obeys its own signals, and lets go when somebody else wrote the end of the run.
    fn listen(&mut self, number: RunNumber, mut ear: ChildStderr) -> Result<Heard> {
        self.watch.add(&self.spool.run(number))?;
        self.watched = Some(number);
        let mut said = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let woken = self.watch.wait(&[ear.as_fd(), self.signals.as_fd()], None)?;
            if woken.others.first() == Some(&true) {
                // Close-on-exec in the shim: this ends when the harness runs, or the shim is gone.
                match ear.read(&mut buffer) {
                    Ok(0) => return Ok(Heard::All(String::from_utf8_lossy(&said).into_owned())),
                    Ok(count) => said.extend_from_slice(&buffer[..count]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error).context("cannot hear from the shim"),
                }
                continue;
            }
            if let Some(signal) = self.told()? {
                return Ok(Heard::Signal(signal));
            }
            self.watch.drain();
            if self.spool.run(number).join(layout::END).exists() {
                return Ok(Heard::Ended);
            }
        }
    }

    fn spawn_shim(&self, number: RunNumber, nonce: &str) -> Result<ChildStderr> {
        let dir = self.spool.run(number);
        let run: Option<Run> = fact::load(&dir.join(layout::RUN))?;
        let mut shim = self.environment.outside_run(SHIM);
        shim.arg(&dir).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        shim.env("ORBH_ROOT", self.spool.root().path())
            .env("ORBH_CONFIG", self.environment.config()?)
            .env("ORBH_SESSION_ID", self.spool.id().as_str())
            .env("ORBH_RUN", number.to_string())
            .env("ORBH_NONCE", nonce)
            .env("ORBH_PROMPT_FILE", dir.join(layout::PROMPT))
            .env("ORBH_CONTEXT_FILE", self.spool.scratch().join(layout::context(number)))
            .env("PATH", self.environment.search_with_verbs());
        if let Some(run) = run {
            adapt(&mut shim, &run);
        }
        let mut child = shim.spawn()?;
        child.stderr.take().context("the shim has no standard error")
    }

    /// Nothing could be recorded: a tombstone keeps every late shim from starting the run, then its end is written.
    fn give_up_start(&mut self, number: RunNumber, why: &str) -> Result<()> {
        self.starts = 0;
        bury_with_tombstone(&Dir::open(&self.spool.run(number))?, why)?;
        Ok(())
    }

    /// Writes the end of a run whose tombstone keeps it from starting.
    pub(super) fn bury(&mut self, run: &RunFacts) -> Result<()> {
        let why = run.pid.here().and_then(|pid| pid.tombstone.clone());
        let claim = Claim::take(&self.spool, "manager")?;
        let end = End { reason: Reason::SpawnFailed, code: None, signal: None, at: At::now(), detail: why };
        claim.insist()?;
        self.write_end(run.number, &end)
    }
}

/// What the harness's adapter wants of the environment.
fn adapt(shim: &mut Command, run: &Run) {
    let Some(runtime) = Runtime::named(&run.target.runtime) else { return };
    let variables = runtime.environment();
    for name in variables.clear {
        shim.env_remove(name);
    }
    shim.envs(variables.set);
    if let (Some(variable), Some(home), Some(_)) = (runtime.home_variable(), &run.home, &run.account) {
        shim.env(variable, home);
    }
}

/// Puts a tombstone in the place of a run's process, unless one was recorded before.
pub fn bury_with_tombstone(run: &Dir, why: &str) -> Result<Written> {
    let record = PidRecord {
        pid: 0,
        start: 0,
        nonce: String::new(),
        boot_id: None,
        pid_namespace: None,
        tombstone: Some(why.trim().to_owned()),
    };
    fact::create(run, layout::PID, &record)
}
