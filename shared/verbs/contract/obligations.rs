//! OPEN OBLIGATIONS: the items of a list, or the one line that says there are none.
//!
//! Every line ends up in exactly one item or is reported, so nothing that is owed can be overlooked because of
//! how it was written.

use super::report::{Report, quote};
use super::shape::{Line, Part, Section, atx};
use super::summary::{is_filler, joined, sample_lines};

/// How a line of the section counts.
enum Kind {
    /// `- text`, in the first column.
    Item,
    /// Belongs to the item before it.
    More,
    /// A heading of another level, which groups items.
    Group,
    /// Meant as an item, but in another form.
    Almost,
}

/// What further lines belong to.
#[derive(Clone, Copy)]
enum Last {
    /// No item yet in the section, or under the heading that groups.
    Nothing,
    /// The last item.
    Item,
    /// Something that was reported, with which they were reported too.
    Refused,
}

/// The obligations, each without its `- `; none for `- none`. Reports what is in another form.
pub(super) fn obligations(part: &Part<'_>, report: &mut Report<'_>) -> Vec<String> {
    let mut items: Vec<Vec<Line<'_>>> = Vec::new();
    let mut groups = 0;
    let mut refused = false;
    let mut last = Last::Nothing;
    for line in &part.body {
        match (kind(line), last) {
            (Kind::Item, _) => {
                items.push(vec![*line]);
                last = Last::Item;
            }
            (Kind::Group, _) => {
                groups += 1;
                last = Last::Nothing;
            }
            (Kind::More, Last::Item) => items.last_mut().into_iter().for_each(|item| item.push(*line)),
            (Kind::More, Last::Refused) => {}
            (Kind::More, Last::Nothing) if line.is_blank() => {}
            (Kind::More | Kind::Almost, _) => {
                malformed(line, report);
                refused = true;
                last = Last::Refused;
            }
        }
    }
    if items.is_empty() && !refused {
        let message = "the section '## OPEN OBLIGATIONS' is empty".to_owned();
        let fix = "list what is owed, each starting with '- '; write '- none' only when there is truly nothing";
        report.refuse("handoff-obligations-empty", part.line, message, fix);
    }
    let copies = sample_lines(Section::Obligations);
    let alone = items.len() == 1 && groups == 0 && !refused;
    items.iter().filter_map(|item| obligation(item, alone, &copies, report)).collect()
}

/// What `line` is, by how it starts.
fn kind(line: &Line<'_>) -> Kind {
    let text = line.text;
    if line.fence.is_some() || text.starts_with([' ', '\t']) {
        return Kind::More;
    }
    if text.starts_with("- ") {
        return Kind::Item;
    }
    if atx(text).is_some() {
        return Kind::Group;
    }
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < text.len() && (number.starts_with(". ") || number.starts_with(") "));
    match text.starts_with(['-', '•']) || text.starts_with("* ") || text.starts_with("+ ") || numbered {
        true => Kind::Almost,
        false => Kind::More,
    }
}

/// Reports a line that belongs to no item.
fn malformed(line: &Line<'_>, report: &mut Report<'_>) {
    let shown = quote(line.text);
    if says_none(line.text) {
        not_none(line, report);
    } else if line.text == "-" {
        let message = "an obligation is empty: nothing follows '-'".to_owned();
        report.refuse("handoff-obligation-form", line.number, message, "say what is owed, or delete the line");
    } else {
        let message = format!("{shown} belongs to no obligation: one starts with '- ' in the first column");
        let fix = "start each obligation with '- ', and indent its further lines";
        report.refuse("handoff-obligation-form", line.number, message, fix);
    }
}

/// Reports a line that means `- none` and does not say it so.
fn not_none(line: &Line<'_>, report: &mut Report<'_>) {
    let message = format!("{} is found, and exactly '- none' is expected where nothing is owed", quote(line.text));
    let fix = "make it '- none', with nothing else in the section; delete it if anything is owed";
    report.refuse("handoff-none-form", line.number, message, fix);
}

/// The text of one item; nothing for `- none`, and for what is reported. `copies` are lines of the sample.
fn obligation(item: &[Line<'_>], alone: bool, copies: &[&str], report: &mut Report<'_>) -> Option<String> {
    let first = item.first()?;
    let whole = joined(item);
    let text = whole.strip_prefix("- ").unwrap_or(&whole).trim_start();
    if first.text == "- none" {
        if !alone || text != "none" {
            let message = "'- none' does not stand alone in '## OPEN OBLIGATIONS'".to_owned();
            let fix = "delete '- none' if anything is owed; otherwise delete everything else in the section";
            report.refuse("handoff-none-mixed", first.number, message, fix);
        }
        return None;
    }
    if says_none(text) {
        not_none(first, report);
        return None;
    }
    if copies.contains(&first.text) || is_filler(text) {
        let message = format!("{} is a placeholder, and an obligation is expected", quote(first.text));
        let fix = "say what is owed, with its id and the command that collects it; or delete the item";
        report.refuse("handoff-obligation-placeholder", first.number, message, fix);
        return None;
    }
    Some(text.to_owned())
}

/// Whether `text` says that nothing is owed, in whatever words.
fn says_none(text: &str) -> bool {
    const WORDS: [&str; 11] = [
        "none",
        "n/a",
        "na",
        "nil",
        "nothing",
        "no obligations",
        "no open obligations",
        "none open",
        "nothing open",
        "none at this time",
        "none currently",
    ];
    let bare = text.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    // '- none (all collected)' and '- none: …' too, but not '- none of the reviewers answered'.
    let said = bare
        .strip_prefix("none")
        .map(str::trim_start)
        .is_some_and(|rest| rest.starts_with(['(', ',', ';', ':', '.', '-', '–', '—']) && !rest.contains("orbh"));
    said || WORDS.contains(&bare.as_str())
}
