//! The verbs, once: what `orbh` lists, what has a page and a completion, and what the tests go through.

/// A verb and the program behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verb {
    /// What is typed after `orbh`; the program is `orbh-NAME`.
    pub name: &'static str,
    /// The group that it is listed in.
    pub group: Group,
    /// One line: the first of its `--help`.
    pub about: &'static str,
}

impl Verb {
    /// Whether people give it, so that `orbh` lists it and completes it.
    pub fn listed(&self) -> bool {
        Group::LISTED.contains(&self.group)
    }
}

/// The groups of the list, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Replacing a context.
    Compaction,
    /// Between sessions.
    Coordination,
    /// Starting, ending, looking.
    Session,
    /// What sessions run on.
    Target,
    /// For newcomers.
    Start,
    /// What only other programs of orbh start: not listed.
    Internal,
}

impl Group {
    /// The listed groups.
    pub const LISTED: [Group; 5] =
        [Group::Compaction, Group::Coordination, Group::Session, Group::Target, Group::Start];

    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Compaction => "Compaction, by the agent of a session",
            Group::Coordination => "Between sessions",
            Group::Session => "Sessions",
            Group::Target => "Targets",
            Group::Start => "To begin with",
            Group::Internal => "Internal",
        }
    }
}

const fn verb(name: &'static str, group: Group, about: &'static str) -> Verb {
    Verb { name, group, about }
}

/// All verbs, in the order in which they are listed.
pub const VERBS: [Verb; 20] = [
    verb("page", Group::Compaction, "Show a session's live state and every open obligation"),
    verb(
        "pager",
        Group::Compaction,
        "Tell a working agent of what came for it: messages, questions, answers, a context that fills up",
    ),
    verb("context", Group::Compaction, "Show how full a session's context is"),
    verb(
        "compact",
        Group::Compaction,
        "Replace the context of the calling session, by a handoff that its agent writes",
    ),
    verb("session", Group::Compaction, "What a session says about itself, its questions, and its result"),
    verb("message", Group::Coordination, "Mail between sessions: send, list, show, and ask"),
    verb("launch", Group::Session, "Launch a new headless session, and print its id"),
    verb("list", Group::Session, "List the sessions, the newest last"),
    verb("inspect", Group::Session, "Show everything about a session: its state, its runs, its files"),
    verb("log", Group::Session, "Show what happened in a session, an event a line"),
    verb("result", Group::Session, "Print the result that a session returned"),
    verb("respond", Group::Session, "Answer a question that a session has put"),
    verb("kill", Group::Session, "End the current run of a session, with all its processes"),
    verb("resume", Group::Session, "Begin a new run of a session that has none"),
    verb(
        "relaunch",
        Group::Session,
        "Keep a headless session as its manager, in the foreground, and take a pending relaunch to its end",
    ),
    verb("profiles", Group::Target, "List the profiles that a session can run on, and show one"),
    verb("accounts", Group::Target, "List and add accounts: isolated homes of a harness"),
    verb("runtimes", Group::Target, "List the harnesses that orbh knows, which are installed, and how to install them"),
    verb("demo", Group::Start, "Live through a whole compaction, on a bundled agent, with no account and no network"),
    verb("shim", Group::Internal, "Record the process of a run, then become its harness"),
];

/// The pages that belong to no verb, by the word that `orbh help` knows them by, with their section.
pub const TOPICS: [(&str, &str, &str); 6] = [
    ("tutorial", "7", "A walk through orbh: the ideas, a session by hand, recovery"),
    ("orbh", "1", "The dispatcher, and the conventions of all verbs"),
    ("flint", "1", "`flint orbh VERB` is `orbh VERB`"),
    ("spool", "5", "The spool format, and the succession"),
    ("handoff", "5", "The handoff contract"),
    ("runtime", "5", "Targets, profiles, and what a harness is given"),
];
