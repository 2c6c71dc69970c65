//! The Page as text, in 12 KiB at most, saying what it left out and how to see it.

use super::text::{clean, cut, span};
use crate::harness::occupancy::Occupancy;
use crate::verbs::events::Event;
use crate::verbs::obligations::{Obligation, gist};
use crate::verbs::overview::{Overview, State};
use crate::verbs::page::{Answer, Mail, Page};
use std::fmt::Write;

/// The most bytes that the text of a Page has.
pub const LIMIT: usize = 12 * 1024;
/// The most characters that one line of it has; longer ones are cut.
const WIDTH: usize = 400;
/// The most characters of a name or a subject.
const SHORT: usize = 120;
/// The most characters of what an obligation is.
const WHAT: usize = 240;
/// The most characters of a text that are quoted.
const QUOTED: usize = 600;
/// The most lines of it.
const QUOTED_LINES: usize = 8;
/// The most bytes of the notices, and of the obligations; of the messages there is room for these at least.
const NOTICES_LIMIT: usize = 2048;
/// See there.
const OBLIGATIONS_LIMIT: usize = 4096;
/// See there.
const MESSAGES_LEAST: usize = 2560;
/// So many bytes of answers have room whatever else there is.
const ANSWERS_FIT: usize = 2048;
/// Room for the line that says what was left out.
const RESERVE: usize = 128;

/// The line that is the source of truth about occupancy.
pub fn context_line(context: Option<&Occupancy>) -> String {
    format!("CONTEXT      {}\n", context.map_or_else(|| "unknown".to_owned(), ToString::to_string))
}

/// A title with the mark that a held session carries on every title surface.
pub fn title(overview: &Overview) -> String {
    let title = clean(overview.title.as_deref().unwrap_or(""));
    if overview.compacting { format!("[Compacting...] {title}").trim_end().to_owned() } else { title }
}

/// A Page as text, and what of it was new.
#[derive(Debug)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// The events that it shows.
    pub shown: Vec<Event>,
    /// The events of which it says that they cannot be read; they stay.
    pub unread: Vec<Event>,
}

/// Renders a Page: what to do first stands first. What is new gets the room that is left by what is open.
pub fn render(page: &Page) -> Rendered {
    let overview = &page.overview;
    let mut head = String::new();
    let _ = writeln!(head, "SESSION      {}  {}", overview.session, cut(&title(overview), WIDTH));
    let _ = writeln!(head, "STATE        {}", state_line(overview));
    head += &context_line(overview.context.as_ref());
    let _ = writeln!(head, "COMPACTION   {}", compaction_line(overview));
    let _ = writeln!(head, "SPOOL        {}", clean(&overview.spool.display().to_string()));
    head += "\nNOTICES\n";
    let notices: Vec<String> = page.notices.iter().map(|one| format!("- {}", cut(&clean(one), WIDTH))).collect();
    list(&mut head, &notices, "orbh inspect", NOTICES_LIMIT);
    let mut tail = "\nOPEN OBLIGATIONS\n".to_owned();
    let answers = page.answers.iter().map(|answer| (answer_lines(answer), &answer.event, answer.damage.is_some()));
    let answers: Vec<(String, &Event, bool)> = answers.collect();
    let all_fit = answers.iter().map(|(text, ..)| text.len()).sum::<usize>() <= ANSWERS_FIT;
    // An answer that stands above is not owed as well; during a hold it is, because nothing above counts as shown.
    let above = |one: &Obligation| {
        let answer = page.answers.iter().find(|answer| one.kind == "asked" && answer.id.as_str() == one.id);
        !overview.compacting && all_fit && answer.is_some_and(|answer| answer.damage.is_none())
    };
    let obligations: Vec<String> = page.obligations.iter().filter(|one| !above(one)).map(obligation_line).collect();
    list(&mut tail, &obligations, "orbh page --json", OBLIGATIONS_LIMIT);
    let mut rendered = Rendered { text: head, shown: Vec::new(), unread: Vec::new() };
    rendered.shown.extend(page.advisory.clone());
    let room = LIMIT.saturating_sub(tail.len());
    rendered.section("ANSWERS", answers, 0, room - MESSAGES_LEAST);
    let messages = page.messages.iter().map(|mail| (mail_lines(mail), &mail.event, mail.damage.is_some()));
    rendered.section("MESSAGES", messages.collect(), page.messages_waiting, room);
    rendered.text += &tail;
    rendered
}

impl Rendered {
    /// Adds the items that fit, and says how many did not.
    fn section(&mut self, heading: &str, items: Vec<(String, &Event, bool)>, waiting: usize, limit: usize) {
        if items.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "\n{heading}");
        let count = items.len();
        for (index, (text, event, damaged)) in items.into_iter().enumerate() {
            if self.text.len() + text.len() + RESERVE > limit {
                let left = count - index + waiting;
                let _ = writeln!(self.text, "… and {left} more: run 'orbh page' again, or 'orbh message list'");
                return;
            }
            self.text += &text;
            if damaged { self.unread.push(event.clone()) } else { self.shown.push(event.clone()) }
        }
        if waiting > 0 {
            let _ = writeln!(self.text, "… and {waiting} more: run 'orbh page' again, or 'orbh message list'");
        }
    }
}

