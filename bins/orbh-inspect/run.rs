//! `orbh inspect`: everything about one session.

use crate::args::Args;
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::face::page::{compaction_line, title};
use shared::face::text::{clean, columns, span};
use shared::ground::clock::At;
use shared::ground::fault::unreadable;
use shared::ground::lease::describe;
use shared::spool::asked::{self, Question, Standing};
use shared::spool::id::{MessageId, Name};
use shared::spool::session::Spool;
use shared::spool::{child, keys, layout};
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;
use shared::verbs::obligations::gist;
use shared::verbs::overview::{Overview, RunLine, run_line};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// How much of a question is read, in bytes.
const HEAD: u64 = 4096;

/// A question of the session that it still waits for, or whose answer it has not been shown.
#[derive(Serialize)]
struct Asked {
    question: MessageId,
    standing: &'static str,
    to: Option<String>,
    asked_at: Option<At>,
    text: String,
}

#[derive(Serialize)]
struct Inspection {
    #[serde(flatten)]
    overview: Overview,
    history: Vec<RunLine>,
    keys: BTreeMap<String, String>,
    children: Vec<String>,
    questions: Vec<Asked>,
    files: BTreeMap<&'static str, PathBuf>,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = meant(environment, args.id.as_deref(), "orbh inspect")?;
    let inspection = inspect(&spool)?;
    match args.json {
        true => print_json(&inspection)?,
        false => print(&render(&inspection))?,
    }
    // Shown as far as it can be read, and still damaged.
    Ok(if inspection.overview.damage.is_empty() { 0 } else { 65 })
}

fn inspect(spool: &Spool) -> Result<Inspection> {
    let (mut overview, snapshot) = Overview::with_facts(spool)?;
    let (keys, damage) = keys::all(spool)?;
    overview.damage.extend(damage);
    let questions = questions(spool, &mut overview.damage)?;
    // The title and the description are looked at twice.
    overview.damage.sort();
    overview.damage.dedup();
    let keys = keys.into_iter().map(|(key, value): (Name, String)| (key.as_str().to_owned(), value)).collect();
    let history: Vec<RunLine> = snapshot.runs.iter().filter_map(|run| run_line(spool, run)).collect();
    let mut files = BTreeMap::new();
    let mut file = |what, path: PathBuf| {
        if path.exists() {
            files.insert(what, path);
        }
    };
    file("duty", spool.dir().join(layout::PROMPT));
    file("log", shared::spool::log::path(spool));
    if let Some(last) = history.last() {
        file("prompt", spool.run(last.run).join(layout::PROMPT));
        file("output", spool.run(last.run).join(layout::OUTPUT));
    }
    let newest_handoff = history.iter().rev().map(|run| spool.handoff(run.run)).find(|path| path.exists());
    if let Some(path) = newest_handoff {
        file("handoff", path);
    }
    let children = child::ids(spool).into_iter().map(String::from).collect();
    Ok(Inspection { overview, history, keys, children, questions, files })
}

fn questions(spool: &Spool, damage: &mut Vec<String>) -> Result<Vec<Asked>> {
    let open = |standing| matches!(standing, Standing::Open | Standing::Answered);
    let (questions, unread) = match asked::all(spool, open) {
        Ok(found) => found,
        Err(error) => (Vec::new(), vec![unreadable(&error).ok_or(error)?]),
    };
    damage.extend(unread);
    let mut asked = |question: &Question| Asked {
        question: question.id.clone(),
        standing: question.standing.name(),
        to: question.request.here().map(|request| request.to.to_string()),
        asked_at: question.request.here().map(|request| request.at),
        text: gist(&question.text(HEAD).unwrap_or_else(|error| {
            damage.push(format!("{error:#}"));
            String::new()
        })),
    };
    Ok(questions.iter().map(&mut asked).collect())
}

fn render(inspection: &Inspection) -> String {
    let overview = &inspection.overview;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {}", clean(&value));
    };
    line("session", overview.session.to_string());
    line("title", title(overview));
    if let Some(description) = &overview.description {
        line("description", description.clone());
    }
    line("state", overview.state.to_string());
    if let Some(hint) = &overview.hint {
        line("hint", hint.clone());
    }
    for asked in &inspection.questions {
        let to = match asked.to.as_deref() {
            Some("human") => "to a person".to_owned(),
            Some(session) => format!("to session {session}"),
            None => "to somebody".to_owned(),
        };
        let age = asked.asked_at.map_or_else(String::new, |at| format!(" for {}", span(at.age())));
        line("question", format!("{} {to}, {}{age}: {}", asked.question, asked.standing, asked.text));
    }
    line("compaction", compaction_line(overview));
    line("context", overview.context.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string));
    if let Some(target) = &overview.target {
        line("target", target.to_string());
    }
    if let Some(class) = overview.class {
        line("class", class.to_string());
    }
    line("manager", overview.manager.as_ref().map_or_else(|| "none".to_owned(), |holder| describe(Some(holder))));
    for (name, id) in [("parent", &overview.parent), ("continues", &overview.continues)] {
        if let Some(id) = id {
            line(name, id.to_string());
        }
    }
    if let Some(created) = overview.created_at {
        line("created", format!("{created} ({} ago)", span(created.age())));
    }
    if let Some(cwd) = &overview.cwd {
        line("cwd", cwd.display().to_string());
    }
    line("spool", overview.spool.display().to_string());
    for (what, path) in &inspection.files {
        line(what, path.display().to_string());
    }
    for child in &inspection.children {
        line("child", child.clone());
    }
    for (key, value) in &inspection.keys {
        line(&format!("key {key}"), value.clone());
    }
    for damage in &overview.damage {
        line("damage", damage.clone());
    }
    text.push('\n');
    text + &runs(&inspection.history)
}

fn runs(history: &[RunLine]) -> String {
    let mut rows = vec![["RUN", "KIND", "STARTED", "PID", "END", "DETAIL"].map(str::to_owned).to_vec()];
    rows.extend(history.iter().map(|run| {
        vec![
            run.run.to_string(),
            run.kind.to_string(),
            run.started_at.to_string(),
            run.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            run.end.map_or_else(|| "-".to_owned(), |end| end.to_string()),
            run.detail.as_deref().map(clean).unwrap_or_default(),
        ]
    }));
    columns(&rows)
}
