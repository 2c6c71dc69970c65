//! A manual page as plain text, for where there is no man(1) or no terminal. It knows the macros of man(7) that pages
//! of orbh use, and passes over the others; what is text in the page is never lost.

/// The widest line of running text.
const WIDTH: usize = 78;
/// How far the text of a section is indented, and that of a paragraph below its tag once more.
const STEP: usize = 4;

/// The text of a page.
pub fn plain(roff: &str) -> String {
    let mut page = Plain::default();
    for line in roff.lines() {
        page.take(line);
    }
    page.flush();
    page.text
}

/// What the next line of text is.
#[derive(Default, PartialEq, Eq)]
enum Next {
    /// Words of the paragraph.
    #[default]
    Words,
    /// The tag of the paragraph that follows.
    Tag,
    /// The heading of a section, indented by so much.
    Heading(usize),
}

#[derive(Default)]
struct Plain {
    text: String,
    /// The line that is being filled, its indentation included; empty at the beginning of one.
    line: String,
    /// Where the text begins.
    indent: usize,
    /// What .RS added to it.
    shift: usize,
    /// Text is taken line by line, as it is.
    verbatim: bool,
    next: Next,
    /// The last line is a heading, so what follows it is not set off by a blank one.
    headed: bool,
    /// The address of a link whose text is being read.
    link: String,
}

impl Plain {
    fn take(&mut self, line: &str) {
        match line.strip_prefix(['.', '\'']) {
            Some(request) => {
                let request = request.trim_start();
                let (name, rest) = request.split_once([' ', '\t']).unwrap_or((request, ""));
                self.request(name, &arguments(rest));
            }
            None => self.put(&unescape(line)),
        }
    }

    fn request(&mut self, name: &str, words: &[String]) {
        match name {
            "TH" => self.title(words),
            "SH" => self.section(0, words),
            "SS" => self.section(STEP / 2, words),
            "PP" | "P" | "LP" => self.paragraph(0),
            "TP" => {
                self.paragraph(STEP);
                self.next = Next::Tag;
            }
            "TQ" => {
                self.flush();
                self.next = Next::Tag;
            }
            "IP" => {
                self.paragraph(STEP);
                if let Some(tag) = words.first().filter(|tag| !tag.is_empty()) {
                    self.tag(tag);
                }
            }
            "RS" => {
                self.flush();
                self.shift += STEP;
            }
            "RE" => {
                self.flush();
                self.shift = self.shift.saturating_sub(STEP);
            }
            "nf" | "EX" => {
                self.flush();
                self.verbatim = true;
            }
            "fi" | "EE" => self.verbatim = false,
            "br" => self.flush(),
            "sp" => self.blank(),
            "UR" | "MT" => self.link = words.concat(),
            "UE" | "ME" => {
                let link = format!("<{}>{}", std::mem::take(&mut self.link), words.concat());
                self.put(&link);
            }
            // Without words they change the font of the next line.
            "B" | "I" | "SM" | "SB" if !words.is_empty() => self.put(&words.join(" ")),
            "BR" | "IR" | "RB" | "RI" | "BI" | "IB" => self.put(&words.concat()),
            _ => {}
        }
    }

    /// The first line of a page: `ORBH-LIST(1)`, at the left, and what the page is part of, at the right.
    fn title(&mut self, words: &[String]) {
        let word = |index: usize| words.get(index).map_or("", String::as_str);
        let name = format!("{}({})", word(0), word(1));
        let source = word(3);
        let room = WIDTH.saturating_sub(name.chars().count());
        self.text += format!("{name}{source:>room$}").trim_end();
        self.text.push('\n');
    }

    fn section(&mut self, indent: usize, words: &[String]) {
        self.blank();
        (self.indent, self.shift, self.verbatim) = (STEP, 0, false);
        self.next = Next::Heading(indent);
        if !words.is_empty() {
            self.put(&words.join(" "));
        }
    }

    fn paragraph(&mut self, deeper: usize) {
        self.blank();
        self.indent = STEP + deeper;
        self.next = Next::Words;
    }

    /// Text, unescaped.
    fn put(&mut self, text: &str) {
        match std::mem::take(&mut self.next) {
            Next::Heading(indent) => {
                self.whole(indent, text);
                self.headed = true;
            }
            Next::Tag => self.tag(text),
            Next::Words if self.verbatim => self.whole(self.shift + self.indent + STEP, text),
            Next::Words => self.fill(text),
        }
    }

