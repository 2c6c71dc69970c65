//! From `main` to the work and back to an exit status.

use super::exit;
use super::output::{print_line_of_json, tell};
use crate::ground::clock::set_local;
use crate::ground::dir::set_durable;
use crate::verbs::environment::Environment;
use anyhow::Result;
use nix::sys::signal::{SigHandler, Signal, raise, signal};
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;

/// How a verb is started and how it reports.
pub struct Entry {
    /// The name of the program, as it appears in its messages.
    pub program: &'static str,
    /// Whether failures go to standard output as JSON.
    pub json: bool,
    /// A last line for standard error whenever the verb fails: `handoff` says that the context goes on.
    pub last_line: Option<&'static str>,
}

/// Runs a verb's work with its environment, and turns what comes of it into an exit status.
pub fn run(
    entry: &Entry,
    variables: impl Iterator<Item = (OsString, OsString)>,
    work: impl FnOnce(&Environment) -> Result<u8>,
) -> ExitCode {
    // The program may have been replaced while it runs; what stands beside it is still right.
    let programs = std::env::current_exe().ok().and_then(|path| path.parent().map(PathBuf::from));
    // Never taken down: the process ends, and the kernel does that at once.
    let environment = ManuallyDrop::new(Environment::new(variables, std::env::current_dir().ok(), programs));
    set_durable(environment.durable());
    if !environment.names_zone() {
        set_local();
    }
    match work(&environment) {
        Ok(status) => ExitCode::from(status),
        Err(error) => fail(entry, &error),
    }
}

/// Says to a person whose environment has values that cannot be used what is used instead. For the commands that start
/// or manage something.
pub fn warn_of_unusable(program: &str, environment: &Environment) {
    for sentence in environment.unusable() {
        tell(&format!("{program}: {sentence}\n"));
    }
}

/// Parses a command line; help and version are printed, a mistake is reported with the verb's last line.
pub fn parse<A: clap::Parser>(last_line: Option<&str>) -> Result<A, ExitCode> {
    A::try_parse().map_err(|error| {
        let help = !error.use_stderr();
        // A failed print of a help text has nobody to be told.
        let _ = error.print();
        if help {
            return ExitCode::SUCCESS;
        }
        if let Some(line) = last_line {
            tell(&format!("{line}\n"));
        }
        ExitCode::from(crate::ground::fault::Kind::Usage.status())
    })
}

fn fail(entry: &Entry, error: &anyhow::Error) -> ExitCode {
    if exit::broken_pipe(error) && entry.last_line.is_none() {
        die_of_broken_pipe();
    }
    // Where not even the failure can be printed as an object, people are told at least.
    if !entry.json || print_line_of_json(&exit::json(error)).is_err() {
        tell(&exit::words(entry.program, error));
    }
    if let Some(line) = entry.last_line {
        tell(&format!("{line}\n"));
    }
    ExitCode::from(exit::kind(error).status())
}

/// The reader has gone: ends as any other filter does.
pub fn die_of_broken_pipe() {
    // SAFETY: the default action replaces no handler that anything here relies on.
    let _ = unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) };
    let _ = raise(Signal::SIGPIPE);
}
