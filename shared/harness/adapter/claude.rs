//! Claude Code, headless. Tried with 2.1.332.

use super::{HARMLESS, Place, Plan, Start, Variables, own_words};
use crate::harness::profile::Profile;
use crate::harness::prompt::quoted;
use crate::spool::facts::{Class, Stdin};

/// How Claude Code is reached and pays.
pub const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// What an agent in Claude Code has to know.
pub const NOTES: &str = include_str!("../prompt/claude.md");

/// The options by which the CLI goes on in a conversation that there is, or gives one an id.
const CONVERSATION: [&str; 6] = ["--resume", "--continue", "--session-id", "--fork-session", "--from-pr", "--teleport"];

/// See [`crate::harness::Runtime::chooses_conversation`].
pub fn chooses_conversation(command: &[String]) -> Option<&str> {
    let long = |word: &&String| CONVERSATION.contains(&word.split('=').next().unwrap_or_default());
    // `-c` and `-r`, also among others (`-pc`); of a program around it they mean something else.
    let short = |word: &&String| {
        let letters = word.strip_prefix('-').filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()));
        letters.is_some_and(|letters| letters.contains(['c', 'r']))
    };
    let found = command.iter().find(long).or_else(|| own_words(command, "claude").iter().find(short));
    found.map(String::as_str)
}

/// `claude -p`: the prompt on standard input (an argument has a length limit, and would be swallowed by the flag
/// before it), the conversation under an id that we choose.
pub fn plan(profile: &Profile, place: &Place, start: &Start) -> Plan {
    let mut argv = profile.command.clone();
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["-p", "--output-format", "text"]);
    let native = match start {
        Start::Fresh => {
            let id = uuid::Uuid::new_v4().to_string();
            add(&["--session-id", &id]);
            id
        }
        Start::Resume(id) => {
            add(&["--resume", id]);
            id.clone()
        }
    };
    // Not kept on resume, so said each time, like the permissions.
    if let Some(model) = &profile.model {
        add(&["--model", model]);
    }
    if let Some(effort) = &profile.effort {
        add(&["--effort", effort]);
    }
    match profile.class {
        Class::Full => add(&["--dangerously-skip-permissions"]),
        Class::Asked | Class::Sandboxed => {
            add(&["--permission-mode", profile.permission_mode.as_deref().unwrap_or("acceptEdits")]);
            add(&["--add-dir", &place.scratch.to_string_lossy()]);
            // As settings: --allowedTools would split a rule at a comma in a path, and swallow what comes after it.
            let settings = serde_json::json!({"permissions": {"allow": rules(place)}});
            add(&["--settings", &settings.to_string()]);
        }
    }
    Plan { argv, stdin: Stdin::Prompt, native: Some(native) }
}

/// A rule for each spelling of each harmless verb: by name, by path, and with `flint` in front. A rule matches the
/// words of a command from its beginning, as they are written: a path that has to be quoted is another spelling.
fn rules(place: &Place) -> Vec<String> {
    let mut spellings = vec!["orbh".to_owned(), "flint orbh".to_owned()];
    for program in &place.programs {
        let after = if program.ends_with("flint") { " orbh" } else { "" };
        let plain = program.to_string_lossy().into_owned();
        let quoted = quoted(program);
        if quoted != plain {
            spellings.push(format!("{quoted}{after}"));
        }
        spellings.push(format!("{plain}{after}"));
    }
    let rules = spellings.iter().flat_map(|spelling| HARMLESS.map(|verb| format!("Bash({spelling} {verb}:*)")));
    rules.collect()
}

/// Native compaction off, for it would pre-empt ours (the harness then refuses at 88.5 % of a window of 200,000, so
/// that 80 % comes early enough); no update check; nothing of a harness around us.
pub fn variables() -> Variables {
    Variables {
        set: vec![("DISABLE_AUTO_COMPACT", "1"), ("DISABLE_AUTOUPDATER", "1")],
        clear: vec![
            "CLAUDECODE",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_PID",
            "AI_AGENT",
        ],
    }
}
