//! `orbh launch`: a new headless session.

use crate::args::Args;
use anyhow::{Context, Result};
use serde::Serialize;
use shared::face::entry::warn_of_unusable;
use shared::face::output::{print, print_json, tell};
use shared::face::text::one_line;
use shared::face::{exit, input};
use shared::ground::clock::At;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::harness::profile::Profile;
use shared::harness::registry::Registry;
use shared::harness::{Runtime, missing_variables};
use shared::spool::facts::{Class, InForce, Mode, Session};
use shared::spool::id::{RunNumber, SessionId, Target};
use shared::spool::root::Root;
use shared::spool::session::{Spool, link_child};
use shared::spool::{keys, layout, log};
use shared::verbs::caller::Caller;
use shared::verbs::environment::Environment;
use shared::verbs::launch::{HANDSHAKE, Heard, Order, start_manager};
use shared::verbs::overview::{Overview, RunLine};
use std::path::PathBuf;

#[derive(Serialize)]
struct Launched<'a> {
    session: &'a SessionId,
    run: Option<RunNumber>,
    target: &'a Target,
    spool: PathBuf,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    warn_of_unusable("orbh-launch", environment);
    let (target, prompt) = words(args)?;
    let registry = environment.registry()?;
    let profile = choose(&registry, target)?;
    let runtime = Runtime::named(&profile.target.runtime);
    let get = |name: &str| environment.get(name);
    if let Some(finding) = runtime.and_then(|runtime| missing_variables(runtime, &profile.needs, &[], &get)) {
        return Err(Refusal::one(finding).into());
    }
    if let Some(account) = &args.account {
        registry.account(&profile.target, account).map_err(Refusal::one)?;
    }
    let parent = environment.session().map(|_| Caller::of(environment, "orbh launch")).transpose()?;
    if let Some(parent) = &parent {
        allowed(parent, &profile, environment)?;
    }
    // All that can be refused is looked at before anything is made, the root included.
    let session = born(args, environment, &profile, parent.as_ref())?;
    let root = Root::create(&environment.root_path()?)?;
    let in_force = InForce { target: profile.target.clone(), account: args.account.clone() };
    let spool = Spool::create(&root, &session, &in_force, &prompt)?;
    if let Some(parent) = &parent {
        link_child(&parent.spool, spool.id())?;
    }
    for (key, value) in [(layout::TITLE, &args.title), (layout::DESCRIPTION, &args.description)] {
        if let Some(value) = value {
            keys::set(&spool, key, value)?;
        }
    }
    log::note(&spool, "launched", None, format!("on {}", profile.target));
    let heard = start_manager(environment, &spool, &Order::Keep, HANDSHAKE).map_err(|error| not_up(&spool, &error))?;
    report(args, &spool, &profile.target, &heard)
}

/// Which of the words is the target, and which the duty.
fn words(args: &Args) -> Result<(Option<Target>, String)> {
    let usage = |message: &str| Fault::new(Kind::Usage, message).hint("orbh launch [RUNTIME/PROFILE] PROMPT");
    let (target, prompt) = match (args.words.as_slice(), &args.file) {
        ([], None) => return Err(usage("the duty of the session is missing").into()),
        ([one], None) if one.parse::<Target>().is_ok() => {
            return Err(usage(&format!("'{one}' is a target, and the duty of the session is missing")).into());
        }
        ([prompt], None) => (None, Some(prompt.as_str())),
        ([], Some(_)) => (None, None),
        ([target], Some(_)) => (Some(target), None),
        ([target, prompt], None) => (Some(target), Some(prompt.as_str())),
        _ => return Err(usage("the duty of the session was given twice, with --file and as an argument").into()),
    };
    let target = target.map(|target| target.parse::<Target>()).transpose()?;
    let prompt = input::text(prompt, args.file.as_deref())?.unwrap_or_default();
    if prompt.trim().is_empty() {
        return Err(usage("the duty of the session is empty").into());
    }
    Ok((target, prompt))
}

fn choose(registry: &Registry, target: Option<Target>) -> Result<Profile> {
    if let Some(target) = target {
        return Ok(registry.resolve(&target).map_err(Refusal::one)?);
    }
    let refuse = |message: String, fix: String| Err(Refusal::one(Finding::new("no-target", message, fix)).into());
    let Some(defaults) = registry.defaults()? else {
        let message = "no target was given, and there is no file 'default-targets'".to_owned();
        return refuse(message, registry.offer());
    };
    let mut reasons = Vec::new();
    for target in &defaults {
        match registry.resolve(target) {
            Ok(profile) => return Ok(profile),
            Err(finding) => reasons.push(finding.message),
        }
    }
    refuse(format!("no target of 'default-targets' is available: {}", reasons.join("; ")), registry.offer())
}

