//! Text that came from elsewhere (a file of the spool, a name, an argument), made fit to be shown: it may forge no line
//! of what it stands in, and give a terminal no order.

use std::fmt::Write;

/// On one line, without control characters: line ends and all else that moves, hides or reorders is escaped.
pub fn clean(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => safe.push(' '),
            character if gives_orders(character) => {
                let _ = write!(safe, "{}", character.escape_debug());
            }
            character => safe.push(character),
        }
    }
    safe
}

/// The same for text of several lines, whose ends and tabs stay.
pub fn clean_lines(text: &str) -> String {
    if !text.chars().any(|character| gives_orders(character) && !matches!(character, '\n' | '\t')) {
        return text.to_owned();
    }
    text.split('\n')
        .map(|line| line.split('\t').map(clean).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What another program said in several lines, as a part of one sentence.
pub fn one_line(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| clean(line.trim())).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// JSON whose strings are free of what JSON lets pass and a terminal obeys: DEL, the C1 controls, and what reorders or
/// hides. Outside of strings none of them can be.
pub fn clean_json(json: &str) -> String {
    if !json.chars().any(gives_orders) {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if !gives_orders(character) || matches!(character, '\n' | '\t' | '\r') {
            safe.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    safe
}

fn gives_orders(character: char) -> bool {
    character.is_control() || is_formatting(character)
}

/// Characters that reorder or hide what stands around them.
fn is_formatting(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
