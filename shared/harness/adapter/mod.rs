//! Adapters: how a harness is started, and in what environment. Facts about the harnesses only; nothing is done here.

pub mod claude;
pub mod codex;
pub mod command;

use crate::ground::fault::Finding;
use crate::spool::facts::{Class, Stdin};
use std::path::{Path, PathBuf};

/// What the exec shim is given to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The program, absolute, and its arguments.
    pub argv: Vec<String>,
    /// What it finds on its standard input.
    pub stdin: Stdin,
    /// The id of the conversation, where we choose it.
    pub native: Option<String>,
}

/// Where a run is started.
#[derive(Debug, Clone)]
pub struct Place {
    /// The session's scratch directory.
    pub scratch: PathBuf,
    /// The directories of the spool that a run's verbs write, scratch included.
    pub run_side: Vec<PathBuf>,
    /// What an agent below `full` must not be able to write; empty for one of class `full`.
    pub guarded: Vec<PathBuf>,
    /// The dispatchers, absolute: `orbh` and `flint`.
    pub programs: Vec<PathBuf>,
    /// $TMPDIR, where it is set.
    pub temporary: Option<PathBuf>,
}

/// How the conversation begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A fresh context.
    Fresh,
    /// The native conversation of this id goes on.
    Resume(String),
}

/// Changes to the environment of a harness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// Set to these values.
    pub set: Vec<(&'static str, &'static str)>,
    /// Taken out: they would tell the harness that it runs inside another one.
    pub clear: Vec<&'static str>,
}

/// A harness of a class below `full` may write where it works. Whoever can write profiles or spools there can have the
/// manager, which is outside of every sandbox, start what it likes: such a working directory is refused.
pub fn exposed(class: Class, cwd: &Path, guarded: &[PathBuf]) -> Option<Finding> {
    let within =
        guarded.iter().find(|path| class != Class::Full && (path.starts_with(cwd) || cwd.starts_with(path)))?;
    let message = format!(
        "an agent of class '{class}' that works in '{}' could write '{}', and so leave its class",
        cwd.display(),
        within.display()
    );
    Some(
        Finding::new(
            "place-exposed",
            message,
            "let it work in a directory of its own (--cwd DIR), with nothing of it in PATH",
        )
        .at(within),
    )
}

/// The words of a command that are its harness's own: those after its program, which another one may start
/// (`env A=b claude …`). None, when the program is not named there.
fn own_words<'a>(command: &'a [String], program: &str) -> &'a [String] {
    let is_program = |word: &String| Path::new(word).file_name().is_some_and(|name| name == program);
    command.iter().position(is_program).map_or(&[], |at| &command[at + 1..])
}

/// The verbs that a run may give without asking: they harm nothing, and without them no context can hand off.
/// `launch` is not one of them.
pub const HARMLESS: [&str; 9] =
    ["page", "pager", "compact", "context", "session", "message", "respond", "result", "list"];
