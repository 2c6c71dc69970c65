//! Creating a run: its directory, its prompt, and run.json last, all durable before anything is spawned.

use super::Manager;
use super::decide::Creation;
use super::start::bury_with_tombstone;
use crate::ground::clock::At;
use crate::ground::dir::{self, Dir, Written};
use crate::ground::fact;
use crate::ground::fault::{Fault, Finding, Kind, Refusal, unreadable};
use crate::ground::process;
use crate::harness::adapter::{Place, Plan, Start};
use crate::harness::profile::Profile;
use crate::harness::prompt::{self, Occasion, Setting};
use crate::harness::{Runtime, missing_variables, native, occupancy};
use crate::spool::facts::{Cancelled, Class, InForce, Native, Reason, Run, RunKind, Stdin};
use crate::spool::id::{RunNumber, Target};
use crate::spool::layout;
use crate::spool::log;
use crate::spool::snapshot::{Found, Snapshot};
use crate::verbs::claim::Claim;
use crate::verbs::environment::RUN_VARIABLES;
use crate::verbs::succession::intent;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// What the verbs of a run write: what a sandbox has to let them.
const RUN_SIDE: [&str; 7] =
    [layout::KEYS, layout::RETURNS, layout::INBOX, layout::OUTBOX, layout::ASKED, layout::LOG, layout::SCRATCH];

