//! `orbh session answer` and `cancel`: collecting and calling off what was asked before, by whichever run.

use crate::ask::{Shown, collect, show};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json, tell};
use shared::face::text::{clean, columns, span};
use shared::ground::clock::At;
use shared::ground::dir::LARGEST;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::asked::{self, Question, Standing};
use shared::spool::facts::{Addressee, Request};
use shared::spool::id::{MessageId, RunNumber, SessionId};
use shared::spool::log;
use shared::spool::outbox::{self, Order};
use shared::spool::session::Spool;
use shared::verbs::asking::{called_off, known};
use shared::verbs::caller::{Caller, meant};
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::mail::{self, Parcel};
use shared::verbs::obligations::gist;
use std::time::Duration;

/// How much of a question is read for a list, in bytes.
const HEAD: u64 = 4096;

/// Prints the answer to a question: in a run of the session waiting for it, for an observer as it stands.
pub fn answer(
    environment: &Environment,
    id: &MessageId,
    session: Option<&str>,
    timeout: Option<Duration>,
    json: bool,
) -> Result<u8> {
    if session.is_some() || environment.run().is_none() {
        return observe(&meant(environment, session, "orbh session answer")?, id, json);
    }
    let caller = Caller::of(environment, "orbh session answer")?;
    let question = {
        let _claim = Claim::take(&caller.spool, "session answer")?;
        caller.check(&caller.snapshot()?)?;
        known(&caller.spool, id)?
    };
    if question.standing == Standing::Open {
        deliver_again(&caller, &question)?;
    }
    collect(&caller, environment, id, timeout, json)?;
    Ok(0)
}

fn observe(spool: &Spool, id: &MessageId, json: bool) -> Result<u8> {
    let question = known(spool, id)?;
    match question.standing {
        Standing::CalledOff => Err(called_off(id).into()),
        Standing::Answered | Standing::Seen => {
            let text = question.answer(LARGEST)?.map(|(text, _)| text).unwrap_or_default();
            show(spool, id, &text, json)?;
            Ok(0)
        }
        Standing::Open => {
            let message = format!("the question {id} of session {} has no answer yet", spool.id());
            let fix = match question.request.get()?.map(|request| &request.to) {
                Some(Addressee::Session(other)) => format!("session {other} was asked: orbh page {other}"),
                _ => format!("orbh respond {} {id} TEXT", spool.id()),
            };
            Err(Refusal::one(Finding::new("open", message, fix)).into())
        }
    }
}

/// Who puts a question to a session writes it down before sending it, and may have been killed in between. Delivered
/// twice it is there once.
fn deliver_again(caller: &Caller, question: &Question) -> Result<()> {
    let Some(request) = question.request.get()? else { return Ok(()) };
    let Addressee::Session(to) = &request.to else { return Ok(()) };
    let gone = |error: anyhow::Error| match error.downcast::<Fault>() {
        Ok(fault) if fault.kind == Kind::Missing => {
            let message = format!("session {to}, which was asked {}, is gone", request.id);
            Fault::new(Kind::Missing, message).hint(format!("orbh session cancel {}", request.id)).into()
        }
        Ok(fault) => fault.into(),
        Err(error) => error,
    };
    let spool = caller.spool.root().session(to).map_err(gone)?;
    let text = question.text(LARGEST)?;
    let parcel = Parcel { id: &request.id, at: request.at, subject: None, in_reply_to: None, text: &text };
    match parcel.deliver(&mail::session(&caller.spool), &spool) {
        Ok(_) => Ok(()),
        Err(error) if outbox::barred(&error) => order_again(caller, request, to, text),
        Err(error) => Err(error),
    }
}

fn order_again(caller: &Caller, request: &Request, to: &SessionId, text: String) -> Result<()> {
    if text.len() > outbox::LONGEST {
        let message = format!("the question {} is longer than {} bytes, and was not sent", request.id, outbox::LONGEST);
        return Err(Fault::new(Kind::Missing, message).hint(format!("orbh session cancel {}", request.id)).into());
    }
    let (id, to) = (request.id.clone(), to.clone());
    let order = Order::Message { id, to, at: request.at, subject: None, in_reply_to: None, text };
    outbox::put(&caller.spool, &order)
}

#[derive(Serialize)]
struct Listed<'a> {
    session: &'a SessionId,
    question: &'a MessageId,
    standing: &'static str,
    to: Option<String>,
    blocking: Option<bool>,
    run: Option<RunNumber>,
    asked_at: Option<At>,
    answered_at: Option<At>,
    text: String,
}

/// Lists the questions of a session, each with its standing.
pub fn list(environment: &Environment, session: Option<&str>, json: bool) -> Result<u8> {
    let spool = meant(environment, session, "orbh session answer")?;
    let (questions, mut damage) = asked::all(&spool, |_| true)?;
    let mut rows = vec![["QID", "STANDING", "TO", "AGE", "QUESTION"].map(str::to_owned).to_vec()];
    for question in &questions {
        let text = question.text(HEAD).unwrap_or_else(|error| {
            damage.push(format!("{error:#}"));
            String::new()
        });
        let listed = listed(&spool, question, &text);
        if json {
            print_json(&listed)?;
        }
        rows.push(vec![
            listed.question.to_string(),
            listed.standing.to_owned(),
            listed.to.unwrap_or_else(|| "-".to_owned()),
            listed.asked_at.map_or_else(|| "-".to_owned(), |at| span(at.age())),
            clean(&listed.text),
        ]);
    }
    if !json && !questions.is_empty() {
        print(&columns(&rows))?;
    }
    for message in &damage {
        tell(&format!("orbh-session: {}\n", clean(message)));
    }
    Ok(if damage.is_empty() { 0 } else { 65 })
}

fn listed<'a>(spool: &'a Spool, question: &'a Question, text: &str) -> Listed<'a> {
    let request = question.request.here();
    let answered = matches!(question.standing, Standing::Answered | Standing::Seen);
    Listed {
        session: spool.id(),
        question: &question.id,
        standing: question.standing.name(),
        to: request.map(|request| request.to.to_string()),
        blocking: request.map(|request| request.blocking),
        run: request.and_then(|request| request.run),
        asked_at: request.map(|request| request.at),
        answered_at: question.answered_at().filter(|_| answered),
        text: gist(text),
    }
}

/// Calls an open question of the calling session off.
pub fn cancel(environment: &Environment, id: &MessageId, json: bool) -> Result<u8> {
    let caller = Caller::of(environment, "orbh session cancel")?;
    let claim = Claim::take(&caller.spool, "session cancel")?;
    caller.check(&caller.snapshot()?)?;
    known(&caller.spool, id)?;
    claim.insist()?;
    if asked::call_off(&caller.spool, id)? == shared::ground::dir::Written::Before {
        let question = known(&caller.spool, id)?;
        if question.standing == Standing::CalledOff {
            return Err(called_off(id).into());
        }
        let message = format!("the question {id} is answered");
        let fix = format!("orbh session answer {id}");
        return Err(Refusal::one(Finding::new("answered", message, fix)).into());
    }
    log::note(&caller.spool, "cancelled", Some(caller.run), id.to_string());
    let session = &caller.session.id;
    match json {
        true => print_json(&Shown { session, question: id, standing: Standing::CalledOff.name(), answer: None })?,
        false => print(&format!("called off {id}\n"))?,
    }
    Ok(0)
}
