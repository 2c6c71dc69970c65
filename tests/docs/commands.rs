//! The command lines of all binaries, as clap knows them: each args.rs is taken in as it stands.

use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use shared::face::catalogue::VERBS;

macro_rules! bins {
    ($($name:ident $file:literal)*) => {
        $(#[allow(dead_code, clippy::duplicate_mod)] #[path = $file] mod $name;)*

        /// The command line of each verb's binary, by the name of the verb.
        pub fn bins() -> Vec<(&'static str, Command)> {
            vec![$((stringify!($name), $name::Args::command())),*]
        }
    };
}

bins! {
    accounts "../../bins/orbh-accounts/args.rs"
    compact "../../bins/orbh-compact/args.rs"
    context "../../bins/orbh-context/args.rs"
    demo "../../bins/orbh-demo/args.rs"
    inspect "../../bins/orbh-inspect/args.rs"
    kill "../../bins/orbh-kill/args.rs"
    launch "../../bins/orbh-launch/args.rs"
    list "../../bins/orbh-list/args.rs"
    log "../../bins/orbh-log/args.rs"
    message "../../bins/orbh-message/args.rs"
    page "../../bins/orbh-page/args.rs"
    pager "../../bins/orbh-pager/args.rs"
    profiles "../../bins/orbh-profiles/args.rs"
    relaunch "../../bins/orbh-relaunch/args.rs"
    respond "../../bins/orbh-respond/args.rs"
    result "../../bins/orbh-result/args.rs"
    resume "../../bins/orbh-resume/args.rs"
    runtimes "../../bins/orbh-runtimes/args.rs"
    session "../../bins/orbh-session/args.rs"
    shim "../../bins/orbh-shim/args.rs"
}

#[path = "../../bins/orbh/args.rs"]
mod dispatcher;

/// `orbh` with all its verbs below it, in the order in which it lists them; without those that only programs start.
pub fn orbh() -> Command {
    let mut bins = bins();
    let verbs = VERBS.iter().filter(|verb| verb.listed()).filter_map(|verb| {
        let at = bins.iter().position(|(name, _)| *name == verb.name)?;
        Some(bins.swap_remove(at).1.name(verb.name).bin_name(Resettable::Reset))
    });
    dispatcher::command("orbh", verbs.collect())
}

/// `flint orbh …`.
pub fn flint() -> Command {
    Command::new("flint")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Run orbh, by the name that older documentation uses")
        .disable_help_subcommand(true)
        .subcommand(orbh())
}
