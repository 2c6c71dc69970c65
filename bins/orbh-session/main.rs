//! `orbh session`: parse, call, exit.

mod answer;
mod args;
mod ask;
mod run;

use shared::face::entry::{Entry, parse, run as enter};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: args::Args = match parse(None) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let entry = Entry { program: "orbh-session", json: args.verb.json(), last_line: None };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args, environment))
}
