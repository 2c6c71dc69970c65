//! The environment of a verb, parsed once. Only a binary's `main` reads it; everything else is handed this.

use crate::ground::fault::{Fault, Finding, Kind};
use crate::ground::foreign::clean;
use crate::ground::watch::Backend;
use crate::harness::adapter;
use crate::harness::profile::Profile;
use crate::harness::registry::Registry;
use crate::spool::facts::Class;
use crate::spool::root::Root;
use anyhow::Result;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variables that belong to one run. A manager starts without them, whoever starts it.
pub const RUN_VARIABLES: [&str; 5] =
    ["ORBH_SESSION_ID", "ORBH_RUN", "ORBH_NONCE", "ORBH_PROMPT_FILE", "ORBH_CONTEXT_FILE"];

/// How long a process may take after TERM, unless ORBH_KILL_GRACE_MS says otherwise.
const GRACE: Duration = Duration::from_millis(5000);

/// How deep sessions may launch sessions, unless ORBH_DISPATCH_DEPTH_CAP says otherwise.
const DEPTH_CAP: u32 = 5;

/// How long a pager stays armed, unless ORBH_PAGE_ARM_TTL_SECONDS says otherwise.
const ARM_TTL: Duration = Duration::from_secs(7200);

/// How long a burst of events must be over before the pager speaks, unless ORBH_PAGER_SETTLE_MS says otherwise.
const SETTLE: Duration = Duration::from_millis(300);

/// What a verb was started with.
#[derive(Debug, Clone)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    programs: Option<PathBuf>,
}

impl Environment {
    /// The environment as given, the working directory, and the directory in which this program's siblings are.
    pub fn new(
        variables: impl Iterator<Item = (OsString, OsString)>,
        cwd: Option<PathBuf>,
        programs: Option<PathBuf>,
    ) -> Self {
        Environment { variables: variables.collect(), cwd, programs }
    }

