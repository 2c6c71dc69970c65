//! A manual page as plain text, for where there is no man(1). It knows the macros that the pages of orbh use.

/// The text of a page.
pub fn plain(roff: &str) -> String {
    let mut page = Plain { text: String::new(), line: String::new(), verbatim: false, tag: false, indent: 0 };
    for line in roff.lines() {
        page.take(line);
    }
    page.flush();
    page.text
}

struct Plain {
    text: String,
    line: String,
    verbatim: bool,
    /// The next line is the tag of a paragraph.
    tag: bool,
    indent: usize,
}

/// The widest line.
const WIDTH: usize = 78;

impl Plain {
    fn take(&mut self, line: &str) {
        let Some(request) = line.strip_prefix(['.', '\'']).filter(|_| !line.starts_with("\\&")) else {
            return self.words(line);
        };
        let (name, rest) = request.split_once(' ').unwrap_or((request, ""));
        let rest = rest.trim();
        match name {
            "\\\"" | "ie" | "el" | "ds" | "nh" | "ad" | "if" => {}
            "TH" => {
                self.heading(&arguments(rest)[..2.min(arguments(rest).len())].join("(").replace("((", "(").add_close())
            }
            "SH" => {
                self.flush();
                self.indent = 0;
                self.blank();
                self.heading(&arguments(rest).join(" "));
                self.indent = 4;
            }
            "SS" => {
                self.flush();
                self.indent = 2;
                self.blank();
                self.heading(&arguments(rest).join(" "));
                self.indent = 4;
            }
            "PP" | "P" | "LP" => {
                self.flush();
                self.indent = 4;
                self.blank();
            }
            "TP" => {
                self.flush();
                self.blank();
                self.indent = 4;
                self.tag = true;
            }
            "IP" => {
                self.flush();
                self.blank();
                self.indent = 4;
                let words = arguments(rest);
                if let Some(tag) = words.first().filter(|tag| !tag.is_empty()) {
                    self.heading(tag);
                }
                self.indent = 8;
            }
            "nf" | "EX" => {
                self.flush();
                self.verbatim = true;
            }
            "fi" | "EE" => self.verbatim = false,
            "RS" => {
                self.flush();
                self.indent += 4;
            }
            "RE" => {
                self.flush();
                self.indent = self.indent.saturating_sub(4);
            }
            "br" | "sp" => self.flush(),
            "B" | "I" => self.words(&arguments(rest).join(" ")),
            "BR" | "IR" | "RB" | "RI" | "BI" | "IB" => self.words(&arguments(rest).concat()),
            _ => {}
        }
    }

    fn words(&mut self, line: &str) {
        let line = unescape(line);
        if self.verbatim {
            self.text += &" ".repeat(self.indent + 4);
            self.text += &line;
            self.text.push('\n');
        } else if self.tag {
            self.tag = false;
            self.heading(&line);
            self.indent = 8;
        } else {
            for word in line.split_whitespace() {
                if !self.line.is_empty() && self.indent + self.line.chars().count() + 1 + word.chars().count() > WIDTH {
                    self.flush();
                }
                if !self.line.is_empty() {
                    self.line.push(' ');
                }
                self.line += word;
            }
        }
    }

    fn heading(&mut self, text: &str) {
        self.flush();
        self.text += &" ".repeat(self.indent);
        self.text += &unescape(text);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.text += &" ".repeat(self.indent);
            self.text += &std::mem::take(&mut self.line);
            self.text.push('\n');
        }
    }
}

trait AddClose {
    fn add_close(self) -> String;
}

impl AddClose for String {
    fn add_close(self) -> String {
        if self.contains('(') { self + ")" } else { self }
    }
}

/// The arguments of a request: separated by blanks, or quoted.
fn arguments(rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = rest.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// Takes out fonts, and puts characters in the place of their names.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let known = [
            ("fB", ""),
            ("fI", ""),
            ("fR", ""),
            ("fP", ""),
            ("-", "-"),
            ("&", ""),
            ("e", "\\"),
            ("(em", "—"),
            ("(en", "–"),
            ("(bu", "•"),
            ("*(Aq", "'"),
            ("(aq", "'"),
            ("(dq", "\""),
            (" ", " "),
            ("~", " "),
            ("(->", "→"),
            ("[", "["),
        ];
        match known.iter().find(|(name, _)| after.starts_with(name)) {
            Some((name, character)) => {
                plain.push_str(character);
                rest = &after[name.len()..];
            }
            None => rest = after,
        }
    }
    plain + rest
}
