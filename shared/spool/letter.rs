//! A message as RFC 5322 has it: composed and read with crates that are kept for that.
//!
//! Composed as plain text in UTF-8, lines ending as the files of this system do, so that `cat` and grep(1) read it; where
//! the text has lines that mail does not allow, encoded as mail does. Read from whatever lies in a Maildir: no message
//! is so damaged that nothing is shown of it.

use super::id::{MessageId, SessionId};
use super::inbox::{self, Inbox};
use crate::ground::clock::At;
use crate::ground::dir::read_head;
use anyhow::Result;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::raw::Raw;
use mail_builder::mime::{BodyPart, MimePart};
use mail_parser::{HeaderValue, Message, MessageParser, MessagePart, MimeHeaders};
use serde::Serialize;

/// The header that names the session which sent a message.
const SESSION: &str = "X-Orbh-Session";
/// The header of a message that puts a question: `ASKER/ID`.
const QUESTION: &str = "X-Orbh-Question";
/// The domain of the addresses and ids of sessions; no name server knows it (RFC 6761).
const DOMAIN: &str = "orbh.localhost";
/// The longest line that mail allows, in bytes (RFC 5322, 2.1.1).
const LONGEST_LINE: usize = 998;
/// How much of a message the Page looks at, in bytes.
pub const HEAD: u64 = 64 * 1024;
/// A subject that is made of the first line of a text has at most so many characters.
const SUBJECT: usize = 72;

/// Who sends a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    /// A session, with the title that it has.
    Session(SessionId, Option<String>),
    /// A person or a script, by the name of its user.
    User(String),
    /// orbh itself.
    Orbh,
}

/// A message to be composed.
#[derive(Debug)]
pub struct Draft<'a> {
    /// Its id.
    pub id: &'a MessageId,
    /// When it was written.
    pub at: At,
    /// Who writes.
    pub from: &'a Sender,
    /// The session that it is for.
    pub to: &'a SessionId,
    /// What it is about; by default the first line of the text.
    pub subject: Option<&'a str>,
    /// The message that it answers, by the Message-ID of that.
    pub in_reply_to: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

/// The Message-ID of a message of ours, without the angle brackets.
pub fn message_id(id: &MessageId, to: &SessionId) -> String {
    format!("{id}.{to}@{DOMAIN}")
}

/// A subject for a text that was given none: its first line that says something.
pub fn subject_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no text)");
    match line.chars().count() {
        0..=SUBJECT => line.to_owned(),
        _ => line.chars().take(SUBJECT - 1).chain(['…']).collect(),
    }
}

/// Composes a message.
pub fn compose(draft: &Draft<'_>) -> Vec<u8> {
    let (name, address) = match draft.from {
        Sender::Session(id, title) => {
            let name = title.clone().filter(|title| !title.trim().is_empty());
            (name.unwrap_or_else(|| format!("session {}", &id.as_str()[..8])), format!("{id}@{DOMAIN}"))
        }
        Sender::User(user) => (user.clone(), format!("{user}@{}", inbox::host())),
        Sender::Orbh => ("orbh".to_owned(), format!("orbh@{DOMAIN}")),
    };
    let subject = draft.subject.map_or_else(|| subject_of(draft.text), one_line);
    let mut message = MessageBuilder::new()
        .message_id(message_id(draft.id, draft.to))
        .date(draft.at.seconds())
        .from(Address::new_address(Some(one_line(&name)), one_line(&address)))
        .to(format!("{}@{DOMAIN}", draft.to))
        .subject(subject);
    if let Some(answered) = draft.in_reply_to.map(one_line) {
        message = message.in_reply_to(answered);
    }
    if let Sender::Session(id, _) = draft.from {
        message = message.header(SESSION, Raw::new(id.as_str().to_owned()));
        if draft.id.is_question() {
            message = message.header(QUESTION, Raw::new(format!("{id}/{}", draft.id)));
        }
    }
    let mut text = draft.text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let plain = text.lines().all(|line| line.len() <= LONGEST_LINE) && !text.contains(['\r', '\0']);
    let body = MimePart::new("text/plain", BodyPart::Text(text.into()));
    let body = if plain { body.transfer_encoding("8bit") } else { body };
    let bytes = message.body(body).write_to_vec().unwrap_or_default();
    // Whatever is not plain was encoded: there a carriage return is spelled out.
    let mut lines = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            lines.push(*byte);
        }
    }
    lines
}

