//! The list of the verbs, and their manual pages, which are part of this program: `cargo install` copies nothing else.

use super::pages::page;
use super::plain::plain;
use super::say;
use shared::face::catalogue::{Group, TOPICS, VERBS};
use shared::face::output::tell;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::process::{Command, ExitCode, Stdio};

/// `orbh` alone.
pub fn list() -> ExitCode {
    let mut text = "orbh keeps a coding agent's session alive while its context is replaced.\n\n".to_owned();
    text += "usage: orbh VERB …   (orbh VERB --help: in short; orbh help VERB: the manual page)\n";
    for group in Group::LISTED {
        let _ = writeln!(text, "\n{}", group.heading());
        for verb in VERBS.iter().filter(|verb| verb.group == group) {
            let _ = writeln!(text, "  {:<9} {}", verb.name, verb.about);
        }
    }
    text += "\nTopics of orbh help\n";
    for (topic, section, about) in TOPICS {
        let _ = writeln!(text, "  {topic:<9} {about} ({section})");
    }
    say(&text)
}

/// `orbh help WORD`.
pub fn show(word: Option<&str>) -> ExitCode {
    let Some(word) = word else { return list() };
    let Some(page) = page(word) else {
        tell(&format!(
            "orbh: there is no page '{}'\nhint: 'orbh' alone lists the verbs and topics\n",
            word.escape_debug()
        ));
        return ExitCode::from(66);
    };
    if std::io::stdout().is_terminal() && through_man(page) {
        return ExitCode::SUCCESS;
    }
    say(&plain(page))
}

/// Shows the page with man(1), if there is one.
fn through_man(page: &str) -> bool {
    let Ok(mut man) = Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    // Whoever leaves the pager early has read enough.
    let written = man.stdin.take().map(|mut stdin| stdin.write_all(page.as_bytes()));
    let status = man.wait();
    written.is_some() && status.is_ok_and(|status| status.success())
}
