//! `pager watch`: a line for each event and each change of any number of sessions. Consumes nothing, writes nothing.
//!
//! Promises
//! - Watch, then look: a change that lasts is never missed. Of what came and went between two looks nothing may be told.
//! - Where the kernel tells where something changed, only those sessions are looked at.
//! - Of what was told only names are kept: a reader that is slow costs no memory, for nothing is read ahead of it.

use super::aside::Aside;
use super::line::{Body, Line, consumed, shown};
use super::status::{Armed, Arming, Kind};
use crate::ground::watch::{Backend, Touched, Watch};
use crate::harness::native;
use crate::harness::occupancy::Occupancy;
use crate::spool::id::{RunNumber, SessionId};
use crate::spool::root::Root;
use crate::spool::session::Spool;
use crate::spool::snapshot::newest;
use crate::verbs::events::{self, Event};
use crate::verbs::overview::compaction::Phase;
use crate::verbs::overview::{Overview, RunLine, State};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often a session is looked at that works without a manager: nothing tells of the death of its process.
const TICK: Duration = Duration::from_secs(1);

/// The stream.
pub struct Stream {
    /// Where new sessions are looked for, if they are wanted.
    root: Option<Root>,
    watch: Watch,
    aside: Aside,
    sessions: BTreeMap<SessionId, Watched>,
    /// The first look was had.
    begun: bool,
    looked: Instant,
}

/// A session, as it was when it was looked at last.
struct Watched {
    spool: Spool,
    /// Where changes of it show.
    dirs: Vec<PathBuf>,
    seen: Option<Seen>,
}

/// What is told of a session.
pub(super) struct Seen {
    pub(super) title: Option<String>,
    pub(super) state: State,
    pub(super) compacting: bool,
    pub(super) phase: Phase,
    pub(super) run: Option<RunLine>,
    pub(super) context: Option<Occupancy>,
    pub(super) armed: Armed,
    /// What is pending, with its names, in its order.
    pub(super) pending: Vec<(String, Event)>,
    managed: bool,
}

/// Where the lines go.
pub type Emit<'e> = &'e mut dyn FnMut(&Line) -> Result<()>;

impl Stream {
    /// Of these sessions.
    pub fn of(spools: Vec<Spool>, prefer: Option<Backend>) -> Result<Stream> {
        let mut watch = Watch::new(prefer)?;
        watch.want_lease_deaths(true);
        let watched = |spool: Spool| (spool.id().clone(), Watched { spool, dirs: Vec::new(), seen: None });
        let sessions = spools.into_iter().map(watched).collect();
        let (begun, looked) = (false, Instant::now());
        Ok(Stream { root: None, watch, aside: Aside::new(prefer)?, sessions, begun, looked })
    }

    /// Of all sessions, also those to come.
    pub fn of_all(root: Root, prefer: Option<Backend>) -> Result<Stream> {
        Ok(Stream { root: Some(root), ..Stream::of(Vec::new(), prefer)? })
    }

    /// Looks, and tells what is another than before; at first what there is. False when there is nothing left to look at.
    pub fn look(&mut self, emit: Emit<'_>) -> Result<bool> {
        let mut touched = self.watch.drain();
        if !self.begun {
            touched = Touched::Any;
            // Before the sessions are listed.
            self.watch.watch_only(self.root.iter().map(Root::sessions_dir));
        }
        let now = Instant::now();
        let mut due = self.due(&touched)?;
        if self.aside.take(now) {
            due.extend(self.working(|_| true));
        }
        if self.looked + TICK <= now {
            due.extend(self.working(|seen| !seen.managed));
        }
        self.looked = now;
        // The watch of where each is to be looked at comes before the look.
        for id in &due {
            if let Some(watched) = self.sessions.get_mut(id) {
                watched.dirs = super::watched(&watched.spool);
            }
        }
        let dirs = self.sessions.values().flat_map(|watched| watched.dirs.iter().cloned());
        self.watch.watch_only(dirs.chain(self.root.iter().map(Root::sessions_dir)));
        for id in due {
            self.look_at(&id, emit)?;
        }
        let sessions = &self.sessions;
        self.aside.follow(|| sessions.values().flat_map(Watched::places).collect());
        self.begun = true;
        Ok(self.root.is_some() || !self.sessions.is_empty())
    }

    /// Waits until something may have changed. True when `reader`, the end of a pipe, has nobody at its other end.
    pub fn wait(&mut self, reader: Option<BorrowedFd<'_>>) -> Result<bool> {
        let unmanaged = !self.working(|seen| !seen.managed).is_empty();
        let tick = unmanaged.then(|| self.looked + TICK);
        let until = tick.into_iter().chain(self.aside.next()).min();
        let others: Vec<BorrowedFd<'_>> = reader.into_iter().chain(self.aside.fd()).collect();
        let woken = self.watch.wait(&others, until.map(|until| until.saturating_duration_since(Instant::now())))?;
        let (gone, written) = match reader {
            Some(_) => (woken.others.first().copied(), woken.others.get(1).copied()),
            None => (None, woken.others.first().copied()),
        };
        if written == Some(true) {
            self.aside.ring();
        }
        Ok(gone == Some(true))
    }

