//! Whether a person calls, or something that works inside a run of a session and took the variables of that out.
//!
//! Whoever is below a run in the tree of processes is of it: by the environment that an ancestor was started with, by
//! an ancestor that is the recorded process of an open run, or by a manager above it. What this cannot tell is under NOT
//! GUARANTEED in orbh-spool(5).

use anyhow::Result;
use shared::ground::process::{self, Proc};
use shared::spool::facts::Mode;
use shared::spool::id::SessionId;
use shared::spool::root::Root;
use shared::spool::session::Spool;
use shared::spool::snapshot::Snapshot;
use shared::verbs::launch::MANAGER;
use std::collections::BTreeMap;

/// The variables that a process of a run is started with, and a person's is not.
const MARKS: [&str; 2] = ["ORBH_SESSION_ID", "ORBH_NONCE"];

/// Why the caller is not taken for a person, in a sentence; `None` when nothing speaks against it.
pub fn run_above(root: &Root) -> Result<Option<String>> {
    let above = process::ancestors(std::process::id().cast_signed());
    for pid in &above {
        if process::environment_sets(*pid, &MARKS) {
            return Ok(Some(format!("process {pid}, above this one, has the environment of a run")));
        }
        if process::program(*pid).is_some_and(|name| name == MANAGER) {
            return Ok(Some(format!("process {pid}, above this one, is the manager of a session")));
        }
    }
    let above: BTreeMap<i32, Proc> = above.into_iter().filter_map(|pid| Some((pid, Proc::of(pid)?))).collect();
    for id in root.ids()? {
        if let Some(pid) = recorded_above(&Spool::at(root.clone(), id.clone()), &above) {
            return Ok(Some(recorded(pid, &id)));
        }
    }
    Ok(None)
}

fn recorded(pid: i32, id: &SessionId) -> String {
    format!("process {pid}, above this one, is that of a run of session {id}")
}

/// The process of the current run of a session, if it is one of these. A session that cannot be read has none.
fn recorded_above(spool: &Spool, above: &BTreeMap<i32, Proc>) -> Option<i32> {
    let snapshot = Snapshot::recent(spool, Mode::Interactive, None).ok()?;
    let run = snapshot.current().ok()??;
    let process = run.pid.here()?.process()?;
    let same = above.get(&process.pid).is_some_and(|one| *one == process);
    (same && run.this_boot() && run.within_reach() && run.open(Mode::Interactive)).then_some(process.pid)
}
