//! The Page as text, in 12 KiB at most, saying what it left out and how to see it.

use super::text::{clean, cut, span};
use crate::harness::occupancy::Occupancy;
use crate::verbs::overview::{Overview, State};
use crate::verbs::page::Page;
use std::fmt::Write;

/// The most bytes that the text of a Page has.
pub const LIMIT: usize = 12 * 1024;
/// The most characters that one line of it has; longer ones are cut.
const WIDTH: usize = 400;

/// The line that is the source of truth about occupancy.
pub fn context_line(context: Option<&Occupancy>) -> String {
    format!("CONTEXT      {}\n", context.map_or_else(|| "unknown".to_owned(), ToString::to_string))
}

/// A title with the mark that a held session carries on every title surface.
pub fn title(overview: &Overview) -> String {
    let title = clean(overview.title.as_deref().unwrap_or(""));
    if overview.compacting { format!("[Compacting...] {title}").trim_end().to_owned() } else { title }
}

/// Renders a Page.
pub fn render(page: &Page) -> String {
    let overview = &page.overview;
    let mut text = String::new();
    let _ = writeln!(text, "SESSION      {}  {}", overview.session, cut(&title(overview), WIDTH));
    let _ = writeln!(text, "STATE        {}", state_line(overview));
    text += &context_line(overview.context.as_ref());
    let _ = writeln!(text, "COMPACTION   {}", compaction_line(overview));
    let _ = writeln!(text, "SPOOL        {}", clean(&overview.spool.display().to_string()));
    text += "\nOPEN OBLIGATIONS\n";
    let obligations: Vec<String> = page.obligations.iter().map(|one| cut(&clean(&one.to_string()), WIDTH)).collect();
    list(&mut text, &obligations, "orbh list --tree");
    text += "\nNOTICES\n";
    let notices: Vec<String> = page.notices.iter().map(|one| format!("- {}", cut(&clean(one), WIDTH))).collect();
    list(&mut text, &notices, "orbh inspect");
    text
}

/// Writes the lines that fit, and says how many did not and what shows them.
fn list(text: &mut String, lines: &[String], how: &str) {
    if lines.is_empty() {
        text.push_str("- none\n");
    }
    let reserve = 128;
    for (index, line) in lines.iter().enumerate() {
        if text.len() + line.len() + reserve > LIMIT {
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
