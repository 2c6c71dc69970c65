//! The outer form of a handoff: its lines, the marker, code fences, and which section owns which line.
//!
//! One pass over the lines decides; what is wrong is reported and then repaired in memory, so that the rest of
//! the draft is still checked and the agent hears of everything at once.

use super::report::{Report, quote};
use super::{MARKER, near};
use std::fmt::Write as _;

/// The three sections, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Summary,
    Files,
    Obligations,
}

impl Section {
    pub(super) const ALL: [Section; 3] = [Section::Summary, Section::Files, Section::Obligations];

    /// The line that opens it.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Section::Summary => "## SUMMARY",
            Section::Files => "## FILES",
            Section::Obligations => "## OPEN OBLIGATIONS",
        }
    }

    /// The heading without its '## '.
    pub(super) fn name(self) -> &'static str {
        self.heading().trim_start_matches("## ")
    }
}

/// One line, without what is forgiven: byte order mark, carriage return, trailing blanks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// In a code fence, its delimiters included: the number of the line that opened it.
    pub(super) fence: Option<usize>,
}

impl Line<'_> {
    /// Whether nothing stands on it.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim_start_matches([' ', '\t']).is_empty()
    }
}

/// A section that was found: the number of its heading's line, and the lines that follow.
pub(super) struct Part<'a> {
    pub(super) line: usize,
    pub(super) body: Vec<Line<'a>>,
}

/// The sections of `text`, in the order of [`Section::ALL`]; one that is missing is `None`, and was reported.
pub(super) fn shape<'a>(text: &'a str, report: &mut Report<'_>) -> [Option<Part<'a>>; 3] {
    let mut lines = split(text);
    let start = marker(&mut lines, report);
    open_fences(&mut lines, start, report);
    let heads = headings(&lines, start, report);
    divide(&lines, start, &heads, report)
}

/// Cuts `text` into lines and drops what is forgiven.
fn split(text: &str) -> Vec<Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            let line = line.strip_suffix('\r').unwrap_or(line).trim_end_matches([' ', '\t']);
            Line { number: index + 1, text: line, fence: None }
        })
        .collect()
}

