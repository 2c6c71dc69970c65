//! The kinds of failure that a caller, a script or an agent branches on.
//!
//! A [`Fault`] is one sentence that names the thing, an optional next step, and a [`Kind`] from which `face::exit`
//! takes the exit status. It travels inside an `anyhow::Error`, so that every file and process call can add the
//! path it worked on. A [`Finding`] is one item of a refusal: what was found, where, and what to do about it.

use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// What kind of failure it is; each kind has one exit status, the same in every verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Refused, or the answer is no; nothing changed. Exit status 1.
    Refused,
    /// The command line makes no sense here. Exit status 2.
    Usage,
    /// A file of the spool or the configuration cannot be understood. Exit status 65.
    Damaged,
    /// No such session, run, or key. Exit status 66.
    Missing,
    /// A system call failed. Exit status 74.
    System,
    /// Somebody else is at it, or a deadline passed; try again. Exit status 75.
    Busy,
}

impl Kind {
    /// Its exit status.
    pub fn status(self) -> u8 {
        match self {
            Kind::Refused => 1,
            Kind::Usage => 2,
            Kind::Damaged => 65,
            Kind::Missing => 66,
            Kind::System => 74,
            Kind::Busy => 75,
        }
    }
}

/// What is said of damage; `None` for a failure of any other kind.
pub fn damage(error: &anyhow::Error) -> Option<String> {
    let fault = error.downcast_ref::<Fault>().filter(|fault| fault.kind == Kind::Damaged)?;
    Some(fault.message.clone())
}

/// What a reader says of a file that it cannot have: damage, or a permission that it lacks. `None` for a failure of any
/// other kind. For who only looks the two are alike: what is there is unknown, and hides nothing else. Who decides by
/// a file must not take a permission that was taken away for what the file says.
pub fn unreadable(error: &anyhow::Error) -> Option<String> {
    if error.is::<Fault>() {
        return damage(error);
    }
    let denied = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    error.chain().any(denied).then(|| format!("{error}: permission denied"))
}

/// A failure with a kind, one sentence, and what to do next.
#[derive(Debug)]
pub struct Fault {
    /// What the caller branches on.
    pub kind: Kind,
    /// One sentence, lower case, the failure first, the subject quoted, the cause last.
    pub message: String,
    /// What to do next, as a command where there is one.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Fault { kind, message: message.into(), hint: None }
    }

    /// The same fault, with the next step named.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// One item of a refusal, or a warning beside an acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable name for scripts, such as `handoff-missing`.
    pub code: &'static str,
    /// The file that it is about, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The line in that file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What was found and what was expected, in one sentence.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

impl Finding {
    /// A finding that concerns no file in particular.
    pub fn new(code: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { code, path: None, line: None, message: message.into(), fix: fix.into() }
    }

    /// The same finding, about `path`.
    pub fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// The same finding, on line `line` (counted from 1).
    pub fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
}

/// Everything that stands in the way of what was asked for, reported together. Nothing was changed.
#[derive(Debug)]
pub struct Refusal {
    /// At least one.
    pub findings: Vec<Finding>,
}

impl Refusal {
    /// A refusal with a single finding.
    pub fn one(finding: Finding) -> Self {
        Refusal { findings: vec![finding] }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for finding in &self.findings {
            write!(f, "{separator}{}", finding.message)?;
            separator = "; ";
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
