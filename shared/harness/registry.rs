//! The registry: the profiles below the configuration directory. A target is exact; an unknown one is refused with the
//! names that come near.

use super::Runtime;
use super::profile::Profile;
use crate::ground::fault::{Fault, Finding, Kind};
use crate::spool::id::{Name, Target};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How alike two names must be (Jaro-Winkler) before one is offered for the other.
const NEAR: f64 = 0.8;

/// Where profiles are found.
#[derive(Debug, Clone)]
pub struct Registry {
    config: PathBuf,
    search: OsString,
}

impl Registry {
    /// The registry of a configuration directory; `search` is the PATH for programs.
    pub fn new(config: &Path, search: OsString) -> Self {
        Registry { config: config.to_owned(), search }
    }

    /// The profile that a target names, its program looked for and found.
    pub fn resolve(&self, target: &Target) -> Result<Profile, Finding> {
        if Runtime::named(&target.runtime).is_none() {
            let known: Vec<&str> = Runtime::ALL.iter().map(|runtime| runtime.name()).collect();
            let message = format!("there is no runtime '{}'", target.runtime);
            return Err(Finding::new("target-unknown", message, format!("known runtimes: {}", known.join(" "))));
        }
        let path = self.path(target);
        // A FIFO would keep the reader, and the claim that it may hold, for ever.
        if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("the profile '{target}' is not a regular file");
            return Err(Finding::new("profile-unreadable", message, "put a file in its place").at(&path));
        }
        match std::fs::read(&path) {
            Ok(bytes) => Profile::parse(target, &path, &bytes, &self.search),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.unknown(target, &path)),
            Err(error) => {
                let message = format!("cannot read the profile '{target}': {error}");
                Err(Finding::new("profile-unreadable", message, "make it readable").at(&path))
            }
        }
    }

    /// Checks an account for a target.
    pub fn account(&self, target: &Target, account: &str) -> Result<(), Finding> {
        // An account is an isolated home of a harness; a program of which nothing is known has none.
        let message =
            format!("the runtime '{}' has no accounts, so there is no '{}'", target.runtime, account.escape_debug());
        Err(Finding::new("account-unknown", message, "leave --account away"))
    }

    /// The targets of `default-targets`, in order; `None` without that file.
    pub fn defaults(&self) -> Result<Option<Vec<Target>>> {
        let path = self.config.join("default-targets");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        };
        let mut targets = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            targets.push(line.parse::<Target>().map_err(|fault| {
                let message = format!("cannot read '{}': line {}: {fault}", path.display(), index + 1);
                Fault::new(Kind::Damaged, message).hint("a target a line, such as command/my-agent")
            })?);
        }
        Ok(Some(targets))
    }

    /// Every target that has a profile, sorted.
    pub fn targets(&self) -> Vec<Target> {
        let mut targets = Vec::new();
        for runtime in Runtime::ALL {
            let Ok(runtime) = runtime.name().parse::<Name>() else { continue };
            let Ok(entries) = std::fs::read_dir(self.config.join("profiles").join(runtime.as_str())) else { continue };
            let names =
                entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.parse().ok());
            targets.extend(names.map(|profile| Target { runtime: runtime.clone(), profile }));
        }
        targets.sort();
        targets
    }

    /// Where the profile of a target is written.
    pub fn path(&self, target: &Target) -> PathBuf {
        let file = format!("{}.json", target.profile);
        self.config.join("profiles").join(target.runtime.as_str()).join(file)
    }

    /// A sentence that names what there is, or how to get something.
    pub fn offer(&self, targets: &[Target]) -> String {
        if targets.is_empty() {
            let example = self.config.join("profiles/command/NAME.json");
            return format!(r#"write {{"command": ["/path/agent"], "class": "full"}} to '{}'"#, example.display());
        }
        let names: Vec<String> = targets.iter().map(Target::to_string).collect();
        format!("there is: {}", names.join(" "))
    }

    fn unknown(&self, target: &Target, path: &Path) -> Finding {
        let all = self.targets();
        let wanted = target.to_string();
        // Of the profile alone: the runtime that they have in common would make all of them alike.
        let alike = |other: &&Target| {
            other.runtime == target.runtime
                && strsim::jaro_winkler(other.profile.as_str(), target.profile.as_str()) >= NEAR
        };
        let near: Vec<Target> = all.iter().filter(alike).cloned().collect();
        let fix = if near.is_empty() {
            self.offer(&all)
        } else {
            let names: Vec<String> = near.iter().map(Target::to_string).collect();
            format!("near names: {}", names.join(" "))
        };
        Finding::new("target-unknown", format!("there is no target '{wanted}'"), fix).at(path)
    }
}
