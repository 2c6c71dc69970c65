//! `orbh pager`, and `orbh page arm`: parse, call, exit.

mod args;
mod run;

use shared::face::entry::{Entry, parse, run as enter};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: args::Args = match parse(None) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let entry = Entry { program: "orbh-pager", json: args.verb.json(), last_line: None };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args.verb, environment))
}
