//! Who calls: a run of a session, by its environment. A straggler of an old context, or somebody who only borrowed the
//! variables, does nothing and is told why.

use super::environment::Environment;
use crate::ground::dir::Dir;
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::spool::facts::Session;
use crate::spool::id::{RunNumber, SessionId};
use crate::spool::layout;
use crate::spool::session::Spool;
use crate::spool::snapshot::{Purpose, RunFacts, Snapshot};
use anyhow::Result;

/// A verb that was called from inside a run.
#[derive(Debug)]
pub struct Caller {
    /// The session's spool.
    pub spool: Spool,
    /// How the session was born.
    pub session: Session,
    /// The run that calls, as its environment says.
    pub run: RunNumber,
    nonce: Option<String>,
}

impl Caller {
    /// The caller that the environment names. `verb` is for the sentence when there is none.
    pub fn of(environment: &Environment, verb: &str) -> Result<Caller> {
        let (Some(id), Some(run)) = (environment.session(), environment.run()) else {
            let missing = if environment.session().is_none() { "ORBH_SESSION_ID" } else { "ORBH_RUN" };
            let message = format!("'{verb}' works inside a run of a session only, and {missing} is not set");
            return Err(Fault::new(Kind::Usage, message)
                .hint("'orbh launch' starts a session; its agent calls this")
                .into());
        };
        let id: SessionId = id.parse().map_err(|fault| in_variable("ORBH_SESSION_ID", &fault))?;
        let run: RunNumber = run.parse().map_err(|fault| in_variable("ORBH_RUN", &fault))?;
        let spool = environment.root()?.session(&id)?;
        spool.root().writable()?;
        let session = spool.session()?;
        Ok(Caller { spool, session, run, nonce: environment.nonce().map(str::to_owned) })
    }

    /// The facts of the calling session as they are now; for a decision, hold the claim meanwhile.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::read(&self.spool, self.session.mode)
    }

    /// The same for a verb that only looks.
    pub fn look(&self) -> Result<Snapshot> {
        Snapshot::read_for(Purpose::Show, &self.spool, self.session.mode)
    }

    /// Checks that the calling run is the current one, open, and really the caller; hold the claim meanwhile. The
    /// run's first verb makes it a context (scratch/awake-N).
    pub fn check<'a>(&self, snapshot: &'a Snapshot) -> Result<&'a RunFacts> {
        let me = self.current(snapshot)?;
        let awake = layout::awake(self.run);
        let scratch = self.spool.scratch();
        if scratch.join(&awake).symlink_metadata().is_err() {
            Dir::open(&scratch)?.create(&awake, b"")?;
        }
        Ok(me)
    }

    /// The same check, for a look: it writes nothing.
    pub fn current<'a>(&self, snapshot: &'a Snapshot) -> Result<&'a RunFacts> {
        let current = snapshot.current()?;
        let me = match current {
            Some(current) if current.number == self.run => current,
            Some(current) => return Err(self.straggler(format!("run {} is the current one", current.number))),
            None => return Err(self.straggler("the session has no run yet".to_owned())),
        };
        if let Some(end) = me.end.get()? {
            return Err(self.straggler(format!("it has ended ({})", end.reason)));
        }
        me.returned.get()?;
        if !me.open(self.session.mode) {
            return Err(self.straggler("it has returned its result".to_owned()));
        }
        let recorded = me.pid.get()?.map(|pid| pid.nonce.as_str());
        if self.nonce.is_none() || recorded != self.nonce.as_deref() {
            let message = format!(
                "ORBH_NONCE is not that of run {} of session {}: this is not a process of that run",
                self.run, self.session.id
            );
            let fix = "only the session itself can do this; ask it";
            return Err(Refusal::one(Finding::new("not-the-run", message, fix)).into());
        }
        Ok(me)
    }

    fn straggler(&self, why: String) -> anyhow::Error {
        let message = format!("run {} of session {} is over: {why}", self.run, self.session.id);
        let fix = "do nothing more; the session goes on without this process";
        Refusal::one(Finding::new("run-over", message, fix)).into()
    }
}

fn in_variable(name: &str, fault: &Fault) -> Fault {
    Fault::new(Kind::Usage, format!("{name}: {fault}"))
}

/// The session that a verb is about: the one that was named, else the one that the caller works in.
pub fn meant(environment: &Environment, id: Option<&str>, verb: &str) -> Result<Spool> {
    match (id, environment.session()) {
        (Some(id), _) => environment.root()?.find(id),
        (None, Some(own)) => {
            environment.root()?.session(&own.parse().map_err(|fault| in_variable("ORBH_SESSION_ID", &fault))?)
        }
        (None, None) => {
            let message = format!("'{verb}' needs the id of a session here: ORBH_SESSION_ID is not set");
            let hint = match verb.starts_with("orbh session ") {
                true => format!("{verb} --session ID …; 'orbh list --all' shows the ids"),
                false => "'orbh list --all' shows the ids".to_owned(),
            };
            Err(Fault::new(Kind::Usage, message).hint(hint).into())
        }
    }
}
