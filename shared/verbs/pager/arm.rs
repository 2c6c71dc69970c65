//! `page arm`: waits for the first event that the run has not been told of, lets a burst settle, and gives the Page.
//!
//! Promises
//! - Watch, then look: whatever is pending and untold when it is armed, or comes later, is given, however often it was
//!   missed; a hold only delays it. What was not printed is not announced.
//! - While nothing happens, it makes no system call where the kernel reports changes.
//! - It consumes nothing, releases nothing, and ends with its run's turn.
//!
//! Never decides by an event, only by looking; never holds the claim while it waits or while the Page is printed.

use super::aside::Aside;
use super::watched;
use crate::ground::clock::At;
use crate::ground::fault::{Fault, Kind, Refusal};
use crate::ground::lease::{self, Holder, Lease, PROBE_BOUND, Taken};
use crate::ground::watch::{Backend, Touched, Watch};
use crate::harness::{Runtime, native, occupancy};
use crate::spool::facts::{Return, Run};
use crate::spool::inbox::{Inbox, Place};
use crate::spool::session::Spool;
use crate::spool::snapshot::{Found, Snapshot};
use crate::spool::{announced, layout};
use crate::verbs::caller::Caller;
use crate::verbs::claim::Claim;
use crate::verbs::events::{self, Event};
use crate::verbs::page::{Page, Reader, Standing};
use anyhow::Result;
use std::collections::HashSet;
use std::time::{Duration, Instant, SystemTime};

/// How long to wait for the pager of an older run to leave.
const LEAVING: Duration = Duration::from_secs(10);
/// A burst that does not end is not waited for longer than so many times the pause that ends one.
const LONGEST_BURST: u32 = 10;

/// How a pager is armed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The wake path that is insisted on.
    pub watch: Option<Backend>,
    /// For how long nothing new must have come.
    pub settle: Duration,
    /// How long it stays armed.
    pub ttl: Duration,
    /// After this long it gives the Page although nothing came.
    pub max_wait: Option<Duration>,
    /// The Page is wanted whole.
    pub whole: bool,
}

/// An armed pager.
pub struct Pager {
    caller: Caller,
    options: Options,
    lease: Lease,
    holder: Holder,
    watch: Watch,
    aside: Aside,
    armed: Instant,
    /// The return of the run as it was: in a pane there may be one of an earlier turn.
    returned: Found<Return>,
    /// The harness writes how full its context is to scratch/, which is watched for everything else, too.
    reports: bool,
    /// The context is as full as advises to compact it, as of the last look.
    full: bool,
    burst: Option<Burst>,
    /// A hold was effective at one of the looks.
    was_held: bool,
    known: Option<Known>,
}

/// What the last look has found, for as long as nothing but the inbox was touched since: then the Page is there at once.
struct Known {
    standing: Standing,
    /// When the names in the directories changed that nothing is reported of.
    unreported: Vec<Option<SystemTime>>,
}

/// Events that came one after the other.
struct Burst {
    began: Instant,
    grew: Instant,
    names: HashSet<String>,
}

impl Pager {
    /// Arms it for the calling run, which must be the current one and open.
    pub fn arm(caller: Caller, options: Options) -> Result<Pager> {
        let (returned, runtime) = {
            let _claim = Claim::take(&caller.spool, "page arm")?;
            let snapshot = caller.look()?;
            let me = caller.check(&snapshot)?;
            (me.returned.clone(), me.run.here().and_then(|run| Runtime::named(&run.target.runtime)))
        };
        let reports = !matches!(runtime, Some(Runtime::Claude | Runtime::Codex));
        let mut holder = Holder::me("page arm");
        holder.run = Some(caller.run.to_string());
        holder.armed_at = Some(At::now());
        let lease = take(&caller, &holder)?;
        let (watch, aside) = (Watch::new(options.watch)?, Aside::new(options.watch)?);
        let armed = Instant::now();
        let (full, burst, was_held) = (false, None, false);
        let known = None;
        Ok(Pager {
            caller,
            options,
            lease,
            holder,
            watch,
            aside,
            armed,
            returned,
            reports,
            full,
            burst,
            was_held,
            known,
        })
    }

