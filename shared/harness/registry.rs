//! The registry: the profiles below the configuration directory. A target is exact; an unknown one is refused with the
//! names that come near.

use super::Runtime;
use super::profile::{Profile, Written};
use super::{account, builtin};
use crate::ground::fault::{Fault, Finding, Kind};
use crate::spool::id::{Name, Target};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How alike two names must be (Jaro-Winkler) before one is offered for the other.
const NEAR: f64 = 0.8;

/// At most so many targets are offered in a sentence.
const OFFERED: usize = 12;

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
        let Some(runtime) = Runtime::named(&target.runtime) else {
            let known: Vec<&str> = Runtime::ALL.iter().map(|runtime| runtime.name()).collect();
            let message = format!("there is no runtime '{}'", target.runtime);
            return Err(Finding::new("target-unknown", message, format!("known runtimes: {}", known.join(" "))));
        };
        let path = self.path(target);
        let written = self.written(target, runtime)?;
        Profile::check(target, runtime, &path, written, &self.search)
    }

    /// What is written for a target: its file laid over the built-in profile of that name.
    pub fn written(&self, target: &Target, runtime: Runtime) -> Result<Written, Finding> {
        let path = self.path(target);
        let builtin = builtin::find(runtime, target.profile.as_str());
        // A FIFO would keep the reader, and the claim that it may hold, for ever.
        if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("the profile '{target}' is not a regular file");
            return Err(Finding::new("profile-unreadable", message, "put a file in its place").at(&path));
        }
        match (std::fs::read(&path), builtin) {
            (Ok(bytes), builtin) => Ok(Written::parse(target, &path, &bytes)?.over(builtin.unwrap_or_default())),
            (Err(error), builtin) if error.kind() == std::io::ErrorKind::NotFound => {
                builtin.ok_or_else(|| self.unknown(target, &path))
            }
            (Err(error), _) => {
                let message = format!("cannot read the profile '{target}': {error}");
                Err(Finding::new("profile-unreadable", message, "make it readable").at(&path))
            }
        }
    }

    /// Checks an account for a target.
    pub fn account(&self, target: &Target, account: &str) -> Result<PathBuf, Finding> {
        if let Some(runtime) = Runtime::named(&target.runtime) {
            return account::home(&self.config, runtime, account);
        }
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

    /// Every target that has a profile, built in or of one's own, sorted.
    pub fn targets(&self) -> Vec<Target> {
        let mut targets = Vec::new();
        for one in Runtime::ALL {
            let Ok(runtime) = one.name().parse::<Name>() else { continue };
            let builtin = builtin::names(one).into_iter().filter_map(|name| name.parse().ok());
            targets.extend(builtin.map(|profile| Target { runtime: runtime.clone(), profile }));
            let Ok(entries) = std::fs::read_dir(self.config.join("profiles").join(runtime.as_str())) else { continue };
            let names =
                entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.parse().ok());
            targets.extend(names.map(|profile| Target { runtime: runtime.clone(), profile }));
        }
        targets.sort();
        targets.dedup();
        targets
    }

    /// Where the profile of a target is written.
    pub fn path(&self, target: &Target) -> PathBuf {
        let file = format!("{}.json", target.profile);
        self.config.join("profiles").join(target.runtime.as_str()).join(file)
    }

    /// The targets whose program is here, sorted.
    pub fn available(&self) -> Vec<Target> {
        self.targets().into_iter().filter(|target| self.resolve(target).is_ok()).collect()
    }

    /// A sentence that names what can be launched here, or how to get something that can.
    pub fn offer(&self) -> String {
        let available = self.available();
        if available.is_empty() {
            let example = self.config.join("profiles/command/NAME.json");
            return format!(r#"write {{"command": ["/path/agent"], "class": "full"}} to '{}'"#, example.display());
        }
        let names: Vec<String> = available.iter().take(OFFERED).map(Target::to_string).collect();
        let more = if available.len() > OFFERED { " …; 'orbh profiles' shows all" } else { "" };
        format!("there is: {}{more}", names.join(" "))
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
            self.offer()
        } else {
            let names: Vec<String> = near.iter().map(Target::to_string).collect();
            format!("near names: {}", names.join(" "))
        };
        Finding::new("target-unknown", format!("there is no target '{wanted}'"), fix).at(path)
    }
}
