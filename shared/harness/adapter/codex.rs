//! Codex, headless. Tried with 0.171.0.

use super::{Place, Plan, Start, Variables, own_words};
use crate::harness::profile::Profile;
use crate::spool::facts::{Class, Stdin};
use std::path::Path;

/// How Codex is reached and pays. A provider of one's own names its own variable: the profile's `needs`.
pub const KEYS: &[&str] = &["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"];

/// What an agent in Codex has to know.
pub const NOTES: &str = include_str!("../prompt/codex.md");

/// See [`crate::harness::Runtime::chooses_conversation`].
pub fn chooses_conversation(command: &[String]) -> Option<&str> {
    let own = own_words(command, "codex");
    own.iter().map(String::as_str).find(|word| matches!(*word, "resume" | "fork"))
}

/// `codex exec`: the prompt on standard input; its id is the first thing that it prints.
pub fn plan(profile: &Profile, place: &Place, start: &Start) -> Plan {
    let mut argv = profile.command.clone();
    let mut add = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["exec"]);
    if let Start::Resume(_) = start {
        add(&["resume"]);
    }
    add(&["--json", "--skip-git-repo-check"]);
    // A login shell would reset PATH, and lose the verbs.
    add(&["-c", "allow_login_shell=false", "-c", "check_for_update_on_startup=false"]);
    // Native compaction would pre-empt ours at 90 percent. Counted without the prefix and with a limit that is never
    // reached, it does not come before the window is full.
    add(&["-c", "model_auto_compact_token_limit_scope=body_after_prefix"]);
    add(&["-c", "model_auto_compact_token_limit=100000000"]);
    if let Some(model) = &profile.model {
        add(&["-m", model]);
    }
    if let Some(effort) = &profile.effort {
        add(&["-c", &format!("model_reasoning_effort={}", toml_string(effort))]);
    }
    match profile.class {
        Class::Full => add(&["--dangerously-bypass-approvals-and-sandbox"]),
        Class::Asked | Class::Sandboxed => {
            // By -c, because `resume` has no flag for it.
            let roots: Vec<String> = place.run_side.iter().map(|path| toml_string(&path.to_string_lossy())).collect();
            add(&["-c", "sandbox_mode=\"workspace-write\"", "-c", "approval_policy=\"never\""]);
            add(&["-c", &format!("sandbox_workspace_write.writable_roots=[{}]", roots.join(","))]);
            // By default all of /tmp may be written, and with it whatever of ours lies there.
            let lies_in = |dir: &Path| {
                let real = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
                place.guarded.iter().any(|path| path.starts_with(dir) || path.starts_with(&real))
            };
            if lies_in(Path::new("/tmp")) {
                add(&["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
            }
            if place.temporary.as_ref().is_some_and(|temporary| lies_in(temporary)) {
                add(&["-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"]);
            }
        }
    }
    if let Start::Resume(id) = start {
        add(&[id]);
    }
    add(&["-"]);
    Plan { argv, stdin: Stdin::Prompt, native: None }
}

/// A basic string of TOML.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            character if character.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(character))),
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// Nothing of a harness around us.
pub fn variables() -> Variables {
    Variables {
        set: Vec::new(),
        clear: vec!["CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX"],
    }
}
