//! `orbh message`: parse, call, exit.

mod args;
mod list;
mod request;
mod run;
mod send;
mod show;

use shared::face::entry::{Entry, parse, run as enter};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: args::Args = match parse(None) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let entry = Entry { program: "orbh-message", json: args.verb.json(), last_line: None };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args, environment))
}
