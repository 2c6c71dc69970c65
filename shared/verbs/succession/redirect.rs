//! `relaunch --into` and `relaunch --cancel`: what can be done about an accepted handoff whose successor is not up.

use super::intent;
use crate::ground::clock::At;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::{Finding, Refusal};
use crate::spool::facts::{End, Intent, Reason};
use crate::spool::id::Target;
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
    let findings = super::handoff::target_findings(environment, &session, target, account)?;
    if !findings.is_empty() {
        return Err(Refusal { findings }.into());
    }
    let _claim = Claim::take(spool, "relaunch --into")?;
    let old = pending(spool, &Snapshot::read(spool, session.mode)?)?;
    let new = Intent { target: target.clone(), account: account.map(str::to_owned), ..old };
    fact::replace(&Dir::open(&spool.scratch())?, layout::INTENT, &new)?;
    log::note(spool, "relaunch-redirected", Some(new.closing), target.to_string());
    Ok(new)
}

/// Calls the pending relaunch off. The handoff stays where it is.
pub fn cancel(spool: &Spool) -> Result<Intent> {
    let session = spool.session()?;
    let _claim = Claim::take(spool, "relaunch --cancel")?;
    let intent = pending(spool, &Snapshot::read(spool, session.mode)?)?;
    intent::retire(spool, intent.closing, "relaunch --cancel")?;
    Ok(intent)
}

/// The intent, if its successor has not started. One that was created and has no process is kept from starting first.
fn pending(spool: &Spool, snapshot: &Snapshot) -> Result<Intent> {
    let Some(intent) = snapshot.intent.get()? else {
        let message = format!("session {} has no relaunch pending", spool.id());
        let fix = "'orbh compact status ID' shows where it is; 'orbh resume ID' starts a new run of one that is over";
        return Err(Refusal::one(Finding::new("no-relaunch", message, fix)).into());
    };
    let Some(attempt) = snapshot.newest_attempt(intent.closing).filter(|run| !run.end.exists()) else {
        return Ok(intent.clone());
    };
    let run = Dir::open(&spool.run(attempt.number))?;
    let tombstone = attempt.pid.get()?.is_some_and(|pid| pid.process().is_none());
    let ours = start::bury_with_tombstone(&run, "called off before it started")? == crate::ground::dir::Written::Now;
    if !ours && !tombstone {
        let message = format!("run {} has started: the context of run {} is replaced", attempt.number, intent.closing);
        let fix = format!("'orbh kill {}' ends the new run", spool.id());
        return Err(Refusal::one(Finding::new("successor-started", message, fix)).into());
    }
    let detail = Some("called off before it started".to_owned());
    let end = End { reason: Reason::SpawnFailed, code: None, signal: None, at: At::now(), detail };
    end::write_end(spool, attempt.number, &end)?;
    Ok(intent.clone())
}
