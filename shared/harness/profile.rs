//! A profile: one way to start a harness, as a JSON file that a person writes (verbs and keys: orbh-runtime(5)).

use crate::ground::fault::Finding;
use crate::spool::facts::Class;
use crate::spool::id::Target;
use nix::unistd::{AccessFlags, access};
use serde::Deserialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A profile that was read, checked, and whose program is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// What it is called.
    pub target: Target,
    /// What its harness may do without asking.
    pub class: Class,
    /// The size of its context window, in tokens.
    pub context_window: Option<u64>,
    /// The program, absolute, and its arguments.
    pub command: Vec<String>,
}

/// The file as it stands.
#[derive(Deserialize)]
struct Written {
    command: Option<Vec<String>>,
    class: Option<Class>,
    context_window: Option<u64>,
}

impl Profile {
    /// Understands the bytes of a profile's file; `search` is a PATH for programs without a slash.
    pub fn parse(target: &Target, path: &Path, bytes: &[u8], search: &OsStr) -> Result<Profile, Finding> {
        let written: Written = serde_json::from_slice(bytes).map_err(|error| {
            let message = format!("the profile '{target}' cannot be understood: {error}");
            Finding::new("profile-damaged", message, "write it as orbh-runtime(5) shows").at(path).line(error.line())
        })?;
        let Some(class) = written.class else {
            let message = format!("the profile '{target}' states no class");
            return Err(Finding::new(
                "profile-without-class",
                message,
                r#"add "class": "asked", "sandboxed" or "full""#,
            )
            .at(path));
        };
        let mut command = written.command.unwrap_or_default();
        if command.first().is_none_or(String::is_empty) {
            let message = format!("the profile '{target}' names no program");
            return Err(
                Finding::new("profile-without-program", message, r#"add "command": ["/path/to/agent"]"#).at(path)
            );
        }
        if command.iter().any(|part| part.contains('\0')) {
            let message = format!("the command of the profile '{target}' holds a NUL character");
            return Err(Finding::new("profile-damaged", message, "take it out").at(path));
        }
        let program = find_program(&command[0], search).map_err(|why| {
            let message = format!("the program '{}' of the profile '{target}' {why}", command[0].escape_debug());
            let fix = "install it, correct \"command\", or choose another target";
            Finding::new("program-missing", message, fix).at(path)
        })?;
        command[0] = program;
        Ok(Profile { target: target.clone(), class, context_window: written.context_window, command })
    }
}

/// The absolute path of a program, or why it cannot be run.
fn find_program(name: &str, search: &OsStr) -> Result<String, String> {
    if name.starts_with('/') {
        return executable(Path::new(name)).map(|()| name.to_owned());
    }
    if name.contains('/') {
        return Err("is a relative path: write it absolute, or as a name that PATH leads to".to_owned());
    }
    let found: Option<PathBuf> = std::env::split_paths(search)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|path| executable(path).is_ok());
    match found.and_then(|path| path.into_os_string().into_string().ok()) {
        Some(path) => Ok(path),
        None => Err("is not in PATH".to_owned()),
    }
}

fn executable(path: &Path) -> Result<(), String> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err("does not exist".to_owned()),
        Err(error) => Err(format!("cannot be looked at: {error}")),
        Ok(metadata) if !metadata.is_file() => Err("is not a file".to_owned()),
        Ok(_) => access(path, AccessFlags::X_OK).map_err(|_| "is not executable".to_owned()),
    }
}
