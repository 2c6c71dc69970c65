//! The names on disk, once. Each stands in orbh-spool(5).

use super::id::RunNumber;

/// Below the root: the spools.
pub const SESSIONS: &str = "sessions";

/// In a spool: how the session was born.
pub const SESSION: &str = "session.json";
/// In a spool and in a run: the launch prompt; what a run was started with.
pub const PROMPT: &str = "prompt.md";
/// In a spool: the target in force.
pub const TARGET: &str = "target.json";
/// In a spool: interface keys, a file each.
pub const KEYS: &str = "keys";
/// In a spool: the runs, a directory each.
pub const RUNS: &str = "runs";
/// In a spool: what `return` delivered.
pub const RETURNS: &str = "returns";
/// In a spool: the inbox, a Maildir.
pub const INBOX: &str = "inbox";
/// In inbox/: messages that are being written.
pub const INBOX_TMP: &str = "tmp";
/// In inbox/: messages that nobody has looked at.
pub const INBOX_NEW: &str = "new";
/// In inbox/: messages that somebody has; which were shown to the session, their flags tell.
pub const INBOX_CUR: &str = "cur";
/// In a spool: what a run that cannot write elsewhere sends to others.
pub const OUTBOX: &str = "outbox";
/// In outbox/: the end of the name of an order that cannot be carried out.
pub const REFUSED: &str = ".refused";
/// In a spool: the questions that this session put, a directory each.
pub const ASKED: &str = "asked";
/// In a spool: symbolic links to other spools.
pub const LINKS: &str = "links";
/// In a spool: the log's directory.
pub const LOG: &str = "log";
/// In log/: what happened, a line an event.
pub const EVENTS: &str = "events.ndjson";
/// In a spool: the session's working memory, and where the binaries coordinate.
pub const SCRATCH: &str = "scratch";

/// In a run: how it was started.
pub const RUN: &str = "run.json";
/// In a run: its process, or a tombstone.
pub const PID: &str = "pid";
/// In a run: its conversation in the harness.
pub const NATIVE: &str = "native.json";
/// In a run: a symbolic link to the harness's own transcript.
pub const TRANSCRIPT: &str = "transcript";
/// In a run: stdout and stderr of a headless harness.
pub const OUTPUT: &str = "output";
/// In a run: an order to end it.
pub const KILL: &str = "kill.json";
/// In a run: how it ended.
pub const END: &str = "end.json";

/// In a question: its text.
pub const QUESTION: &str = "question.md";
/// In a question: whom it was put to, and how.
pub const REQUEST: &str = "request.json";
/// In a question: the answer.
pub const ANSWER: &str = "answer.md";
/// In a question: it was called off.
pub const CALLED_OFF: &str = "cancelled";
/// In a question: the session has been shown the answer.
pub const SEEN: &str = "seen";

/// In scratch/: the lease of the armed pager.
pub const PAGER: &str = "pager.lock";
/// In scratch/: the hold marker.
pub const HOLD: &str = "compacting.json";
/// In scratch/: the compaction claim.
pub const CLAIM: &str = "compaction.lock";
/// In scratch/: the relaunch intent.
pub const INTENT: &str = "relaunch.json";
/// In scratch/: the last intent that was called off.
pub const CANCELLED: &str = "relaunch.cancelled.json";
/// In scratch/: an intent that could not be read, put aside by an order to kill.
pub const DAMAGED: &str = "relaunch.damaged.json";
/// In scratch/: the manager's lease.
pub const MANAGER: &str = "manager.lock";
/// In scratch/: a line for each finished compaction.
pub const COMPACTIONS: &str = "compactions.ndjson";

/// In keys/: what a person sees in lists.
pub const TITLE: &str = "title";
/// In keys/: a sentence more.
pub const DESCRIPTION: &str = "description";

/// In links/: the session that launched this one.
pub const LINK_PARENT: &str = "parent";
/// In links/: the session that this one continues.
pub const LINK_CONTINUES: &str = "continues";
/// In links/: the beginning of the names that lead to the sessions that this one launched.
pub const LINK_CHILD: &str = "child-";

/// In scratch/: the handoff of the run under compaction.
pub fn handoff(run: RunNumber) -> String {
    format!("handoff-{run}.md")
}

/// In scratch/: the validated bytes of an accepted handoff.
pub fn accepted(run: RunNumber) -> String {
    format!("accepted-{run}.md")
}

/// In scratch/: the occupancy that a harness reports of itself.
pub fn context(run: RunNumber) -> String {
    format!("context-{run}.json")
}

/// In scratch/: the run has given its first verb.
pub fn awake(run: RunNumber) -> String {
    format!("awake-{run}")
}

/// In scratch/: the events that a run has been told of and has not consumed, a line each.
pub fn announced(run: RunNumber) -> String {
    format!("announced-{run}")
}

/// In scratch/: the advisory of the context that began in this run has been shown.
pub fn advised(run: RunNumber) -> String {
    format!("advised-{run}")
}

/// In returns/: the text that a run returned.
pub fn return_text(run: RunNumber) -> String {
    format!("{run}.md")
}

/// In returns/: the fact that a run returned.
pub fn return_fact(run: RunNumber) -> String {
    format!("{run}.json")
}
