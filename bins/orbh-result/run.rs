//! `orbh result`: what a session returned.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print_exactly_ended, print_json};
use shared::ground::clock::At;
use shared::ground::dir::read;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::facts::{Disposition, Mode};
use shared::spool::id::{RunNumber, SessionId};
use shared::spool::layout;
use shared::spool::snapshot::{Purpose, Snapshot};
use shared::verbs::environment::Environment;
use shared::verbs::overview::Overview;

#[derive(Serialize)]
struct Returned<'a> {
    session: &'a SessionId,
    run: RunNumber,
    disposition: Disposition,
    at: At,
    text: &'a str,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = environment.root()?.find(&args.id)?;
    let wanted = args.run.as_deref().map(str::parse::<RunNumber>).transpose()?;
    let snapshot = Snapshot::read_for(Purpose::Show, &spool, Mode::Headless)?;
    if let Some(number) = wanted.filter(|number| snapshot.run(*number).is_none()) {
        let message = format!("session {} has no run {number}", spool.id());
        return Err(Fault::new(Kind::Missing, message).hint(format!("orbh inspect {}", spool.id())).into());
    }
    let mut candidates = snapshot.runs.iter().rev().filter(|run| wanted.is_none_or(|number| number == run.number));
    let Some(run) = candidates.find(|run| run.returned.exists()) else {
        let overview = Overview::read(&spool)?;
        let message = match wanted {
            Some(number) => format!("run {number} of session {} has returned no result", spool.id()),
            None => format!("session {} has returned no result; it is {}", spool.id(), overview.state),
        };
        let fix = overview.hint.unwrap_or_else(|| format!("orbh page {}", spool.id()));
        return Err(Refusal::one(Finding::new("no-result", message, fix)).into());
    };
    let path = spool.returns().join(layout::return_text(run.number));
    let bytes = read(&path)?.ok_or_else(|| spool.missing(&path))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match run.returned.get()? {
        Some(returned) if args.json => {
            let (disposition, at) = (returned.disposition, returned.at);
            print_json(&Returned { session: spool.id(), run: run.number, disposition, at, text: &text })?;
        }
        _ => print_exactly_ended(&text)?,
    }
    Ok(0)
}
