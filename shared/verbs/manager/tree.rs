//! Which processes belong to a run.
//!
//! The recorded process, all that descends from it, and, for the manager that started it (a child subreaper), all that
//! descends from the manager. Somebody who did not start the run lost sight of its orphans, and finds them by the mark
//! in their environment: the run's ORBH_NONCE together with the session's id. Never itself and its ancestors, and
//! never the managers of sessions that this one launched.

use crate::ground::process::{self, Proc, Stat};
use crate::spool::child;
use crate::spool::facts::PidRecord;
use crate::spool::session::Spool;
use crate::spool::snapshot::RunFacts;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The manager that started the run, and is subreaper of all that came from it.
    Parent,
    /// Somebody who took over, or a verb.
    Stranger,
}

/// The living processes of a run; none, when it was started before this boot of the machine.
pub fn of_run(spool: &Spool, run: &RunFacts, view: View) -> Vec<Proc> {
    let same_boot = run.run.here().is_none_or(|run| run.boot_id == process::boot_id());
    match run.pid.here() {
        Some(record) if same_boot => of_record(spool, record, view),
        _ => Vec::new(),
    }
}

fn of_record(spool: &Spool, record: &PidRecord, view: View) -> Vec<Proc> {
    let me = std::process::id().cast_signed();
    let all = process::all();
    let spared = child::managers(spool);
    let above = process::ancestors(me);
    let spare = |process: &Stat| process.proc.pid == me || spared.contains(&process.proc);
    let root = record.process().filter(|root| all.iter().any(|process| process.proc == *root));
    let mut roots: Vec<i32> = root.map(|root| root.pid).into_iter().collect();
    match view {
        View::Parent => roots.push(me),
        View::Stranger => roots.extend(marked(spool, record, &all, &spare).iter().map(|process| process.pid)),
    }
    let mut found = process::descendants(&all, &roots, &spare);
    found.extend(roots.iter().filter(|pid| **pid != me).filter_map(|pid| living(&all, *pid)));
    found.retain(|process| Some(*process) == root || !above.contains(&process.pid));
    found.sort_unstable_by_key(|process| process.pid);
    found.dedup();
    found
}

fn living(all: &[Stat], pid: i32) -> Option<Proc> {
    all.iter().find(|process| process.proc.pid == pid && process.lives()).map(|process| process.proc)
}

fn marked(spool: &Spool, record: &PidRecord, all: &[Stat], spare: &dyn Fn(&Stat) -> bool) -> Vec<Proc> {
    let mark = [format!("ORBH_NONCE={}", record.nonce), format!("ORBH_SESSION_ID={}", spool.id())];
    let later = all.iter().filter(|process| process.lives() && process.proc.start >= record.start && !spare(process));
    later.filter(|process| process::environment_has(process.proc.pid, &mark)).map(|process| process.proc).collect()
}
