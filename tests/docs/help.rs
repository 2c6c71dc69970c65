//! Manual pages as plain text, as `orbh help` prints them where standard output is no terminal.

use super::{pages, top, topic_file};
use crate::harness::World;
use shared::face::catalogue::{TOPICS, VERBS};

#[path = "../../bins/orbh/plain.rs"]
mod plain;

/// The page behind each word that `orbh help` knows: the word, the line that the text opens with, the file.
fn words() -> Vec<(&'static str, String, String)> {
    let verbs = VERBS.iter().map(|verb| (verb.name, format!("orbh-{}", verb.name), "1"));
    let topics = TOPICS.iter().map(|(topic, section, _)| {
        let name = topic_file(topic, section);
        (*topic, name.trim_end_matches(|c| c != '.').trim_end_matches('.').to_owned(), *section)
    });
    let all = verbs.chain(topics);
    all.map(|(word, name, section)| (word, format!("{}({section}) ", name.to_uppercase()), format!("{name}.{section}")))
        .collect()
}

#[test]
fn help_prints_every_page_of_this_tree() {
    let world = World::new();
    for (word, title, file) in words() {
        let roff = std::fs::read_to_string(top().join("man").join(file)).unwrap();
        let text = world.orbh(["help", word]).run().ok();
        assert!(text.starts_with(&title), "orbh help {word}: {:?}", text.lines().next());
        assert_eq!(text, plain::plain(&roff), "orbh help {word}");
    }
}

/// Neither a request nor an escape is left over. A backslash that a page means is put aside first.
#[test]
fn help_leaves_no_trace_of_roff() {
    for (name, roff) in pages() {
        let text = plain::plain(&roff.replace("\\e", "\u{29f5}").replace("\\(rs", "\u{29f5}"));
        assert_eq!(text.lines().find(|line| line.contains('\\')), None, "{name}");
        let request = |line: &&str| {
            let word = line.trim_start().strip_prefix('.').and_then(|rest| rest.split(' ').next());
            word.is_some_and(|word| matches!(word.len(), 1..=2) && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        };
        assert_eq!(text.lines().find(|line| line.starts_with('.')), None, "{name}");
        assert_eq!(text.lines().find(request), None, "{name}");
        assert_eq!(text.lines().find(|line| line.chars().count() > 132), None, "{name}");
    }
}

/// No text of a page may be lost on the way: every word of it that roff has no part in is in the plain text.
#[test]
fn help_loses_no_word_of_a_page() {
    for (name, roff) in pages() {
        let text = plain::plain(&roff);
        let words: Vec<&str> = text.split_whitespace().collect();
        let lines = roff.lines().filter(|line| !line.starts_with(['.', '\'']) && !line.contains('\\'));
        for word in lines.flat_map(str::split_whitespace) {
            assert!(words.contains(&word), "{name}: {word:?} is lost");
        }
    }
}

#[test]
fn help_of_a_word_that_has_no_page_says_so() {
    let world = World::new();
    world.orbh(["help", "no-such-verb"]).run().exits(66).says("there is no page 'no-such-verb'");
}

#[test]
fn the_title_line_has_name_section_and_source() {
    let text = plain::plain(".TH ORBH-LIST 1 2026-01-01 \"orbh 1.2\" \"orbh manual\"\n.SH NAME\norbh \\- x\n");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("ORBH-LIST(1) "));
    assert!(lines[0].ends_with(" orbh 1.2"));
    assert_eq!(lines[0].len(), 78);
    assert_eq!(lines[1..], ["", "NAME", "    orbh - x"]);
}

#[test]
fn tags_are_before_their_text_and_short_ones_on_its_line() {
    let text = plain::plain(
        ".SH X\n.TP\n.BR \\-\\-all \", \" \\-a\nAll of\nthem.\n.IP \\(bu 2\nA point.\n.TP\nplain\n.TQ\nalso\nBoth.\n",
    );
    let expected = "X\n    --all, -a\n        All of them.\n\n    •   A point.\n\n    plain\n    also\n        Both.\n";
    assert_eq!(text, expected);
}

#[test]
fn examples_keep_their_lines_and_their_backslashes() {
    let text = plain::plain(".SH X\nText.\n.PP\n.EX\n$ a \\e\n    b \\(aqc\\(aq\n.EE\nAfter.\n");
    assert_eq!(text, "X\n    Text.\n\n        $ a \\\n            b 'c'\n    After.\n");
}

#[test]
fn quotes_fonts_and_names_become_text() {
    let cases = [
        (".B \"a b\" c", "a b c"),
        (".BR a b \" c\"", "ab c"),
        (".B \"say \"\"no\"\"\"", "say \"no\""),
        (".B a\\ b", "a b"),
        ("\\fBbold\\fR \\f(BIx\\f[R]y \\(em \\(ga\\[ti]\\*(Aq", "bold xy — `~'"),
        ("text \\\" a comment", "text"),
        (".\\\" a comment", ""),
        ("\\&.B is text", ".B is text"),
        (".UR https://example.org\nhere\n.UE .", "here <https://example.org>."),
        (".B\nnext", "next"),
    ];
    for (roff, text) in cases {
        assert_eq!(plain::plain(roff).trim(), text, "{roff}");
    }
}

#[test]
fn running_text_is_filled_to_the_width() {
    let text = plain::plain(&format!(".SH X\n{}\n", "word ".repeat(60)));
    let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width <= 78), "{widths:?}");
    assert!(widths[1] > 70);
}
