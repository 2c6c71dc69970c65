//! `orbh resume`: a new run of a session that has none.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::entry::warn_of_unusable;
use shared::face::input;
use shared::face::output::{print, print_json, tell};
use shared::face::text::one_line;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::ground::lease;
use shared::ground::watch::Watch;
use shared::harness::{Runtime, missing_variables};
use shared::spool::facts::{Reason, RunKind};
use shared::spool::id::{RunNumber, SessionId, Target};
use shared::spool::session::Spool;
use shared::spool::snapshot::{RunFacts, Snapshot, newest};
use shared::verbs::environment::Environment;
use shared::verbs::launch::{HANDSHAKE, Heard, NOT_ALONE, Order, start_manager};
use shared::verbs::overview::{Overview, State};
use shared::verbs::succession::redirect;
use std::time::{Duration, Instant};

/// How long a manager may take to leave once the session is over: a run that has returned is given 5 s, then stopped.
const LEAVING: Duration = Duration::from_secs(12);

#[derive(Serialize)]
struct Resumed<'a> {
    session: &'a SessionId,
    run: RunNumber,
    kind: RunKind,
    adopted: bool,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    warn_of_unusable("orbh-resume", environment);
    let spool = environment.root()?.find(&args.id)?;
    spool.root().writable()?;
    let added = input::text(args.prompt.as_deref(), args.file.as_deref())?;
    let before = settled(&spool, environment)?;
    if let Some(message) = before.damage.first().filter(|_| before.run.is_none() && before.runs > 0) {
        return Err(Fault::new(Kind::Damaged, message.clone()).hint(format!("orbh inspect {}", spool.id())).into());
    }
    if let Some(manager) = &before.manager {
        let message = format!("session {} is {} already, kept by pid {}", spool.id(), before.state, manager.pid);
        let fix = format!("'orbh page {}' shows what it does", spool.id());
        return Err(Refusal::one(Finding::new("already-running", message, fix)).into());
    }
    let into = args.into.as_deref().map(str::parse::<Target>).transpose()?;
    // Everything that could refuse, before anything is changed.
    if let Some(target) = into.as_ref().or(before.target.as_ref())
        && let Some(finding) = missing(&spool, environment, target)?
    {
        return Err(Refusal::one(finding).into());
    }
    if let Some(target) = &into {
        redirect::resume_into(&spool, environment, target, args.account.as_deref())?;
    }
    let unread = added.is_some();
    let heard = start_manager(environment, &spool, &Order::Resume(added), HANDSHAKE)?;
    report(args, &spool, before.run.map(|run| run.run), &heard, unread)
}

/// What the environment lacks that the newest run was reached and paid by; the manager that this starts would refuse.
fn missing(spool: &Spool, environment: &Environment, target: &Target) -> Result<Option<Finding>> {
    let Some((_, run)) = newest(spool)? else { return Ok(None) };
    let runtime = Runtime::named(&target.runtime).filter(|_| run.target.runtime == target.runtime);
    let needs = environment.registry()?.resolve(target).map(|profile| profile.needs).unwrap_or_default();
    let get = |name: &str| environment.get(name);
    let had = runtime.map(|runtime| run.inherited(runtime.home_variable())).unwrap_or_default();
    Ok(runtime.and_then(|runtime| missing_variables(runtime, &needs, &had, &get)))
}

/// The session as it is, once a manager that has nothing left to keep has gone: one that lets a run go which has
/// returned, closes one whose process is dead, or has just written an end, is about to leave, and is no reason to
/// refuse.
fn settled(spool: &Spool, environment: &Environment) -> Result<Overview> {
    let begin = Instant::now();
    let mut watch = Watch::new(environment.watch())?;
    watch.want_lease_deaths(true);
    for path in [spool.scratch(), spool.runs()] {
        watch.add(&path)?;
    }
    loop {
        watch.drain();
        let (overview, snapshot) = Overview::with_facts(spool)?;
        let over = match overview.state {
            State::Working | State::NeedsInput => closing(&snapshot),
            State::Unknown => false,
            State::Finished | State::FailedUnreturned | State::Killed | State::Lost => true,
        };
        let leaving = overview.manager.is_some() && over;
        if !leaving || begin.elapsed() > LEAVING {
            return Ok(overview);
        }
        watch.wait(&[], Some(LEAVING.saturating_sub(begin.elapsed())))?;
    }
}

/// Whether the process of the current run is dead, with nothing that would take the run's place.
fn closing(snapshot: &Snapshot) -> bool {
    let dead = |run: &RunFacts| {
        let started = run.pid.here().is_some_and(|pid| pid.process().is_some());
        started && run.within_reach() && !run.process_alive()
    };
    !snapshot.intent.exists() && snapshot.current().is_ok_and(|current| current.is_some_and(dead))
}

/// Another command was quicker. Whatever came up is not what this one asked for, and was not told its words.
fn outrun(spool: &Spool, overview: &Overview, unread: bool) -> Fault {
    let words = if unread { ", and was not told what you added" } else { "" };
    let (message, hint) = match &overview.manager {
        Some(manager) => {
            let who = lease::describe(Some(manager));
            (format!("session {} has got a manager meanwhile{words}: {who}", spool.id()), "orbh page")
        }
        None => (format!("session {} had another manager meanwhile{words}", spool.id()), "orbh resume"),
    };
    Fault::new(Kind::Busy, message).hint(format!("{hint} {}", spool.id()))
}

fn report(args: &Args, spool: &Spool, before: Option<RunNumber>, heard: &Heard, unread: bool) -> Result<u8> {
    let said = &heard.said;
    let overview = Overview::read(spool)?;
    if said.contains(NOT_ALONE) {
        return Err(outrun(spool, &overview, unread).into());
    }
    let fail = |reason: &str| {
        let message = format!("session {} did not come up: {}", spool.id(), one_line(reason));
        let hint = format!("mend it, or 'orbh resume {} --into RUNTIME/PROFILE'", spool.id());
        Err(Fault::new(heard.kind, message).hint(hint).into())
    };
    let Some(run) = &overview.run else {
        let Some(why) = overview.damage.first().filter(|_| said.is_empty()) else { return fail(said) };
        let message = format!("cannot tell whether session {} came up: {}", spool.id(), one_line(why));
        return Err(Fault::new(Kind::System, message).hint(format!("orbh inspect {}", spool.id())).into());
    };
    let fresh = before != Some(run.run);
    match run.end {
        Some(Reason::SpawnFailed) => return fail(run.detail.as_deref().unwrap_or(said)),
        // One that said nothing has had it, and it has ended since: somebody killed it, say.
        Some(_) if !fresh && !said.is_empty() => return fail(said),
        // The manager could not adopt it, and has said why.
        None if !fresh && overview.manager.is_none() => {
            let said = said.trim_start_matches("orbh-relaunch: ");
            return fail(if said.is_empty() { "its manager died without a word" } else { said });
        }
        _ => {}
    }
    let adopted = !fresh;
    if adopted && unread {
        tell(&format!("orbh-resume: run {} was alive, and was not told what you added\n", run.run));
    }
    match args.json {
        true => print_json(&Resumed { session: spool.id(), run: run.run, kind: run.kind, adopted })?,
        false if adopted && run.end.is_some() => print(&format!(
            "run {} of session {} was alive and had a manager again; it is over now\n",
            run.run,
            spool.id()
        ))?,
        false if adopted => {
            print(&format!("run {} of session {} was alive; it has a manager again\n", run.run, spool.id()))?
        }
        false => print(&format!("run {} ({}) of session {}\n", run.run, run.kind, spool.id()))?,
    }
    Ok(0)
}
