//! A profile: one way to start a harness, as a JSON file that a person writes (keys: orbh-runtime(5)).

use super::Runtime;
use crate::ground::fault::Finding;
use crate::spool::facts::Class;
use crate::spool::id::Target;
use nix::unistd::{AccessFlags, access};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The permission modes of claude that ask before they do more than what was allowed.
const ASKING: [&str; 5] = ["acceptEdits", "default", "dontAsk", "manual", "plan"];

/// A profile that was read, checked, and whose program is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// What it is called.
    pub target: Target,
    /// What its harness may do without asking.
    pub class: Class,
    /// The size of its context window, in tokens, where the profile tells.
    pub context_window: Option<u64>,
    /// The program, absolute, and its arguments; those of the adapter come after them.
    pub command: Vec<String>,
    /// The model, as the harness calls it.
    pub model: Option<String>,
    /// How hard it thinks, as the harness calls it.
    pub effort: Option<String>,
    /// Of claude, class asked: its permission mode.
    pub permission_mode: Option<String>,
    /// Names of variables without which it cannot work.
    pub needs: Vec<String>,
}

/// The file as it stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Written {
    /// The program and its arguments. Of a built-in runtime, the program is looked for in PATH when it is left out.
    pub command: Option<Vec<String>>,
    /// `asked`, `sandboxed` or `full`.
    pub class: Option<Class>,
    /// In tokens.
    pub context_window: Option<u64>,
    /// See [`Profile`].
    pub model: Option<String>,
    /// See [`Profile`].
    pub effort: Option<String>,
    /// See [`Profile`].
    pub permission_mode: Option<String>,
    /// See [`Profile`].
    pub needs: Option<Vec<String>>,
}

impl Written {
    /// Understands the bytes of a profile's file.
    pub fn parse(target: &Target, path: &Path, bytes: &[u8]) -> Result<Written, Finding> {
        serde_json::from_slice(bytes).map_err(|error| {
            let message = format!("the profile '{target}' cannot be understood: {error}");
            Finding::new("profile-damaged", message, "write it as orbh-runtime(5) shows").at(path).line(error.line())
        })
    }

    /// This one, laid over another.
    pub fn over(self, below: Written) -> Written {
        Written {
            command: self.command.or(below.command),
            class: self.class.or(below.class),
            context_window: self.context_window.or(below.context_window),
            model: self.model.or(below.model),
            effort: self.effort.or(below.effort),
            permission_mode: self.permission_mode.or(below.permission_mode),
            needs: self.needs.or(below.needs),
        }
    }
}

impl Profile {
    /// Checks what was written, and looks for the program; `search` is a PATH. `path` is the file, for findings.
    pub fn check(
        target: &Target,
        runtime: Runtime,
        path: &Path,
        written: Written,
        search: &OsStr,
    ) -> Result<Profile, Finding> {
        let Some(class) = written.class else {
            let message = format!("the profile '{target}' states no class");
            let fix = r#"add "class": "asked", "sandboxed" or "full""#;
            return Err(Finding::new("profile-without-class", message, fix).at(path));
        };
        if let Some(fix) = runtime.refuses_class(class) {
            let message = format!("the profile '{target}' cannot be of class '{class}'");
            return Err(Finding::new("profile-class", message, fix).at(path));
        }
        if let Some(mode) =
            written.permission_mode.as_deref().filter(|_| (runtime, class) != (Runtime::Claude, Class::Asked))
        {
            let message = format!(
                "the permission mode '{}' of the profile '{target}' is of no use to {} of class '{class}'",
                mode.escape_debug(),
                runtime.name()
            );
            let fix = r#"leave "permission_mode" away; claude of class "asked" has one"#;
            return Err(Finding::new("profile-class", message, fix).at(path));
        }
        if let Some(mode) = written.permission_mode.as_deref().filter(|mode| !ASKING.contains(mode)) {
            let message =
                format!("the permission mode '{}' of the profile '{target}' does not ask", mode.escape_debug());
            let fix = format!("one of {}; or leave it away, with \"class\": \"full\"", ASKING.join(" "));
            return Err(Finding::new("profile-class", message, fix).at(path));
        }
        let named = runtime.program().map(|program| vec![program.to_owned()]);
        let mut command = written.command.or(named).unwrap_or_default();
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
        if let Some(word) = runtime.chooses_conversation(&command) {
            let message = format!("the command of the profile '{target}' has '{}'", word.escape_debug());
            let fix = "take it out: orbh says which conversation a run is, and gives a fresh context a fresh one";
            return Err(Finding::new("profile-conversation", message, fix).at(path));
        }
        command[0] = find_program(&command[0], search).map_err(|why| {
            let message = format!("the program '{}' of the profile '{target}' {why}", command[0].escape_debug());
            let install = runtime.install().map(|install| format!("{install}, or "));
            let fix = format!("{}correct \"command\", or choose another target", install.unwrap_or_default());
            Finding::new("program-missing", message, fix).at(path)
        })?;
        Ok(Profile {
            target: target.clone(),
            class,
            context_window: written.context_window,
            command,
            model: written.model,
            effort: written.effort,
            permission_mode: written.permission_mode,
            needs: written.needs.unwrap_or_default(),
        })
    }

    /// The size of the context window of its runs, in tokens, as far as anybody knows before one has answered.
    pub fn window(&self) -> Option<u64> {
        let of_model = || Runtime::named(&self.target.runtime)?.window(self.model.as_deref());
        self.context_window.or_else(of_model)
    }
}

/// The absolute path of a program, or why it cannot be run.
pub fn find_program(name: &str, search: &OsStr) -> Result<String, String> {
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
    }?;
    match interpreter(path).filter(|interpreter| !Path::new(interpreter).exists()) {
        Some(interpreter) => {
            Err(format!("is a script, and its interpreter '{}' does not exist", interpreter.escape_debug()))
        }
        None => Ok(()),
    }
}

/// The interpreter that the first line of a script names; the kernel reports its absence as that of the script.
fn interpreter(path: &Path) -> Option<String> {
    let mut beginning = [0; 256];
    let count = std::fs::File::open(path).ok()?.read(&mut beginning).ok()?;
    let line = beginning[..count].split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}
