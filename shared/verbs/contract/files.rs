//! FILES: which files the successor reads before it acts, and what they weigh.
//!
//! Each is looked at while the author can still correct the path. Never blocks on a FIFO or a device, never reads
//! a byte of a file.

use super::report::{Report, quote, quote_listed};
use super::shape::{Line, Part, atx};
use super::summary::is_slot;
use nix::libc;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Between path and reason.
const SEPARATOR: &str = " :: ";

/// Bytes that make a token, about; for prose and source text alike.
const TOKEN_BYTES: u64 = 4;

/// One line of FILES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    /// Absolute, as written; a regular, readable file when it was checked.
    pub path: PathBuf,
    /// Why the successor reads it; one line, not empty.
    pub reason: String,
    /// The line in the handoff, counted from 1.
    pub line: usize,
    /// The size of the file, in bytes.
    pub bytes: u64,
}

/// What the files of a handoff weigh together; a file that is named twice counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// How many files.
    pub files: usize,
    /// Their size, in bytes.
    pub bytes: u64,
    /// The context window to compare with, in tokens.
    pub window: Option<u64>,
}

impl Weight {
    /// The estimate in tokens, at four bytes each.
    pub fn tokens(&self) -> u64 {
        self.bytes.div_ceil(TOKEN_BYTES)
    }

    /// `FILES: 3 files, 42.1 KiB, about 10,800 tokens (5% of the window)`; without a window, without the brackets.
    pub fn line(&self) -> String {
        let plural = if self.files == 1 { "" } else { "s" };
        let share = match self.window {
            Some(window) if window > 0 => match u128::from(self.tokens()) * 100 / u128::from(window) {
                0 if self.bytes > 0 => " (less than 1% of the window)".to_owned(),
                percent => format!(" ({percent}% of the window)"),
            },
            _ => String::new(),
        };
        let tokens = rounded(self.tokens());
        let unit = if self.tokens() == 1 { "token" } else { "tokens" };
        format!("FILES: {} file{plural}, {}, about {tokens} {unit}{share}", self.files, size(self.bytes))
    }
}

/// The lines of FILES that could be understood and checked; reports the others.
pub(super) fn files(part: &Part<'_>, report: &mut Report<'_>) -> Vec<FileLine> {
    let mut found = Vec::new();
    let mut blank = true;
    for line in &part.body {
        if line.is_blank() {
            continue;
        }
        blank = false;
        if line.fence == Some(line.number) {
            let message =
                format!("{} opens a code fence, and '/absolute/path :: reason' is expected", quote(line.text));
            report.refuse("handoff-files-fence", line.number, message, "remove the fence, and keep the lines in it");
        }
        // In a fence, only what looks like a file line is checked: the fence itself was reported.
        if line.fence.is_none() || line.text.starts_with('/') {
            found.extend(entry(line, report));
        }
    }
    if blank {
        let message = "the section '## FILES' is empty, and at least one file is expected".to_owned();
        let fix = "name a file that the successor must read, as '/absolute/path :: reason'";
        report.refuse("handoff-files-empty", part.line, message, fix);
    }
    found
}

/// Adds up `files` against `window`, and warns of files named twice and of too much to read.
pub(super) fn weigh(files: &[FileLine], line: usize, window: Option<u64>, report: &mut Report<'_>) -> Weight {
    let mut weight = Weight { window, ..Weight::default() };
    let mut seen: HashMap<&Path, usize> = HashMap::new();
    for file in files {
        if let Some(first) = seen.get(file.path.as_path()) {
            let shown = quote_listed(&file.path.to_string_lossy());
            let message = format!("{shown} is named on line {} and already on line {first}", file.line);
            report.warn("handoff-file-twice", file.line, message, "keep one of the two lines");
            continue;
        }
        seen.insert(&file.path, file.line);
        weight.files += 1;
        weight.bytes = weight.bytes.saturating_add(file.bytes);
    }
    if window.is_some_and(|window| weight.tokens() > window / 2) {
        let message = format!("the files fill more than half of the new context: {}", weight.line());
        let fix = "name only what the successor needs in order to act, or extracts of it";
        report.warn("handoff-files-large", line, message, fix);
    }
    weight
}

/// One line: what is wrong with its form, and with the file that it names.
fn entry(line: &Line<'_>, report: &mut Report<'_>) -> Option<FileLine> {
    let number = line.number;
    if atx(line.text).is_some() {
        let message = format!("{} is a heading, and '/absolute/path :: reason' is expected", quote(line.text));
        report.refuse("handoff-file-form", number, message, "remove it: FILES is one list, without headings");
        return None;
    }
    let text = unbulleted(line, report);
    let (path, reason) = separated(text, number, report)?;
    let path = absolute(path, number, report)?;
    if reason.is_some_and(is_slot) {
        let message = format!("no reason follows the path {}", quote(path));
        let fix = "after ' :: ', say in one line why the successor must read it";
        report.refuse("handoff-file-reason", number, message, fix);
    }
    let bytes = readable(path, number, report)?;
    let reason = reason?.trim().to_owned();
    Some(FileLine { path: PathBuf::from(path), reason, line: number, bytes })
}

/// The line without a bullet or indent before the path, which is reported.
fn unbulleted<'a>(line: &Line<'a>, report: &mut Report<'_>) -> &'a str {
    let bare = line.text.trim_start_matches([' ', '\t']);
    let marks = bare.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '•' | '.' | ')'));
    let text = marks.trim_start_matches([' ', '\t']);
    let shown = quote(line.text);
    if marks.len() < bare.len() && text.len() < marks.len() {
        let message = format!("{shown} starts with a bullet, and the path is expected in the first column");
        report.refuse("handoff-file-bullet", line.number, message, "remove what stands before the path");
        text
    } else {
        if bare.len() < line.text.len() {
            let message = format!("{shown} is indented, and the path is expected in the first column");
            report.refuse("handoff-file-indented", line.number, message, "remove the blanks before the path");
        }
        bare
    }
}

