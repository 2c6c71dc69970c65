//! `flint`: `flint orbh VERB …` is `orbh VERB …`, so that commands work as the original documentation spells them.

use shared::face::output::{leave_closed, print, tell};
use shared::verbs::environment::Environment;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: flint orbh VERB …   (the same as: orbh VERB …)\n";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == "orbh" => {}
        Some(word) if word == "--help" || word == "-h" => {
            return if print(USAGE).is_ok() { ExitCode::SUCCESS } else { ExitCode::from(74) };
        }
        Some(word) if word == "--version" || word == "-V" => {
            let printed = print(&format!("flint {}\n", env!("CARGO_PKG_VERSION")));
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(74) };
        }
        Some(word) => {
            tell(&format!("flint: '{}' is not 'orbh'\n{USAGE}", word.to_string_lossy().escape_debug()));
            return ExitCode::from(2);
        }
        None => {
            tell(USAGE);
            return ExitCode::from(2);
        }
    }
    let programs = std::env::current_exe().ok().and_then(|path| path.parent().map(PathBuf::from));
    let orbh = Environment::new(std::env::vars_os(), None, programs).program("orbh");
    leave_closed();
    let error = Command::new(&orbh).args(words).exec();
    tell(&format!("flint: cannot execute '{}': {error}\n", orbh.display()));
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}
