//! The manager: the one keeper of a session. It holds the manager lease, starts runs, ends them, and carries out a
//! relaunch. It lives outside the harness, in a session and process group of its own, and nothing but the spool tells
//! it what to do: when it dies, another one goes on from the facts.

pub mod decide;
pub mod end;
pub mod start;
pub mod tree;

mod create;
mod deliver;
mod forget;
mod learn;
mod look;
mod pace;
mod seat;

use super::claim::Claim;
use super::environment::Environment;
use super::launch::{NOT_ALONE, Order};
use super::mail::DELIVERS;
use super::succession::intent;
use crate::ground::dir::Dir;
use crate::ground::fault::{Fault, Kind, Refusal};
use crate::ground::lease::{self, Holder, Lease, PROBE_BOUND, Taken};
use crate::ground::process::{self, PidFd};
use crate::ground::watch::{Backend, Watch};
use crate::spool::facts::{InForce, PidRecord, Session};
use crate::spool::id::RunNumber;
use crate::spool::session::Spool;
use crate::spool::snapshot::{RunFacts, Snapshot};
use crate::spool::{layout, log, outbox};
use anyhow::{Context, Result};
use decide::{ATTEMPTS, Creation, Leave, Step};
use deliver::Delivery;
use look::{Look, Synced};
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use pace::Pace;
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The orders that a manager of this build understands; a `handoff` looks for `compact` there, who sends by way of the
/// outbox for `deliver`.
pub const UNDERSTANDS: [&str; 4] = ["compact", "kill", "return", DELIVERS];

/// How long a headless harness may go on after it has returned.
const RETURN_GRACE: Duration = Duration::from_secs(5);
/// How long a successor that could not be started waits for its next attempt, by attempts made.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_secs(2)];
/// How long a manager whose run is up waits after a failure, times the failures so far.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// The longest such wait.
const RETRY_LAST: Duration = Duration::from_secs(5);
/// How often to look whether a damaged fact was mended.
const REPAIR_LOOK: Duration = Duration::from_secs(1);
/// How soon to look again whether an adopted shim has become its harness.
const EXEC_LOOK: Duration = Duration::from_millis(20);

/// How a manager came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// The session has no open run and wants none.
    Over,
    /// Three successors failed to start; the intent stays.
    GaveUp,
    /// Its spool was removed: the session is forgotten, and its run was stopped.
    Forgotten,
    /// Its lease was taken away, and another process has it now; the run goes on with that one.
    Replaced,
    /// It was told to go by this signal; the run goes on without a manager.
    Signalled(Signal),
}

/// A manager at work.
pub struct Manager<'a> {
    spool: Spool,
    session: Session,
    environment: &'a Environment,
    order: Order,
    watch: Watch,
    signals: SignalFd,
    lease: Lease,
    /// The run that this very process started, and is subreaper of.
    started: Option<RunNumber>,
    /// The run whose harness is known to have replaced its shim.
    executed: Option<RunNumber>,
    starts: u32,
    attempts: u32,
    /// Where the intent led that those attempts were for.
    attempted: Option<InForce>,
    statuses: HashMap<i32, WaitStatus>,
    returned: Option<(RunNumber, Instant)>,
    /// The run whose directory is watched.
    watched: Option<RunNumber>,
    /// The run of whose conversation everything is known.
    learned: Option<RunNumber>,
    /// What is known of the outbox.
    delivery: Delivery,
    /// How often it may look while a run only has to be kept.
    pace: Pace,
    /// The facts as they were at the last look.
    seen: Option<Snapshot>,
    /// What of the facts is known to be durable.
    synced: Synced,
    /// The last turn took a step: most probably another one follows.
    stepped: bool,
    /// The failure that was last waited for.
    waits_for: Option<String>,
}