    /// A variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        // A verb asks for a handful: not worth the making of a map. Of two of one name the last counts.
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(|value| self.absolute(Path::new(value)))
    }

    /// The names of all variables but those of a run, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = self.variables.iter().filter_map(|(name, _)| name.to_str());
        let mut names: Vec<String> = names.filter(|name| !RUN_VARIABLES.contains(name)).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Makes a path absolute, from the working directory.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        match &self.cwd {
            Some(cwd) if path.is_relative() => cwd.join(path),
            _ => path.to_owned(),
        }
    }

    /// The working directory.
    pub fn cwd(&self) -> Result<&Path> {
        let gone = || Fault::new(Kind::System, "the working directory is gone").hint("cd to a directory that exists");
        Ok(self.cwd.as_deref().ok_or_else(gone)?)
    }

    /// Where the spools are: ORBH_ROOT, else $XDG_STATE_HOME/orbh, else ~/.local/state/orbh.
    pub fn root_path(&self) -> Result<PathBuf> {
        let xdg = || self.path("XDG_STATE_HOME").map(|dir| dir.join("orbh"));
        let home = || self.path("HOME").map(|dir| dir.join(".local/state/orbh"));
        let path = self.path("ORBH_ROOT").or_else(xdg).or_else(home);
        Ok(path.ok_or_else(|| homeless("ORBH_ROOT, XDG_STATE_HOME", "ORBH_ROOT"))?)
    }

    /// Opens the root.
    pub fn root(&self) -> Result<Root> {
        Root::open(&self.root_path()?)
    }

    /// Where profiles are: ORBH_CONFIG, else $XDG_CONFIG_HOME/orbh, else ~/.config/orbh.
    pub fn config(&self) -> Result<PathBuf> {
        let xdg = || self.path("XDG_CONFIG_HOME").map(|dir| dir.join("orbh"));
        let home = || self.path("HOME").map(|dir| dir.join(".config/orbh"));
        let path = self.path("ORBH_CONFIG").or_else(xdg).or_else(home);
        Ok(path.ok_or_else(|| homeless("ORBH_CONFIG, XDG_CONFIG_HOME", "ORBH_CONFIG"))?)
    }

    /// What is wrong with letting an agent of this profile work in `cwd`: of a class below `full` it could leave its class.
    pub fn exposed(&self, profile: &Profile, cwd: &Path) -> Result<Option<Finding>> {
        if profile.class == Class::Full {
            return Ok(None);
        }
        Ok(adapter::exposed(profile.class, cwd, &self.guarded(profile)?))
    }

    /// What an agent of a class below `full` must not be able to write, by real paths: profiles (wherever links lead),
    /// spools, and what the manager executes: its own programs, that of the profile, and whatever PATH leads to.
    pub fn guarded(&self, profile: &Profile) -> Result<Vec<PathBuf>> {
        let config = self.config()?;
        let profiles = config.join("profiles");
        let below = |dir: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        let mut paths = vec![config, profiles.clone(), self.root_path()?];
        for runtime in below(&profiles) {
            paths.extend(below(&runtime));
            paths.push(runtime);
        }
        paths.extend(self.programs.clone());
        paths.extend(profile.command.first().map(PathBuf::from));
        paths.extend(std::env::split_paths(self.search()).filter(|dir| dir.is_absolute()));
        let real = paths.iter().filter_map(|path| std::fs::canonicalize(path).ok());
        let mut all: Vec<PathBuf> = real.chain(paths.iter().cloned()).collect();
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// The profiles.
    pub fn registry(&self) -> Result<Registry> {
        Ok(Registry::new(&self.config()?, self.search().to_owned()))
    }

    /// PATH.
    pub fn search(&self) -> &OsStr {
        self.get("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"))
    }

    /// PATH for a harness: with the verbs in it.
    pub fn search_with_verbs(&self) -> OsString {
        let Some(dir) = &self.programs else { return self.search().to_owned() };
        if std::env::split_paths(self.search()).any(|one| one == *dir) {
            return self.search().to_owned();
        }
        let with = std::iter::once(dir.clone()).chain(std::env::split_paths(self.search()));
        std::env::join_paths(with).unwrap_or_else(|_| self.search().to_owned())
    }

    /// A program of orbh: beside this one first, then by PATH.
    pub fn program(&self, name: &str) -> PathBuf {
        let beside = self.programs.as_ref().map(|dir| dir.join(name)).filter(|path| path.is_file());
        let in_path = || std::env::split_paths(self.search()).map(|dir| dir.join(name)).find(|path| path.is_file());
        beside.or_else(in_path).unwrap_or_else(|| PathBuf::from(name))
    }

    /// ORBH_SESSION_ID: the session that the caller works in.
    pub fn session(&self) -> Option<&str> {
        self.text("ORBH_SESSION_ID")
    }

    /// ORBH_RUN.
    pub fn run(&self) -> Option<&str> {
        self.text("ORBH_RUN")
    }

    /// ORBH_NONCE.
    pub fn nonce(&self) -> Option<&str> {
        self.text("ORBH_NONCE")
    }

    /// How long a process may take to obey TERM before it gets KILL: ORBH_KILL_GRACE_MS.
    pub fn grace(&self) -> Duration {
        let given = self.text("ORBH_KILL_GRACE_MS").and_then(|text| text.parse().ok());
        given.map_or(GRACE, Duration::from_millis)
    }

    /// How long a pager stays armed: ORBH_PAGE_ARM_TTL_SECONDS.
    pub fn arm_ttl(&self) -> Duration {
        let given = self.text("ORBH_PAGE_ARM_TTL_SECONDS").and_then(|text| text.parse().ok());
        given.map_or(ARM_TTL, Duration::from_secs)
    }

    /// For how long nothing new must have come before the pager speaks: ORBH_PAGER_SETTLE_MS.
    pub fn settle(&self) -> Duration {
        let given = self.text("ORBH_PAGER_SETTLE_MS").and_then(|text| text.parse().ok());
        given.map_or(SETTLE, Duration::from_millis)
    }

    /// The values that cannot be used, each in a sentence that says what is used instead. For a person who gives a
    /// command: nothing for who is inside a run.
    pub fn unusable(&self) -> Vec<String> {
        if self.session().is_some() {
            return Vec::new();
        }
        let wrong = |name: &str, usable: fn(&str) -> bool, instead: &str| {
            let value = self.get(name).filter(|value| !value.to_str().is_some_and(usable))?;
            Some(format!("{name} is '{}', {instead} is used", clean(&value.to_string_lossy())))
        };
        let grace = format!("not a number of milliseconds: {}", GRACE.as_millis());
        let cap = format!("not a number of launches: {DEPTH_CAP}");
        let settle = format!("not a number of milliseconds: {}", SETTLE.as_millis());
        let ttl = format!("not a number of seconds: {}", ARM_TTL.as_secs());
        let way = "not inotify, dnotify or polling: the first that works";
        let all = [
            wrong("ORBH_KILL_GRACE_MS", |text| text.parse::<u64>().is_ok(), &grace),
            wrong("ORBH_DISPATCH_DEPTH_CAP", |text| text.parse::<u32>().is_ok(), &cap),
            wrong("ORBH_PAGER_SETTLE_MS", |text| text.parse::<u64>().is_ok(), &settle),
            wrong("ORBH_PAGE_ARM_TTL_SECONDS", |text| text.parse::<u64>().is_ok(), &ttl),
            wrong("ORBH_WATCH", |text| text.parse::<Backend>().is_ok(), way),
        ];
        all.into_iter().flatten().collect()
    }

    /// How deep sessions may launch sessions: ORBH_DISPATCH_DEPTH_CAP.
    pub fn depth_cap(&self) -> u32 {
        self.text("ORBH_DISPATCH_DEPTH_CAP").and_then(|text| text.parse().ok()).unwrap_or(DEPTH_CAP)
    }

    /// Whether facts are made durable: only ORBH_FSYNC=0 (tests) says no.
    pub fn durable(&self) -> bool {
        self.text("ORBH_FSYNC") != Some("0")
    }

    /// Whether TZ is there, if only to say that it is UTC.
    pub fn names_zone(&self) -> bool {
        self.variables.iter().any(|(name, _)| name == "TZ")
    }

    /// ORBH_WATCH: the way to be told of changes (inotify, dnotify, polling); by default the best one there is.
    pub fn watch(&self) -> Option<Backend> {
        self.text("ORBH_WATCH").and_then(|text| text.parse().ok())
    }

    /// A command that starts a program of orbh without the variables of a run.
    pub fn outside_run(&self, program: &str) -> std::process::Command {
        let mut command = std::process::Command::new(self.program(program));
        for name in RUN_VARIABLES {
            command.env_remove(name);
        }
        command
    }
}

fn homeless(tried: &str, set: &str) -> Fault {
    Fault::new(Kind::Usage, format!("none of {tried} and HOME is set")).hint(format!("export {set}=/some/directory"))
}
