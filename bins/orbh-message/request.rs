//! `message request`.

use crate::args::Request;
use crate::run::{note, queued, text, warn_of_an_ended};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_exactly_ended, print_json};
use shared::ground::clock::At;
use shared::ground::fault::{Finding, Refusal};
use shared::spool::id::{MessageId, SessionId};
use shared::verbs::asking::wait::wait;
use shared::verbs::asking::{self, put_to_session};
use shared::verbs::caller::Caller;
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::mail::{self, Parcel, Way};
use std::time::Duration;

#[derive(Serialize)]
struct Put<'a> {
    id: &'a MessageId,
    to: &'a SessionId,
    way: Way,
    answer: Option<&'a str>,
}

pub fn run(args: &Request, environment: &Environment) -> Result<u8> {
    let caller = Caller::of(environment, "orbh message request")?;
    let to = environment.root()?.find(&args.id)?;
    if to.id() == caller.spool.id() {
        let message = "a session cannot put a question to itself";
        let fix = "'orbh session ask TEXT' asks a person";
        return Err(Refusal::one(Finding::new("asks-itself", message, fix)).into());
    }
    let text = text(args.text.as_deref(), args.file.as_deref(), None)?;
    let id = MessageId::question();
    let parcel = Parcel { id: &id, at: At::now(), subject: args.subject.as_deref(), in_reply_to: None, text: &text };
    let way = {
        let claim = Claim::take(&caller.spool, "message request")?;
        caller.check(&caller.snapshot()?)?;
        claim.insist()?;
        put_to_session(&caller, &to, &parcel, !args.deferred)?
    };
    if let Some(why) = Some(way).filter(|way| *way == Way::Outbox).and_then(|_| mail::undelivered(&caller.spool)) {
        note(&why);
    }
    warn_of_an_ended(&to);
    let put = |answer| Put { id: &id, to: to.id(), way, answer };
    if args.deferred {
        match args.json {
            true => print_json(&put(None))?,
            false => print(&queued(&id, to.id(), way))?,
        }
        return Ok(0);
    }
    // Before the wait: whoever is stopped in it has to know what to collect.
    note(&format!("put {id} to session {}, and wait for its answer", to.id()));
    let waited = wait(&caller.spool, &id, environment, args.timeout.map(Duration::from_secs))?;
    let answer = asking::answer(&id, waited)?;
    match args.json {
        true => print_json(&put(Some(&answer)))?,
        false => print_exactly_ended(&answer)?,
    }
    if asking::seen(&caller, &id)? {
        note(asking::kept(&id).trim_end());
    }
    Ok(0)
}