impl<'a> Manager<'a> {
    /// Takes the manager lease. Call it before the process has any other thread: it blocks the signals that it reads.
    pub fn take(spool: Spool, environment: &'a Environment, order: Order) -> Result<Manager<'a>> {
        spool.root().writable()?;
        let session = spool.session()?;
        spool.mend()?;
        let lease = match lease::take(&spool.scratch().join(layout::MANAGER), &keeper(), PROBE_BOUND)? {
            Taken::Ours(lease) => lease,
            Taken::Owned(owner) => {
                let who = lease::describe(owner.as_ref());
                let message = format!("session {} {NOT_ALONE}: {who}", spool.id());
                return Err(Fault::new(Kind::Busy, message).hint("let it work; 'orbh list' shows what it does").into());
            }
        };
        process::become_subreaper()?;
        // An ignored SIGCHLD may have been inherited; then no child would leave its status.
        // SAFETY: the default action replaces no handler that anything here relies on.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }.context("cannot reset SIGCHLD")?;
        let mut mask = SigSet::empty();
        for signal in [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            mask.add(signal);
        }
        mask.thread_block().context("cannot block signals")?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&mask, flags).context("cannot read signals")?;
        let mut watch = Watch::new(environment.watch())?;
        for path in [spool.scratch(), spool.returns(), spool.runs(), outbox::path(&spool)] {
            watch.add(&path)?;
        }
        if watch.backend() != Backend::Inotify {
            log::note(&spool, "manager-watches", None, format!("by {}: inotify is not to be had", watch.backend()));
        }
        Ok(Manager {
            spool,
            session,
            environment,
            order,
            watch,
            signals,
            lease,
            started: None,
            executed: None,
            starts: 0,
            attempts: 0,
            attempted: None,
            statuses: HashMap::new(),
            returned: None,
            watched: None,
            learned: None,
            delivery: Delivery::default(),
            pace: Pace::new(),
            seen: None,
            synced: Synced::default(),
            stepped: false,
            waits_for: None,
        })
    }

    /// Keeps the session until it is over. `up` is called once, when its run has come up or nothing is left to do.
    ///
    /// A failure before that ends the manager: somebody waits for the run to come up, and hears why it does not. Later
    /// nobody listens, and a manager that is gone recovers nothing: it tries again what failed for want of something
    /// that may come back (a full disk, a claim whose holder is stopped).
    pub fn keep(&mut self, up: &mut dyn FnMut()) -> Result<Left> {
        let mut came_up = false;
        let mut failures = 0;
        loop {
            let turned = self.turn(&mut || {
                came_up = true;
                up();
            });
            match turned {
                Ok(Some(left)) => return Ok(left),
                Ok(None) => failures = 0,
                Err(_) if self.taken_away()? => return self.forget(),
                Err(error) => {
                    failures += 1;
                    // What was left half done is looked at as if somebody else had left it.
                    self.synced = Synced::default();
                    let pause = self.pause_after(&error, failures).filter(|_| came_up);
                    let Some(pause) = pause else { return Err(error) };
                    self.say_what_is_waited_for(&error);
                    // To its end: this manager's own try wakes its watch, and would be its next one at once.
                    if let Some(signal) = self.wait_out(pause)? {
                        return Ok(Left::Signalled(signal));
                    }
                }
            }
        }
    }

    /// How long to wait after a failure before the next look; `None` for one that only an explicit recovery mends.
    ///
    /// A damaged fact is somebody's to mend, not a reason to leave a session without its keeper: nothing is done until
    /// it is mended, which may happen where nothing is watched. But a relaunch that cannot go on is left, and shown as
    /// failed.
    fn pause_after(&self, error: &anyhow::Error, failures: u32) -> Option<Duration> {
        if error.chain().any(|cause| cause.is::<Refusal>()) {
            return None;
        }
        let kind =
            error.chain().find_map(|cause| cause.downcast_ref::<Fault>()).map_or(Kind::System, |fault| fault.kind);
        let pending = || self.seen.as_ref().is_some_and(|seen| seen.intent.here().is_some());
        match kind {
            Kind::System | Kind::Busy => Some(RETRY_FIRST.saturating_mul(failures).min(RETRY_LAST)),
            Kind::Damaged if !pending() => Some(REPAIR_LOOK),
            Kind::Damaged | Kind::Refused | Kind::Usage | Kind::Missing => None,
        }
    }

    fn say_what_is_waited_for(&mut self, error: &anyhow::Error) {
        let message = format!("{error:#}");
        if self.waits_for.as_ref() != Some(&message) {
            log::note(&self.spool, "manager-waits", None, message.clone());
            self.waits_for = Some(message);
        }
    }

