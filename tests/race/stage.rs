//! Where races begin: a session brought there by the verbs themselves, and the pairs that mean something in it.

use super::facts::{Facts, Keeper, Number};
use super::serial::{Racer, Verb};
use crate::harness::{Session, World, kill_dead, outcome, wait_for};

/// What is started together: the ten of the promise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Entry {
    Start,
    Handoff,
    Abort,
    Finish,
    Return,
    Page,
    Kill,
    Resume,
    /// `relaunch`, `relaunch --cancel` and `relaunch --into`, by turns.
    Relaunch,
    /// Each verb of a run that is over, by turns.
    Straggler,
}

/// All of them.
pub const ENTRIES: [Entry; 10] = [
    Entry::Start,
    Entry::Handoff,
    Entry::Abort,
    Entry::Finish,
    Entry::Return,
    Entry::Page,
    Entry::Kill,
    Entry::Resume,
    Entry::Relaunch,
    Entry::Straggler,
];

const RELAUNCHES: [Verb; 3] = [Verb::Into, Verb::Cancel, Verb::Relaunch];
const STRAGGLERS: [Verb; 6] = [Verb::Handoff, Verb::Return, Verb::Abort, Verb::Finish, Verb::Start, Verb::Page];

/// A starting state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Run 0001 has begun a compaction and written a good handoff.
    Drafted,
    /// Run 0002 is the successor of 0001, and has not finished.
    Succeeded,
    /// Run 0002 has finished, begun a compaction of its own, and written a good handoff.
    DraftedAgain,
    /// The handoff of run 0001 was accepted, and the manager is dead.
    Accepted,
    /// As `Drafted`, and the manager is dead.
    Unmanaged,
    /// Run 0001 was killed.
    Over,
    /// The successor of run 0001 was killed before it became a context.
    Stillborn,
}

/// All of them.
pub const STAGES: [Stage; 7] = [
    Stage::Drafted,
    Stage::Succeeded,
    Stage::DraftedAgain,
    Stage::Accepted,
    Stage::Unmanaged,
    Stage::Over,
    Stage::Stillborn,
];

/// Each two of them.
pub fn pairs() -> impl Iterator<Item = (Entry, Entry)> {
    ENTRIES.into_iter().enumerate().flat_map(|(at, one)| ENTRIES[at..].iter().map(move |other| (one, *other)))
}

impl Stage {
    /// The run whose verbs are given, if one is open.
    fn open(self) -> Option<Number> {
        match self {
            Stage::Drafted | Stage::Accepted | Stage::Unmanaged => Some(1),
            Stage::Succeeded | Stage::DraftedAgain => Some(2),
            Stage::Over | Stage::Stillborn => None,
        }
    }

    /// A run that is over, if there is one.
    fn over(self) -> Option<Number> {
        match self {
            Stage::Drafted | Stage::Accepted | Stage::Unmanaged => None,
            Stage::Succeeded | Stage::DraftedAgain | Stage::Over => Some(1),
            Stage::Stillborn => Some(2),
        }
    }

    /// What an entry is here, in its `turn`; `None` where it means nothing.
    fn racer(self, entry: Entry, turn: usize) -> Option<Racer> {
        let of = |run: Option<Number>, verb: Verb| Some(Racer { verb, run: run? });
        let outside = |verb: Verb| Some(Racer { verb, run: 0 });
        match entry {
            Entry::Start => of(self.open(), Verb::Start),
            Entry::Handoff => of(self.open(), Verb::Handoff),
            Entry::Abort => of(self.open(), Verb::Abort),
            Entry::Finish => of(self.open(), Verb::Finish),
            Entry::Return => of(self.open(), Verb::Return),
            Entry::Page => of(self.open(), Verb::Page),
            Entry::Kill => outside(Verb::Kill),
            Entry::Resume => outside(Verb::Resume),
            Entry::Relaunch => outside(RELAUNCHES[turn % RELAUNCHES.len()]),
            Entry::Straggler => of(self.over(), STRAGGLERS[turn % STRAGGLERS.len()]),
        }
    }

    /// Two entries here, in their `turn`; `None` where the pair means nothing.
    pub fn pair(self, one: Entry, other: Entry, turn: usize) -> Option<[Racer; 2]> {
        // What a straggler could disturb here, and nothing that is not raced elsewhere.
        if self == Stage::DraftedAgain && one != Entry::Straggler && other != Entry::Straggler {
            return None;
        }
        // Of the same entry two different forms meet, too.
        let apart = if one == other { turn / STRAGGLERS.len() } else { 0 };
        Some([self.racer(one, turn)?, self.racer(other, turn + apart)?])
    }

    /// Brings a session of that world there.
    pub fn set(self, world: &World) -> Session<'_> {
        world.watched_agent("idle");
        world.watched_agent("other");
        let session = world.launch("command/idle", "do nothing");
        match self {
            Stage::Drafted => draft(&session, "0001"),
            Stage::Unmanaged => {
                draft(&session, "0001");
                session.kill_manager();
            }
            Stage::Accepted => {
                let (manager, mut verb) = session.accept_without_manager("0001", &[]);
                verb.kill().unwrap();
                outcome(verb);
                kill_dead(manager);
            }
            Stage::Succeeded => session.compact("0001", "0002"),
            Stage::DraftedAgain => {
                session.compact("0001", "0002");
                session.verb("0002", ["compact", "finish"]).run().ok();
                draft(&session, "0002");
            }
            Stage::Over => kill(&session),
            Stage::Stillborn => {
                session.compact("0001", "0002");
                kill(&session);
            }
        }
        session
    }

    /// The facts, with what no file tells: which run the manager has started itself.
    pub fn facts(self, session: &Session) -> Facts {
        let mut facts = Facts::of(session).unwrap();
        if let Keeper::Manager { own, .. } = &mut facts.keeper {
            *own = self.open();
        }
        facts
    }
}

fn draft(session: &Session, run: &str) {
    session.verb(run, ["compact", "start"]).run().exits(0);
    session.write_good_handoff(run);
}

fn kill(session: &Session) {
    session.world.orbh(["kill", &session.id]).run().ok();
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
}
