//! Accounts: isolated homes of a harness, a directory each: `$ORBH_CONFIG/accounts/RUNTIME/NAME`.

use super::Runtime;
use crate::ground::fault::Finding;
use crate::spool::id::Name;
use std::path::{Path, PathBuf};

/// Where the accounts of a runtime are.
pub fn dir(config: &Path, runtime: Runtime) -> PathBuf {
    config.join("accounts").join(runtime.name())
}

/// The names of the accounts of a runtime, sorted.
pub fn names(config: &Path, runtime: Runtime) -> Vec<Name> {
    let Ok(entries) = std::fs::read_dir(dir(config, runtime)) else { return Vec::new() };
    let directories = entries.flatten().filter(|entry| entry.path().is_dir());
    let mut names: Vec<Name> = directories.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    names.sort();
    names
}

/// The home of an account, if there is one of that name.
pub fn home(config: &Path, runtime: Runtime, account: &str) -> Result<PathBuf, Finding> {
    let unknown = |fix: String| {
        let message = format!("the runtime '{}' has no account '{}'", runtime.name(), account.escape_debug());
        Err(Finding::new("account-unknown", message, fix))
    };
    if runtime.home_variable().is_none() {
        return unknown("a program of one's own has no accounts: leave --account away".to_owned());
    }
    let Ok(name) = account.parse::<Name>() else {
        return unknown("an account's name has letters, digits, '.', '_' and '-'".to_owned());
    };
    let home = dir(config, runtime).join(name.as_str());
    if home.is_dir() {
        return Ok(home);
    }
    let known: Vec<String> = names(config, runtime).iter().map(Name::to_string).collect();
    unknown(match known.is_empty() {
        true => format!("orbh accounts add {} {name}", runtime.name()),
        false => format!("there is: {}; or orbh accounts add {} {name}", known.join(" "), runtime.name()),
    })
}
