//! The command line of `orbh-relaunch`.

use clap::Parser;

/// Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end
///
/// It starts what has to be started, ends what has to be ended, and stays until the session is over. `orbh launch` and
/// `orbh resume` put one in the background, also when a session has lost its manager; give it by hand to watch it. A
/// session that has one needs no second, and it is refused. With --into or --cancel it changes or calls off a relaunch
/// whose successor is not up. Works outside of every run only.
#[derive(Debug, Parser)]
#[command(name = "orbh-relaunch", bin_name = "orbh relaunch", version, disable_help_subcommand = true)]
pub struct Args {
    /// The session: its id, or a unique beginning of 4 characters or more
    pub id: String,
    /// Send the pending relaunch to another target
    #[arg(long, value_name = "RUNTIME/PROFILE", conflicts_with_all = ["cancel", "background"])]
    pub into: Option<String>,
    /// Use this account of the harness there
    #[arg(long, value_name = "NAME", requires = "into")]
    pub account: Option<String>,
    /// Call the pending relaunch off, on the target from before it; a context that has ended waits for `orbh resume`
    #[arg(long, conflicts_with = "background")]
    pub cancel: bool,
    /// Go on in the background once the run is up; what fails before that is said, and is the exit status
    #[arg(long)]
    pub background: bool,
    /// With --background: begin a new run when none is open, standard input added to its prompt
    #[arg(long, requires = "background", hide = true)]
    pub resume: bool,
    /// Print one JSON object when it leaves
    #[arg(long, conflicts_with = "background")]
    pub json: bool,
}