    /// The sessions that are to be looked at, new ones included.
    fn due(&mut self, touched: &Touched) -> Result<BTreeSet<SessionId>> {
        let Touched::Only(dirs) = touched else {
            self.take_in_new()?;
            return Ok(self.sessions.keys().cloned().collect());
        };
        let mut due = BTreeSet::new();
        let touches = |watched: &Watched| dirs.iter().any(|dir| dir.starts_with(watched.spool.dir()));
        let above = |watched: &Watched| watched.spool.dir().parent().is_some_and(|above| dirs.contains(above));
        for (id, watched) in &self.sessions {
            if touches(watched) || above(watched) && watched.gone() {
                due.insert(id.clone());
            }
        }
        if self.root.as_ref().is_some_and(|root| dirs.contains(&root.sessions_dir())) {
            due.extend(self.take_in_new()?);
        }
        Ok(due)
    }

    fn take_in_new(&mut self) -> Result<Vec<SessionId>> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let mut new = Vec::new();
        for id in root.ids()? {
            if self.sessions.contains_key(&id) {
                continue;
            }
            // One that belongs to somebody else, or went meanwhile, is none.
            if let Ok(spool) = root.session(&id) {
                self.sessions.insert(id.clone(), Watched { spool, dirs: Vec::new(), seen: None });
                new.push(id);
            }
        }
        Ok(new)
    }

    fn working(&self, wanted: impl Fn(&Seen) -> bool) -> Vec<SessionId> {
        let works = |watched: &Watched| watched.seen.as_ref().is_some_and(|seen| seen.state.works() && wanted(seen));
        self.sessions.iter().filter(|(_, watched)| works(watched)).map(|(id, _)| id.clone()).collect()
    }

    fn look_at(&mut self, id: &SessionId, emit: Emit<'_>) -> Result<()> {
        let Some(watched) = self.sessions.get_mut(id) else { return Ok(()) };
        if watched.gone() {
            self.sessions.remove(id);
            return emit(&Line::new(id, Body::Forgotten {}));
        }
        let now = Seen::read(&watched.spool, watched.seen.as_ref());
        let Some(before) = watched.seen.replace(now) else {
            let Some(now) = &watched.seen else { return Ok(()) };
            return emit(&Line::new(id, Body::session(now, self.begun)));
        };
        let Some(now) = &watched.seen else { return Ok(()) };
        for body in Body::changes(&before, now) {
            emit(&Line::new(id, body))?;
        }
        let (old, new) = (before.names(), now.names());
        for (_, event) in before.pending.iter().filter(|(name, _)| !new.contains(name.as_str())) {
            emit(&Line::new(id, consumed(event)))?;
        }
        for (_, event) in now.pending.iter().filter(|(name, _)| !old.contains(name.as_str())) {
            emit(&Line::new(id, shown(&watched.spool, event)))?;
        }
        Ok(())
    }
}

impl Watched {
    fn gone(&self) -> bool {
        self.spool.dir().symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Where somebody writes all the time while it works.
    fn places(&self) -> Vec<PathBuf> {
        let Some(seen) = self.seen.as_ref().filter(|seen| seen.state.works()) else { return Vec::new() };
        let Some(number) = seen.run.as_ref().map(|run| run.run) else { return Vec::new() };
        let places = |number: RunNumber| match newest(&self.spool) {
            Ok(Some((newest, run))) if newest == number => native::places(&self.spool, number, &run),
            _ => Vec::new(),
        };
        std::iter::once(self.spool.run(number)).chain(places(number)).collect()
    }
}

impl Seen {
    /// Looks at a session. What cannot be read of it now is as it was.
    fn read(spool: &Spool, before: Option<&Seen>) -> Seen {
        let read = Overview::with_facts(spool);
        let (overview, snapshot) = match read {
            Ok((overview, snapshot)) => (overview, Some(snapshot)),
            Err(error) => (Overview::unreadable(spool, format!("{error:#}")), None),
        };
        // While its holder writes down who it is, nobody knows; it wakes us when it has.
        let said = |armed: &Armed| armed.pager == Arming::Unarmed || armed.pid.is_some();
        let armed = snapshot.and_then(|snapshot| Armed::read(spool, &snapshot).ok()).filter(said);
        let pending = events::pending(spool).map(|pending| pending.into_iter().map(|event| (event.name(), event)));
        let as_it_was = || before.map(|before| before.pending.clone()).unwrap_or_default();
        Seen {
            title: overview.title,
            state: overview.state,
            compacting: overview.compacting,
            phase: overview.compaction.phase,
            run: overview.run,
            context: overview.context,
            armed: armed.or_else(|| before.map(|before| before.armed.clone())).unwrap_or_else(Armed::not),
            pending: pending.map_or_else(|_| as_it_was(), Iterator::collect),
            managed: overview.manager.is_some(),
        }
    }

    fn names(&self) -> HashSet<&str> {
        self.pending.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// How many events of a kind are pending.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.pending.iter().filter(|(_, event)| Kind::of(event) == kind).count()
    }
}
