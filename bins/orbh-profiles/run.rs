//! `orbh profiles`: the registry.

use crate::args::{Args, Verb};
use anyhow::Result;
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::face::text::{clean, columns};
use shared::ground::fault::{Finding, Refusal};
use shared::harness::Runtime;
use shared::harness::profile::{Profile, Written};
use shared::harness::registry::Registry;
use shared::spool::id::Target;
use shared::verbs::environment::Environment;
use std::path::PathBuf;

impl Args {
    /// Whether failures are to be JSON as well.
    pub fn json(&self) -> bool {
        match &self.verb {
            Some(Verb::Show { json, .. }) => *json,
            None => self.json,
        }
    }
}

/// A profile, as far as it is written and as far as it works here.
#[derive(Serialize)]
struct Line {
    target: Target,
    #[serde(flatten)]
    written: Written,
    available: bool,
    reason: Option<String>,
    file: Option<PathBuf>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    profile: Profile,
    file: Option<PathBuf>,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let registry = environment.registry()?;
    match &args.verb {
        Some(Verb::Show { target, json }) => show(&registry, &target.parse()?, *json),
        None => list(&registry, args),
    }
}

fn list(registry: &Registry, args: &Args) -> Result<u8> {
    let only = args.runtime.as_deref().map(Runtime::of).transpose()?;
    let targets = registry.targets().into_iter();
    let lines: Vec<Line> = targets
        .filter(|target| only.is_none_or(|only| only.name() == target.runtime.as_str()))
        .map(|target| line(registry, target))
        .collect();
    if args.json {
        for line in &lines {
            print_json(line)?;
        }
        return Ok(0);
    }
    let mut rows = vec![["TARGET", "CLASS", "MODEL", "HERE"].map(str::to_owned).to_vec()];
    rows.extend(lines.iter().map(|line| {
        vec![
            line.target.to_string(),
            line.written.class.map_or_else(|| "-".to_owned(), |class| class.to_string()),
            line.written.model.as_deref().map_or_else(|| "-".to_owned(), clean),
            line.reason.as_ref().map_or_else(|| "yes".to_owned(), |reason| format!("no: {}", clean(reason))),
        ]
    }));
    print(&columns(&rows))?;
    Ok(0)
}

fn line(registry: &Registry, target: Target) -> Line {
    let path = registry.path(&target);
    let file = path.exists().then_some(path);
    let runtime = Runtime::named(&target.runtime);
    let written = runtime.and_then(|runtime| registry.written(&target, runtime).ok()).unwrap_or_default();
    let reason = registry.resolve(&target).err().map(|finding| finding.message);
    Line { available: reason.is_none(), target, written, reason, file }
}

fn show(registry: &Registry, target: &Target, json: bool) -> Result<u8> {
    let profile = registry.resolve(target).map_err(|finding: Finding| Refusal::one(finding))?;
    let path = registry.path(target);
    let file = path.exists().then_some(path);
    if json {
        print_json(&Shown { profile, file })?;
        return Ok(0);
    }
    let dash = || "-".to_owned();
    let rows = [
        ("target", profile.target.to_string()),
        ("class", profile.class.to_string()),
        ("command", profile.command.join(" ")),
        ("model", profile.model.unwrap_or_else(dash)),
        ("effort", profile.effort.unwrap_or_else(dash)),
        ("permissions", profile.permission_mode.unwrap_or_else(|| "as its class has them".to_owned())),
        (
            "window",
            profile.context_window.map_or_else(|| "as the harness tells".to_owned(), |window| window.to_string()),
        ),
        ("needs", if profile.needs.is_empty() { dash() } else { profile.needs.join(" ") }),
        ("file", file.map_or_else(|| "built in".to_owned(), |path| path.display().to_string())),
    ];
    print(&columns(&rows.map(|(name, value)| vec![name.to_owned(), clean(&value)])))?;
    Ok(0)
}
