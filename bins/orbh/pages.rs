//! The manual pages, embedded.

/// The page of a verb or topic: `compact`, `orbh-compact`, `spool`, `orbh-spool`, …
pub fn page(word: &str) -> Option<&'static str> {
    let bare = word.strip_prefix("orbh-").unwrap_or(word);
    let found = PAGES.iter().find(|(name, _)| *name == bare);
    found.map(|(_, text)| *text)
}

macro_rules! pages {
    ($($name:literal $file:literal)*) => {
        &[$(($name, include_str!(concat!("../../man/", $file)))),*]
    };
}

const PAGES: &[(&str, &str)] = pages! {
    "accounts" "orbh-accounts.1"
    "profiles" "orbh-profiles.1"
    "runtimes" "orbh-runtimes.1"
    "compact" "orbh-compact.1"
    "context" "orbh-context.1"
    "demo" "orbh-demo.1"
    "flint" "flint.1"
    "handoff" "orbh-handoff.5"
    "inspect" "orbh-inspect.1"
    "kill" "orbh-kill.1"
    "launch" "orbh-launch.1"
    "list" "orbh-list.1"
    "log" "orbh-log.1"
    "message" "orbh-message.1"
    "orbh" "orbh.1"
    "page" "orbh-page.1"
    "pager" "orbh-pager.1"
    "relaunch" "orbh-relaunch.1"
    "respond" "orbh-respond.1"
    "result" "orbh-result.1"
    "resume" "orbh-resume.1"
    "runtime" "orbh-runtime.5"
    "session" "orbh-session.1"
    "shim" "orbh-shim.1"
    "spool" "orbh-spool.5"
    "tutorial" "orbh.7"
};
