//! `orbh respond`: finds the question, checks that the caller may answer it, and writes the answer once.

use crate::args::Args;
use crate::person::run_above;
use anyhow::Result;
use serde::Serialize;
use shared::face::input;
use shared::face::output::{print, print_json, tell};
use shared::face::text::{clean, cut};
use shared::ground::clock::At;
use shared::ground::dir::Written;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::asked::{self, Question, Standing};
use shared::spool::facts::Addressee;
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::{Entry, Flag, Inbox};
use shared::spool::log;
use shared::spool::outbox::{self, Order};
use shared::spool::session::Spool;
use shared::spool::snapshot::Found;
use shared::verbs::asking::known;
use shared::verbs::caller::Caller;
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::mail;
use shared::verbs::obligations::gist;
use shared::verbs::overview::{Overview, State};

/// How much of a question is read to tell it from others, in bytes.
const HEAD: u64 = 4096;
/// The most characters of it that are shown.
const SHORT: usize = 60;

/// Who answers.
enum Answerer {
    /// A person, as far as the environment tells.
    Person,
    /// The run of a session.
    Run(Box<Caller>),
}

impl Answerer {
    fn of(environment: &Environment) -> Result<Answerer> {
        let inside = [environment.session(), environment.run(), environment.nonce()].iter().any(Option::is_some);
        Ok(match inside {
            true => Answerer::Run(Box::new(Caller::of(environment, "orbh respond")?)),
            false => Answerer::Person,
        })
    }

    /// Whether a question that is put to `to` is for this one to answer.
    fn is_asked(&self, to: &Addressee) -> bool {
        match (self, to) {
            (Answerer::Person, Addressee::Human) => true,
            (Answerer::Run(caller), Addressee::Session(id)) => caller.session.id == *id,
            _ => false,
        }
    }
}

/// Whom the answer reached, and how.
#[derive(Serialize)]
struct Reached<'a> {
    session: &'a SessionId,
    title: Option<String>,
    question: &'a MessageId,
    by: &'a str,
    delivered: bool,
    state: State,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let (named, text) = words(args)?;
    if text.trim().is_empty() {
        let finding = Finding::new("empty-answer", "the answer is empty", "say what is to be done");
        return Err(Refusal::one(finding).into());
    }
    let asker = environment.root()?.find(&args.id)?;
    asker.root().writable()?;
    let answerer = match (Answerer::of(environment), &named) {
        // Half of the environment of a run is a reason as good as all of it.
        (Err(error), Some(id)) => {
            refuse_for_person(&known(&asker, id)?, "the environment is that of a run")?;
            return Err(error);
        }
        (answerer, _) => answerer?,
    };
    let question = match named {
        Some(id) => known(&asker, &id)?,
        None => only_one(&asker, &answerer)?,
    };
    let delivered = match &answerer {
        Answerer::Person => by_person(&asker, &question, &text)?,
        Answerer::Run(caller) => by_run(&asker, &question, caller, &text)?,
    };
    report(&asker, &question.id, &answerer, delivered, args.json)?;
    Ok(0)
}

/// The question that was named, if one was, and the answer.
fn words(args: &Args) -> Result<(Option<MessageId>, String)> {
    let nothing = || Fault::new(Kind::Usage, "no answer was given").hint("give it after the id, '-', or --file FILE");
    let (question, text) = match (args.words.as_slice(), &args.file) {
        ([text], None) if text.parse::<MessageId>().is_ok() => return Err(nothing().into()),
        ([], None) => return Err(nothing().into()),
        ([text], None) => (None, input::text(Some(text), None)?),
        ([question, text], None) => (Some(question.parse()?), input::text(Some(text), None)?),
        ([], Some(file)) => (None, input::text(None, Some(file))?),
        ([question], Some(file)) => (Some(question.parse()?), input::text(None, Some(file))?),
        _ => {
            let message = "the answer was given twice: as an argument and by --file";
            return Err(Fault::new(Kind::Usage, message).hint("orbh respond ID [QID] --file FILE").into());
        }
    };
    Ok((question, text.ok_or_else(nothing)?))
}

