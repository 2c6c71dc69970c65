//! Harnesses: which there are, what their profiles say, how a run of one is started, and what it is told.
//!
//! A runtime is one variant of [`Runtime`]; whatever differs from one to the next is a match on it, so that the
//! compiler names every place that a new one has to fill.

pub mod occupancy;
pub mod profile;
pub mod prompt;
pub mod registry;

use crate::spool::facts::Stdin;
use crate::spool::id::Name;
use profile::Profile;

/// A kind of harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// Any program: its profile names it, its prompt comes on standard input, it reports its own occupancy.
    Command,
}

impl Runtime {
    /// All of them.
    pub const ALL: [Runtime; 1] = [Runtime::Command];

    /// The runtime of that name.
    pub fn named(name: &Name) -> Option<Runtime> {
        Runtime::ALL.into_iter().find(|runtime| runtime.name() == name.as_str())
    }

    /// Its name, the first half of a target.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Command => "command",
        }
    }

    /// Whether a new run can go on in the native conversation of an old one.
    pub fn resumes_natively(self) -> bool {
        match self {
            Runtime::Command => false,
        }
    }

    /// How a fresh context is started on this profile.
    pub fn plan(self, profile: &Profile) -> Plan {
        match self {
            Runtime::Command => Plan { argv: profile.command.clone(), stdin: Stdin::Prompt },
        }
    }
}

/// What the exec shim is given to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The program, absolute, and its arguments.
    pub argv: Vec<String>,
    /// What it finds on its standard input.
    pub stdin: Stdin,
}
