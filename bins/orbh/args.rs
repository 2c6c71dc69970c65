//! The command line of `orbh`, as its completions describe it. The dispatcher itself does not parse it: it passes on
//! whatever follows the verb.

use clap::Command;
use shared::face::catalogue::{TOPICS, VERBS};

/// The dispatcher, with these commands as its verbs.
pub fn command(name: &'static str, verbs: Vec<Command>) -> Command {
    let pages = VERBS.iter().filter(|verb| verb.listed()).map(|verb| (verb.name, verb.about));
    let pages = pages.chain(TOPICS.iter().map(|(topic, _, about)| (*topic, *about)));
    let page = |(word, about)| Command::new(word).about(about).disable_help_flag(true);
    Command::new(name)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Keep a coding agent's session alive while its context is replaced")
        .disable_help_subcommand(true)
        .subcommands(verbs)
        .subcommand(
            Command::new("help")
                .about("Show the manual page of a verb, or of a topic")
                .disable_help_flag(true)
                .disable_help_subcommand(true)
                .subcommands(pages.map(page)),
        )
}
