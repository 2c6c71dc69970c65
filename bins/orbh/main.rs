//! `orbh`: the dispatcher. `orbh VERB …` becomes `orbh-VERB …`, found beside this program first, then by PATH.

mod help;
mod pages;
mod plain;

use shared::face::catalogue::VERBS;
use shared::face::entry::die_of_broken_pipe;
use shared::face::exit::{broken_pipe, words};
use shared::face::output::{leave_closed, print, tell};
use shared::verbs::environment::Environment;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The program was found and could not be executed.
const NOT_EXECUTABLE: u8 = 126;
/// There is no such verb.
const NOT_FOUND: u8 = 127;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(first) = words.next() else { return help::list() };
    let rest: Vec<OsString> = words.collect();
    match first.to_str() {
        Some("help") => help::show(rest.first().and_then(|word| word.to_str())),
        Some("--help" | "-h") => help::list(),
        Some("--version" | "-V") => say(&format!("orbh {}\n", env!("CARGO_PKG_VERSION"))),
        Some(option) if option.starts_with('-') => {
            tell(&format!("orbh: there is no option '{option}'\nhint: orbh help\n"));
            ExitCode::from(2)
        }
        _ => dispatch(&first, &rest),
    }
}

/// Prints an answer of the dispatcher's own.
fn say(text: &str) -> ExitCode {
    match print(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if broken_pipe(&error) {
                die_of_broken_pipe();
            }
            tell(&words("orbh", &error));
            ExitCode::from(74)
        }
    }
}

fn dispatch(verb: &OsStr, rest: &[OsString]) -> ExitCode {
    // `page arm` is spelled in two words and belongs to the pager.
    let (name, rest) = match (verb.to_str(), rest.first().and_then(|word| word.to_str())) {
        (Some("page"), Some("arm")) => ("pager".into(), rest),
        _ => (verb.to_string_lossy(), rest),
    };
    let programs = std::env::current_exe().ok().and_then(|path| path.parent().map(PathBuf::from));
    let environment = Environment::new(std::env::vars_os(), None, programs);
    let plausible = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let program = environment.program(&format!("orbh-{name}"));
    if !plausible || !program.is_file() {
        return unknown(&name);
    }
    leave_closed();
    let error = Command::new(&program).args(rest).exec();
    tell(&format!("orbh: cannot execute '{}': {error}\n", program.display()));
    ExitCode::from(NOT_EXECUTABLE)
}

fn unknown(name: &str) -> ExitCode {
    let shown = name.escape_debug();
    let near =
        VERBS.iter().map(|verb| (strsim::jaro_winkler(verb.name, name), verb.name)).filter(|(like, _)| *like > 0.8);
    let near = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    match near {
        Some((_, verb)) => tell(&format!("orbh: there is no verb '{shown}'\nhint: orbh {verb}\n")),
        None => tell(&format!("orbh: there is no verb '{shown}'\nhint: 'orbh' alone lists them\n")),
    }
    ExitCode::from(NOT_FOUND)
}
