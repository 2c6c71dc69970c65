//! `orbh compact`: parse, call, exit.

mod args;
mod run;

use shared::face::entry::{Entry, parse, run as enter};
use std::process::ExitCode;

/// The last line of everything that a `handoff` prints which did not end the context.
const NOT_ENDED: &str = "Your context will NOT end.";

fn main() -> ExitCode {
    // Usage errors are refusals, too, so this must be known before the arguments are understood,
    // wherever among them the word stands.
    let handoff = std::env::args_os().skip(1).any(|word| word == "handoff");
    let last_line = handoff.then_some(NOT_ENDED);
    let args: args::Args = match parse(last_line) {
        Ok(args) => args,
        Err(status) => return status,
    };
    let entry = Entry { program: "orbh-compact", json: args.verb.json(), last_line };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args, environment))
}
