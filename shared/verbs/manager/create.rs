//! Creating a run: its directory, its prompt, and run.json last, all durable before anything is spawned.

use super::Manager;
use super::decide::Creation;
use super::start::bury_with_tombstone;
use crate::ground::clock::At;
use crate::ground::dir::{self, Dir, Written};
use crate::ground::fact;
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::ground::process;
use crate::harness::Runtime;
use crate::harness::profile::Profile;
use crate::harness::prompt::{self, Occasion, Setting};
use crate::spool::facts::{InForce, Reason, Run, RunKind};
use crate::spool::id::{RunNumber, Target};
use crate::spool::layout;
use crate::spool::log;
use crate::spool::snapshot::Snapshot;
use crate::verbs::claim::Claim;
use crate::verbs::environment::RUN_VARIABLES;
use anyhow::{Context, Result};
use std::path::PathBuf;

impl Manager<'_> {
    /// Creates the run, if what called for it still holds. False: look again.
    pub(super) fn create(&mut self, creation: &Creation) -> Result<bool> {
        let target = self.target(creation)?;
        let (profile, unusable) = match self.profile(&target) {
            Ok(profile) => (profile, None),
            // The handoff was accepted for a target that was usable then, and its context is gone: this is an attempt
            // that fails like any other, to be tried again and to be shown with its reason.
            Err(error) if creation.intent.is_some() => (self.without_program(&target), Some(format!("{error:#}"))),
            Err(error) => return Err(error),
        };
        let _claim = Claim::take(&self.spool, "manager")?;
        let snapshot = self.snapshot()?;
        if !still_called_for(&snapshot, creation)? {
            return Ok(false);
        }
        let prompt = self.prompt(creation, &snapshot)?;
        let number = creation.number;
        let runs = Dir::open(&self.spool.runs())?;
        // Taken over when a manager died between this and run.json.
        runs.make_dir(&number.to_string())?;
        let run_dir = Dir::open(&self.spool.run(number))?;
        run_dir.replace(layout::PROMPT, prompt.as_bytes())?;
        let account = creation.intent.as_ref().and_then(|intent| intent.account.clone());
        let in_force = InForce { target: target.clone(), account: account.clone() };
        // One that cannot be used does not come into force: `resume`, after a cancel, goes on with the one before.
        if unusable.is_none() {
            fact::replace(&Dir::open(self.spool.dir())?, layout::TARGET, &in_force)?;
        }
        let run = self.run_fact(creation, profile, account)?;
        if fact::create(&run_dir, layout::RUN, &run)? == Written::Before {
            return Ok(false);
        }
        runs.sync()?;
        if let Some(why) = unusable {
            // After run.json: a directory without it is taken over, and a tombstone there would fail the next attempt.
            bury_with_tombstone(&run_dir, &why)?;
        }
        log::note(&self.spool, "run-created", Some(number), format!("{} on {target}", creation.kind));
        Ok(true)
    }

    fn target(&self, creation: &Creation) -> Result<Target> {
        if let Some(intent) = &creation.intent {
            return Ok(intent.target.clone());
        }
        let path = self.spool.dir().join(layout::TARGET);
        let missing = || Fault::new(Kind::Damaged, format!("'{}' is missing", path.display()));
        Ok(self.spool.in_force()?.ok_or_else(missing)?.target)
    }

    fn profile(&self, target: &Target) -> Result<Profile> {
        let profile = self.environment.registry()?.resolve(target).map_err(Refusal::one)?;
        if profile.class > self.session.class {
            let message = format!(
                "the class of '{target}' is '{}', and session {} was granted '{}'",
                profile.class,
                self.spool.id(),
                self.session.class
            );
            return Err(Refusal::one(Finding::new("class-too-high", message, "choose a target of that class")).into());
        }
        Ok(profile)
    }

    /// What is known of a target whose profile cannot be used: nothing that could be executed.
    fn without_program(&self, target: &Target) -> Profile {
        Profile { target: target.clone(), class: self.session.class, context_window: None, command: Vec::new() }
    }

    fn run_fact(&self, creation: &Creation, profile: Profile, account: Option<String>) -> Result<Run> {
        let unknown = || Fault::new(Kind::Damaged, format!("there is no runtime '{}'", profile.target.runtime));
        let runtime = Runtime::named(&profile.target.runtime).ok_or_else(unknown)?;
        let plan = runtime.plan(&profile);
        let mut environment = self.environment.names();
        environment.extend(RUN_VARIABLES.map(str::to_owned));
        environment.extend(["ORBH_CONFIG", "ORBH_ROOT", "PATH"].map(str::to_owned));
        environment.sort();
        environment.dedup();
        Ok(Run {
            target: profile.target,
            account,
            class: profile.class,
            kind: creation.kind,
            continues: creation.continues,
            closes: creation.closes,
            context: creation.number,
            handoff: creation.closes.map(|closed| self.spool.handoff(closed)),
            context_window: profile.context_window,
            argv: plan.argv,
            stdin: plan.stdin,
            cwd: self.session.cwd.clone(),
            environment,
            host: process::host(),
            boot_id: process::boot_id(),
            started_at: At::now(),
        })
    }

    fn prompt(&self, creation: &Creation, snapshot: &Snapshot) -> Result<String> {
        let duty = self.spool.duty()?;
        let orbh = self.environment.program("orbh");
        let root = self.spool.root();
        let continues = self.session.continues.as_ref().map(|id| root.sessions_dir().join(id.as_str()));
        let setting = Setting {
            duty: &duty,
            session: self.spool.id(),
            run: creation.number,
            orbh: &orbh,
            continues: continues.as_deref(),
        };
        let extra = match creation.kind {
            RunKind::Launch => None,
            RunKind::Compact | RunKind::Resume => self.added_prompt(),
        };
        let text = match (creation.closes, creation.continues) {
            (Some(closing), _) => {
                let handoff = self.handoff(closing)?;
                prompt::compose(&setting, &Occasion::Successor { closing, handoff: &handoff }, extra)
            }
            (None, Some(before)) => {
                let end = snapshot.run(before).and_then(|run| run.end.here());
                let reason = end.map_or(Reason::Lost, |end| end.reason);
                let handoff = last_handoff(snapshot).map(|run| self.handoff(run)).transpose()?;
                prompt::compose(&setting, &Occasion::Resumed { before, reason, handoff: handoff.as_deref() }, extra)
            }
            (None, None) => prompt::compose(&setting, &Occasion::Launch, extra),
        };
        Ok(text)
    }

    /// The path of an accepted handoff that is really there.
    fn handoff(&self, closed: RunNumber) -> Result<PathBuf> {
        let path = self.spool.handoff(closed);
        dir::read(&path)?.with_context(|| format!("the handoff '{}' is missing", path.display()))?;
        Ok(path)
    }
}

fn still_called_for(snapshot: &Snapshot, creation: &Creation) -> Result<bool> {
    let intent = snapshot.intent.get()?;
    let ended = match snapshot.current()? {
        Some(current) => current.end.exists(),
        None => creation.kind == RunKind::Launch,
    };
    Ok(ended && intent == creation.intent.as_ref() && snapshot.next_number() == creation.number)
}

/// The newest run that ended by compaction: its handoff was accepted.
fn last_handoff(snapshot: &Snapshot) -> Option<RunNumber> {
    let compacted = |end: &crate::spool::facts::End| end.reason == Reason::Compacted;
    snapshot.runs.iter().rev().find(|run| run.end.here().is_some_and(compacted)).map(|run| run.number)
}
