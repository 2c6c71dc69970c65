//! `orbh kill`: end the current run of a session.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::entry::warn_of_unusable;
use shared::face::output::{print, print_json};
use shared::spool::facts::{End, Reason};
use shared::spool::id::{RunNumber, SessionId};
use shared::verbs::environment::Environment;
use shared::verbs::succession::kill::kill;

#[derive(Serialize)]
struct Killed<'a> {
    session: &'a SessionId,
    run: RunNumber,
    end: &'a End,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    warn_of_unusable("orbh-kill", environment);
    let spool = environment.root()?.find(&args.id)?;
    let by = match environment.session() {
        Some(session) => format!("session {session}"),
        None => format!("uid {}", nix::unistd::getuid()),
    };
    let killed = kill(&spool, environment, &by)?;
    if args.json {
        print_json(&Killed { session: spool.id(), run: killed.run, end: &killed.end })?;
        return Ok(0);
    }
    match killed.end.reason {
        Reason::Killed => print(&format!("run {} of session {} is killed\n", killed.run, spool.id()))?,
        other => print(&format!("run {} of session {} had ended before ({other})\n", killed.run, spool.id()))?,
    }
    Ok(0)
}
