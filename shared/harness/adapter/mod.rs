//! Adapters: how a harness is started, and in what environment. Facts about the harnesses only; nothing is done here.

pub mod claude;
pub mod codex;
pub mod command;

use crate::spool::facts::Stdin;
use std::path::PathBuf;

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

/// The verbs that a run may give without asking: they harm nothing, and without them no context can hand off.
/// `launch` is not one of them.
pub const HARMLESS: [&str; 6] = ["page", "compact", "context", "session", "result", "list"];
