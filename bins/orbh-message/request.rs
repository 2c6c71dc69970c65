//! `message request`.

use crate::args::Request;
use crate::run::{note, queued, text, warn_of_an_ended};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_exactly, print_json};
use shared::ground::clock::At;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::announced;
use shared::spool::id::{MessageId, SessionId};
use shared::verbs::asking::put_to_session;
use shared::verbs::asking::wait::{Waited, wait};
use shared::verbs::caller::Caller;
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::events::{Event, announce, consume};
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
    match wait(&caller.spool, &id, environment, args.timeout.map(Duration::from_secs))? {
        Waited::Answered(answer) => {
            match args.json {
                true => print_json(&put(Some(&answer)))?,
                false if answer.ends_with('\n') => print_exactly(&answer)?,
                false => print_exactly(&format!("{answer}\n"))?,
            }
            shown(&caller, id)?;
            Ok(0)
        }
        Waited::CalledOff => {
            let message = format!("question {id} was called off");
            let fix = "orbh page: a message there says why, if it could not be delivered";
            Err(Refusal::one(Finding::new("called-off", message, fix)).into())
        }
        Waited::TimedOut => {
            let message = format!("session {} has not answered {id} in time; the question stays open", to.id());
            let hint = format!("'orbh session answer {id}' waits on; 'orbh session cancel {id}' calls it off");
            Err(Fault::new(Kind::Busy, message).hint(hint).into())
        }
    }
}

/// The answer is printed: as on a Page, it is consumed if the run goes on, and told of only during a hold.
fn shown(caller: &Caller, id: MessageId) -> Result<()> {
    let claim = Claim::take(&caller.spool, "message request")?;
    let snapshot = caller.look()?;
    caller.check(&snapshot)?;
    let events = [Event::Answer(id)];
    if snapshot.effective_hold().is_some() {
        let told = announced::read_of(&caller.spool, caller.run);
        return announce(&caller.spool, caller.run, &events, &told);
    }
    claim.insist()?;
    consume(&caller.spool, caller.run, &events)
}