    /// The tag of a paragraph: on a line of its own, or before the text where it is short enough.
    fn tag(&mut self, tag: &str) {
        let before = self.shift + self.indent - STEP;
        if tag.chars().count() + 1 < STEP {
            self.flush();
            self.line = format!("{:before$}{tag:STEP$}", "");
        } else {
            self.whole(before, tag);
        }
    }

    /// A line as it is.
    fn whole(&mut self, indent: usize, text: &str) {
        self.flush();
        self.headed = false;
        self.text += format!("{:indent$}{text}", "").trim_end();
        self.text.push('\n');
    }

    fn fill(&mut self, text: &str) {
        if text.trim().is_empty() {
            return self.blank();
        }
        let left = self.shift + self.indent;
        for word in text.split_whitespace() {
            let used = self.line.chars().count();
            if used > left && used + 1 + word.chars().count() > WIDTH {
                self.flush();
            }
            if self.line.is_empty() {
                self.line = " ".repeat(left);
            } else if self.line.chars().count() > left {
                self.line.push(' ');
            }
            self.line += word;
        }
    }

    /// Ends the line that is being filled.
    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.text += line.trim_end();
            self.text.push('\n');
            self.headed = false;
        }
    }

    /// Ends the line, and leaves one blank, never two, and none below a heading.
    fn blank(&mut self) {
        self.flush();
        if !self.headed && !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// The arguments of a request, unescaped: separated by blanks, or quoted, a quote in them doubled.
fn arguments(rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = rest.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let (word, after) =
            if let Some(quoted) = rest.strip_prefix('"') { quoted_word(quoted) } else { bare_word(rest) };
        words.push(unescape(&word));
        rest = after.trim_start();
    }
    words
}

fn quoted_word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        word += before;
        let Some(doubled) = after.strip_prefix('"') else { return (word, after) };
        word.push('"');
        rest = doubled;
    }
    (word + rest, "")
}

fn bare_word(text: &str) -> (String, &str) {
    // A blank that is escaped does not separate.
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if character == ' ' && !escaped {
            return (text[..at].to_owned(), &text[at..]);
        }
        escaped = character == '\\' && !escaped;
    }
    (text.to_owned(), "")
}

/// Takes out fonts and comments, and puts characters in the place of their names.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain += before;
        let Some(kind) = after.chars().next() else { return plain };
        let behind = &after[kind.len_utf8()..];
        rest = match kind {
            '"' => return plain,
            'f' | '*' => {
                let (name, left) = name(behind);
                // A string that has a name of its own is the character of that name, as \*(Aq is.
                plain += if kind == '*' { character(name) } else { "" };
                left
            }
            '(' | '[' => {
                let (name, left) = name(after);
                plain += character(name);
                left
            }
            '-' => push(&mut plain, '-', behind),
            'e' | '\\' => push(&mut plain, '\\', behind),
            ' ' | '~' | '0' => push(&mut plain, ' ', behind),
            '&' | '|' | '^' | '%' | ':' | '/' | ',' | 'c' => behind,
            other => push(&mut plain, other, behind),
        };
    }
    plain + rest
}

fn push<'a>(plain: &mut String, character: char, rest: &'a str) -> &'a str {
    plain.push(character);
    rest
}

/// The name of a font or a character, `x`, `(xx` or `[xxx]`, and what follows it.
fn name(text: &str) -> (&str, &str) {
    if let Some(bracketed) = text.strip_prefix('[') {
        return bracketed.split_once(']').unwrap_or((bracketed, ""));
    }
    let (text, length) = text.strip_prefix('(').map_or((text, 1), |text| (text, 2));
    let end = text.char_indices().nth(length).map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

/// The character of a name; the name itself where it is not known, so that it is seen.
fn character(name: &str) -> &str {
    match name {
        "aq" | "Aq" | "cq" => "'",
        "dq" | "lq" | "rq" => "\"",
        "oq" | "ga" => "`",
        "bu" => "•",
        "em" => "—",
        "en" => "–",
        "ha" => "^",
        "hy" => "-",
        "rs" => "\\",
        "ti" => "~",
        "->" => "→",
        "<-" => "←",
        "<=" => "≤",
        ">=" => "≥",
        "mu" => "×",
        "sc" => "§",
        "..." => "…",
        name => name,
    }
}
