//! Collects what is wrong with one draft, and quotes text from it.
//!
//! Quoted text is always one line of bounded length without control characters, so that a hostile or damaged
//! draft cannot forge a line of a report.

use crate::ground::fault::Finding;
use std::path::Path;

/// More findings than this are counted, not told: the report is read by an agent whose context is nearly full.
const FINDINGS_MAX: usize = 100;

/// How much of a line is quoted, in characters.
const QUOTE_MAX: usize = 80;

/// How much of a path in FILES is quoted, in characters.
const LISTED_MAX: usize = 400;

/// The findings and warnings about one draft, in the order in which they were met.
pub(super) struct Report<'a> {
    path: &'a Path,
    findings: Vec<Finding>,
    warnings: Vec<Finding>,
}

impl<'a> Report<'a> {
    /// Nothing wrong yet with the draft at `path`.
    pub(super) fn new(path: &'a Path) -> Self {
        Report { path, findings: Vec::new(), warnings: Vec::new() }
    }

    /// Something for which the draft is refused.
    pub(super) fn refuse(&mut self, code: &'static str, line: usize, message: String, fix: impl Into<String>) {
        self.findings.push(Finding::new(code, message, fix).at(self.path).line(line));
    }

    /// Something to know, for which the draft is not refused.
    pub(super) fn warn(&mut self, code: &'static str, line: usize, message: String, fix: impl Into<String>) {
        self.warnings.push(Finding::new(code, message, fix).at(self.path).line(line));
    }

    /// Whether nothing stands in the way so far.
    pub(super) fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// How much stands in the way so far.
    pub(super) fn count(&self) -> usize {
        self.findings.len()
    }

    /// Findings and warnings, each in the order of the lines they are about.
    pub(super) fn finish(mut self) -> (Vec<Finding>, Vec<Finding>) {
        for list in [&mut self.findings, &mut self.warnings] {
            list.sort_by_key(|finding| finding.line);
            if list.len() > FINDINGS_MAX {
                let rest = list.len() - FINDINGS_MAX;
                let line = list.get(FINDINGS_MAX).and_then(|finding| finding.line).unwrap_or(1);
                list.truncate(FINDINGS_MAX);
                let message = format!("{rest} more findings, from line {line} on, are not shown");
                list.push(
                    Finding::new("handoff-more", message, "repair those above first, then check again")
                        .at(self.path)
                        .line(line),
                );
            }
        }
        (self.findings, self.warnings)
    }
}

/// `text` in single quotes, for a message: control and invisible characters escaped, cut at 80 characters.
pub(super) fn quote(text: &str) -> String {
    quoted(text, QUOTE_MAX)
}

/// The same for a path that FILES lists: its end is what tells it from others, so that only a monstrous one is cut.
pub(super) fn quote_listed(path: &str) -> String {
    quoted(path, LISTED_MAX)
}

/// The path of the draft in single quotes, for a message: escaped in the same way, and never cut, because it is what the
/// agent has to write to.
pub(super) fn quote_path(path: &Path) -> String {
    quoted(&path.to_string_lossy(), usize::MAX)
}

fn quoted(text: &str, most: usize) -> String {
    let mut out = String::from("'");
    for (count, c) in text.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        match c {
            '\'' | '"' | '\\' => out.push(c),
            _ => out.extend(c.escape_debug()),
        }
    }
    out.push('\'');
    out
}
