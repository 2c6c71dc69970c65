//! What was probably meant: a marker or heading that is almost right.
//!
//! Only ever used to explain a refusal. A near miss is never accepted.

use super::MARKER;
use super::shape::Section;

/// A heading as it might have been meant: how far off, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Miss {
    /// 0 for a level-2 heading, then less and less like one.
    pub(super) rank: u8,
    /// Edits between the name found and the name of the section.
    pub(super) distance: usize,
}

/// Which section the line `text` was probably meant to open, if any; never one that it opens exactly.
pub(super) fn heading(text: &str) -> Option<(Section, Miss)> {
    let bare = text.trim_start_matches([' ', '\t']);
    let shallow = text.len() - bare.len() <= 3 && !text.starts_with('\t');
    let name = bare.trim_start_matches('#');
    let hashes = bare.len() - name.len();
    let rank = match hashes {
        2 if shallow && name.starts_with([' ', '\t']) => 0,
        2 if shallow => 1,
        1..=6 if shallow => 2,
        0..=6 => 3,
        _ => return None,
    };
    // Most lines end here: no name with its adornment is this long.
    if name.len() > 64 {
        return None;
    }
    // A whole line of ordinary text that merely reads 'files' is no heading; '**FILES**' and 'Files:' are meant as one.
    let loud = !name.contains(char::is_lowercase) || name.ends_with(':') || name.starts_with(['*', '_']);
    if hashes == 0 && (name.is_empty() || !loud) {
        return None;
    }
    let wanted = normal(name);
    let distance = |section: Section| match (hashes, section) {
        (0, _) => {
            if wanted == section.name() {
                0
            } else {
                usize::MAX
            }
        }
        (_, Section::Obligations) => edits(&wanted, section.name()).min(edits(&wanted, "OBLIGATIONS")),
        _ => edits(&wanted, section.name()),
    };
    let allowed = |section: Section| match section {
        Section::Files => 1,
        Section::Summary => 2,
        Section::Obligations => 3,
    };
    Section::ALL
        .into_iter()
        .map(|section| (section, Miss { rank, distance: distance(section) }))
        .filter(|(section, miss)| miss.distance <= allowed(*section))
        .min_by_key(|(_, miss)| *miss)
}

/// What makes the line `text` differ from the heading of `section`, as the end of a sentence.
pub(super) fn difference(text: &str, section: Section) -> &'static str {
    let bare = text.trim_start_matches([' ', '\t']);
    let name = bare.trim_start_matches('#');
    if bare.len() < text.len() {
        return "a heading starts in the first column";
    }
    match bare.len() - name.len() {
        0 => return "a heading starts with '## '",
        2 => {}
        _ => return "the heading is of level 2, with two '#'",
    }
    let inner = name.trim_matches([' ', '\t']);
    if !name.starts_with([' ', '\t']) {
        "a blank follows the '##'"
    } else if inner == section.name() {
        "exactly one blank follows the '##'"
    } else if inner.ends_with(':') {
        "no colon follows the name"
    } else if inner.to_uppercase() == section.name() {
        "the name is in upper case"
    } else {
        "the name is spelt otherwise"
    }
}

/// Whether the line `text` was probably meant as the marker.
pub(super) fn is_marker(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    let folded: String = bare.chars().map(|c| if matches!(c, ' ' | '-') { '_' } else { c }).collect();
    edits(&folded.to_uppercase(), MARKER) <= 3
}

/// Upper case, without adornment at the ends, inner blanks as one.
fn normal(name: &str) -> String {
    let bare = name.trim_matches(|c: char| !c.is_alphabetic());
    bare.to_uppercase().split([' ', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `found` into `wanted`; far off is `usize::MAX`.
fn edits(found: &str, wanted: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (found.chars().take(64).collect(), wanted.chars().collect());
    // No misspelling changes the length by more; and so the work stays bounded.
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(older[j - 2] + 1);
            }
        }
        older = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(usize::MAX)
}
