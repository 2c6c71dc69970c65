//! `kill`: an order to end the current run, carried out by the manager, or without one by the verb itself.

use super::intent;
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::ground::lease::{self, Holder, PROBE_BOUND, Taken};
use crate::ground::process;
use crate::ground::stop::stop;
use crate::ground::watch::Watch;
use crate::spool::facts::{End, KillOrder, Mode, Reason};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::spool::snapshot::{Found, Snapshot};
use crate::verbs::claim::Claim;
use crate::verbs::environment::Environment;
use crate::verbs::manager::end::{ended, write_end};
use crate::verbs::manager::tree::{self, View};
use crate::verbs::overview::Overview;
use anyhow::Result;
use std::time::{Duration, Instant};

/// Beyond the grace that the processes get: how long to wait for the manager's word.
const BOUND: Duration = Duration::from_secs(40);
/// How often to look whether the manager still lives while waiting for it.
const LOOK: Duration = Duration::from_millis(500);

/// A run that was ordered to end, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Killed {
    /// The run.
    pub run: RunNumber,
    /// Its end: killed, or whatever came before the order.
    pub end: End,
}

/// Ends the current run of a session, with all its processes.
pub fn kill(spool: &Spool, environment: &Environment, by: &str) -> Result<Killed> {
    spool.root().writable()?;
    spool.mend()?;
    let mode = spool.session()?.mode;
    loop {
        let run = order(spool, mode, by)?;
        let end = carry_out(spool, environment, mode, run)?;
        // It handed off just before: the order is for the run that has taken its place.
        if end.reason != Reason::Compacted {
            return Ok(Killed { run, end });
        }
    }
}

fn order(spool: &Spool, mode: Mode, by: &str) -> Result<RunNumber> {
    let claim = Claim::take(spool, "kill")?;
    let snapshot = Snapshot::read(spool, mode)?;
    let id = spool.id();
    let between = snapshot.intent.exists();
    let refuse = |message: String, fix: String| Err(Refusal::one(Finding::new("nothing-to-kill", message, fix)).into());
    let Some(run) = snapshot.current()? else {
        return refuse(format!("session {id} has no run"), format!("'orbh resume {id}' starts one"));
    };
    let record = run.pid.get()?.filter(|pid| pid.process().is_some());
    let (Some(record), None) = (record, run.end.get()?) else {
        if between {
            let message = format!("session {id} is between two contexts, and none of them runs");
            return refuse(message, format!("'orbh relaunch {id} --cancel' calls the relaunch off"));
        }
        let message = match run.end.here() {
            Some(end) => format!("run {} of session {id} is over already ({})", run.number, end.reason),
            None => format!("run {} of session {id} has not started yet", run.number),
        };
        return refuse(message, format!("'orbh inspect {id}' shows what it did"));
    };
    tree::of_this_machine(spool, run)?;
    // One that cannot be read would be taken for ours, and nobody would obey it.
    run.kill.get()?;
    // Without a manager the verb itself would have to do it, and would die before the end is written.
    let above = process::ancestors(std::process::id().cast_signed());
    let inside = record.process().is_some_and(|root| root.alive() && above.contains(&root.pid));
    if inside && !lease::probe(&spool.scratch().join(layout::MANAGER))?.held() {
        let message = format!("session {id} has no manager, and a run cannot end itself");
        return Err(Fault::new(Kind::Busy, message).hint("give 'orbh kill' from outside of the session").into());
    }
    claim.insist()?;
    let kill = KillOrder { by: by.to_owned(), at: At::now() };
    fact::create(&Dir::open(&spool.run(run.number))?, layout::KILL, &kill)?;
    intent::retire_for_kill(spool, run.number)?;
    log::note(spool, "kill-ordered", Some(run.number), format!("by {by}"));
    Ok(run.number)
}

fn carry_out(spool: &Spool, environment: &Environment, mode: Mode, run: RunNumber) -> Result<End> {
    let begin = Instant::now();
    let bound = environment.grace() + BOUND;
    let mut watch = Watch::new(environment.watch())?;
    watch.add(&spool.run(run))?;
    watch.add(&spool.scratch())?;
    loop {
        watch.drain();
        if let Some(end) = end_of(spool, run)? {
            return Ok(end);
        }
        // A live manager has the lease and does it; without one the lease is ours for as long as it takes.
        let path = spool.scratch().join(layout::MANAGER);
        if let Taken::Ours(_lease) = lease::take(&path, &Holder::me("kill"), PROBE_BOUND)? {
            // It may have written the end and left while we tried.
            if let Some(end) = end_of(spool, run)? {
                return Ok(end);
            }
            return stop_it(spool, environment, mode, run);
        }
        if begin.elapsed() > bound {
            let message = format!("run {run} of session {} has not ended within {} s", spool.id(), bound.as_secs());
            let reason = Overview::read(spool)?.hint.unwrap_or_else(|| format!("orbh inspect {}", spool.id()));
            return Err(Fault::new(Kind::Busy, message).hint(reason).into());
        }
        watch.wait(&[], Some(LOOK))?;
    }
}

fn stop_it(spool: &Spool, environment: &Environment, mode: Mode, run: RunNumber) -> Result<End> {
    if let Some(run) = Snapshot::read(spool, mode)?.run(run) {
        stop(|| tree::of_run(spool, run, View::Stranger), environment.grace())?;
    }
    let claim = Claim::take(spool, "kill")?;
    claim.insist()?;
    intent::retire_for_kill(spool, run)?;
    write_end(spool, run, &ended(Reason::Killed, None, None))?;
    let missing = || Fault::new(Kind::System, format!("the end of run {run} was written and is not there"));
    Ok(end_of(spool, run)?.ok_or_else(missing)?)
}

fn end_of(spool: &Spool, run: RunNumber) -> Result<Option<End>> {
    let end: Found<End> = Found::read(&spool.run(run).join(layout::END))?;
    Ok(end.get()?.cloned())
}
