//! What a run is told: the launch prompt, composed afresh for each run from embedded templates. A successor gets the
//! same prompt, then the path of the handoff and its duties (R38, R39).

use crate::spool::facts::Reason;
use crate::spool::id::{RunNumber, SessionId};
use std::path::Path;

const HEADLESS: &str = include_str!("headless.md");
const SUCCESSOR: &str = include_str!("successor.md");
const RESUMED: &str = include_str!("resumed.md");
const RESUMED_HANDOFF: &str = include_str!("resumed-handoff.md");
const CONTINUED: &str = include_str!("continued.md");
const CONTINUED_RETURNED: &str = include_str!("continued-returned.md");
const RETURNED: &str = include_str!("returned.md");
const CONTINUES: &str = include_str!("continues.md");

/// What every prompt is composed from.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The launch prompt as given.
    pub duty: &'a str,
    /// The session.
    pub session: &'a SessionId,
    /// The run that is told.
    pub run: RunNumber,
    /// The absolute path of the dispatcher.
    pub orbh: &'a Path,
    /// The spool of the session that this one continues.
    pub continues: Option<&'a Path>,
    /// What an agent in this harness has to know besides.
    pub notes: Option<&'a str>,
}

/// What is special about the run.
#[derive(Debug)]
pub enum Occasion<'a> {
    /// Nothing: the session begins.
    Launch,
    /// It replaces the context of `closing`.
    Successor {
        /// The run whose context ended.
        closing: RunNumber,
        /// The handoff that it wrote.
        handoff: &'a Path,
    },
    /// It was resumed, and its native conversation goes on.
    Continued {
        /// The run before.
        before: RunNumber,
        /// How that one ended.
        reason: Reason,
    },
    /// It was resumed in a fresh context.
    Resumed {
        /// The run before.
        before: RunNumber,
        /// How that one ended.
        reason: Reason,
        /// The last accepted handoff, if there is one.
        handoff: Option<&'a Path>,
    },
}

/// The whole prompt. `extra` is what the one who resumed the session adds.
pub fn compose(setting: &Setting, occasion: &Occasion, extra: Option<&str>) -> String {
    let orbh = quoted(setting.orbh);
    let run = setting.run.to_string();
    let base =
        [("duty", setting.duty.trim_end()), ("run", &run), ("session", setting.session.as_str()), ("orbh", &orbh)];
    if let Occasion::Continued { before, reason } = occasion {
        // It was told everything when the conversation began.
        let template = if *reason == Reason::Returned { CONTINUED_RETURNED } else { CONTINUED };
        let mut text =
            fill(template, &[("before", &before.to_string()), ("reason", &reason.to_string()), ("run", &run)]);
        add(&mut text, extra);
        return text;
    }
    let mut text = fill(HEADLESS, &base);
    text += &fill(setting.notes.unwrap_or_default(), &base);
    if let Some(spool) = setting.continues {
        text += &fill(CONTINUES, &[("orbh", &orbh), ("spool", &spool.display().to_string())]);
    }
    match occasion {
        Occasion::Launch | Occasion::Continued { .. } => {}
        Occasion::Successor { closing, handoff } => {
            let handoff = handoff.display().to_string();
            text += &fill(SUCCESSOR, &[("orbh", &orbh), ("closing", &closing.to_string()), ("handoff", &handoff)]);
        }
        Occasion::Resumed { before, reason, handoff } => {
            let values = [("before", &*before.to_string()), ("reason", &*reason.to_string()), ("orbh", &*orbh)];
            text += &fill(if *reason == Reason::Returned { RETURNED } else { RESUMED }, &values);
            if let Some(handoff) = handoff {
                let handoff = handoff.display().to_string();
                text += &fill(RESUMED_HANDOFF, &[("orbh", &orbh), ("handoff", &handoff)]);
            }
        }
    }
    add(&mut text, extra);
    text
}

fn add(text: &mut String, extra: Option<&str>) {
    if let Some(extra) = extra.map(str::trim_end).filter(|extra| !extra.trim().is_empty()) {
        text.push_str("\n# Added when the session was resumed\n\n");
        text.push_str(extra);
        text.push('\n');
    }
}

/// A path as a shell takes it, quoted only where it has to be.
pub fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%:,".contains(&byte);
    if path.bytes().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Puts the values in the place of `{name}`, in one pass: a value that holds braces stays as it is.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let slot = after.find('}').map(|close| (&after[..close], &after[close + 1..]));
        let value =
            slot.and_then(|(name, behind)| values.iter().find(|(one, _)| *one == name).map(|(_, v)| (*v, behind)));
        match value {
            Some((value, behind)) => {
                text.push_str(value);
                rest = behind;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}
