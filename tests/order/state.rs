//! A state of the model, and what can be read from it as `Snapshot` reads it from the spool.

use super::disk::{
    ACCEPTED, AGAIN, BAD, COMPACTED, Dir, END, GOOD, HANDOFF, HOLD, INTENT, LAUNCH, LINE, PID, PROMPT, RESUME,
    RETURNED, RETURNS, RUN, RUN_DIRS, RUNS, SCRATCH, SPAWN_FAILED, UNSYNCED,
};

/// As many runs as any bound below needs.
pub const MOST: usize = 7;
/// The slots of processes: verbs first, then the manager (the lease lets there be one), then the shims.
pub const VERBS: usize = 4;
pub const MANAGER: usize = VERBS;
pub const SHIM: usize = VERBS + 1;
pub const SLOTS: usize = VERBS + 3;
pub const NOBODY: u8 = 255;

/// What is taken out or done in the wrong order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    None,
    AcceptedIsTheDraft,
    NoSyncBeforeIntent,
    ClaimHeldWhileWaiting,
    RetireUnsynced,
    RetireOnlyAtOrder,
    NoLookBeforeEnd,
    NoLookBeforeCreate,
    RunFirst,
    ForkBeforeSync,
    PidReplaces,
    ShimUnsynced,
    OwnShimJudges,
    NoTombstone,
    EndBeforeDeath,
    FinishTakesAnyIntent,
    HoldBeforeLine,
    AnyRunMay,
    NoSyncOfScratch,
    NoSyncOfRuns,
    NoSyncOfCurrent,
    NoSyncOfRetired,
    NoSyncAtCancel,
    NoSyncBeforeRelease,
    NoSyncBeforeCalledOff,
    NoSyncOfReturn,
    NoSyncOfHandoff,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    Start,
    Handoff,
    Abort,
    Return,
    Finish,
    Kill,
    /// `relaunch --cancel`.
    Cancel,
    /// A write through a descriptor of the draft that was open before.
    Write,
}

/// A bound: who takes part, and how much goes wrong.
#[derive(Clone, Debug)]
pub struct Bound {
    pub name: &'static str,
    /// The verb, the run that gives it (0: whichever lives then; a person's), and whether it escapes the stop of its tree.
    pub verbs: Vec<(Verb, u8, bool)>,
    /// Run 1 has handed off and run 2 lives.
    pub second: bool,
    pub crashes: u8,
    pub power: u8,
    pub failures: u8,
    /// Managers beyond the first.
    pub managers: u8,
    /// A shim that left no record is tried as often (3 in the product).
    pub starts: u8,
    /// A power loss leaves any selection of names, not only a prefix.
    pub any: bool,
    pub mutation: Mutation,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Proc {
    pub at: u8,
    pub run: u8,
    pub step: u8,
    pub nonce: u8,
}

/// What a manager knows by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Memory {
    pub resume: bool,
    /// hold << 4 | intent, of the last sync of scratch/.
    pub marks: u8,
    pub runs: bool,
    /// The current run, and whether it had ended, when its directory was synced.
    pub current: u8,
    pub starts: u8,
    pub attempts: u8,
    pub executed: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub dirs: [Dir; RUN_DIRS + MOST + 1],
    pub procs: [Proc; SLOTS],
    pub begun: u8,
    pub claim: u8,
    pub lease: u8,
    pub memory: Memory,
    pub lives: u8,
    pub executed: u8,
    pub awake: u8,
    pub nonce: u8,
    pub crashes: u8,
    pub power: u8,
    pub failures: u8,
    pub managers: u8,
    pub resumed: bool,
    /// The run to which it was said that its context goes on.
    pub promised: u8,
    /// The run that was killed, and its killer told so.
    pub killed: u8,
    /// The run whose relaunch was called off, and 8 when its caller was told so.
    pub cancelled: u8,
    pub bad: Option<&'static str>,
}

