//! `orbh context`: the occupancy of a session, once or at each change.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::ground::fault::{Fault, Kind};
use shared::ground::watch::Watch;
use shared::harness::occupancy::{self, Occupancy};
use shared::spool::id::SessionId;
use shared::spool::session::Spool;
use shared::spool::snapshot::newest;
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;
use shared::verbs::overview::{Overview, State};

#[derive(Serialize)]
struct Line<'a> {
    session: &'a SessionId,
    #[serde(flatten)]
    occupancy: &'a Occupancy,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = meant(environment, args.id.as_deref(), "orbh context")?;
    if args.watch {
        follow(&spool, args.json, environment)?
    } else {
        show(&spool, &read(&spool)?, args.json)?
    }
    Ok(0)
}

fn read(spool: &Spool) -> Result<Occupancy> {
    let Some(run) = newest(spool)? else {
        let message = format!("session {} has no run yet", spool.id());
        return Err(Fault::new(Kind::Missing, message).hint(format!("orbh inspect {}", spool.id())).into());
    };
    occupancy::read(spool, run.context, &run)
}

fn show(spool: &Spool, occupancy: &Occupancy, json: bool) -> Result<()> {
    match json {
        true => print_json(&Line { session: spool.id(), occupancy }),
        false => print(&format!("{occupancy}\n")),
    }
}

fn follow(spool: &Spool, json: bool, environment: &Environment) -> Result<()> {
    let mut watch = Watch::new(environment.watch())?;
    for dir in [spool.scratch(), spool.runs(), spool.returns()] {
        watch.add(&dir)?;
    }
    let mut shown = None;
    loop {
        watch.drain();
        let occupancy = read(spool)?;
        watch.add(&spool.run(occupancy.run))?;
        if shown.as_ref() != Some(&occupancy) {
            show(spool, &occupancy, json)?;
            shown = Some(occupancy);
        }
        if Overview::read(spool)?.state != State::Working {
            return Ok(());
        }
        watch.wait(&[], None)?;
    }
}
