//! `orbh resume`: a new run of a session that has none.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::input;
use shared::face::output::{print, print_json};
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::facts::{Reason, RunKind};
use shared::spool::id::{RunNumber, SessionId};
use shared::spool::session::Spool;
use shared::verbs::environment::Environment;
use shared::verbs::launch::{HANDSHAKE, Order, start_manager};
use shared::verbs::overview::Overview;

#[derive(Serialize)]
struct Resumed<'a> {
    session: &'a SessionId,
    run: RunNumber,
    kind: RunKind,
    adopted: bool,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = environment.root()?.find(&args.id)?;
    spool.root().writable()?;
    let added = input::text(args.prompt.as_deref(), args.file.as_deref())?;
    let before = Overview::read(&spool)?;
    if let Some(message) = before.damage.first().filter(|_| before.run.is_none() && before.runs > 0) {
        return Err(Fault::new(Kind::Damaged, message.clone()).hint(format!("orbh inspect {}", spool.id())).into());
    }
    if let Some(manager) = &before.manager {
        let message = format!("session {} is {} already, kept by pid {}", spool.id(), before.state, manager.pid);
        let fix = format!("'orbh page {}' shows what it does", spool.id());
        return Err(Refusal::one(Finding::new("already-running", message, fix)).into());
    }
    let said = start_manager(environment, &spool, &Order::Resume(added), HANDSHAKE)?;
    report(args, &spool, before.run.map(|run| run.run), &said)
}

fn report(args: &Args, spool: &Spool, before: Option<RunNumber>, said: &str) -> Result<u8> {
    let overview = Overview::read(spool)?;
    let fail = |reason: &str| {
        let message = format!("session {} did not come up: {reason}", spool.id());
        Err(Fault::new(Kind::System, message).hint(format!("orbh inspect {}", spool.id())).into())
    };
    let Some(run) = &overview.run else { return fail(said) };
    let fresh = before != Some(run.run);
    match run.end {
        Some(Reason::SpawnFailed) => return fail(run.detail.as_deref().unwrap_or(said)),
        Some(_) if !fresh => return fail(said),
        // The manager could not adopt it, and has said why.
        None if !fresh && overview.manager.is_none() => return fail(said.trim_start_matches("orbh-relaunch: ")),
        _ => {}
    }
    let adopted = !fresh;
    match args.json {
        true => print_json(&Resumed { session: spool.id(), run: run.run, kind: run.kind, adopted })?,
        false if adopted => {
            print(&format!("run {} of session {} was alive; it has a manager again\n", run.run, spool.id()))?
        }
        false => print(&format!("run {} ({}) of session {}\n", run.run, run.kind, spool.id()))?,
    }
    Ok(0)
}