    /// One look and one step; `Some` when the manager is to leave.
    fn turn(&mut self, up: &mut dyn FnMut()) -> Result<Option<Left>> {
        self.watch.drain();
        self.reap();
        if let Some(left) = self.keep_lease()? {
            return Ok(Some(left));
        }
        let Look { step, snapshot, claim } = self.look()?;
        if matches!(step, Step::LetGo(_)) {
            // So quick a run came up all the same; nobody has to wait for its end.
            up();
        }
        let signal = match step {
            Step::Keep(number) => {
                up();
                // A resume was asked for, and the run turned out to live: it is adopted instead.
                self.order = Order::Keep;
                self.learn(snapshot.run(number))?;
                // A harness that writes without a pause must not keep its manager busy.
                self.pace.keep();
                let signal = self.wait(snapshot.run(number), None)?;
                if let Some(signal) = signal {
                    log::note(&self.spool, "manager-left", Some(number), signal.to_string());
                }
                signal
            }
            Step::Leave(Leave::Over) => {
                self.deliver_the_rest();
                return Ok(Some(Left::Over));
            }
            Step::Leave(Leave::GaveUp) => {
                log::note(&self.spool, "relaunch-failed", None, format!("{ATTEMPTS} successors failed to start"));
                return Ok(Some(Left::GaveUp));
            }
            other => self.perform(other, &snapshot, claim)?,
        };
        Ok(signal.map(Left::Signalled))
    }

    /// Takes a step. The claim under which it was decided is held on where its commit comes at once, and let go where
    /// it waits or spawns.
    fn perform(&mut self, step: Step, snapshot: &Snapshot, claim: Option<Claim>) -> Result<Option<Signal>> {
        let find = |number: RunNumber| {
            snapshot.run(number).with_context(|| format!("run {number} of session {} is gone", self.spool.id()))
        };
        let claim = claim.filter(|_| matches!(step, Step::Create(_) | Step::DropIntent(_) | Step::CallOff(_)));
        match step {
            Step::Create(creation) => return self.create_and_start(&creation, snapshot, claim),
            Step::DropIntent(closing) => {
                let claim = self.claim(claim)?;
                claim.insist()?;
                if self.intent()?.is_some_and(|intent| intent.closing == closing) {
                    Dir::open(&self.spool.scratch())?.remove(layout::INTENT)?;
                    log::note(&self.spool, "relaunched", Some(closing), "the successor is up");
                }
                self.attempts = 0;
                // A successor that came up is what a resume asked for, too; one that a dead manager's shim never executed
                // is not, and `resume` begins again from the handoff.
                let came_up = self.executed.and_then(|run| snapshot.run(run)).is_some_and(|run| run.replaces(closing));
                if came_up {
                    self.order = Order::Keep;
                }
            }
            Step::CallOff(closing) => {
                let claim = self.claim(claim)?;
                claim.insist()?;
                intent::retire(&self.spool, closing, "the manager: it replaces no run of this session")?;
            }
            Step::EndContext(intent) => self.end_context(&intent, find(intent.closing)?)?,
            Step::Start(number) => return self.start(number),
            Step::AwaitExec(number) => return self.wait(snapshot.run(number), Some(EXEC_LOOK)),
            Step::Bury(number) => self.bury(find(number)?)?,
            Step::Kill(number) => self.kill(find(number)?)?,
            Step::Reap(number) => self.settle(find(number)?)?,
            Step::LetGo(number) => return self.let_go(find(number)?),
            Step::Keep(_) | Step::Leave(_) => {}
        }
        Ok(None)
    }

    /// Creates a run under the claim by which that was decided, and starts it.
    ///
    /// Between the two there is nothing to look at: that the new run has no process was written under this claim, and
    /// made durable. Who comes after the claim was let go (`relaunch --cancel`) wins the file `pid`, or the shim does.
    fn create_and_start(
        &mut self,
        creation: &Creation,
        snapshot: &Snapshot,
        claim: Option<Claim>,
    ) -> Result<Option<Signal>> {
        let pause = self.pause(creation);
        let created = match claim.filter(|_| pause.is_zero()) {
            Some(claim) => self.create(creation, snapshot, &claim)?,
            None => {
                if let Some(signal) = self.wait_out(pause)? {
                    return Ok(Some(signal));
                }
                let claim = self.claim(None)?;
                let now = self.snapshot()?;
                self.create(creation, &now, &claim)?
            }
        };
        if !created {
            return Ok(None);
        }
        self.attempts += u32::from(creation.intent.is_some());
        self.order = Order::Keep;
        self.start(creation.number)
    }

