//! Harnesses: which there are, what their profiles say, how a run of one is started, and what it is told.
//!
//! A runtime is one variant of [`Runtime`]; whatever differs from one to the next is a match on it, so that the
//! compiler names every place that a new one has to fill. What a harness does with what it is given was tried on the
//! versions that orbh-runtime(5) names.

pub mod account;
pub mod adapter;
pub mod builtin;
pub mod native;
pub mod occupancy;
pub mod profile;
pub mod prompt;
pub mod registry;
pub mod transcript;

use crate::ground::fault::{Fault, Finding, Kind};
use crate::spool::facts::Class;
use crate::spool::id::Name;
use adapter::{Place, Plan, Start};
use profile::Profile;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A kind of harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// Claude Code, headless (`claude -p`).
    Claude,
    /// Codex, headless (`codex exec`).
    Codex,
    /// Any program: its profile names it, its prompt comes on standard input, it reports its own occupancy.
    Command,
}

impl Runtime {
    /// All of them.
    pub const ALL: [Runtime; 3] = [Runtime::Claude, Runtime::Codex, Runtime::Command];

    /// The runtime of that name.
    pub fn named(name: &Name) -> Option<Runtime> {
        Runtime::ALL.into_iter().find(|runtime| runtime.name() == name.as_str())
    }

    /// The runtime that a person named; another one is a usage error that lists them.
    pub fn of(name: &str) -> Result<Runtime, Fault> {
        let found = name.parse::<Name>().ok().and_then(|name| Runtime::named(&name));
        let known = Runtime::ALL.map(Runtime::name).join(" ");
        let unknown = || Fault::new(Kind::Usage, format!("there is no runtime '{}'", name.escape_debug()));
        found.ok_or_else(|| unknown().hint(format!("known runtimes: {known}")))
    }

    /// Its name, the first half of a target.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Claude => "claude",
            Runtime::Codex => "codex",
            Runtime::Command => "command",
        }
    }

    /// The program that is looked for in PATH; a `command` profile names its own.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Runtime::Claude => Some("claude"),
            Runtime::Codex => Some("codex"),
            Runtime::Command => None,
        }
    }

    /// How its program is installed.
    pub fn install(self) -> Option<&'static str> {
        match self {
            Runtime::Claude => Some("npm install -g @anthropic-ai/claude-code"),
            Runtime::Codex => Some("npm install -g @openai/codex"),
            Runtime::Command => None,
        }
    }

    /// Whether a new run can go on in the native conversation of an old one.
    pub fn resumes_natively(self) -> bool {
        match self {
            Runtime::Claude | Runtime::Codex => true,
            Runtime::Command => false,
        }
    }

    /// What is wrong with a class on this runtime: not every harness can ask, or has a sandbox.
    pub fn refuses_class(self, class: Class) -> Option<&'static str> {
        match (self, class) {
            (Runtime::Claude, Class::Sandboxed) => {
                Some("claude has no sandbox of that kind: use \"asked\" or \"full\"")
            }
            (Runtime::Codex, Class::Asked) => Some("codex exec cannot ask anybody: use \"sandboxed\" or \"full\""),
            _ => None,
        }
    }

    /// The word of a profile's command that says which native conversation a run is. A fresh context would come up in an
    /// old one by it, so it is not a profile's to say.
    pub fn chooses_conversation(self, command: &[String]) -> Option<&str> {
        match self {
            Runtime::Claude => adapter::claude::chooses_conversation(command),
            Runtime::Codex => adapter::codex::chooses_conversation(command),
            Runtime::Command => None,
        }
    }

    /// How many tokens of a window of `max` are too many for this harness to go on: measured with the versions that the
    /// adapters were tried with.
    pub fn full_at(self, max: u64) -> u64 {
        match self {
            Runtime::Claude => max.saturating_sub(23_000),
            Runtime::Codex | Runtime::Command => max,
        }
    }

    /// The window of a model, as it is asked for, where that tells: an answer names the model without its `[1m]`.
    pub fn window(self, model: Option<&str>) -> Option<u64> {
        match self {
            Runtime::Claude => model.and_then(transcript::window),
            Runtime::Codex | Runtime::Command => None,
        }
    }

    /// The directory in which its harness keeps settings, credentials and transcripts, by this environment.
    pub fn home<'a>(self, get: &dyn Fn(&str) -> Option<&'a OsStr>) -> Option<PathBuf> {
        let (variable, below) = match self {
            Runtime::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
            Runtime::Codex => ("CODEX_HOME", ".codex"),
            Runtime::Command => return None,
        };
        get(variable).map(PathBuf::from).or_else(|| get("HOME").map(|home| PathBuf::from(home).join(below)))
    }

    /// The variable that moves that directory.
    pub fn home_variable(self) -> Option<&'static str> {
        match self {
            Runtime::Claude => Some("CLAUDE_CONFIG_DIR"),
            Runtime::Codex => Some("CODEX_HOME"),
            Runtime::Command => None,
        }
    }

    /// The variables by which its harness is reached and pays. A recovery must have those that the run had.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Runtime::Claude => adapter::claude::KEYS,
            Runtime::Codex => adapter::codex::KEYS,
            Runtime::Command => &[],
        }
    }

    /// How a run is started on this profile.
    pub fn plan(self, profile: &Profile, place: &Place, start: &Start) -> Plan {
        match self {
            Runtime::Claude => adapter::claude::plan(profile, place, start),
            Runtime::Codex => adapter::codex::plan(profile, place, start),
            Runtime::Command => adapter::command::plan(profile),
        }
    }

    /// What the environment of its harness is to have beside that of the manager.
    pub fn environment(self) -> adapter::Variables {
        match self {
            Runtime::Claude => adapter::claude::variables(),
            Runtime::Codex => adapter::codex::variables(),
            Runtime::Command => adapter::Variables::default(),
        }
    }

    /// What its agent has to know beside what every agent is told.
    pub fn notes(self) -> Option<&'static str> {
        match self {
            Runtime::Claude => Some(adapter::claude::NOTES),
            Runtime::Codex => Some(adapter::codex::NOTES),
            Runtime::Command => None,
        }
    }
}

/// The variables that a recovery misses, as a finding; `had` are the names of the environment of the run before.
pub fn missing_variables<'a>(
    runtime: Runtime,
    needs: &[String],
    had: &[String],
    get: &dyn Fn(&str) -> Option<&'a OsStr>,
) -> Option<Finding> {
    let keys = runtime.keys().iter().copied().chain(runtime.home_variable());
    let keys = keys.map(str::to_owned).filter(|key| had.contains(key));
    let mut missing: Vec<String> = keys.chain(needs.iter().cloned()).filter(|name| get(name).is_none()).collect();
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return None;
    }
    let message =
        format!("the {} harness needs variables that are not set here: {}", runtime.name(), missing.join(" "));
    Some(Finding::new("variables-missing", message, "give the command where they are set"))
}
