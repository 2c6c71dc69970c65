//! `message show`.

use crate::args::Show;
use crate::run::{find, note, state};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print_bytes_exactly, print_exactly, print_json};
use shared::face::text::{clean, span};
use shared::ground::clock::At;
use shared::ground::dir::read_up_to;
use shared::ground::fault::{Fault, Kind};
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::Inbox;
use shared::spool::letter::{self, Letter};
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;
use std::fmt::Write;
use std::path::PathBuf;

/// The most bytes of a message that are read: what orbh sends, encoded, is less.
const MOST: u64 = 128 * 1024 * 1024;

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a MessageId,
    to: &'a SessionId,
    state: &'static str,
    from: &'a str,
    session: Option<&'a SessionId>,
    at: Option<At>,
    subject: &'a str,
    text: &'a str,
    more: bool,
    attachments: usize,
    respond: Option<String>,
    path: PathBuf,
}

pub fn run(args: &Show, environment: &Environment) -> Result<u8> {
    let spool = meant(environment, args.session.as_deref(), "orbh message show")?;
    let entry = find(&spool, &args.message)?;
    let inbox = Inbox::of(&spool);
    let path = inbox.path(&entry);
    let gone = || Fault::new(Kind::Missing, format!("message {} is gone", entry.id())).hint("give the command again");
    if args.raw {
        print_bytes_exactly(&read_up_to(&path, MOST)?.ok_or_else(gone)?)?;
        return Ok(0);
    }
    let letter = letter::read(&inbox, &entry, MOST)?.ok_or_else(gone)?;
    let respond = letter.respond();
    let state = state(&entry);
    if args.json {
        print_json(&Shown {
            id: &letter.id,
            to: spool.id(),
            state,
            from: &letter.from,
            session: letter.session.as_ref(),
            at: letter.at,
            subject: &letter.subject,
            text: &letter.text,
            more: letter.more,
            attachments: letter.attachments,
            respond,
            path,
        })?;
        return Ok(0);
    }
    print_exactly(&words(&letter, state, respond.as_deref()))?;
    if letter.more || letter.attachments > 0 {
        note(&format!("there is more of it: '{}'", path.display()));
    }
    Ok(0)
}

/// The headers, each on its line whatever is in it, then the text as it is.
fn words(letter: &Letter, state: &str, respond: Option<&str>) -> String {
    let mut words = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(words, "{name:<9}{}", clean(value));
    };
    line("message", &format!("{} ({state})", letter.id));
    line("from", &letter.from);
    if let Some(session) = &letter.session {
        line("session", session.as_str());
    }
    let sent = letter.at.map_or_else(|| "unknown".to_owned(), |at| format!("{at}, {} ago", span(at.age())));
    line("sent", &sent);
    line("subject", &letter.subject);
    if letter.attachments > 0 {
        line("with", &format!("{} attachments, not shown", letter.attachments));
    }
    if let Some(respond) = respond {
        line("answer", respond);
    }
    words.push('\n');
    words += &letter.text;
    if !letter.text.ends_with('\n') {
        words.push('\n');
    }
    words
}