    /// Waits until there is a reason to show the Page, and reads it. An error when the turn is over, or it has been
    /// armed for too long.
    pub fn wait(&mut self) -> Result<Page> {
        loop {
            let touched = self.watch.drain();
            let now = Instant::now();
            let scratch = self.caller.spool.scratch();
            if self.reports && !matches!(&touched, Touched::Only(dirs) if !dirs.contains(&scratch)) {
                self.aside.ring();
            }
            if self.known.is_none() || !self.knows(&touched) {
                // Armed before it is looked at.
                self.watch.watch_only(watched(&self.caller.spool));
                self.known = None;
            }
            let expires = self.armed.checked_add(self.options.ttl);
            if expires.is_some_and(|expires| expires <= now) {
                return Err(self.expired());
            }
            let snapshot = match self.known.take() {
                Some(Known { mut standing, unreported }) => {
                    let snapshot = standing.facts().clone();
                    if self.aside.is_due(now) {
                        self.look_aside(&snapshot, now);
                        standing = standing.with_occupancy(&self.caller.spool);
                    }
                    self.known = Some(Known { standing, unreported });
                    snapshot
                }
                None => {
                    let snapshot = self.look()?;
                    self.keep_lease()?;
                    self.look_aside(&snapshot, now);
                    snapshot
                }
            };
            let mut until = expires;
            if snapshot.effective_hold().is_some() {
                // What comes meanwhile is new when it is over.
                self.burst = None;
                self.was_held = true;
            } else {
                let heartbeat = self.options.max_wait.and_then(|wait| self.armed.checked_add(wait));
                let told = announced::read_of(&self.caller.spool, self.caller.run);
                let pending = events::pending(&self.caller.spool)?;
                // A question that came is owed as well.
                if pending.iter().any(Event::asks) {
                    self.known = None;
                }
                let due = self.settled(&snapshot, &pending, &told, now).into_iter().chain(heartbeat).min();
                if due.is_some_and(|due| due <= now) {
                    let all_the_same = heartbeat.is_some_and(|heartbeat| heartbeat <= now);
                    if let Some(page) = self.page(pending, told, all_the_same)? {
                        return Ok(page);
                    }
                } else {
                    until = until.into_iter().chain(due).min();
                }
            }
            self.remember()?;
            self.sleep(until)?;
        }
    }

    /// Whether what the last look has found is so now: nothing else was touched than the inbox.
    fn knows(&self, touched: &Touched) -> bool {
        let Some(known) = &self.known else { return false };
        let inbox = Inbox::of(&self.caller.spool);
        let only = match touched {
            Touched::Any => false,
            Touched::Only(dirs) => dirs.iter().all(|dir| Place::ALL.iter().any(|place| *dir == inbox.place(*place))),
        };
        only && known.unreported == unreported(&self.caller.spool)
    }

    /// Keeps what stands on the Page, while there is time for it.
    fn remember(&mut self) -> Result<()> {
        if self.known.is_none() {
            // Before the look: what changes after it is another time.
            let unreported = unreported(&self.caller.spool);
            let standing = Standing::read(&self.caller.spool).map_err(ended_if_gone)?;
            self.known = standing.is_own().then_some(Known { standing, unreported });
        }
        Ok(())
    }

    /// Whether the Page may still be shown: the last look before it is. If not, wait again.
    pub fn may_speak(&self) -> Result<bool> {
        if !self.was_held && self.known.is_some() && self.nothing_began() {
            return Ok(true);
        }
        // A return lets the hold go before it is written: who holds the claim sees both, or none.
        let _claim = self.was_held.then(|| Claim::take(&self.caller.spool, "page arm").ok());
        Ok(self.look()?.effective_hold().is_none())
    }

