//! The command line of `orbh`, as its page and its completions describe it. The dispatcher itself passes on whatever
//! follows the verb.

use clap::Command;

/// The dispatcher, with these commands as its verbs.
pub fn command(name: &'static str, verbs: Vec<Command>) -> Command {
    Command::new(name)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Keep a coding agent's session alive while its context is replaced")
        .disable_help_subcommand(true)
        .subcommands(verbs)
        .subcommand(Command::new("help").about("Show the manual page of a verb, or of a topic"))
}
