//! `orbh context`: the occupancy of a session, once or at each change.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::exit;
use shared::face::output::{print, print_json, tell};
use shared::ground::fault::{Fault, Kind};
use shared::ground::watch::Watch;
use shared::harness::occupancy::{self, Occupancy};
use shared::spool::id::SessionId;
use shared::spool::session::Spool;
use shared::spool::snapshot::newest;
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;
use shared::verbs::overview::Overview;

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
    let Some((number, run)) = newest(spool)? else {
        let message = format!("session {} has no run yet", spool.id());
        return Err(Fault::new(Kind::Missing, message).hint(format!("orbh inspect {}", spool.id())).into());
    };
    occupancy::read(spool, number, &run)
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
    let mut damage = None;
    loop {
        watch.drain();
        // The state first: what a run reports last, just before it is over, is shown as well.
        let over = !Overview::read(spool)?.state.works();
        match read(spool) {
            Ok(occupancy) => {
                watch.add(&spool.run(occupancy.run))?;
                // The same number written again is no change.
                let number = (occupancy.run, occupancy.used, occupancy.max);
                if shown != Some(number) {
                    show(spool, &occupancy, json)?;
                    shown = Some(number);
                }
                damage = None;
            }
            // A harness that writes its report in place is met halfway sometimes: said once, and looked at again.
            Err(error) if !over && exit::kind(&error) == Kind::Damaged => {
                let words = exit::words("orbh-context", &error);
                if damage.as_ref() != Some(&words) {
                    tell(&words);
                    damage = Some(words);
                }
            }
            Err(error) => return Err(error),
        }
        if over {
            return Ok(());
        }
        watch.wait(&[], None)?;
    }
}