impl State {
    pub fn begin(bound: &Bound) -> State {
        let mut state = State {
            dirs: [Dir::default(); RUN_DIRS + MOST + 1],
            procs: [Proc::default(); SLOTS],
            begun: 0,
            claim: NOBODY,
            lease: NOBODY,
            memory: Memory::default(),
            lives: 2,
            executed: 2,
            awake: 2,
            nonce: 1,
            crashes: bound.crashes,
            power: bound.power,
            failures: bound.failures,
            managers: bound.managers,
            resumed: false,
            promised: 0,
            killed: 0,
            cancelled: 0,
            bad: None,
        };
        state.add_run(1, LAUNCH);
        if !bound.verbs.iter().any(|(verb, ..)| *verb == Verb::Start) || bound.second {
            state.dirs[SCRATCH].set(HOLD, 1);
        }
        state.dirs[SCRATCH].set(HANDOFF + 1, BAD);
        if bound.second {
            state.dirs[SCRATCH].set(ACCEPTED + 1, GOOD);
            state.dirs[SCRATCH].set(HANDOFF + 1, GOOD);
            state.run_dir(1).set(END, COMPACTED);
            state.add_run(2, 1);
            state.nonce = 2;
            (state.lives, state.executed, state.awake) = (4, 6, 6);
        }
        state.dirs.iter_mut().for_each(Dir::sync);
        state.hire(false);
        state
    }

    fn add_run(&mut self, number: u8, kind: u8) {
        self.dirs[RUNS].set(number, 1);
        let dir = self.run_dir(number);
        dir.set(PROMPT, 1);
        dir.set(RUN, kind);
        dir.set(PID, number);
        dir.sync();
    }

    pub fn hire(&mut self, resume: bool) {
        self.lease = MANAGER as u8;
        self.procs[MANAGER] = Proc { at: 1, ..Proc::default() };
        self.memory = Memory { resume, ..Memory::default() };
    }

    pub fn run_dir(&mut self, number: u8) -> &mut Dir {
        &mut self.dirs[RUN_DIRS + usize::from(number)]
    }

    pub fn scratch(&self, name: u8) -> u8 {
        self.dirs[SCRATCH].get(name)
    }

    pub fn fact(&self, number: u8, name: u8) -> u8 {
        self.dirs[RUN_DIRS + usize::from(number)].get(name)
    }

    pub fn alive(&self, number: u8) -> bool {
        self.lives >> number & 1 == 1
    }

    pub fn runs() -> std::ops::RangeInclusive<u8> {
        1..=MOST as u8
    }

    /// `Snapshot::current`.
    pub fn current(&self) -> u8 {
        State::runs().rev().find(|run| self.fact(*run, RUN) != 0).unwrap_or(0)
    }

    /// `Snapshot::next_number`.
    pub fn next(&self) -> u8 {
        let top = State::runs().rev().find(|run| self.dirs[RUNS].get(*run) != 0).unwrap_or(0);
        if top != 0 && self.fact(top, RUN) == 0 { top } else { top + 1 }
    }

    /// `RunFacts::open`, headless.
    pub fn open(&self, number: u8) -> bool {
        self.fact(number, END) == 0 && self.dirs[RETURNS].get(number) == 0
    }

    /// `Snapshot::newest_attempt`.
    pub fn newest_attempt(&self, closing: u8) -> u8 {
        State::runs().rev().find(|run| self.replaces(*run, closing)).unwrap_or(0)
    }

    /// `Snapshot::successor`.
    pub fn successor(&self, closing: u8) -> u8 {
        let came = |run: &u8| self.replaces(*run, closing) && self.fact(*run, END) != SPAWN_FAILED;
        State::runs().find(came).unwrap_or(0)
    }

    /// `RunFacts::replaces`.
    pub fn replaces(&self, run: u8, closing: u8) -> bool {
        closing != 0 && matches!(self.fact(run, RUN), kind if kind == closing || kind == closing + AGAIN)
    }

    /// `Snapshot::succeeds`, by what each run continues (`decide::successor`, `decide::resumed`).
    pub fn succeeds(&self, run: u8, closing: u8) -> bool {
        let first = self.successor(closing);
        first != 0
            && (run == first
                || run > first && self.fact(run, RUN) == closing + AGAIN
                || run > first && self.fact(run, RUN) == RESUME && self.succeeds(run - 1, closing))
    }

    /// The processes of a run die: those below its harness, and the shim that it was.
    pub fn stop(&mut self, run: u8, bound: &Bound) {
        self.lives &= !(1 << run);
        for slot in 0..bound.verbs.len() {
            let (verb, _, escapes) = bound.verbs[slot];
            if self.procs[slot].run == run && !escapes && !matches!(verb, Verb::Kill | Verb::Cancel) {
                self.die(slot);
            }
        }
        let pid = self.fact(run, PID);
        for slot in SHIM..SLOTS {
            if self.procs[slot].at > 0 && self.procs[slot].run == run && self.procs[slot].nonce == pid {
                self.die(slot);
            }
        }
    }

