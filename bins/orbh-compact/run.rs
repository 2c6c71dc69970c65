//! `orbh compact`: the verbs of a compaction, and where it is.

use crate::args::{Args, Verb};
use anyhow::Result;
use serde::Serialize;
use shared::face::exit::finding_words;
use shared::face::output::{print, print_json, tell};
use shared::face::page::{compaction_line, render};
use shared::face::text::clean;
use shared::ground::clock::At;
use shared::ground::fault::{Finding, Refusal};
use shared::spool::announced;
use shared::spool::facts::Compaction as Finished;
use shared::spool::id::{RunNumber, SessionId, Target};
use shared::verbs::caller::{Caller, meant};
use shared::verbs::contract::CONTRACT;
use shared::verbs::environment::Environment;
use shared::verbs::obligations::{self, Obligation};
use shared::verbs::overview::Overview;
use shared::verbs::overview::compaction::Compaction;
use shared::verbs::page::{Page, Reader};
use shared::verbs::succession::finish::{abort, finish};
use shared::verbs::succession::handoff::{self, Handed, Passed, Waited, Wish};
use shared::verbs::succession::start::start;
use std::path::PathBuf;

impl Verb {
    /// Whether failures are to be JSON as well.
    pub fn json(&self) -> bool {
        match self {
            Verb::Start { json, .. }
            | Verb::Handoff { json, .. }
            | Verb::Finish { json, .. }
            | Verb::Abort { json, .. }
            | Verb::Status { json, .. } => *json,
        }
    }
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    match &args.verb {
        Verb::Start { json, id } => begin(&own(environment, "orbh compact start", id.as_deref())?, *json),
        Verb::Handoff { into, account, check, json, id } => {
            let caller = own(environment, "orbh compact handoff", id.as_deref())?;
            let into = into.as_deref().map(str::parse::<Target>).transpose()?;
            let wish = Wish { into, account: account.clone() };
            if *check {
                only_check(&caller, environment, &wish, *json)
            } else {
                hand_off(&caller, environment, &wish, *json)
            }
        }
        Verb::Finish { json, id } => end(&own(environment, "orbh compact finish", id.as_deref())?, *json),
        Verb::Abort { json, id } => call_off(&own(environment, "orbh compact abort", id.as_deref())?, *json),
        Verb::Status { id, json } => status(environment, id.as_deref(), *json),
    }
}

/// The calling run; a session that is named is refused, for nobody can compact it from outside (R5).
fn own(environment: &Environment, verb: &str, id: Option<&str>) -> Result<Caller> {
    if let Some(id) = id {
        let message = format!(
            "'{verb}' compacts the session that calls it, and no other: '{}' cannot be named",
            id.escape_debug()
        );
        let fix = "ask that session to compact itself";
        return Err(Refusal::one(Finding::new("from-outside", message, fix)).into());
    }
    Caller::of(environment, verb)
}

#[derive(Serialize)]
struct Begun<'a> {
    run: RunNumber,
    path: PathBuf,
    contract: &'a str,
    obligations: Vec<Obligation>,
    section: String,
    page: Page,
}

fn begin(caller: &Caller, json: bool) -> Result<u8> {
    let hold = start(caller)?;
    let path = caller.spool.handoff(hold.run);
    let shown = clean(&path.display().to_string());
    let told = announced::read_of(&caller.spool, hold.run);
    let page = Page::read(&caller.spool, &Reader { told, news_first: false, whole: json })?;
    if json {
        let (obligations, section) = (page.obligations.clone(), obligations::section(&page.obligations));
        print_json(&Begun { run: hold.run, path, contract: CONTRACT, obligations, section, page })?;
        return Ok(0);
    }
    let mut text = format!("Write your handoff to this file:\n\n    {shown}\n\n");
    text += CONTRACT;
    text += "\nOPEN OBLIGATIONS as the durable state has them; copy them, and add what you have promised besides:\n\n";
    text += &obligations::section(&page.obligations);
    text += "\nYour Page now:\n\n";
    text += &render(&page).text;
    text += &format!(
        "\nWhen the file is written: 'orbh compact handoff' (with --check to check it only). 'orbh compact abort' calls \
         this off.\nWrite your handoff to this file:\n\n    {shown}\n"
    );
    print(&text)?;
    Ok(0)
}

#[derive(Serialize)]
struct Checked<'a> {
    run: RunNumber,
    handoff: PathBuf,
    target: &'a Target,
    files: String,
    warnings: &'a [Finding],
    hint: Option<&'a str>,
    accepted: bool,
    context_ends: bool,
}

fn only_check(caller: &Caller, environment: &Environment, wish: &Wish, json: bool) -> Result<u8> {
    let passed = match handoff::check(caller, environment, wish)? {
        Handed::Passed(passed) => passed,
        Handed::Before(at) => return accepted_before(caller, at, json),
    };
    if json {
        print_json(&described(caller, &passed, false))?;
    } else {
        warn(&passed);
        print(&format!("the handoff is good; nothing was changed\n{}\n", passed.verdict.files_line()))?;
        tell("Your context will NOT end.\n");
    }
    Ok(0)
}

