//! Which processes belong to a run.
//!
//! The recorded process, all that descends from it, and, for the manager that started it (a child subreaper), all that
//! descends from the manager. Somebody who did not start the run lost sight of its orphans, and finds them by the mark
//! in their environment: the run's ORBH_NONCE together with the session's id. Never itself and its ancestors, and
//! never what belongs to the sessions that this one launched, or that those launched.

use crate::ground::fault::{Fault, Kind};
use crate::ground::process::{self, Proc, Stat};
use crate::ground::watch::is_remote;
use crate::spool::child;
use crate::spool::facts::PidRecord;
use crate::spool::session::Spool;
use crate::spool::snapshot::RunFacts;
use anyhow::Result;
use std::collections::HashSet;

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
    match run.pid.here() {
        Some(record) if run.this_boot() => of_record(spool, record, view),
        _ => Vec::new(),
    }
}

fn of_record(spool: &Spool, record: &PidRecord, view: View) -> Vec<Proc> {
    // A session waits for this. Its parent need not read every process of the machine to find the first to be asked to
    // go; only that none is left is not to be believed without.
    let near = match view {
        View::Parent => process::below(&[std::process::id().cast_signed(), record.pid]),
        View::Stranger => None,
    };
    let near = near.map(|near| among(&near, spool, record, view)).unwrap_or_default();
    if near.is_empty() { among(&process::all(), spool, record, view) } else { near }
}

fn among(all: &[Stat], spool: &Spool, record: &PidRecord, view: View) -> Vec<Proc> {
    let me = std::process::id().cast_signed();
    let kin = Kin::of(spool);
    let above = process::ancestors(me);
    let spare = |process: &Stat| process.proc.pid == me || kin.has(process);
    let root = record.process().filter(|root| all.iter().any(|process| process.proc == *root));
    let mut roots: Vec<i32> = root.map(|root| root.pid).into_iter().collect();
    match view {
        View::Parent => roots.push(me),
        View::Stranger => roots.extend(marked(spool, record, all, &spare).iter().map(|process| process.pid)),
    }
    let mut found = process::descendants(all, &roots, &spare);
    found.extend(roots.iter().filter(|pid| **pid != me).filter_map(|pid| living(all, *pid)));
    found.retain(|process| Some(*process) == root || !above.contains(&process.pid));
    // Another uid's (a setuid program that the agent started) is outside the kill; the run's own process never is.
    found.retain(|process| Some(*process) == root || !beyond_reach(process.pid));
    // Parents first: they are older, and within a tick of the clock have the lower number.
    found.sort_unstable_by_key(|process| (process.start, process.pid));
    found.dedup();
    found
}

fn beyond_reach(pid: i32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None) == Err(nix::errno::Errno::EPERM)
}

fn living(all: &[Stat], pid: i32) -> Option<Proc> {
    all.iter().find(|process| process.proc.pid == pid && process.lives()).map(|process| process.proc)
}

fn marked(spool: &Spool, record: &PidRecord, all: &[Stat], spare: &dyn Fn(&Stat) -> bool) -> Vec<Proc> {
    let mark = [format!("ORBH_NONCE={}", record.nonce), format!("ORBH_SESSION_ID={}", spool.id())];
    let later = all.iter().filter(|process| process.lives() && process.proc.start >= record.start && !spare(process));
    later.filter(|process| process::environment_has(process.proc.pid, &mark)).map(|process| process.proc).collect()
}

/// The sessions below this one, by their links: what belongs to them is spared.
///
/// Their managers are known by their leases. Where one of those has died, what it kept has become a descendant of the
/// next manager above, and is known by the session in its environment; the run goes on and can be adopted.
struct Kin {
    managers: HashSet<Proc>,
    marks: Vec<String>,
}

impl Kin {
    fn of(spool: &Spool) -> Kin {
        let mut managers = HashSet::new();
        let mut known = HashSet::from([spool.id().clone()]);
        let mut open = vec![spool.clone()];
        while let Some(session) = open.pop() {
            managers.extend(child::managers(&session));
            let fresh = child::ids(&session).into_iter().filter(|id| known.insert(id.clone()));
            open.extend(fresh.map(|id| Spool::at(spool.root().clone(), id)));
        }
        known.remove(spool.id());
        Kin { managers, marks: known.iter().map(|id| format!("ORBH_SESSION_ID={id}")).collect() }
    }

    fn has(&self, process: &Stat) -> bool {
        self.managers.contains(&process.proc) || process::environment_has_any(process.proc.pid, &self.marks)
    }
}

/// Fails for a run of another machine, on a file system that machines share: it cannot be seen from here, nor be ended.
pub fn of_this_machine(spool: &Spool, run: &RunFacts) -> Result<()> {
    let Some(fact) = run.run.here().filter(|_| !run.end.exists() && run.pid.exists() && !run.this_boot()) else {
        return Ok(());
    };
    if fact.host == process::host() || !is_remote(spool.dir()) {
        return Ok(());
    }
    let message = format!("run {} was started on the machine '{}': it cannot be seen here", run.number, fact.host);
    Err(Fault::new(Kind::Refused, message).hint(format!("give the command on '{}'", fact.host)).into())
}