    pub fn die(&mut self, slot: usize) {
        self.procs[slot] = Proc::default();
        if self.claim == slot as u8 {
            self.claim = NOBODY;
        }
        if self.lease == slot as u8 {
            self.lease = NOBODY;
        }
        if slot == MANAGER {
            self.memory = Memory::default();
        }
    }

    /// Every state that a power loss may leave.
    pub fn power_losses(&self, any: bool) -> Vec<State> {
        let mut base = self.clone();
        (0..SLOTS).for_each(|slot| base.die(slot));
        base.lives = 0;
        base.begun = 255;
        base.power = 0;
        base.crashes = 0;
        base.failures = 0;
        base.managers = 0;
        base.resumed = false;
        let mut all = vec![base];
        for dir in 0..self.dirs.len() {
            let left = self.dirs[dir].leftovers(any);
            let each = |state: &State| left.iter().map(|dir| (state.clone(), *dir)).collect::<Vec<_>>();
            all = all
                .iter()
                .flat_map(each)
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(mut state, left)| {
                    state.dirs[dir] = left;
                    state
                })
                .collect();
        }
        for run in State::runs() {
            // A directory that has no name is not there, whatever is in it.
            all.iter_mut()
                .filter(|state| state.dirs[RUNS].get(run) == 0)
                .for_each(|state| *state.run_dir(run) = Dir::default());
            // Bytes that were not synced may be there.
            if run > 2 {
                continue;
            }
            for name in [ACCEPTED + run, HANDOFF + run] {
                for state in &mut all {
                    if state.scratch(name) == UNSYNCED {
                        state.dirs[SCRATCH].set(name, BAD);
                        state.dirs[SCRATCH].sync();
                    }
                }
            }
        }
        all
    }

    /// What must hold at any time, and with `lost` in what a power loss has left, too.
    pub fn check(&self, bound: &Bound, lost: bool) -> Option<&'static str> {
        if self.bad.is_some() {
            return self.bad;
        }
        if self.lives.count_ones() > 1 {
            return Some("two contexts live");
        }
        let good = |run: u8| [ACCEPTED, HANDOFF].iter().any(|name| matches!(self.scratch(name + run), GOOD | UNSYNCED));
        let intent = self.scratch(INTENT);
        if intent != 0 && !good(intent) {
            return Some("an intent without its accepted bytes");
        }
        for run in [1, 2] {
            let successor = self.newest_attempt(run);
            if self.fact(run, END) == COMPACTED {
                if !matches!(self.scratch(HANDOFF + run), GOOD | UNSYNCED) {
                    return Some("a context ended, and its handoff is not there");
                }
                if self.alive(run) {
                    return Some("the end before the death");
                }
                if self.promised == run {
                    return Some("a context ended to which it was said that it goes on");
                }
                if intent != run && successor == 0 && self.cancelled & 7 != run {
                    return Some("a context ended, and nothing calls for its successor");
                }
            }
            if successor != 0 && self.fact(run, END) == 0 {
                return Some("a successor of a context that has not ended");
            }
            if self.killed == run && successor != 0 {
                return Some("a successor of a run that was killed");
            }
        }
        if lost && !bound.any && State::runs().any(|run| self.fact(run, RUN) != 0 && self.fact(run, PROMPT) == 0) {
            return Some("a run without its prompt");
        }
        if self.cancelled > 8 && State::runs().any(|run| self.alive(run) && self.replaces(run, self.cancelled - 8)) {
            return Some("a successor of a handoff that was called off");
        }
        if State::runs().any(|run| self.fact(run, END) == RETURNED && self.dirs[RETURNS].get(run) == 0) {
            return Some("an end that says returned, and no return");
        }
        let newest = self.current();
        if self.alive(newest) && self.replaces(newest, self.scratch(HOLD)) && !self.succeeds(newest, self.scratch(HOLD))
        {
            return Some("a successor that cannot finish");
        }
        if self.scratch(HOLD) == 0 && self.scratch(LINE) == 0 && self.successor(1) != 0 {
            return Some("a compaction that is over, and in no record");
        }
        None
    }
}
