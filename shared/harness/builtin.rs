//! Built-in profiles, named after the models that the harnesses offer. A file of the same name is laid over one.
//!
//! The source of the names: `claude --model` and `codex debug models` of the versions that the adapters were tried
//! with, on 2026-11-30. A model that came later needs a profile of four lines, not a new orbh.

use super::Runtime;
use super::profile::Written;
use crate::spool::facts::Class;

/// Appended to the name of a model: the profile that asks nobody and has no sandbox.
pub const FULL: &str = "-full";

const CLAUDE: [(&str, &str); 8] = [
    ("opus", "opus"),
    ("sonnet", "sonnet"),
    ("haiku", "haiku"),
    ("opus-5-5", "claude-opus-5-5"),
    ("sonnet-5-5", "claude-sonnet-5-5"),
    ("haiku-5-5", "claude-haiku-5-5"),
    ("fable-5-2", "claude-fable-5-2"),
    ("opus-4-8", "claude-opus-4-8"),
];

const CODEX: [&str; 11] = [
    "gpt-6.2-sol",
    "gpt-6.2-astra",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6-sol",
    "gpt-6-astra",
    "gpt-6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-5.5",
];

/// The names of the built-in profiles of a runtime.
pub fn names(runtime: Runtime) -> Vec<String> {
    let models: Vec<&str> = match runtime {
        Runtime::Claude => CLAUDE.iter().map(|(name, _)| *name).collect(),
        Runtime::Codex => CODEX.to_vec(),
        Runtime::Command => Vec::new(),
    };
    models.iter().flat_map(|name| [(*name).to_owned(), format!("{name}{FULL}")]).collect()
}

/// The built-in profile of that name.
pub fn find(runtime: Runtime, profile: &str) -> Option<Written> {
    let (name, full) = match profile.strip_suffix(FULL) {
        Some(name) => (name, true),
        None => (profile, false),
    };
    let (model, class) = match runtime {
        Runtime::Claude => (CLAUDE.iter().find(|(one, _)| *one == name)?.1, Class::Asked),
        Runtime::Codex => (*CODEX.iter().find(|one| **one == name)?, Class::Sandboxed),
        Runtime::Command => return None,
    };
    let class = if full { Class::Full } else { class };
    Some(Written { model: Some(model.to_owned()), class: Some(class), ..Written::default() })
}
