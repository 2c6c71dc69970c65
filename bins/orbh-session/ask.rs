//! `orbh session ask`: a question to a person, and what is done with an answer.

use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_exactly_ended, print_json, tell};
use shared::ground::clock::At;
use shared::ground::fault::{Finding, Refusal};
use shared::spool::facts::{Addressee, Request};
use shared::spool::id::{MessageId, SessionId};
use shared::spool::session::Spool;
use shared::spool::{asked, log};
use shared::verbs::asking;
use shared::verbs::asking::wait::wait;
use shared::verbs::caller::Caller;
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::obligations::gist;
use std::time::Duration;

/// A question as `--json` shows it; with its answer, where there is one.
#[derive(Serialize)]
pub struct Shown<'a> {
    pub session: &'a SessionId,
    pub question: &'a MessageId,
    pub standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<&'a str>,
}

/// Puts a question to a person, and waits for the answer if that is wanted, at most as long as it says.
pub fn ask(environment: &Environment, text: &str, wanted: Option<Option<Duration>>, json: bool) -> Result<u8> {
    let caller = Caller::of(environment, "orbh session ask")?;
    if text.trim().is_empty() {
        let finding = Finding::new("empty-question", "the question is empty", "say what you want to know");
        return Err(Refusal::one(finding).into());
    }
    let (run, blocking) = (Some(caller.run), wanted.is_some());
    let request = Request { id: MessageId::question(), to: Addressee::Human, blocking, run, at: At::now() };
    put(&caller, &request, text)?;
    let id = &request.id;
    tell(&format!("asked {id}\n"));
    match (wanted, json) {
        (Some(timeout), _) => collect(&caller, environment, id, timeout, json)?,
        (None, true) => {
            print_json(&Shown { session: &caller.session.id, question: id, standing: "open", answer: None })?
        }
        (None, false) => print(&format!("{id}\n"))?,
    }
    Ok(0)
}

fn put(caller: &Caller, request: &Request, text: &str) -> Result<()> {
    let claim = Claim::take(&caller.spool, "session ask")?;
    caller.check(&caller.snapshot()?)?;
    claim.insist()?;
    asked::put(&caller.spool, request, text)?;
    log::note(&caller.spool, "asked", Some(caller.run), format!("{} of a person: {}", request.id, gist(text)));
    Ok(())
}

/// Waits for the answer, prints it, and marks it as seen.
pub fn collect(
    caller: &Caller,
    environment: &Environment,
    id: &MessageId,
    timeout: Option<Duration>,
    json: bool,
) -> Result<()> {
    let text = asking::answer(id, wait(&caller.spool, id, environment, timeout)?)?;
    show(&caller.spool, id, &text, json)?;
    if asking::seen(caller, id)? {
        tell(&asking::kept(id));
    }
    Ok(())
}

/// Prints an answer: to a program byte by byte.
pub fn show(spool: &Spool, id: &MessageId, text: &str, json: bool) -> Result<()> {
    if json {
        let standing = asked::Standing::Answered.name();
        return print_json(&Shown { session: spool.id(), question: id, standing, answer: Some(text) });
    }
    print_exactly_ended(text)
}
