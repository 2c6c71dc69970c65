//! `relaunch --into` and `relaunch --cancel`: what can be done about an accepted handoff whose successor is not up.

use super::handoff::{account_for, target_findings};
use super::intent;
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::ground::lease::{self, Probe};
use crate::spool::facts::{End, InForce, Intent, Reason, Session};
use crate::spool::id::{RunNumber, Target};
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::spool::snapshot::Snapshot;
use crate::verbs::claim::Claim;
use crate::verbs::environment::Environment;
use crate::verbs::manager::{end, start};
use anyhow::Result;

/// Sends the pending relaunch to another target, the handoff unchanged.
pub fn into(spool: &Spool, environment: &Environment, target: &Target, account: Option<&str>) -> Result<Intent> {
    let session = spool.session()?;
    let account = checked(spool, environment, &session, target, account)?;
    let claim = Claim::take(spool, "relaunch --into")?;
    let old = pending(spool, &Snapshot::read(spool, session.mode)?)?;
    claim.insist()?;
    let new = Intent { target: target.clone(), account, ..old };
    fact::replace(&Dir::open(&spool.scratch())?, layout::INTENT, &new)?;
    log::note(spool, "relaunch-redirected", Some(new.closing), target.to_string());
    Ok(new)
}

/// Gives a session that is to be resumed another target; a relaunch that is pending goes there, too.
pub fn resume_into(spool: &Spool, environment: &Environment, target: &Target, account: Option<&str>) -> Result<()> {
    let session = spool.session()?;
    if Snapshot::read(spool, session.mode)?.intent.exists() {
        return into(spool, environment, target, account).map(drop);
    }
    let account = checked(spool, environment, &session, target, account)?;
    let claim = Claim::take(spool, "resume --into")?;
    if let Probe::Held(holder) = lease::probe(&spool.scratch().join(layout::MANAGER))? {
        let who = lease::describe(holder.as_ref());
        let message = format!("session {} has got a manager meanwhile: {who}", spool.id());
        return Err(Fault::new(Kind::Busy, message).hint(format!("orbh page {}", spool.id())).into());
    }
    claim.insist()?;
    put_in_force(spool, target, account.as_deref())?;
    log::note(spool, "redirected", None, target.to_string());
    Ok(())
}

/// Checks a target before the claim is taken; gives the account that goes with it.
fn checked(
    spool: &Spool,
    environment: &Environment,
    session: &Session,
    target: &Target,
    account: Option<&str>,
) -> Result<Option<String>> {
    let account = account_for(target, account, spool.in_force()?.as_ref());
    let findings = target_findings(environment, session, target, account.as_deref(), &[])?;
    if findings.is_empty() { Ok(account) } else { Err(Refusal { findings }.into()) }
}

fn put_in_force(spool: &Spool, target: &Target, account: Option<&str>) -> Result<()> {
    let in_force = InForce { target: target.clone(), account: account.map(str::to_owned) };
    fact::replace(&Dir::open(spool.dir())?, layout::TARGET, &in_force)
}

/// Calls the pending relaunch off. The handoff stays where it is, and the target that the session had comes into force
/// again: the other one may be what the relaunch failed for.
pub fn cancel(spool: &Spool) -> Result<Intent> {
    let session = spool.session()?;
    let claim = Claim::take(spool, "relaunch --cancel")?;
    let snapshot = Snapshot::read(spool, session.mode)?;
    let intent = pending(spool, &snapshot)?;
    claim.insist()?;
    intent::retire(spool, intent.closing, "relaunch --cancel")?;
    if let Some(closed) = snapshot.run(intent.closing).and_then(|run| run.run.here()) {
        put_in_force(spool, &closed.target, closed.account.as_deref())?;
    }
    Ok(intent)
}

/// The intent, if its successor has not started. One that was created and has no process is kept from starting first.
fn pending(spool: &Spool, snapshot: &Snapshot) -> Result<Intent> {
    let Some(intent) = snapshot.intent.get()? else {
        let message = format!("session {} has no relaunch pending", spool.id());
        let id = spool.id();
        let over = snapshot.current()?.is_none_or(|run| !run.open(snapshot.mode));
        let fix = match over {
            true => format!("'orbh resume {id}' starts a new run, with --into RUNTIME/PROFILE on another target"),
            false => format!("'orbh compact status {id}' shows where it is"),
        };
        return Err(Refusal::one(Finding::new("no-relaunch", message, fix)).into());
    };
    let Some(attempt) = snapshot.newest_attempt(intent.closing) else { return Ok(intent.clone()) };
    let run = Dir::open(&spool.run(attempt.number))?;
    match attempt.end.get()?.map(|end| end.reason) {
        None => {}
        Some(Reason::SpawnFailed) => {
            // The shim that wrote that may not have synced it: without it the attempt would count as the successor.
            run.sync()?;
            return Ok(intent.clone());
        }
        // It ran and is over; that the intent still stands is a dead manager's doing.
        Some(_) => return Err(started(spool, attempt.number, intent.closing, "orbh resume")),
    }
    let tombstone = attempt.pid.get()?.is_some_and(|pid| pid.process().is_none());
    let ours = start::bury_with_tombstone(&run, "called off before it started")? == crate::ground::dir::Written::Now;
    if !ours && !tombstone {
        return Err(started(spool, attempt.number, intent.closing, "orbh kill"));
    }
    let detail = Some("called off before it started".to_owned());
    let end = End { reason: Reason::SpawnFailed, code: None, signal: None, at: At::now(), detail };
    end::write_end(spool, attempt.number, &end)?;
    Ok(intent.clone())
}

fn started(spool: &Spool, run: RunNumber, closing: RunNumber, verb: &str) -> anyhow::Error {
    let message = format!("run {run} has started: the context of run {closing} is replaced");
    let what = if verb == "orbh kill" { "ends the new run" } else { "begins a run after it" };
    Refusal::one(Finding::new("successor-started", message, format!("'{verb} {}' {what}", spool.id()))).into()
}