/// The only question that is open there and that the caller may answer.
fn only_one(asker: &Spool, answerer: &Answerer) -> Result<Question> {
    let (open, damage) = asked::all(asker, |standing| standing == Standing::Open)?;
    let to = |question: &Question| question.request.here().map(|request| request.to.clone());
    let (mut mine, others): (Vec<Question>, Vec<Question>) =
        open.into_iter().partition(|question| to(question).is_some_and(|to| answerer.is_asked(&to)));
    if mine.len() > 1 {
        let line = |question: &Question| {
            let text = gist(&question.text(HEAD).unwrap_or_default());
            format!("{} ({})", question.id, cut(&clean(&text), SHORT))
        };
        let listed: Vec<String> = mine.iter().map(line).collect();
        let message = format!("session {} has {} open questions: {}", asker.id(), mine.len(), listed.join("; "));
        return Err(Fault::new(Kind::Usage, message).hint(format!("orbh respond {} QID TEXT", asker.id())).into());
    }
    if let Some(question) = mine.pop() {
        return Ok(question);
    }
    if let (Answerer::Run(_), Some(question)) = (answerer, others.first()) {
        refuse_for_person(question, "the environment is that of a run")?;
    }
    if let Some(why) = damage.first() {
        return Err(Fault::new(Kind::Damaged, why.clone()).into());
    }
    let message = format!("session {} has no open question that is yours to answer", asker.id());
    Err(Fault::new(Kind::Missing, message).hint(format!("orbh session answer --session {}", asker.id())).into())
}

/// Whom the question is put to; damage when that cannot be known.
fn addressee(question: &Question) -> Result<Option<&Addressee>> {
    match &question.request {
        Found::Damaged(why) => Err(Fault::new(Kind::Damaged, why.clone())
            .hint(format!("look at '{}'; a file answer.md in it is the answer", question.dir().display()))
            .into()),
        request => Ok(request.here().map(|request| &request.to)),
    }
}

/// Refuses what only a person may answer.
fn refuse_for_person(question: &Question, why: &str) -> Result<()> {
    if addressee(question)? != Some(&Addressee::Human) {
        return Ok(());
    }
    let message = format!("only a person may answer the question {}, and {why}", question.id);
    let fix = "leave it to the person; they see it with 'orbh list'";
    Err(Refusal::one(Finding::new("person-only", message, fix)).into())
}

/// Refuses what is answered or called off.
fn refuse_closed(question: &Question) -> Result<()> {
    let id = &question.id;
    let finding = match question.standing {
        Standing::Open => return Ok(()),
        Standing::CalledOff => {
            Finding::new("cancelled", format!("the question {id} was called off"), "nothing is left to answer")
        }
        Standing::Answered | Standing::Seen => {
            // What is no answer that anybody can read is damage, to be moved away.
            question.answer(1)?;
            let at = question.answered_at().map_or_else(String::new, |at| format!(", at {at}"));
            let fix = "the first answer counts; send the session a message if there is more to say";
            Finding::new("answered", format!("the question {id} is answered already{at}"), fix)
        }
    };
    Err(Refusal::one(finding).into())
}

/// A person answers.
fn by_person(asker: &Spool, question: &Question, text: &str) -> Result<bool> {
    if let Some(Addressee::Session(other)) = addressee(question)? {
        let message = format!("the question {} is put to session {other}", question.id);
        let fix = format!("its agent answers it; 'orbh page {other}' shows whether it knows");
        return Err(Refusal::one(Finding::new("not-yours", message, fix)).into());
    }
    if let Some(why) = run_above(asker.root())? {
        refuse_for_person(question, &why)?;
    }
    refuse_closed(question)?;
    write(asker, question, text)?;
    log::note(asker, "answered", None, format!("{} by a person", question.id));
    Ok(true)
}