/// Looks for the marker, and returns the index of the line after it (after nothing, if there is none).
fn marker(lines: &mut [Line<'_>], report: &mut Report<'_>) -> usize {
    let first = lines.first().map_or("", |line| line.text);
    if first == MARKER {
        return 1;
    }
    let body = lines.iter().position(|line| Section::ALL.iter().any(|section| section.heading() == line.text));
    let head = &lines[..body.unwrap_or(lines.len()).min(20)];
    let exact = head.iter().position(|line| line.text == MARKER);
    let fix = format!("make {MARKER} the whole of line 1, with nothing before it");
    if let Some(at) = exact {
        let number = at + 1;
        let fenced = head[..at].iter().any(|line| Fence::opened(line.text).is_some());
        let message = if fenced {
            format!("the marker stands on line {number}, inside a code fence, and is expected on line 1")
        } else if first.is_empty() {
            format!("line 1 is blank and the marker stands on line {number}, and is expected on line 1")
        } else {
            format!("line 1 is {}, and the marker, expected there, stands on line {number}", quote(first))
        };
        report.refuse("handoff-marker", number, message, fix);
        if fenced {
            // The fence around the whole file ends on its last line; it is no part of the last obligation.
            let last = lines.iter_mut().rev().find(|line| !line.is_blank());
            if let Some(last) = last.filter(|line| Fence::opened(line.text).is_some()) {
                last.text = "";
            }
        }
        return at + 1;
    }
    let almost = head.iter().position(|line| near::is_marker(line.text));
    let at = almost.unwrap_or(0);
    let found = lines.get(at).map_or("", |line| line.text);
    let message = match found {
        "" => format!("line 1 is blank, and {MARKER} is expected there"),
        _ => format!("line {} is {}, and exactly {MARKER} is expected on line 1", at + 1, quote(found)),
    };
    report.refuse("handoff-marker", at + 1, message, fix);
    // Without a marker, line 1 was reported in its place, unless it is a heading.
    match almost {
        Some(at) => at + 1,
        None => usize::from(body != Some(0) && near::heading(found).is_none()),
    }
}

/// A code fence that is open (CommonMark 4.5).
struct Fence {
    mark: char,
    length: usize,
    line: usize,
}

impl Fence {
    /// The mark and its count, if `text` can open a fence.
    fn opened(text: &str) -> Option<(char, usize)> {
        let bare = text.trim_start_matches(' ');
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        let inline = mark == '`' && info.contains('`');
        (text.len() - bare.len() <= 3 && length >= 3 && !inline).then_some((mark, length))
    }

    /// Whether `text` closes this fence.
    fn closed_by(&self, text: &str) -> bool {
        let bare = text.trim_start_matches(' ');
        let rest = bare.trim_start_matches(self.mark);
        text.len() - bare.len() <= 3 && bare.len() - rest.len() >= self.length && rest.is_empty()
    }
}

/// Notes on each line the fence it is in.
fn scan(lines: &mut [Line<'_>], start: usize) {
    let mut open: Option<Fence> = None;
    for line in lines.iter_mut().skip(start) {
        if let Some(fence) = &open {
            line.fence = Some(fence.line);
            if fence.closed_by(line.text) {
                open = None;
            }
        } else if let Some((mark, length)) = Fence::opened(line.text) {
            open = Some(Fence { mark, length, line: line.number });
            line.fence = Some(line.number);
        } else {
            line.fence = None;
        }
    }
}

/// The last line of the fence that line `opener` opens, and whether it closes the fence.
fn extent(lines: &[Line<'_>], opener: usize) -> Option<(usize, bool)> {
    let (mark, length) = Fence::opened(lines.get(opener - 1)?.text)?;
    let last = lines.iter().rev().find(|line| line.fence == Some(opener))?;
    let closed = last.number > opener && Fence { mark, length, line: opener }.closed_by(last.text);
    Some((last.number, closed))
}

/// Notes the fences, reports those that swallow a section, and takes these out.
fn open_fences(lines: &mut [Line<'_>], start: usize, report: &mut Report<'_>) {
    scan(lines, start);
    // One round a section is enough for any honest draft, and bounds the work for the others.
    for _ in Section::ALL {
        let body = lines.get(start..).unwrap_or_default();
        let swallowed = Section::ALL.into_iter().find_map(|section| {
            let inside = body.iter().find(|line| line.text == section.heading() && line.fence.is_some())?;
            let opener = inside.fence?;
            let (close, closed) = extent(lines, opener)?;
            // A fence that is closed is more likely to quote: then a heading of the wrong level explains more.
            let near_enough = if closed { 3 } else { 2 };
            let meant =
                |text| near::heading(text).is_some_and(|(near, miss)| near == section && miss.rank < near_enough);
            let mut outside = body.iter().filter(|line| line.fence.is_none());
            let found = outside.any(|line| line.text == section.heading() || meant(line.text));
            (!found).then_some((section, inside.number, opener, close, closed))
        });
        let Some((section, number, opener, close, closed)) = swallowed else { return };
        let fence = lines[opener - 1].text;
        let mut message = format!("the code fence {} opened on line {opener} is ", quote(fence));
        // Writing to a String cannot fail.
        let _ = match closed {
            true => write!(message, "closed only on line {close}"),
            false => write!(message, "never closed"),
        };
        let _ = write!(message, " and swallows {} on line {number}", quote(section.heading()));
        let fix = format!("close the fence before line {number}, or remove line {opener}");
        report.refuse("handoff-fence", opener, message, fix);
        lines[opener - 1].text = "";
        if closed {
            lines[close - 1].text = "";
        }
        scan(lines, start);
    }
}

/// The index of each line that opens a section, exactly or nearly, in the order of the lines.
fn headings(lines: &[Line<'_>], start: usize, report: &mut Report<'_>) -> Vec<(usize, Section)> {
    let outside = || lines.iter().enumerate().skip(start).filter(|(_, line)| line.fence.is_none());
    let mut heads: Vec<(usize, Section)> = Vec::new();
    for section in Section::ALL {
        let mut exact = outside().filter(|(_, line)| line.text == section.heading());
        if let Some((first, line)) = exact.next() {
            heads.push((first, section));
            for (index, again) in exact {
                heads.push((index, section));
                let shown = quote(section.heading());
                let message =
                    format!("{shown} stands on line {} again; it stood on line {} already", again.number, line.number);
                report.refuse("handoff-section-twice", again.number, message, "merge the two, under one heading");
            }
            continue;
        }
        let nearest = outside()
            .filter_map(|(index, line)| near::heading(line.text).map(|(near, miss)| (near, miss, index)))
            .filter(|(near, _, index)| *near == section && heads.iter().all(|(taken, _)| taken != index))
            .min_by_key(|(_, miss, index)| (*miss, *index));
        if let Some((_, _, index)) = nearest {
            let Line { number, text, .. } = lines[index];
            let (found, wanted) = (quote(text), quote(section.heading()));
            let why = near::difference(text, section);
            let message = format!("line {number} is {found}, and exactly {wanted} is expected: {why}");
            report.refuse("handoff-heading", number, message, format!("make line {number} exactly {wanted}"));
            heads.push((index, section));
        }
    }
    missing(lines, &heads, report);
    order(lines, &heads, report);
    heads.sort_by_key(|(index, _)| *index);
    heads
}

/// Reports the sections that no line opens, each on the line before which it belongs.
fn missing(lines: &[Line<'_>], heads: &[(usize, Section)], report: &mut Report<'_>) {
    for (place, section) in Section::ALL.into_iter().enumerate() {
        if heads.iter().any(|(_, present)| *present == section) {
            continue;
        }
        let later = heads.iter().find(|(_, present)| Section::ALL[place..].contains(present));
        let wanted = quote(section.heading());
        let (line, place) = match later {
            Some((index, next)) => {
                let number = lines[*index].number;
                (number, format!("before {} on line {number}", quote(next.heading())))
            }
            None => (lines.len(), "at the end of the file".to_owned()),
        };
        let message = format!("the section {wanted} is missing, and is expected {place}");
        let fix = format!("add a line that is exactly {wanted} {place}, and its content below");
        report.refuse("handoff-section-missing", line, message, fix);
    }
}

/// Reports sections that stand in another order; `heads` is in the order of [`Section::ALL`].
fn order(lines: &[Line<'_>], heads: &[(usize, Section)], report: &mut Report<'_>) {
    let mut firsts: Vec<(usize, Section)> = Vec::new();
    for head in heads {
        if firsts.iter().all(|(_, section)| *section != head.1) {
            firsts.push(*head);
        }
    }
    if let Some(pair) = firsts.windows(2).find(|pair| pair[0].0 > pair[1].0) {
        let (early, late) = (lines[pair[1].0].number, lines[pair[0].0].number);
        let (second, first) = (quote(pair[1].1.heading()), quote(pair[0].1.heading()));
        let message =
            format!("{second} on line {early} stands before {first} on line {late}, and is expected after it");
        let fix = "put the sections in the order SUMMARY, FILES, OPEN OBLIGATIONS";
        report.refuse("handoff-section-order", early, message, fix);
    }
}

/// Whether `text` is an ATX heading (CommonMark 4.2), and of which level.
pub(super) fn atx(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches(' ');
    let name = bare.trim_start_matches('#');
    let level = bare.len() - name.len();
    let apart = name.is_empty() || name.starts_with([' ', '\t']);
    (text.len() - bare.len() <= 3 && (1..=6).contains(&level) && apart).then_some(level)
}

/// Gives each line to its section, and reports lines that have none and sections that should not be.
fn divide<'a>(
    lines: &[Line<'a>],
    start: usize,
    heads: &[(usize, Section)],
    report: &mut Report<'_>,
) -> [Option<Part<'a>>; 3] {
    let mut parts = [None, None, None];
    let mut owner: Option<Section> = None;
    let mut foreign = false;
    let mut stray: Vec<Line<'a>> = Vec::new();
    let mut heads = heads.iter().peekable();
    for (index, line) in lines.iter().enumerate().skip(start) {
        if let Some((_, section)) = heads.next_if(|(head, _)| *head == index) {
            (owner, foreign) = (Some(*section), false);
            parts[*section as usize].get_or_insert_with(|| Part { line: line.number, body: Vec::new() });
            continue;
        }
        if line.fence.is_none() && atx(line.text) == Some(2) {
            let message = format!("{} opens a section that the contract does not have", quote(line.text));
            let fix = "use ### or deeper for headings of your own, inside SUMMARY; or put the line in a code fence";
            report.refuse("handoff-extra-section", line.number, message, fix);
            // In SUMMARY what follows is still the account; elsewhere it is neither files nor obligations.
            foreign = owner != Some(Section::Summary);
        }
        match owner.and_then(|section| parts[section as usize].as_mut()) {
            _ if foreign => {}
            Some(part) => part.body.push(*line),
            None if !line.is_blank() => stray.push(*line),
            None => {}
        }
    }
    if let (Some(first), Some(_)) = (stray.first(), owner) {
        let more = match stray.len() {
            1 => String::new(),
            count => format!(" (and {} more lines)", count - 1),
        };
        let message = format!("{}{more} stands before the first section, and belongs to none", quote(first.text));
        report.refuse("handoff-stray", first.number, message, "move the text into '## SUMMARY', or delete it");
    }
    parts
}
