//! The command line of `orbh-list`.

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use shared::verbs::overview::State;

/// List the sessions, the newest last
///
/// Without --all those are left out that are finished or killed. A session that cannot be read is listed as `unknown`,
/// and what is wrong with it is said on standard error. Writes nothing.
#[derive(Debug, Parser)]
#[command(name = "orbh-list", bin_name = "orbh list", version, disable_help_subcommand = true)]
pub struct Args {
    /// List all of them
    #[arg(long)]
    pub all: bool,
    /// List each below the one that launched it; in JSON, after it
    #[arg(long)]
    pub tree: bool,
    /// List only those in this state
    #[arg(long, value_name = "STATE", value_parser = states())]
    pub state: Option<State>,
    /// List only those on this runtime
    #[arg(long, value_name = "RUNTIME")]
    pub runtime: Option<String>,
    /// Print one JSON object a line, a session each
    #[arg(long)]
    pub json: bool,
}

/// The names of the states, so that a shell can complete them.
fn states() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(State::ALL.map(State::name)).try_map(|name| name.parse::<State>())
}
