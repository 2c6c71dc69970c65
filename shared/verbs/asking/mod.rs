//! Putting a question, and waiting for what comes of it.

pub mod wait;

use super::caller::Caller;
use super::claim::Claim;
use super::events::{self, Event};
use super::mail::{Parcel, Way};
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::spool::asked::Question;
use crate::spool::facts::{Addressee, Request};
use crate::spool::id::MessageId;
use crate::spool::session::Spool;
use crate::spool::{announced, asked};
use anyhow::Result;
use wait::Waited;

/// Puts the question of a parcel to a session: first the record, in the spool of the one who asks, then the message of
/// the same id. The claim is held, and the run was checked under it.
///
/// A question that could be sent neither way is called off: nobody would ever answer it.
pub fn put_to_session(caller: &Caller, to: &Spool, parcel: &Parcel<'_>, blocking: bool) -> Result<Way> {
    let request = Request {
        id: parcel.id.clone(),
        to: Addressee::Session(to.id().clone()),
        blocking,
        run: Some(caller.run),
        at: parcel.at,
    };
    asked::put(&caller.spool, &request, parcel.text)?;
    parcel.send(caller, to).inspect_err(|_| {
        // As far as that is possible: what failed may fail again.
        let _ = asked::call_off(&caller.spool, parcel.id);
    })
}

/// The question of that id; it must be one of this session.
pub fn known(asker: &Spool, id: &MessageId) -> Result<Question> {
    let unknown = || {
        let message = format!("session {} has put no question {id}", asker.id());
        Fault::new(Kind::Missing, message).hint(format!("orbh session answer --session {}", asker.id()))
    };
    Ok(asked::find(asker, id)?.ok_or_else(unknown)?)
}

/// The answer for which was waited, or why there is none.
pub fn answer(id: &MessageId, waited: Waited) -> Result<String> {
    match waited {
        Waited::Answered(text) => Ok(text),
        Waited::CalledOff => Err(called_off(id).into()),
        Waited::TimedOut => {
            let message = format!("the question {id} has no answer yet; it stays open");
            let hint = format!("'orbh session answer {id}' waits on; 'orbh session cancel {id}' calls it off");
            Err(Fault::new(Kind::Busy, message).hint(hint).into())
        }
        Waited::RunOver(why) => {
            let message = format!("cannot wait for the answer to {id} any longer: {why}");
            let hint = format!("the question stays; who goes on with the session runs 'orbh session answer {id}'");
            Err(Fault::new(Kind::Missing, message).hint(hint).into())
        }
    }
}

/// The refusal of whatever needs an open question.
pub fn called_off(id: &MessageId) -> Refusal {
    let message = format!("the question {id} was called off");
    let fix =
        "go on without an answer, or ask anew; one that could not be delivered came back, and 'orbh page' says why";
    Refusal::one(Finding::new("cancelled", message, fix))
}

/// Notes that an answer was printed: it is consumed if the run goes on. During a hold it only counts as told, because
/// the context that was told ends, and the one after it has the question among its obligations. Says whether it is held.
pub fn seen(caller: &Caller, id: &MessageId) -> Result<bool> {
    let claim = Claim::take(&caller.spool, "session answer")?;
    let snapshot = caller.look()?;
    caller.check(&snapshot)?;
    let shown = [Event::Answer(id.clone())];
    if snapshot.effective_hold().is_some() {
        let told = announced::read_of(&caller.spool, caller.run);
        events::announce(&caller.spool, caller.run, &shown, &told)?;
        return Ok(true);
    }
    claim.insist()?;
    events::consume(&caller.spool, caller.run, &shown)?;
    Ok(false)
}

/// What to say to whom an answer was printed during a hold.
pub fn kept(id: &MessageId) -> String {
    format!("the answer is kept for the successor as well: name {id} in the handoff\n")
}