    /// Whether neither a hold nor an end nor another run has begun, by what there is of names.
    fn nothing_began(&self) -> bool {
        let (spool, run) = (&self.caller.spool, self.caller.run);
        let began = [
            spool.scratch().join(layout::HOLD),
            spool.scratch().join(layout::INTENT),
            spool.run(run).join(layout::END),
            spool.returns().join(layout::return_fact(run)),
            spool.run(run.next()),
        ];
        let absent = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        began.iter().all(|path| path.symlink_metadata().is_err_and(absent))
    }

    /// Notes what was printed, so that no pager of this run gives it again.
    pub fn announce(&self, shown: &[Event]) -> Result<()> {
        let spool = &self.caller.spool;
        // What the session's own Page has consumed meanwhile must come again if it comes back; that Page holds the claim.
        // Where the claim is not to be had, it is better announced once too often than printed for ever.
        let _claim = Claim::take(spool, "page arm").ok();
        let pending: HashSet<String> = events::pending(spool)?.iter().map(Event::name).collect();
        let stays = |event: &&Event| matches!(event, Event::Advisory(_)) || pending.contains(&event.name());
        let shown: Vec<Event> = shown.iter().filter(stays).cloned().collect();
        events::announce(spool, self.caller.run, &shown, &announced::read_of(spool, self.caller.run))
    }

    /// The facts, as long as the turn goes on.
    fn look(&self) -> Result<Snapshot> {
        let snapshot = self.caller.look().map_err(ended_if_gone)?;
        let me = self.caller.current(&snapshot).map_err(|error| match error.is::<Refusal>() {
            true => ended(&error),
            false => error,
        })?;
        if me.returned != self.returned {
            return Err(ended(&"it has returned its result"));
        }
        Ok(snapshot)
    }

    /// Looks at how full the context is, and watches where that is told; not at all once the advisory was shown.
    fn look_aside(&mut self, snapshot: &Snapshot, now: Instant) {
        let (spool, number) = (&self.caller.spool, self.caller.run);
        let Some(run) = snapshot.run(number).and_then(|facts| facts.run.here()) else { return };
        let directory = spool.run(number);
        if events::advised(spool, run.context) {
            self.full = false;
            self.aside.take(now);
            return self.aside.follow(|| vec![directory.clone()]);
        }
        if !self.aside.take(now) {
            return;
        }
        self.aside.follow(|| std::iter::once(directory.clone()).chain(native::places(spool, number, run)).collect());
        self.full = occupancy::read(spool, number, run).is_ok_and(|occupancy| occupancy.advised());
    }

    /// When the events that are pending and untold will have settled; `None` when there are none.
    fn settled(
        &mut self,
        snapshot: &Snapshot,
        pending: &[Event],
        told: &HashSet<String>,
        now: Instant,
    ) -> Option<Instant> {
        let mut names: HashSet<String> = pending.iter().map(Event::name).collect();
        names.retain(|name| !told.contains(name));
        names.extend(self.advisory(snapshot).map(|event| event.name()));
        if names.is_empty() {
            self.burst = None;
            return None;
        }
        let burst = match self.burst.take() {
            Some(burst) if names.is_subset(&burst.names) => Burst { names, ..burst },
            Some(burst) => Burst { names, grew: now, ..burst },
            None => Burst { began: now, grew: now, names },
        };
        let settle = self.options.settle;
        let quiet = burst.grew.checked_add(settle);
        let longest = settle.checked_mul(LONGEST_BURST).and_then(|longest| burst.began.checked_add(longest));
        self.burst = Some(burst);
        quiet.into_iter().chain(longest).min()
    }

    fn advisory(&self, snapshot: &Snapshot) -> Option<Event> {
        let run: &Run = snapshot.run(self.caller.run)?.run.here()?;
        (self.full && !events::advised(&self.caller.spool, run.context)).then_some(Event::Advisory(run.context))
    }

