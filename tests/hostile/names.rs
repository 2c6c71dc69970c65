//! Every name on disk, as layout.rs has it, with the place where the tables of this directory put wrong things.

use std::collections::BTreeSet;

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file that programs read or write.
    File,
    /// A lease.
    Lock,
    /// A directory.
    Dir,
}

/// The item of layout.rs, and a path below a spool whose current run is 0001. The links have none: their names count, not
/// what they lead to, and the root's directory is tried in a table of its own.
pub const NAMES: [(&str, &str, Kind); 52] = [
    ("SESSIONS", "", Kind::Dir),
    ("SESSION", "session.json", Kind::File),
    ("PROMPT", "prompt.md", Kind::File),
    ("PROMPT", "runs/0001/prompt.md", Kind::File),
    ("TARGET", "target.json", Kind::File),
    ("KEYS", "keys", Kind::Dir),
    ("RUNS", "runs", Kind::Dir),
    ("RETURNS", "returns", Kind::Dir),
    ("INBOX", "inbox", Kind::Dir),
    ("INBOX_TMP", "inbox/tmp", Kind::Dir),
    ("INBOX_NEW", "inbox/new", Kind::Dir),
    ("INBOX_CUR", "inbox/cur", Kind::Dir),
    ("OUTBOX", "outbox", Kind::Dir),
    ("REFUSED", "outbox/q0123abcde.json.refused", Kind::File),
    ("ASKED", "asked", Kind::Dir),
    ("QUESTION", "asked/q0123abcde/question.md", Kind::File),
    ("REQUEST", "asked/q0123abcde/request.json", Kind::File),
    ("ANSWER", "asked/q0123abcde/answer.md", Kind::File),
    ("CALLED_OFF", "asked/q0123abcde/cancelled", Kind::File),
    ("SEEN", "asked/q0123abcde/seen", Kind::File),
    ("PAGER", "scratch/pager.lock", Kind::Lock),
    ("LINKS", "links", Kind::Dir),
    ("LOG", "log", Kind::Dir),
    ("EVENTS", "log/events.ndjson", Kind::File),
    ("SCRATCH", "scratch", Kind::Dir),
    ("RUN", "runs/0001/run.json", Kind::File),
    ("PID", "runs/0001/pid", Kind::File),
    ("NATIVE", "runs/0001/native.json", Kind::File),
    ("TRANSCRIPT", "runs/0001/transcript", Kind::File),
    ("OUTPUT", "runs/0001/output", Kind::File),
    ("KILL", "runs/0001/kill.json", Kind::File),
    ("END", "runs/0001/end.json", Kind::File),
    ("HOLD", "scratch/compacting.json", Kind::File),
    ("CLAIM", "scratch/compaction.lock", Kind::Lock),
    ("INTENT", "scratch/relaunch.json", Kind::File),
    ("CANCELLED", "scratch/relaunch.cancelled.json", Kind::File),
    ("DAMAGED", "scratch/relaunch.damaged.json", Kind::File),
    ("MANAGER", "scratch/manager.lock", Kind::Lock),
    ("COMPACTIONS", "scratch/compactions.ndjson", Kind::File),
    ("TITLE", "keys/title", Kind::File),
    ("DESCRIPTION", "keys/description", Kind::File),
    ("LINK_PARENT", "", Kind::File),
    ("LINK_CONTINUES", "", Kind::File),
    ("LINK_CHILD", "links/child-00000000-0000-4000-8000-000000000000", Kind::File),
    ("handoff", "scratch/handoff-0001.md", Kind::File),
    ("accepted", "scratch/accepted-0001.md", Kind::File),
    ("context", "scratch/context-0001.json", Kind::File),
    ("announced", "scratch/announced-0001", Kind::File),
    ("advised", "scratch/advised-0001", Kind::File),
    ("awake", "scratch/awake-0001", Kind::File),
    ("return_text", "returns/0001.md", Kind::File),
    ("return_fact", "returns/0001.json", Kind::File),
];

/// The paths of one kind.
pub fn paths(kind: Kind) -> impl Iterator<Item = &'static str> {
    NAMES.iter().filter(move |(_, path, of)| *of == kind && !path.is_empty()).map(|(_, path, _)| *path)
}

#[test]
fn every_name_of_the_layout_is_in_the_list() {
    let layout = std::fs::read_to_string(crate::docs::top().join("shared/spool/layout.rs")).unwrap();
    let item = |line: &str| {
        let rest = line.strip_prefix("pub const ").or_else(|| line.strip_prefix("pub fn "))?;
        rest.split([':', '(']).next().map(str::to_owned)
    };
    let items: BTreeSet<String> = layout.lines().filter_map(item).collect();
    let listed: BTreeSet<String> = NAMES.iter().map(|(item, ..)| (*item).to_owned()).collect();
    assert_eq!(items, listed);
}
