//! `message send`.

use crate::args::Send;
use crate::run::{find, note, queued, text, warn_of_an_ended};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::ground::clock::At;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::{Entry, Flag, Inbox};
use shared::spool::letter::{self, HEAD, Letter};
use shared::verbs::caller::Caller;
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::mail::{self, Parcel, Way};

#[derive(Serialize)]
struct Sent<'a> {
    id: &'a MessageId,
    to: &'a SessionId,
    way: Way,
}

pub fn run(args: &Send, environment: &Environment) -> Result<u8> {
    let inside = environment.run().is_some();
    let caller = if inside { Some(Caller::of(environment, "orbh message send")?) } else { None };
    let answered = match &args.reply_to {
        None => None,
        Some(answered) => Some(original(caller.as_ref(), answered)?),
    };
    // With --reply-to and without a file, one word alone is the text.
    let (id, words) = match (&args.id, &args.text, &args.file) {
        (Some(words), None, None) if answered.is_some() => (None, Some(words.as_str())),
        (id, words, _) => (id.as_deref(), words.as_deref()),
    };
    let to = match (id, &answered) {
        (Some(id), _) => environment.root()?.find(id)?,
        (None, Some((_, letter))) => environment.root()?.session(&sender(letter)?)?,
        (None, None) => return Err(Fault::new(Kind::Usage, "no session was named").into()),
    };
    to.root().writable()?;
    let subject = args.subject.clone().or_else(|| answered.as_ref().map(|(_, letter)| reply(&letter.subject)));
    let text = text(words, args.file.as_deref(), args.subject.as_deref())?;
    let id = MessageId::message();
    let parcel = Parcel {
        id: &id,
        at: At::now(),
        subject: subject.as_deref(),
        in_reply_to: answered.as_ref().and_then(|(_, letter)| letter.message_id.as_deref()),
        text: &text,
    };
    let way = match &caller {
        None => parcel.deliver(&mail::user(), &to).map(|_| Way::Inbox)?,
        Some(caller) => {
            let claim = Claim::take(&caller.spool, "message send")?;
            caller.check(&caller.snapshot()?)?;
            claim.insist()?;
            let way = parcel.send(caller, &to)?;
            if let Some((entry, _)) = &answered {
                mark(caller, entry);
            }
            way
        }
    };
    match args.json {
        true => print_json(&Sent { id: &id, to: to.id(), way })?,
        false => print(&queued(&id, to.id(), way))?,
    }
    if let Some(why) = caller.filter(|_| way == Way::Outbox).and_then(|caller| mail::undelivered(&caller.spool)) {
        note(&why);
    }
    warn_of_an_ended(&to);
    Ok(0)
}

/// The message of the caller's own inbox that is answered.
fn original(caller: Option<&Caller>, named: &str) -> Result<(Entry, Letter)> {
    let Some(caller) = caller else {
        let message = "'--reply-to' works inside a run of a session only: it answers a message of one's own inbox";
        return Err(Fault::new(Kind::Usage, message).hint("name the session, and send it a message").into());
    };
    let entry = find(&caller.spool, named)?;
    let gone = || Fault::new(Kind::Missing, format!("message {} is gone", entry.id()));
    let letter = letter::read(&Inbox::of(&caller.spool), &entry, HEAD)?.ok_or_else(gone)?;
    // Marked as answered, an open question would be an obligation that nobody sees.
    if entry.id().is_question() || letter.question.is_some() {
        let fix = letter.respond().unwrap_or_else(|| "orbh respond ID QUESTION TEXT".to_owned());
        let message = format!("{} is a question, and a message is no answer to it", entry.id());
        return Err(Refusal::one(Finding::new("is-a-question", message, fix)).into());
    }
    Ok((entry, letter))
}

fn sender(letter: &Letter) -> Result<SessionId> {
    let nobody = || {
        let message = format!("message {} names no session that sent it", letter.id);
        Fault::new(Kind::Usage, message).hint("give the id of the session that the answer is for")
    };
    Ok(letter.session.clone().ok_or_else(nobody)?)
}

fn reply(subject: &str) -> String {
    let is_reply = subject.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("re:"));
    if is_reply { subject.to_owned() } else { format!("Re: {subject}") }
}

/// The answer is sent, whatever becomes of the mark.
fn mark(caller: &Caller, entry: &Entry) {
    if let Err(error) = Inbox::of(&caller.spool).mark([entry], Flag::Replied) {
        note(&format!("message {} could not be marked as answered: {error:#}", entry.id()));
    }
}
