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
use anyhow::Result;
use std::io::Read;
use std::process::{Command, Stdio};

/// The program that records a process and becomes the harness.
pub const SHIM: &str = "orbh-shim";
/// A shim that dies before it has recorded anything is tried this often.
const STARTS: u32 = 3;

impl Manager<'_> {
    /// Spawns the shim of a run and waits until it has become the harness or ended.
    pub(super) fn start(&mut self, number: RunNumber) -> Result<()> {
        let nonce = uuid::Uuid::new_v4().simple().to_string();
        self.started = None;
        self.starts += 1;
        self.statuses.clear();
        let said = self.spawn_shim(number, &nonce).unwrap_or_else(|error| format!("{error:#}"));
        self.reap();
        // The shim's own end proves nothing: what it recorded does.
        let recorded: Found<PidRecord> = Found::read(&self.spool.run(number).join(layout::PID))?;
        match recorded {
            Found::Absent if self.starts >= STARTS => self.give_up_start(number, &said),
            Found::Absent => Ok(()),
            Found::Here(record) if record.nonce == nonce => {
                // Only then are its processes below this one; those of another manager's late shim are not.
                self.started = Some(number);
                self.executed = Some(number);
                self.starts = 0;
                log::note(&self.spool, "run-started", Some(number), format!("pid {}", record.pid));
                Ok(())
            }
            Found::Here(_) | Found::Damaged(_) => Ok(()),
        }
    }

    fn spawn_shim(&self, number: RunNumber, nonce: &str) -> Result<String> {
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
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            // Close-on-exec in the shim: this ends when the harness runs, or the shim is gone.
            let _ = stderr.read_to_string(&mut said);
        }
        Ok(said)
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
        let _claim = Claim::take(&self.spool, "manager")?;
        let end = End { reason: Reason::SpawnFailed, code: None, signal: None, at: At::now(), detail: why };
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