/// An obligation on one line, with its command whole: where something must be cut, it is what others wrote.
fn obligation_line(obligation: &Obligation) -> String {
    let short = Obligation { what: cut(&clean(&obligation.what), WHAT), ..obligation.clone() };
    clean(&short.to_string())
}

fn mail_lines(mail: &Mail) -> String {
    let age = mail.at.map_or_else(|| "at an unknown time".to_owned(), |at| format!("{} ago", span(at.age())));
    let mark = if mail.shown_before { " (shown before)" } else { "" };
    let mut text =
        format!("- {} {} from {}, {age}{mark}: {}\n", mail.kind, mail.id, short(&mail.from), short(&mail.subject));
    if let Some(damage) = &mail.damage {
        let _ = writeln!(text, "  damage: {}", cut(&clean(damage), WIDTH));
        return text;
    }
    // A subject that is the first line of the text is not said twice.
    let body = mail.text.trim();
    let uncut = short(&mail.subject) == clean(&mail.subject);
    let said = |rest: &&str| uncut && (rest.is_empty() || rest.starts_with('\n'));
    let body = body.strip_prefix(&mail.subject).filter(said).unwrap_or(body).trim_start_matches('\n');
    let whole = quote(&mut text, body) && !mail.more && uncut;
    if mail.attachments > 0 {
        let _ = writeln!(text, "  {} attachments", mail.attachments);
    }
    if !whole || mail.attachments > 0 {
        let _ = writeln!(text, "  the whole: {}", mail.show);
    }
    if let Some(respond) = &mail.respond {
        let _ = writeln!(text, "  answer it: {respond}");
    }
    text
}

fn answer_lines(answer: &Answer) -> String {
    let whom = match answer.to.as_deref() {
        Some("human") => "a person".to_owned(),
        Some(session) => format!("session {}", clean(session)),
        None => "somebody".to_owned(),
    };
    let mark = if answer.shown_before { " (shown before)" } else { "" };
    let mut text = format!("- answer {} of {whom}{mark} to: {}\n", answer.id, short(&gist(&answer.question)));
    if let Some(damage) = &answer.damage {
        let _ = writeln!(text, "  damage: {}", cut(&clean(damage), WIDTH));
        return text;
    }
    if !quote(&mut text, answer.text.trim_end()) || answer.more {
        let _ = writeln!(text, "  the whole: {}", answer.show);
    }
    text
}

/// Adds the beginning of what somebody else wrote, each line behind a mark, so that it can be no line of ours; says
/// whether that was all of it.
fn quote(text: &mut String, words: &str) -> bool {
    let mut room = QUOTED;
    for (count, line) in words.lines().enumerate() {
        if count == QUOTED_LINES || room == 0 {
            return false;
        }
        let line = clean(line);
        let shown = cut(&line, room);
        let _ = writeln!(text, "  | {shown}");
        if shown != line {
            return false;
        }
        room = room.saturating_sub(shown.chars().count() + 1);
    }
    true
}

fn short(text: &str) -> String {
    cut(&clean(text), SHORT)
}

/// Writes the lines that fit, and says how many did not and what shows them.
fn list(text: &mut String, lines: &[String], how: &str, most: usize) {
    if lines.is_empty() {
        text.push_str("- none\n");
    }
    let begin = text.len();
    for (index, line) in lines.iter().enumerate() {
        if text.len() - begin + line.len() > most {
            let _ = writeln!(text, "… and {} more: {how}", lines.len() - index);
            return;
        }
        let _ = writeln!(text, "{line}");
    }
}

fn state_line(overview: &Overview) -> String {
    let mut line = overview.state.to_string();
    if let Some(run) = &overview.run {
        let _ = write!(line, ", run {} ({}, {} ago)", run.run, run.kind, span(run.started_at.age()));
    }
    if let Some(target) = &overview.target {
        let _ = write!(line, " on {target}");
    }
    if let Some(class) = overview.class {
        let _ = write!(line, ", class {class}");
    }
    let detail = overview.run.as_ref().and_then(|run| run.detail.as_ref());
    if let Some(detail) = detail.filter(|_| overview.state == State::FailedUnreturned) {
        let _ = write!(line, ": {}", cut(&clean(detail), WIDTH));
    }
    line
}

/// A compaction in one line: phase, age, reason, what to do.
pub fn compaction_line(overview: &Overview) -> String {
    let compaction = &overview.compaction;
    let mut line = compaction.phase.to_string();
    if let Some(since) = compaction.since {
        let _ = write!(line, " for {}", span(since.age()));
    }
    if compaction.overdue {
        line += " (overdue)";
    }
    if let Some(reason) = &compaction.reason {
        let _ = write!(line, ": {}", clean(reason));
    }
    if let Some(hint) = &compaction.hint {
        let _ = write!(line, "; hint: {}", clean(hint));
    }
    match (compaction.count, compaction.last_completed) {
        (0, _) | (_, None) => line += "; none completed yet",
        (count, Some(at)) => {
            let _ = write!(line, "; {count} completed, the last {} ago", span(at.age()));
        }
    }
    if compaction.looping {
        line += "; in a loop";
    }
    line
}
