//! The account, and how to tell it from a slot that nobody filled in.

use super::report::{Report, quote};
use super::shape::{Line, Part, Section, atx};
use super::text::sample;

/// Shorter accounts are accepted with a warning: nobody tells a context in so few words.
const WORDS_FEW: usize = 40;

/// A text that is made of these words alone says nothing.
const FILLER: [&str; 76] = [
    "a",
    "above",
    "account",
    "add",
    "added",
    "an",
    "and",
    "as",
    "asdf",
    "be",
    "before",
    "below",
    "blank",
    "coming",
    "completed",
    "content",
    "current",
    "determined",
    "details",
    "empty",
    "fill",
    "filled",
    "fixme",
    "goes",
    "handoff",
    "here",
    "in",
    "insert",
    "it",
    "ipsum",
    "later",
    "lorem",
    "me",
    "my",
    "n/a",
    "na",
    "nil",
    "none",
    "nothing",
    "null",
    "or",
    "out",
    "pending",
    "placeholder",
    "please",
    "put",
    "replace",
    "same",
    "sample",
    "section",
    "see",
    "some",
    "something",
    "soon",
    "state",
    "status",
    "summarize",
    "summary",
    "tba",
    "tbc",
    "tbd",
    "test",
    "text",
    "that",
    "the",
    "this",
    "to",
    "todo",
    "unchanged",
    "update",
    "wip",
    "with",
    "write",
    "written",
    "xxx",
    "your",
];

/// The text of SUMMARY, without blank lines around it; reports one that is empty or not filled in.
pub(super) fn summary(part: &Part<'_>, report: &mut Report<'_>) -> String {
    let text = joined(&part.body);
    let told: Vec<&Line<'_>> =
        part.body.iter().filter(|line| line.fence.is_some() || atx(line.text).is_none()).collect();
    let first = told.iter().find(|line| !line.is_blank());
    let Some(first) = first else {
        let message = match text.is_empty() {
            true => "the section '## SUMMARY' is empty",
            false => "the section '## SUMMARY' has headings and no text",
        };
        let fix =
            "write the account: identity, mission, commitments, decisions, phase, constraints, work done, threads";
        report.refuse("handoff-summary-empty", part.line, message.to_owned(), fix);
        return text;
    };
    let fix = "write the account itself, as the contract says, in place of the placeholder";
    let copies = sample_lines(Section::Summary);
    let copied = told.iter().find(|line| line.fence.is_none() && copies.contains(&line.text.trim()));
    if let Some(line) = copied {
        let message = format!("{} is the sample text of the contract, and an account is expected", quote(line.text));
        report.refuse("handoff-summary-placeholder", line.number, message, fix);
    } else if is_filler(&told.iter().map(|line| line.text).collect::<Vec<_>>().join("\n")) {
        let message = format!("the summary says nothing but {}, and an account is expected", quote(first.text));
        report.refuse("handoff-summary-placeholder", first.number, message, fix);
    } else {
        let words = text.split_whitespace().count();
        if words < WORDS_FEW {
            let message = format!("the summary has only {words} words, and a long and precise account is expected");
            let fix = "write down what only you know: whatever is not in this file is lost";
            report.warn("handoff-summary-short", part.line, message, fix);
        }
    }
    text
}

/// The lines, not blank, of `section` in the contract's sample.
pub(super) fn sample_lines(section: Section) -> Vec<&'static str> {
    let body = sample().split_once(section.heading()).map_or("", |(_, after)| after);
    let body = body.split_once("\n## ").map_or(body, |(own, _)| own);
    body.lines().filter(|line| !line.is_empty()).collect()
}

/// Whether `text` is only a placeholder: filler words, `...`, `<slots>`, each with or without a label before it.
pub(super) fn is_filler(text: &str) -> bool {
    without_slots(text).lines().all(|line| {
        let bare = match line.split_once(':') {
            Some((label, rest)) if label.chars().count() <= 40 => rest,
            _ => line,
        };
        words(bare).all(|word| FILLER.contains(&word.as_str()))
    })
}

/// Whether `text` is a slot nobody filled in, for a place where a few plain words (`the summary`) are a fair answer.
pub(super) fn is_slot(text: &str) -> bool {
    const SLOTS: [&str; 8] = ["todo", "tbd", "tba", "tbc", "fixme", "xxx", "placeholder", "n/a"];
    words(&without_slots(text)).all(|word| SLOTS.contains(&word.as_str()))
}

/// The words of `text`, in lower case; `n/a` is one.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '/')
        .map(|word| word.trim_matches('/').to_lowercase())
        .filter(|word| !word.is_empty())
}

/// `text` without what stands in angle brackets, over line ends too.
fn without_slots(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        match after.split_once('>') {
            Some((slot, behind)) if !slot.contains('<') => rest = behind,
            // A lone '<' is no slot; nor is anything behind it, if no '>' follows at all.
            Some(_) => rest = after,
            None => {
                rest = after;
                break;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text of `lines`, without blank lines at the start and at the end.
pub(super) fn joined(lines: &[Line<'_>]) -> String {
    let first = lines.iter().position(|line| !line.is_blank()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_blank()).map_or(first, |at| at + 1);
    lines[first..last].iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
}