/// The current run of a session answers what its session was asked: false when its manager has to deliver it.
fn by_run(asker: &Spool, question: &Question, caller: &Caller, text: &str) -> Result<bool> {
    refuse_for_person(question, "the environment is that of a run")?;
    let me = &caller.session.id;
    if addressee(question)? != Some(&Addressee::Session(me.clone())) {
        let message = format!("the question {} is not put to this session, {me}", question.id);
        return Err(Refusal::one(Finding::new("not-yours", message, "leave it to whom it is put to")).into());
    }
    let claim = Claim::take(&caller.spool, "respond")?;
    caller.check(&caller.snapshot()?)?;
    refuse_closed(question)?;
    refuse_waiting(caller, asker, question)?;
    claim.insist()?;
    let delivered = match write(asker, question, text) {
        Ok(()) => true,
        Err(error) if outbox::barred(&error) => {
            order(caller, asker, question, text)?;
            false
        }
        Err(error) => return Err(error),
    };
    if delivered {
        log::note(asker, "answered", None, format!("{} by session {me}", question.id));
    }
    // It is answered, whatever becomes of the mark.
    if let Err(error) = mark(&caller.spool, &question.id, delivered) {
        tell(&format!("orbh-respond: {}\n", clean(&format!("{error:#}"))));
    }
    Ok(delivered)
}

fn write(asker: &Spool, question: &Question, text: &str) -> Result<()> {
    if asked::answer(asker, &question.id, text)? == Written::Now {
        return Ok(());
    }
    // Somebody was quicker.
    refuse_closed(&known(asker, &question.id)?)?;
    let message = format!("the answer to {} went away while it was looked at", question.id);
    Err(Fault::new(Kind::Busy, message).hint("try again").into())
}

/// Refuses a second answer while the first one waits to be delivered.
fn refuse_waiting(caller: &Caller, asker: &Spool, question: &Question) -> Result<()> {
    let same = |order: &Order| matches!(order, Order::Answer { id, to, .. } if *id == question.id && to == asker.id());
    let waits = outbox::waiting(&caller.spool)?.iter().any(|(_, order)| order.here().is_some_and(same));
    if !waits {
        return Ok(());
    }
    let message = format!("this session has answered {}, and the answer waits to be delivered", question.id);
    Err(Refusal::one(Finding::new("answered", message, "the manager of this session delivers it")).into())
}

fn order(caller: &Caller, asker: &Spool, question: &Question, text: &str) -> Result<()> {
    let (id, to) = (question.id.clone(), asker.id().clone());
    mail::put(&caller.spool, &Order::Answer { id, to, at: At::now(), text: text.to_owned() })
}

/// Marks the message that put the question as shown and as answered.
/// What its manager has to deliver, that marks as replied once it is: an answer that comes back is owed still.
fn mark(own: &Spool, id: &MessageId, delivered: bool) -> Result<()> {
    let inbox = Inbox::of(own);
    let flags: &[Flag] = if delivered { &[Flag::Seen, Flag::Replied] } else { &[Flag::Seen] };
    for &flag in flags {
        let entries = inbox.entries(|entry: &Entry| entry.id() == *id && !entry.name.has(flag))?;
        inbox.mark(&entries, flag)?;
    }
    Ok(())
}

fn report(asker: &Spool, id: &MessageId, answerer: &Answerer, delivered: bool, json: bool) -> Result<()> {
    // It is answered, whatever can be read of the asker.
    let overview = Overview::read(asker).unwrap_or_else(|error| Overview::unreadable(asker, format!("{error:#}")));
    let by = match answerer {
        Answerer::Person => "person",
        Answerer::Run(caller) => caller.session.id.as_str(),
    };
    if json {
        let (title, state) = (overview.title, overview.state);
        return print_json(&Reached { session: asker.id(), title, question: id, by, delivered, state });
    }
    let title = overview.title.map_or_else(String::new, |title| format!(" ({})", cut(&clean(&title), SHORT)));
    let who = format!("session {}{title}", asker.id());
    if !delivered {
        return print(&format!("answered {id} of {who}: the manager of this session delivers it\n"));
    }
    let what = match overview.state {
        State::Working | State::NeedsInput => "it works, and collects the answer".to_owned(),
        state => format!("it is {state}, and has the answer when it is resumed"),
    };
    print(&format!("answered {id} of {who}: {what}\n"))
}
