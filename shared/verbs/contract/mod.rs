//! The handoff contract: what an agent must write before its context ends, and whether it did.
//!
//! `orbh-handoff.5` is the specification. [`read_draft`] takes the file from the disk, once; [`validate`] judges
//! those bytes and reports everything that is wrong with them at once, each with its line, what was found, what
//! was expected and what to do. Byte order mark, CRLF and trailing blanks are forgiven; nothing else is. Neither
//! ever changes a file, panics on any input, or blocks on a file that is not a regular one.

mod files;
mod near;
mod obligations;
mod read;
mod report;
mod shape;
mod summary;
mod text;

use crate::ground::fault::Finding;
pub use files::{FileLine, Weight};
pub use read::read_draft;
use report::Report;
use std::borrow::Cow;
use std::path::Path;
pub use text::{CONTRACT, MARKER, sample};

/// The largest handoff that is read, in bytes: 1 MiB, some 260,000 tokens, which fills most windows by itself.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// A handoff to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Where the bytes were read from; absolute. Only named in findings, never opened.
    pub path: &'a Path,
    /// The whole file.
    pub bytes: &'a [u8],
    /// The context window that the successor will have, in tokens, where it is known.
    pub window: Option<u64>,
}

/// A handoff that keeps the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// The account, without the blank lines around it and without what is forgiven.
    pub summary: String,
    /// At least one, in the order of the lines.
    pub files: Vec<FileLine>,
    /// Each without its `- `, its further lines as they are; empty for `- none`.
    pub obligations: Vec<String>,
}

/// What is to be said of a draft.
#[derive(Debug)]
pub struct Verdict {
    /// What it is refused for, in the order of the lines; empty when it keeps the contract.
    pub findings: Vec<Finding>,
    /// What its author should know, without being refused.
    pub warnings: Vec<Finding>,
    /// The content, if and only if there are no findings.
    pub handoff: Option<Handoff>,
    /// What those of its FILES weigh that could be read.
    pub weight: Weight,
    /// What it says is owed, whatever else is wrong with it; nothing where the file has no lines to speak of.
    pub owed: Option<Owed>,
}

/// OPEN OBLIGATIONS, as far as a draft has the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owed {
    /// The line of the heading; none where the section is missing.
    pub line: Option<usize>,
    /// The obligations, each without its `- `; in a section with findings about its form every line.
    pub items: Vec<String>,
    /// Whether it says `- none`.
    pub none: bool,
}

impl Verdict {
    /// One line about the weight of FILES, such as
    /// `FILES: 3 files, 42.1 KiB, about 10,800 tokens (5% of the window)`.
    pub fn files_line(&self) -> String {
        self.weight.line()
    }
}

/// Judges `draft` against the contract. Looks at the files that it names; changes nothing.
pub fn validate(draft: &Draft<'_>) -> Verdict {
    let size = draft.bytes.len() as u64;
    if size > MAX_BYTES {
        return refused(read::too_large(draft.path, size), draft.window);
    }
    if draft.bytes.trim_ascii().is_empty() {
        return refused(read::empty(draft.path).line(1), draft.window);
    }
    let mut report = Report::new(draft.path);
    let Some(text) = decoded(draft.bytes, &mut report) else {
        let (findings, warnings) = report.finish();
        return Verdict { findings, warnings, handoff: None, weight: weightless(draft.window), owed: None };
    };
    let [summary, files, obligations] = shape::shape(&text, &mut report);
    let summary = summary.map(|part| summary::summary(&part, &mut report));
    let files = files.map(|part| (part.line, files::files(&part, &mut report)));
    let obligations = obligations.map(|part| {
        let before = report.count();
        let items = obligations::obligations(&part, &mut report);
        let formed = report.count() == before;
        let lines = || part.body.iter().map(|line| line.text.to_owned()).collect();
        let owed = Owed {
            line: Some(part.line),
            none: formed && items.is_empty(),
            items: if formed { items.clone() } else { lines() },
        };
        (items, owed)
    });
    let (obligations, owed) = obligations.unzip();
    let owed = Some(owed.unwrap_or(Owed { line: None, items: Vec::new(), none: false }));
    let weight = match &files {
        Some((line, files)) => files::weigh(files, *line, draft.window, &mut report),
        None => weightless(draft.window),
    };
    let handoff = match (summary, files, obligations) {
        (Some(summary), Some((_, files)), Some(obligations)) if report.is_clean() => {
            Some(Handoff { summary, files, obligations })
        }
        _ => None,
    };
    let (findings, warnings) = report.finish();
    Verdict { findings, warnings, handoff, weight, owed }
}

/// A draft that cannot be looked into.
fn refused(finding: Finding, window: Option<u64>) -> Verdict {
    let weight = weightless(window);
    Verdict { findings: vec![finding], warnings: Vec::new(), handoff: None, weight, owed: None }
}

/// No files.
fn weightless(window: Option<u64>) -> Weight {
    Weight { window, ..Weight::default() }
}

/// The text of `bytes`, with bad bytes replaced and reported; nothing if there are no lines to speak of.
fn decoded<'a>(bytes: &'a [u8], report: &mut Report<'_>) -> Option<Cow<'a, str>> {
    let line_of = |offset: usize| 1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count();
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file starts with a UTF-16 byte order mark at byte 0, and UTF-8 is expected".to_owned();
        report.refuse("handoff-not-utf8", 1, message, "save it as UTF-8: iconv -f UTF-16 -t UTF-8");
        return None;
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let offset = error.valid_up_to();
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let message = format!("the byte 0x{byte:02x} at offset {offset} (counted from 0) is not UTF-8");
        report.refuse("handoff-not-utf8", line_of(offset), message, "save the file as UTF-8, or remove the byte");
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        let message = format!("there is a NUL byte at offset {offset} (counted from 0), and plain text is expected");
        report.refuse("handoff-nul", line_of(offset), message, "remove it; name binary data in FILES instead");
    }
    if bytes.contains(&b'\r') && !bytes.contains(&b'\n') {
        let message = "the lines end with a carriage return alone, and a line feed is expected".to_owned();
        report.refuse("handoff-line-ends", 1, message, "save the file with LF line ends");
        return None;
    }
    Some(String::from_utf8_lossy(bytes))
}
