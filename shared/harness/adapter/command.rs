//! Any program.

use super::Plan;
use crate::harness::profile::Profile;
use crate::spool::facts::Stdin;

/// The program and its arguments as the profile has them.
pub fn plan(profile: &Profile) -> Plan {
    Plan { argv: profile.command.clone(), stdin: Stdin::Prompt, native: None }
}
