//! `orbh session`: keys, questions, and the return of a result.

use crate::answer::{answer, cancel, list};
use crate::args::{Args, Verb};
use crate::ask::ask;
use anyhow::Result;
use serde::Serialize;
use shared::face::input;
use shared::face::output::{print, print_exactly, print_json, tell};
use shared::face::text::clean;
use shared::ground::fault::{Fault, Finding, Kind, Refusal};
use shared::spool::facts::Return;
use shared::spool::id::{Name, SessionId};
use shared::spool::session::Spool;
use shared::spool::{keys, layout};
use shared::verbs::caller::{Caller, meant};
use shared::verbs::claim::Claim;
use shared::verbs::environment::Environment;
use shared::verbs::succession::returning::give_back;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

impl Verb {
    /// Whether failures are to be JSON as well.
    pub fn json(&self) -> bool {
        match self {
            Verb::Register { json, .. }
            | Verb::Set { json, .. }
            | Verb::Get { json, .. }
            | Verb::Unset { json, .. }
            | Verb::Ask { json, .. }
            | Verb::Answer { json, .. }
            | Verb::Cancel { json, .. }
            | Verb::Return { json, .. } => *json,
        }
    }
}

#[derive(Serialize)]
struct Keys<'a> {
    session: &'a SessionId,
    keys: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Given<'a> {
    session: &'a SessionId,
    #[serde(flatten)]
    returned: &'a Return,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    match &args.verb {
        Verb::Register { title, description, json } => {
            let caller = Caller::of(environment, "orbh session register")?;
            let _claim = Claim::take(&caller.spool, "session register")?;
            caller.check(&caller.snapshot()?)?;
            keys::set(&caller.spool, layout::TITLE, title)?;
            keys::set(&caller.spool, layout::DESCRIPTION, description)?;
            let pairs = [(layout::TITLE, title), (layout::DESCRIPTION, description)];
            say(*json, &caller.spool, &pairs, &format!("registered: {}\n", clean(title)))
        }
        Verb::Set { key, value, file, session, json } => {
            let name: Name = key.parse()?;
            let value = required(value.as_deref(), file.as_deref())?;
            let spool = changed(environment, session.as_deref(), "orbh session set")?;
            let value = value.strip_suffix('\n').unwrap_or(&value).to_owned();
            keys::set(&spool, name.as_str(), &value)?;
            say(*json, &spool, &[(name.as_str(), &value)], &format!("{name} is set\n"))
        }
        Verb::Get { key, session, json } => get(environment, key.as_deref(), session.as_deref(), *json),
        Verb::Unset { key, session, json } => {
            let name: Name = key.parse()?;
            let spool = changed(environment, session.as_deref(), "orbh session unset")?;
            if !keys::unset(&spool, name.as_str())? {
                return Err(not_set(&spool, name.as_str()));
            }
            say(*json, &spool, &[], &format!("{name} is removed\n"))
        }
        Verb::Ask { text, file, deferred, timeout, json } => {
            let text = required(text.as_deref(), file.as_deref())?;
            let timeout = timeout.map(Duration::from_secs);
            ask(environment, &text, if *deferred { None } else { Some(timeout) }, *json)
        }
        Verb::Answer { question: None, session, json, .. } => list(environment, session.as_deref(), *json),
        Verb::Answer { question: Some(question), session, timeout, json } => {
            let timeout = timeout.map(Duration::from_secs);
            answer(environment, &question.parse()?, session.as_deref(), timeout, *json)
        }
        Verb::Cancel { question, json } => cancel(environment, &question.parse()?, *json),
        Verb::Return { text, file, json, .. } => {
            let text = required(text.as_deref(), file.as_deref())?;
            let caller = Caller::of(environment, "orbh session return")?;
            if text.trim().is_empty() {
                let finding = Finding::new("empty-result", "the result is empty", "say what came of the duty");
                return Err(Refusal::one(finding).into());
            }
            let returned = give_back(&caller, &text)?;
            match json {
                true => print_json(&Given { session: caller.spool.id(), returned: &returned })?,
                false => print(&format!("returned run {} of session {}\n", returned.run, caller.spool.id()))?,
            }
            Ok(0)
        }
    }
}

/// The session whose keys are to change: of one's own session only its current run may, of another one its user.
fn changed(environment: &Environment, session: Option<&str>, verb: &str) -> Result<Spool> {
    if session.is_none() && environment.run().is_some() {
        let caller = Caller::of(environment, verb)?;
        let _claim = Claim::take(&caller.spool, verb)?;
        caller.check(&caller.snapshot()?)?;
        return Ok(caller.spool);
    }
    let spool = meant(environment, session, verb)?;
    spool.root().writable()?;
    Ok(spool)
}

fn get(environment: &Environment, key: Option<&str>, session: Option<&str>, json: bool) -> Result<u8> {
    let name = key.map(str::parse::<Name>).transpose()?;
    let spool = meant(environment, session, "orbh session get")?;
    let Some(name) = name else {
        let (all, damage) = keys::all(&spool)?;
        let all: BTreeMap<String, String> =
            all.into_iter().map(|(name, value)| (name.as_str().to_owned(), value)).collect();
        match json {
            true => print_json(&Keys { session: spool.id(), keys: all })?,
            false => {
                let lines = all.iter().map(|(name, value)| format!("{name}={}\n", clean(value)));
                print(&lines.collect::<String>())?;
            }
        }
        for message in &damage {
            tell(&format!("orbh-session: {}\n", clean(message)));
        }
        return Ok(if damage.is_empty() { 0 } else { 65 });
    };
    let value = keys::get(&spool, name.as_str())?.ok_or_else(|| not_set(&spool, name.as_str()))?;
    say(json, &spool, &[(name.as_str(), &value)], &format!("{value}\n"))
}

fn required(argument: Option<&str>, file: Option<&Path>) -> Result<String> {
    let nothing = || Fault::new(Kind::Usage, "no text was given").hint("give it as an argument, '-', or --file FILE");
    Ok(input::text(argument, file)?.ok_or_else(nothing)?)
}

fn not_set(spool: &Spool, key: &str) -> anyhow::Error {
    let message = format!("the key '{key}' of session {} is not set", spool.id());
    Fault::new(Kind::Missing, message).hint(format!("orbh session get --session {}", spool.id())).into()
}

fn say(json: bool, spool: &Spool, pairs: &[(&str, &String)], text: &str) -> Result<u8> {
    if json {
        let keys = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        print_json(&Keys { session: spool.id(), keys })?;
    } else {
        print_exactly(text)?;
    }
    Ok(0)
}