/// What a run may launch: nothing of a higher class, not too deep, and nothing at all from inside a sandbox, which
/// would end the new session's manager with its own processes.
fn allowed(parent: &Caller, profile: &Profile, environment: &Environment) -> Result<()> {
    let snapshot = parent.snapshot()?;
    parent.check(&snapshot)?;
    let class = snapshot.run(parent.run).and_then(|run| run.run.here()).map_or(parent.session.class, |run| run.class);
    let refuse = |code, message, fix: &str| Err(Refusal::one(Finding::new(code, message, fix)).into());
    if class != Class::Full {
        let message =
            format!("a run of class '{class}' cannot launch a session: its manager would not outlive the run");
        return refuse("class-too-low", message, "ask the person to launch it");
    }
    if profile.class > parent.session.class {
        let message = format!(
            "the class of '{}' is '{}', and this session was granted '{}'",
            profile.target, profile.class, parent.session.class
        );
        return refuse("class-too-high", message, "choose a target of that class");
    }
    let cap = environment.depth_cap();
    if parent.session.depth >= cap {
        let message =
            format!("this session is {} launches below the first one, and {cap} is the limit", parent.session.depth);
        return refuse("too-deep", message, "do the work in this session; ORBH_DISPATCH_DEPTH_CAP sets the limit");
    }
    Ok(())
}

fn born(args: &Args, environment: &Environment, profile: &Profile, parent: Option<&Caller>) -> Result<Session> {
    let cwd = match &args.cwd {
        Some(cwd) => environment.absolute(cwd),
        None => environment.cwd()?.to_owned(),
    };
    let cwd = std::fs::canonicalize(&cwd).with_context(|| format!("cannot work in '{}'", cwd.display()))?;
    if !cwd.is_dir() {
        return Err(Fault::new(Kind::Usage, format!("'{}' is not a directory", cwd.display())).into());
    }
    if let Some(finding) = environment.exposed(profile, &cwd)? {
        return Err(Refusal::one(finding).into());
    }
    let continues = args.continues.as_deref().map(|id| environment.root()?.find(id)).transpose()?;
    let id = SessionId::fresh();
    Ok(Session {
        created_at: At::now(),
        cwd,
        mode: Mode::Headless,
        parent: parent.map(|parent| parent.session.id.clone()),
        root: parent.map_or_else(|| id.clone(), |parent| parent.session.root.clone()),
        depth: parent.map_or(0, |parent| parent.session.depth + 1),
        continues: continues.map(|spool| spool.id().clone()),
        class: profile.class,
        id,
    })
}

/// The session is there, and nobody has been told its id yet.
fn not_up(spool: &Spool, error: &anyhow::Error) -> Fault {
    let id = spool.id();
    let message = format!("session {id} was created, and its first run did not start: {error:#}");
    match exit::kind(error) {
        Kind::Busy => Fault::new(Kind::Busy, message).hint(format!("'orbh inspect {id}' shows whether it does")),
        kind => Fault::new(kind, message).hint(format!("mend it, then 'orbh resume {id}'")),
    }
}

fn report(args: &Args, spool: &Spool, target: &Target, heard: &Heard) -> Result<u8> {
    let said = &heard.said;
    let overview = Overview::read(spool)?;
    let run: Option<&RunLine> = overview.run.as_ref();
    let failed = run.is_none_or(|run| run.end == Some(shared::spool::facts::Reason::SpawnFailed));
    if failed {
        let reason = run.and_then(|run| run.detail.clone()).unwrap_or_else(|| one_line(said));
        let message = format!("session {} was created, and its first run did not start: {reason}", spool.id());
        return Err(Fault::new(heard.kind, message).hint(format!("mend it, then 'orbh resume {}'", spool.id())).into());
    }
    if !said.is_empty() {
        tell(&format!("{said}\n"));
    }
    match args.json {
        true => {
            let run = run.map(|run| run.run);
            print_json(&Launched { session: spool.id(), run, target, spool: spool.dir().to_owned() })?;
        }
        false => print(&format!("{}\n", spool.id()))?,
    }
    Ok(0)
}