/// Path and reason; no reason when the separator is not the right one, which is reported.
fn separated<'a>(text: &'a str, number: usize, report: &mut Report<'_>) -> Option<(&'a str, Option<&'a str>)> {
    if let Some((path, reason)) = text.split_once(SEPARATOR) {
        return Some((path, Some(reason)));
    }
    if let Some(path) = text.strip_suffix(" ::") {
        return Some((path, Some("")));
    }
    let guess = ["::", " : ", ": ", " - ", " -- ", " — ", " – ", " | ", " => ", " -> ", "\t"]
        .into_iter()
        .filter_map(|wrong| text.split_once(wrong).map(|(path, _)| (path.trim_end(), wrong)))
        .min_by_key(|(path, _)| path.len());
    let shown = quote(text);
    let (path, message) = match guess {
        Some((path, "::")) => (path, format!("{shown} has '::' without a blank on each side, and ' :: ' is expected")),
        Some((path, wrong)) => {
            (path, format!("{shown} has {} between path and reason, and ' :: ' is expected", quote(wrong)))
        }
        None => (text, format!("{shown} has no ' :: ' and no reason after it")),
    };
    report.refuse("handoff-file-separator", number, message, "write '/absolute/path :: reason' on one line");
    Some((path, None))
}

/// The path without quotes, if it is absolute; what is wrong is reported.
fn absolute<'a>(path: &'a str, number: usize, report: &mut Report<'_>) -> Option<&'a str> {
    let shown = quote(path);
    let mut bare = path;
    if let Some(mark) = path.chars().next().filter(|c| matches!(c, '"' | '\'' | '`' | '<')) {
        let close = if mark == '<' { '>' } else { mark };
        bare = path.trim_end().trim_matches([mark, close]);
        let message = format!("the path {shown} is in quotes, and is expected bare");
        report.refuse("handoff-file-quoted", number, message, "remove the quotes; blanks in a path need none");
    }
    if bare.starts_with('/') {
        return Some(bare);
    }
    let (code, message) = if bare.starts_with(['~', '$']) {
        (
            "handoff-file-home",
            format!("the path {shown} has to be expanded by a shell, and an absolute one is expected"),
        )
    } else if bare.is_empty() {
        ("handoff-file-form", "no path stands before ' :: '".to_owned())
    } else {
        ("handoff-file-relative", format!("the path {shown} is not absolute: it does not start with '/'"))
    };
    report.refuse(code, number, message, "write the whole path, from '/' on; 'realpath FILE' prints it");
    None
}

/// The size of the file at `path`, if it is regular and can be read; otherwise that is reported.
fn readable(path: &str, number: usize, report: &mut Report<'_>) -> Option<u64> {
    let shown = quote_listed(path);
    // stat before open: what is not regular is never opened, and should the name change hands, O_NONBLOCK.
    let opened = fs::metadata(path).and_then(|meta| {
        if !meta.is_file() {
            return Ok(meta);
        }
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
        OpenOptions::new().read(true).custom_flags(flags).open(path).and_then(|file| file.metadata())
    });
    let error = match opened {
        Ok(meta) if meta.is_file() => return Some(meta.len()),
        Ok(meta) if meta.is_dir() => {
            let message = format!("{shown} is a directory, and a regular file is expected");
            let fix = "name the files in it that the successor must read, one a line";
            report.refuse("handoff-file-directory", number, message, fix);
            return None;
        }
        Ok(meta) => {
            let kind = meta.file_type();
            let what = match (kind.is_fifo(), kind.is_socket()) {
                (true, _) => "FIFO",
                (_, true) => "socket",
                _ => "device",
            };
            let message = format!("{shown} is a {what}, and a regular file is expected");
            report.refuse("handoff-file-special", number, message, "put what it would say into a file, and name that");
            return None;
        }
        Err(error) => error,
    };
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        absent(path, number, report);
    } else {
        let message = format!("{shown} cannot be read: {error}");
        let fix = "make it readable for this user, or copy it to where it is";
        report.refuse("handoff-file-unreadable", number, message, fix);
    }
    None
}

/// Reports a file that is not there, with the likely reason.
fn absent(path: &str, number: usize, report: &mut Report<'_>) {
    let shown = quote_listed(path);
    let mut message = format!("there is no file {shown}");
    let mut fix = "correct the path, or write the file first".to_owned();
    let numbered = path.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '#' | 'L'));
    let bare = path.trim_end();
    if bare.len() < path.len() && Path::new(bare).exists() {
        message = format!("there is no file {shown}, with a blank at its end");
        fix = "leave exactly one blank between the path and '::'".to_owned();
    } else if numbered.len() < path.len() && Path::new(numbered).is_file() {
        message = format!("there is no file {shown}, but there is {}", quote_listed(numbered));
        fix = "write the path alone, and name the lines in the reason".to_owned();
    } else if Path::new(path).is_symlink() {
        message = format!("{shown} is a symbolic link to nothing");
    }
    report.refuse("handoff-file-missing", number, message, fix);
}

/// `812 bytes`, `42.1 KiB`, `3.0 MiB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        // What would print as 1024.0 prints in the next unit.
        if value < 1023.95 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// Three digits that count, and commas: an estimate should not look exact.
fn rounded(tokens: u64) -> String {
    let mut step = 1;
    while tokens / step >= 1000 {
        step *= 10;
    }
    let value = (tokens.saturating_add(step / 2) / step).saturating_mul(step).to_string();
    let mut out = String::new();
    for (index, digit) in value.chars().enumerate() {
        if index > 0 && (value.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
