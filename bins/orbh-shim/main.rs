//! `orbh shim`: parse, call, exit.

mod args;
mod run;

use shared::face::entry::{Entry, parse, run as enter};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    // As a manager calls it, with an absolute path and nothing else: a session without a context waits for this, and
    // there is nothing to be parsed.
    let args = match (words.next(), words.next()) {
        (Some(run), None) if run.as_encoded_bytes().starts_with(b"/") => args::Args { run: run.into() },
        _ => match parse(None) {
            Ok(args) => args,
            Err(status) => return status,
        },
    };
    let entry = Entry { program: "orbh-shim", json: false, last_line: None };
    enter(&entry, std::env::vars_os(), |environment| run::run(&args, environment))
}