fn hand_off(caller: &Caller, environment: &Environment, wish: &Wish, json: bool) -> Result<u8> {
    let passed = match handoff::commit(caller, environment, wish)? {
        Handed::Passed(passed) => passed,
        Handed::Before(at) => {
            let _ = accepted_before(caller, at, json);
            return wait_for_the_end(caller, environment, json);
        }
    };
    // From here on the context ends. A failed print changes nothing about that, and is no failure.
    if json {
        let _ = print_json(&described(caller, &passed, true));
    } else {
        warn(&passed);
        let _ = print(&format!(
            "{}\nthe handoff '{}' is kept for a successor on {}\naccepted: this context ends now; do nothing more\n",
            passed.verdict.files_line(),
            caller.spool.handoff(caller.run).display(),
            passed.target
        ));
    }
    wait_for_the_end(caller, environment, json)
}

#[derive(Serialize)]
struct AcceptedBefore {
    run: RunNumber,
    accepted: bool,
    accepted_at: At,
    context_ends: bool,
}

/// The verb was given again: nothing is refused, for nothing goes on.
fn accepted_before(caller: &Caller, at: At, json: bool) -> Result<u8> {
    match json {
        true => print_json(&AcceptedBefore { run: caller.run, accepted: true, accepted_at: at, context_ends: true })?,
        false => print(&format!("accepted already, at {at}: this context ends; do nothing more\n"))?,
    }
    Ok(75)
}

fn wait_for_the_end(caller: &Caller, environment: &Environment, json: bool) -> Result<u8> {
    let waited = handoff::wait(caller, environment);
    let (outcome, words) = match waited {
        Waited::CalledOff => ("called-off", "called off; your context goes on\n"),
        Waited::Ended => ("ended", "accepted; the session goes on in another context; do nothing more\n"),
        Waited::Pending => ("pending", "accepted; the relaunch is pending; do nothing more\n"),
    };
    let _ = match json {
        true => print_json(&Outlived { run: caller.run, outcome, context_ends: waited != Waited::CalledOff }),
        false => print(words),
    };
    Ok(75)
}

/// What a `handoff` says that outlives its wait.
#[derive(Serialize)]
struct Outlived {
    run: RunNumber,
    outcome: &'static str,
    context_ends: bool,
}

fn described<'a>(caller: &Caller, passed: &'a Passed, accepted: bool) -> Checked<'a> {
    Checked {
        run: caller.run,
        handoff: caller.spool.handoff(caller.run),
        target: &passed.target,
        files: passed.verdict.files_line(),
        warnings: &passed.verdict.warnings,
        hint: passed.hint.as_deref(),
        accepted,
        context_ends: accepted,
    }
}

fn warn(passed: &Passed) {
    for warning in &passed.verdict.warnings {
        tell(&finding_words("orbh-compact", "warning", warning));
    }
    if let Some(hint) = &passed.hint {
        tell(&format!("hint: {}\n", clean(hint)));
    }
}

#[derive(Serialize)]
struct Ended<'a> {
    session: &'a SessionId,
    #[serde(flatten)]
    compaction: &'a Finished,
}

fn end(caller: &Caller, json: bool) -> Result<u8> {
    let compaction = finish(caller)?;
    match json {
        true => print_json(&Ended { session: &caller.session.id, compaction: &compaction })?,
        false => print(&format!(
            "finished: run {} has taken the place of run {}; go on with the duty, open obligations first\n",
            compaction.run, compaction.closed
        ))?,
    }
    Ok(0)
}

#[derive(Serialize)]
struct Aborted<'a> {
    session: &'a SessionId,
    aborted: bool,
}

fn call_off(caller: &Caller, json: bool) -> Result<u8> {
    let aborted = abort(caller)?;
    match (json, aborted) {
        (true, _) => print_json(&Aborted { session: &caller.session.id, aborted })?,
        (false, true) => print("called off: the hold is released, and your context goes on\n")?,
        (false, false) => print("there was no compaction to call off\n")?,
    }
    Ok(0)
}

#[derive(Serialize)]
struct Status<'a> {
    session: &'a SessionId,
    #[serde(flatten)]
    compaction: &'a Compaction,
}

fn status(environment: &Environment, id: Option<&str>, json: bool) -> Result<u8> {
    let spool = meant(environment, id, "orbh compact status")?;
    let overview = Overview::read(&spool)?;
    match json {
        true => print_json(&Status { session: spool.id(), compaction: &overview.compaction })?,
        false => print(&format!("{}\n", compaction_line(&overview)))?,
    }
    Ok(0)
}