impl Manager<'_> {
    /// Creates the run, if what called for it still holds under this claim. False: look again.
    pub(super) fn create(&mut self, creation: &Creation, snapshot: &Snapshot, claim: &Claim) -> Result<bool> {
        if !still_called_for(snapshot, creation)? {
            return Ok(false);
        }
        let InForce { target, account } = self.in_force(creation)?;
        let usable = self.profile(&target).and_then(|profile| Ok((profile, self.home(&target, account.as_deref())?)));
        let (profile, home, unusable) = match usable {
            Ok((profile, home)) => (profile, home, None),
            // The handoff was accepted for a target that was usable then, and its context is gone: this is an attempt
            // that fails like any other, to be tried again and to be shown with its reason.
            Err(error) if creation.intent.is_some() => {
                (self.without_program(&target), None, Some(format!("{error:#}")))
            }
            Err(error) => return Err(error),
        };
        self.nothing_missing(creation, snapshot, &profile)?;
        let start = self.conversation(creation, snapshot, &target, home.as_deref())?;
        let prompt = self.prompt(creation, snapshot, &start, &target)?;
        let number = creation.number;
        let in_force = InForce { target: target.clone(), account: account.clone() };
        let (mut run, native) = self.run_fact(creation, profile, (home, account.as_deref()), &start)?;
        run.account = account;
        if let (Start::Resume(_), Some(before)) = (&start, creation.continues.and_then(|before| snapshot.run(before))) {
            run.context = before.run.here().map_or(run.context, |before| before.context);
        }
        let runs = Dir::open(&self.spool.runs())?;
        self.synced.runs = false;
        // Taken over when a manager died between this and run.json.
        runs.free_for_dir(&number.to_string())?;
        runs.add_dir(&number.to_string())?;
        let run_dir = Dir::open(&self.spool.run(number))?;
        let session_dir = Dir::open(self.spool.dir())?;
        // One that cannot be used does not come into force: `resume`, after a cancel, goes on with the one before.
        let in_force = fact::to_text(&in_force)?;
        let in_force = unusable.is_none().then(|| session_dir.draft(&in_force, 0o600)).transpose()?;
        let native = native.filter(|_| unusable.is_none()).map(|id| fact::to_text(&Native { id })).transpose()?;
        let native = native.map(|native| run_dir.draft(&native, 0o600)).transpose()?;
        let prompt = run_dir.draft(prompt.as_bytes(), 0o600)?;
        let run = run_dir.draft(&fact::to_text(&run)?, 0o600)?;
        for draft in in_force.iter().chain(&native).chain([&prompt, &run]) {
            draft.sync()?;
        }
        // The last look before there is another run: neither the claim nor the session is another's by now.
        claim.insist()?;
        if self.lease.lost()? {
            return Ok(false);
        }
        if let Some(in_force) = in_force {
            in_force.replace(layout::TARGET)?;
            session_dir.sync()?;
        }
        prompt.replace(layout::PROMPT)?;
        native.map_or(Ok(()), |native| native.replace(layout::NATIVE))?;
        // Last: with it the run is there. Should a power loss leave it without its prompt, on a file system that keeps
        // names in no order, then it is one that cannot be started, and the next one is tried.
        if run.create(layout::RUN)? == Written::Before {
            return Ok(false);
        }
        // All of it before anything is spawned.
        run_dir.sync()?;
        runs.sync()?;
        self.synced.runs = true;
        self.synced.current = Some((number, false));
        if let Some(why) = unusable {
            // After run.json: a directory without it is taken over, and a tombstone there would fail the next attempt.
            bury_with_tombstone(&run_dir, &why)?;
        }
        log::note(&self.spool, "run-created", Some(number), format!("{} on {target}", creation.kind));
        Ok(true)
    }

    fn in_force(&self, creation: &Creation) -> Result<InForce> {
        if let Some(intent) = &creation.intent {
            return Ok(InForce { target: intent.target.clone(), account: intent.account.clone() });
        }
        let path = self.spool.dir().join(layout::TARGET);
        let missing = || Fault::new(Kind::Damaged, format!("'{}' is missing", path.display()));
        Ok(self.spool.in_force()?.ok_or_else(missing)?)
    }

    /// Where the harness keeps its things: the account's home, else that of this environment.
    fn home(&self, target: &Target, account: Option<&str>) -> Result<Option<PathBuf>> {
        let Some(runtime) = Runtime::named(&target.runtime) else { return Ok(None) };
        match account {
            Some(account) => Ok(Some(self.environment.registry()?.account(target, account).map_err(Refusal::one)?)),
            None => Ok(runtime.home(&|name| self.environment.get(name)).map(|home| self.environment.absolute(&home))),
        }
    }

    /// A run that takes the place of another must not come up without what that one was reached and paid by.
    fn nothing_missing(&self, creation: &Creation, snapshot: &Snapshot, profile: &Profile) -> Result<()> {
        let Some(runtime) = Runtime::named(&profile.target.runtime) else { return Ok(()) };
        let mut had = None;
        // Only as far down as it takes: the run before is of the same runtime, as a rule.
        for facts in snapshot.downwards(&self.spool) {
            let facts = facts?;
            if let Some(run) = facts.run.here().filter(|run| run.target.runtime == profile.target.runtime) {
                had = (creation.kind != RunKind::Launch).then(|| run.inherited(runtime.home_variable()));
                break;
            }
        }
        let get = |name: &str| self.environment.get(name);
        match missing_variables(runtime, &profile.needs, &had.unwrap_or_default(), &get) {
            Some(finding) => Err(Refusal::one(finding).into()),
            None => Ok(()),
        }
    }

    /// A resumed run goes on in the native conversation, where the harness can and there is one. A successor never
    /// does: its context is fresh.
    ///
    /// Not in another home, where the conversation is not known; and not in one that is full, where the harness would
    /// refuse to say another word.
    fn conversation(
        &self,
        creation: &Creation,
        snapshot: &Snapshot,
        target: &Target,
        home: Option<&Path>,
    ) -> Result<Start> {
        let before = creation.continues.filter(|_| creation.kind == RunKind::Resume);
        let Some((number, before)) = before.and_then(|number| Some((number, snapshot.run(number)?.run.here()?))) else {
            return Ok(Start::Fresh);
        };
        let Some(runtime) = Runtime::named(&target.runtime).filter(|runtime| runtime.resumes_natively()) else {
            return Ok(Start::Fresh);
        };
        if before.target.runtime != target.runtime || before.home.as_deref() != home {
            return Ok(Start::Fresh);
        }
        let occupancy = occupancy::read(&self.spool, number, before)?;
        if occupancy.used.zip(occupancy.max).is_some_and(|(used, max)| used >= runtime.full_at(max)) {
            return Ok(Start::Fresh);
        }
        let native = native::read(&self.spool, number)?;
        let readable = |path: PathBuf| path.is_file() && std::fs::File::open(path).is_ok();
        let there = native.filter(|native| native::find_transcript(before, native).is_some_and(readable));
        Ok(there.map_or(Start::Fresh, |native| Start::Resume(native.id)))
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
        if let Some(finding) = self.environment.exposed(&profile, &self.session.cwd)? {
            return Err(Refusal::one(finding).into());
        }
        Ok(profile)
    }

    /// What is known of a target whose profile cannot be used: nothing that could be executed.
    fn without_program(&self, target: &Target) -> Profile {
        Profile {
            target: target.clone(),
            class: self.session.class,
            context_window: None,
            command: Vec::new(),
            model: None,
            effort: None,
            permission_mode: None,
            needs: Vec::new(),
        }
    }

    fn run_fact(
        &self,
        creation: &Creation,
        profile: Profile,
        (home, account): (Option<PathBuf>, Option<&str>),
        start: &Start,
    ) -> Result<(Run, Option<String>)> {
        let unknown = || Fault::new(Kind::Damaged, format!("there is no runtime '{}'", profile.target.runtime));
        let runtime = Runtime::named(&profile.target.runtime).ok_or_else(unknown)?;
        let plan = match profile.command.is_empty() {
            true => Plan { argv: Vec::new(), stdin: Stdin::Null, native: None },
            false => runtime.plan(&profile, &self.place(&profile)?, start),
        };
        let variables = runtime.environment();
        let mut environment = self.environment.names();
        environment.retain(|name| !variables.clear.contains(&name.as_str()));
        environment.extend(variables.set.iter().map(|(name, _)| (*name).to_owned()));
        environment.extend(RUN_VARIABLES.map(str::to_owned));
        environment.extend(account.and(runtime.home_variable()).map(str::to_owned));
        environment.extend(["ORBH_CONFIG", "ORBH_ROOT", "PATH"].map(str::to_owned));
        environment.sort();
        environment.dedup();
        let context_window = profile.window();
        let run = Run {
            target: profile.target,
            account: None,
            class: profile.class,
            kind: creation.kind,
            continues: creation.continues,
            closes: creation.closes,
            context: creation.number,
            handoff: creation.closes.map(|closed| self.spool.handoff(closed)),
            context_window,
            argv: plan.argv,
            stdin: plan.stdin,
            home,
            cwd: self.session.cwd.clone(),
            environment,
            host: process::host(),
            boot_id: process::boot_id().to_owned(),
            started_at: At::now(),
        };
        Ok((run, plan.native))
    }

    fn place(&self, profile: &Profile) -> Result<Place> {
        let run_side = RUN_SIDE.iter().map(|name| self.spool.dir().join(name)).collect();
        let programs = ["orbh", "flint"].map(|name| self.environment.program(name));
        let programs = programs.into_iter().filter(|path| path.is_absolute()).collect();
        let temporary = self.environment.get("TMPDIR").map(PathBuf::from);
        // Only a sandbox is told what it has to keep from its agent.
        let guarded = if profile.class == Class::Full { Vec::new() } else { self.environment.guarded(profile)? };
        Ok(Place { scratch: self.spool.scratch(), run_side, guarded, programs, temporary })
    }

    fn prompt(&self, creation: &Creation, snapshot: &Snapshot, start: &Start, target: &Target) -> Result<String> {
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
            notes: Runtime::named(&target.runtime).and_then(Runtime::notes),
        };
        let extra = match creation.kind {
            RunKind::Launch => None,
            RunKind::Compact | RunKind::Resume => self.added_prompt(),
        };
        let text = match (creation.closes, creation.continues) {
            (Some(closing), _) => {
                let missing = || format!("the handoff '{}' is missing", self.spool.handoff(closing).display());
                let handoff = self.handoff(closing)?.with_context(missing)?;
                prompt::compose(&setting, &Occasion::Successor { closing, handoff: &handoff }, extra)
            }
            (None, Some(before)) => {
                let end = snapshot.run(before).and_then(|run| run.end.here());
                let reason = end.map_or(Reason::Lost, |end| end.reason);
                if let Start::Resume(_) = start {
                    return Ok(prompt::compose(&setting, &Occasion::Continued { before, reason }, extra));
                }
                let handoff = match self.called_off(before)? {
                    Some(path) => Some(path),
                    None => match self.last_handoff(snapshot)? {
                        Some(run) => self.handoff(run)?,
                        None => None,
                    },
                };
                prompt::compose(&setting, &Occasion::Resumed { before, reason, handoff: handoff.as_deref() }, extra)
            }
            (None, None) => prompt::compose(&setting, &Occasion::Launch, extra),
        };
        Ok(text)
    }

    /// The newest run that ended by compaction: its handoff was accepted.
    fn last_handoff(&self, snapshot: &Snapshot) -> Result<Option<RunNumber>> {
        for facts in snapshot.downwards(&self.spool) {
            let facts = facts?;
            if facts.end.here().is_some_and(|end| end.reason == Reason::Compacted) {
                return Ok(Some(facts.number));
            }
        }
        Ok(None)
    }

    /// The accepted bytes of a handoff of this run that was called off afterwards: its agent wrote it, and may be gone.
    fn called_off(&self, run: RunNumber) -> Result<Option<PathBuf>> {
        let scratch = self.spool.scratch();
        let cancelled: Found<Cancelled> = Found::read(&scratch.join(layout::CANCELLED))?;
        let Some(intent) = cancelled.here().filter(|intent| intent.closing == run) else { return Ok(None) };
        let path = scratch.join(layout::accepted(run));
        let bytes = dir::read(&path)?;
        Ok(bytes.filter(|bytes| intent::sha256(bytes) == intent.sha256).map(|_| path))
    }

    /// The path of an accepted handoff, if it is still there: scratch/ may have been emptied since, or something else
    /// put in its place.
    fn handoff(&self, closed: RunNumber) -> Result<Option<PathBuf>> {
        let path = self.spool.handoff(closed);
        let lost = match dir::read(&path) {
            Err(error) if unreadable(&error).is_some() => true,
            other => other?.is_none(),
        };
        if lost && dir::read(&self.spool.scratch().join(layout::accepted(closed)))?.is_some() {
            let scratch = Dir::open(&self.spool.scratch())?;
            scratch.link_over(&layout::accepted(closed), &layout::handoff(closed))?;
            scratch.sync()?;
        }
        Ok(dir::read(&path)?.map(|_| path))
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