/// On one line, for a header: what a line end in it would begin would be another header.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A message as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its id in this inbox.
    pub id: MessageId,
    /// Who sent it, as it says itself; nobody has checked it.
    pub from: String,
    /// The session that sent it, as it says itself.
    pub session: Option<SessionId>,
    /// When it was sent, as it says, or else delivered.
    pub at: Option<At>,
    /// What it is about.
    pub subject: String,
    /// The question that it puts: of whom, and by which id.
    pub question: Option<(SessionId, MessageId)>,
    /// Its Message-ID, without the angle brackets.
    pub message_id: Option<String>,
    /// Its text, or as much of it as was asked for.
    pub text: String,
    /// Whether there is more of it than was read.
    pub more: bool,
    /// How many attachments it has, which are not shown.
    pub attachments: usize,
}

impl Letter {
    /// The command that answers the question that it puts.
    pub fn respond(&self) -> Option<String> {
        self.question.as_ref().map(|(asker, id)| format!("orbh respond {asker} {id} TEXT"))
    }
}

/// Reads a message, its first `most` bytes at most; `None` when it is gone.
pub fn read(inbox: &Inbox, entry: &inbox::Entry, most: u64) -> Result<Option<Letter>> {
    let found = read_head(&inbox.path(entry), most)?;
    Ok(found.map(|(bytes, more)| parse(&entry.name, &bytes, more)))
}

fn parse(name: &inbox::MailName, bytes: &[u8], more: bool) -> Letter {
    let delivered = name.seconds().map(At::from_seconds);
    let nothing = || Letter {
        id: name.id(),
        from: "unknown".to_owned(),
        session: None,
        at: delivered,
        subject: String::new(),
        question: None,
        message_id: None,
        text: String::from_utf8_lossy(bytes).into_owned(),
        more,
        attachments: 0,
    };
    let Some(message) = MessageParser::default().parse(bytes) else {
        let letter = nothing();
        return Letter { subject: subject_of(&letter.text), ..letter };
    };
    // A part that does not end, in a message that is torn or of which only the beginning was read, would be none.
    let closed = closed(&message, bytes);
    let message = closed.as_ref().and_then(|bytes| MessageParser::default().parse(bytes)).unwrap_or(message);
    let header = |name: &str| message.header_raw(name.to_owned()).map(|value| value.trim().to_owned());
    let from = message.from().and_then(|address| address.first()).map(|from| match (from.name(), from.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "unknown".to_owned(),
    });
    // A file without headers is all text to a person, whatever a parser makes of its first line.
    let headless = from.is_none() && message.subject().is_none() && message.date().is_none();
    if headless {
        let letter = nothing();
        return Letter { subject: subject_of(&letter.text), ..letter };
    }
    let text = message.body_text(0).map(|text| text.replace("\r\n", "\n")).unwrap_or_default();
    let question = header(QUESTION).and_then(|value| {
        let (asker, id) = value.split_once('/')?;
        Some((asker.parse().ok()?, id.parse().ok()?))
    });
    let sent = message.date().map(|date| At::from_seconds(date.to_timestamp()));
    Letter {
        id: name.id(),
        from: from.unwrap_or_else(|| "unknown".to_owned()),
        session: header(SESSION).and_then(|id| id.parse().ok()),
        at: sent.or(delivered),
        subject: message
            .subject()
            .filter(|text| !text.trim().is_empty())
            .map_or_else(|| subject_of(&text), str::to_owned),
        question,
        message_id: match message.header("Message-ID") {
            Some(HeaderValue::Text(id)) => Some(id.to_string()),
            _ => None,
        },
        text,
        more,
        attachments: message.attachment_count(),
    }
}

/// A message whose last part has no end, with ends; `None` for one that has what it needs.
fn closed(message: &Message<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    let torn = message.parts.iter().any(|part| part.is_encoding_problem);
    let boundary = |part: &MessagePart<'_>| Some(part.content_type()?.attribute("boundary")?.to_owned());
    // The inner ones first.
    let boundaries: Vec<String> = message.parts.iter().rev().filter_map(boundary).collect();
    let closing: String = boundaries.iter().map(|boundary| format!("\n--{boundary}--\n")).collect();
    (torn && !closing.is_empty()).then(|| [bytes, closing.as_bytes()].concat())
}