    /// The Page, if there is anything new on it, or it is wanted all the same.
    fn page(&self, pending: Vec<Event>, told: HashSet<String>, all_the_same: bool) -> Result<Option<Page>> {
        let spool = &self.caller.spool;
        let standing = match &self.known {
            Some(known) => known.standing.clone(),
            None => Standing::read(spool)?,
        };
        let reader = Reader { told, news_first: true, whole: self.options.whole };
        let page = Page::of(spool, standing, Ok(pending), &reader);
        let advised = match page.advisory {
            Some(Event::Advisory(context)) => events::advised(spool, context),
            _ => true,
        };
        let new = page.answers.iter().any(|answer| !answer.shown_before)
            || page.messages.iter().any(|mail| !mail.shown_before)
            || !advised;
        Ok((new || all_the_same).then_some(page))
    }

    /// Waits until something may have changed, or until then.
    fn sleep(&mut self, until: Option<Instant>) -> Result<()> {
        let until = until.into_iter().chain(self.aside.next()).min();
        let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
        let others: Vec<_> = self.aside.fd().into_iter().collect();
        let woken = self.watch.wait(&others, timeout)?;
        if woken.others.contains(&true) {
            self.aside.ring();
        }
        Ok(())
    }

    /// Looks whether the lease is still what its name leads to, and writes down by what the pager is woken, when that is
    /// another way now.
    fn keep_lease(&mut self) -> Result<()> {
        if self.lease.lost()? {
            let gone = || self.caller.spool.dir().symlink_metadata().is_err();
            let taken = take(&self.caller, &self.holder);
            self.lease = taken.map_err(|error| if gone() { ended(&error) } else { error })?;
        }
        let backend = self.watch.backend().to_string();
        if self.holder.watch.as_ref() != Some(&backend) {
            self.holder.watch = Some(backend);
            self.lease.inform(&self.holder)?;
        }
        Ok(())
    }

    fn expired(&self) -> anyhow::Error {
        let message = format!("the pager was armed for {} s without an event, and leaves", self.options.ttl.as_secs());
        Fault::new(Kind::Busy, message).hint("orbh page arm").into()
    }
}

/// Takes the lease of the session's pager. That of an older run is about to leave.
fn take(caller: &Caller, holder: &Holder) -> Result<Lease> {
    let path = caller.spool.scratch().join(layout::PAGER);
    let older =
        |owner: &Option<Holder>| owner.as_ref().is_some_and(|owner| owner.run.is_some() && owner.run != holder.run);
    let owner = match lease::take(&path, holder, PROBE_BOUND)? {
        Taken::Ours(lease) => return Ok(lease),
        Taken::Owned(owner) if older(&owner) => match lease::take(&path, holder, LEAVING)? {
            Taken::Ours(lease) => return Ok(lease),
            Taken::Owned(owner) => owner,
        },
        Taken::Owned(owner) => owner,
    };
    let who = owner.map_or_else(|| "an unknown process".to_owned(), |owner| format!("pid {}", owner.pid));
    let message = format!("page arm already active for this session ({who}); not starting a second");
    Err(Fault::new(Kind::Busy, message).hint("wait for the end of that one").into())
}

/// When the names changed in the directories that a Page depends on and that are not watched: keys and links.
fn unreported(spool: &Spool) -> Vec<Option<SystemTime>> {
    let changed = |name: &str| spool.dir().join(name).symlink_metadata().and_then(|found| found.modified()).ok();
    [layout::KEYS, layout::LINKS].map(changed).to_vec()
}

fn ended(why: &dyn std::fmt::Display) -> anyhow::Error {
    Fault::new(Kind::Missing, format!("session ended - pager exiting: {why}")).into()
}

fn ended_if_gone(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Fault>().is_some_and(|fault| fault.kind == Kind::Missing) {
        true => ended(&error),
        false => error,
    }
}