    /// Gives a run that has returned its time to exit, then stops it.
    fn let_go(&mut self, run: &RunFacts) -> Result<Option<Signal>> {
        let since = match self.returned {
            Some((number, since)) if number == run.number => since,
            _ => Instant::now(),
        };
        self.returned = Some((run.number, since));
        let left = RETURN_GRACE.saturating_sub(since.elapsed());
        if left.is_zero() {
            self.settle(run)?;
            return Ok(None);
        }
        self.wait(Some(run), Some(left))
    }

    /// How long the next attempt has to wait.
    fn pause(&self, creation: &Creation) -> Duration {
        let made = usize::try_from(self.attempts).unwrap_or(usize::MAX);
        PAUSES.get(made).copied().filter(|_| creation.intent.is_some()).unwrap_or_default()
    }

    fn wait_out(&mut self, pause: Duration) -> Result<Option<Signal>> {
        let begin = Instant::now();
        while begin.elapsed() < pause {
            if let Some(signal) = self.wait(None, Some(pause.saturating_sub(begin.elapsed())))? {
                return Ok(Some(signal));
            }
            self.watch.drain();
        }
        Ok(None)
    }

    /// Waits for a change in the spool, the end of the run's process, a signal, or the time to pass; whatever it waits
    /// for, it delivers meanwhile what the run sends.
    fn wait(&mut self, run: Option<&RunFacts>, bound: Option<Duration>) -> Result<Option<Signal>> {
        let process = run.and_then(|run| run.pid.here()).and_then(PidRecord::process);
        if let Some(run) = run.filter(|run| self.watched != Some(run.number)) {
            // What came between the look and this watch is seen by the next look.
            self.watch.add(&self.spool.run(run.number))?;
            self.watched = Some(run.number);
            return Ok(None);
        }
        let handle: Option<PidFd> = match process {
            Some(process) => match process.open()? {
                Some(handle) => Some(handle),
                None => return Ok(None),
            },
            None => None,
        };
        let bound = [bound, self.deliver()].into_iter().flatten().min();
        let mut others = vec![self.signals.as_fd()];
        others.extend(handle.as_ref().map(AsFd::as_fd));
        self.watch.wait(&others, bound)?;
        self.told()
    }

    /// The signal by which somebody tells this manager to go, if one came.
    fn told(&mut self) -> Result<Option<Signal>> {
        while let Some(read) = self.signals.read_signal().context("cannot read signals")? {
            // SIGHUP: the terminal went, which is nothing to a manager. SIGCHLD: reaped at the next look.
            if let Ok(signal @ (Signal::SIGINT | Signal::SIGTERM)) = Signal::try_from(read.ssi_signo.cast_signed()) {
                return Ok(Some(signal));
            }
        }
        Ok(None)
    }

    /// Takes note of every child that has ended; as subreaper that includes strangers' orphans. False when no child is
    /// left: then nothing at all descends from this process, for whoever does is below a child.
    fn reap(&mut self) -> bool {
        loop {
            match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
                Ok(status @ (WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, _, _))) => {
                    self.statuses.insert(pid.as_raw(), status);
                }
                Ok(WaitStatus::StillAlive) => return true,
                Err(errno) => return errno != Errno::ECHILD,
                Ok(_) => {}
            }
        }
    }

    fn added_prompt(&self) -> Option<&str> {
        match &self.order {
            Order::Resume(text) => text.as_deref(),
            Order::Keep => None,
        }
    }
}

/// What a manager says of itself in its lease.
fn keeper() -> Holder {
    let mut holder = Holder::me("headless");
    holder.verbs = UNDERSTANDS.map(str::to_owned).to_vec();
    holder
}
