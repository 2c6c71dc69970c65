//! `orbh accounts`: isolated homes of a harness.

use crate::args::{Args, Verb};
use anyhow::{Context, Result};
use serde::Serialize;
use shared::face::output::{print, print_json, tell};
use shared::face::text::{clean, columns};
use shared::ground::fault::{Finding, Refusal};
use shared::harness::prompt::quoted;
use shared::harness::{Runtime, account};
use shared::spool::id::Name;
use shared::verbs::environment::Environment;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

impl Args {
    /// Whether failures are to be JSON as well.
    pub fn json(&self) -> bool {
        match &self.verb {
            Some(Verb::List { json, .. } | Verb::Add { json, .. }) => *json,
            None => self.json,
        }
    }
}

#[derive(Serialize)]
struct Line {
    runtime: &'static str,
    account: Name,
    home: PathBuf,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let config = environment.config()?;
    match &args.verb {
        Some(Verb::Add { runtime, name, json }) => add(&config, Runtime::of(runtime)?, &name.parse()?, *json),
        Some(Verb::List { runtime, json }) => list(&config, runtime.as_deref(), *json),
        None => list(&config, args.runtime.as_deref(), args.json),
    }
}

fn list(config: &Path, runtime: Option<&str>, json: bool) -> Result<u8> {
    let only = runtime.map(Runtime::of).transpose()?;
    let runtimes = Runtime::ALL.into_iter().filter(|one| only.is_none_or(|only| only == *one));
    let lines: Vec<Line> = runtimes
        .flat_map(|runtime| {
            let dir = account::dir(config, runtime);
            let line = move |account: Name| Line { runtime: runtime.name(), home: dir.join(account.as_str()), account };
            account::names(config, runtime).into_iter().map(line)
        })
        .collect();
    if json {
        for line in &lines {
            print_json(line)?;
        }
        return Ok(0);
    }
    if lines.is_empty() {
        tell("no accounts: each harness uses its usual home\nhint: orbh accounts add RUNTIME NAME\n");
        return Ok(0);
    }
    let mut rows = vec![["RUNTIME", "ACCOUNT", "HOME"].map(str::to_owned).to_vec()];
    rows.extend(
        lines.iter().map(|line| {
            vec![line.runtime.to_owned(), line.account.to_string(), clean(&line.home.display().to_string())]
        }),
    );
    print(&columns(&rows))?;
    Ok(0)
}

fn add(config: &Path, runtime: Runtime, name: &Name, json: bool) -> Result<u8> {
    let Some(variable) = runtime.home_variable() else {
        let message = format!("the runtime '{}' has no accounts", runtime.name());
        let fix = "set what your program needs in its profile's command, such as env NAME=VALUE /path/to/agent";
        return Err(Refusal::one(Finding::new("no-accounts", message, fix)).into());
    };
    let home = account::dir(config, runtime).join(name.as_str());
    if home.exists() {
        let message = format!("the runtime '{}' has an account '{name}' already", runtime.name());
        return Err(Refusal::one(Finding::new("account-exists", message, "choose another name").at(&home)).into());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&home).with_context(|| format!("cannot make '{}'", home.display()))?;
    let program = runtime.program().unwrap_or_default();
    let login = match runtime {
        Runtime::Codex => " login",
        Runtime::Claude | Runtime::Command => "",
    };
    let login = format!("{variable}={} {program}{login}", quoted(&home));
    match json {
        true => print_json(&Line { runtime: runtime.name(), account: name.clone(), home })?,
        false => {
            print(&format!("{}\n", home.display()))?;
            tell(&format!("hint: log in there, once: {login}\n"));
        }
    }
    Ok(0)
}
