//! `orbh page`: parse, call, exit. `orbh page arm` is the pager's.

mod args;
mod run;

use shared::face::entry::{Entry, parse, run as enter};
use shared::face::output::{leave_closed, tell};
use shared::verbs::environment::Environment;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "arm") {
        return arm();
    }
    let args: args::Args = match parse(None) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let entry = Entry { program: "orbh-page", json: args.json, last_line: None };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args, environment))
}

/// Becomes `orbh-pager arm …`.
fn arm() -> ExitCode {
    let programs = std::env::current_exe().ok().and_then(|path| path.parent().map(PathBuf::from));
    let pager = Environment::new(std::env::vars_os(), None, programs).program("orbh-pager");
    leave_closed();
    let error = Command::new(&pager).args(std::env::args_os().skip(1)).exec();
    tell(&format!("orbh-page: cannot execute '{}': {error}\n", pager.display()));
    ExitCode::from(126)
}
