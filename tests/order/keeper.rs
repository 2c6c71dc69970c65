//! The manager and the exec shim, one file-system operation a step (shared/verbs/manager, bins/shim).

use super::disk::{
    ACCEPTED, AGAIN, COMPACTED, END, EXITED, GOOD, HANDOFF, HOLD, INTENT, KILL, KILLED, PID, PROMPT, RESUME, RETURNED,
    RETURNS, RUN, RUNS, SCRATCH, SPAWN_FAILED, TOMBSTONE, UNSYNCED,
};
use super::state::{Bound, MANAGER, MOST, Memory, Mutation, NOBODY, Proc, SHIM, SLOTS, State};

/// decide::ATTEMPTS.
const ATTEMPTS: u8 = 3;

// decide::Step; the steps that only wait are WAIT.
const WAIT: u8 = 0;
const END_CONTEXT: u8 = 1;
const CREATE: u8 = 2;
const START: u8 = 3;
const DROP: u8 = 4;
const CALL_OFF: u8 = 5;
const BURY: u8 = 6;
const KILL_RUN: u8 = 7;
const REAP: u8 = 8;
const LEAVE: u8 = 9;

/// decide::decide: the step, and its run.
fn decide(state: &State) -> (u8, u8) {
    let memory = state.memory;
    let closing = state.scratch(INTENT);
    let current = state.current();
    let next_attempt = || {
        let fits = state.fact(current, END) != 0 && (current == closing || state.replaces(current, closing));
        if fits { (CREATE, state.next()) } else { (CALL_OFF, closing) }
    };
    if closing != 0 {
        let attempt = state.newest_attempt(closing);
        if attempt == 0 {
            return match (state.fact(closing, END), state.fact(closing, KILL)) {
                (0, 0) => (END_CONTEXT, closing),
                (0, _) => (KILL_RUN, closing),
                _ => next_attempt(),
            };
        }
        return match (state.fact(attempt, END), state.fact(attempt, PID)) {
            (0, 0) => (START, attempt),
            (0, TOMBSTONE) => (BURY, attempt),
            (0, pid) => {
                let shim = (SHIM..SLOTS).any(|slot| state.procs[slot].at > 0 && state.procs[slot].nonce == pid);
                if memory.executed == attempt || !shim { (DROP, closing) } else { (WAIT, attempt) }
            }
            (SPAWN_FAILED, _) if memory.attempts >= ATTEMPTS => (LEAVE, 0),
            (SPAWN_FAILED, _) => next_attempt(),
            _ => (DROP, closing),
        };
    }
    if state.fact(current, END) != 0 {
        return if memory.resume { (CREATE, state.next()) } else { (LEAVE, 0) };
    }
    let pid = state.fact(current, PID);
    let shim = (SHIM..SLOTS).any(|slot| state.procs[slot].at > 0 && state.procs[slot].nonce == pid);
    match pid {
        0 => (START, current),
        TOMBSTONE => (BURY, current),
        _ if state.fact(current, KILL) != 0 => (KILL_RUN, current),
        _ if !state.alive(current) && !shim => (REAP, current),
        _ if state.dirs[RETURNS].get(current) != 0 => (REAP, current),
        _ => (WAIT, current),
    }
}

/// decide::resumed, and what an intent calls for.
fn kind(state: &State) -> u8 {
    let (intent, hold) = (state.scratch(INTENT), state.scratch(HOLD));
    if intent != 0 {
        return intent;
    }
    let mut attempts = State::runs().filter(|run| state.replaces(*run, hold));
    let nobody = attempts.all(|run| state.fact(run, END) != 0 && state.awake >> run & 1 == 0);
    if hold != 0 && state.successor(hold) != 0 && nobody { hold + AGAIN } else { RESUME }
}

/// Each state that the next operation of the manager leads to; none when it waits.
pub fn manager(state: &State, bound: &Bound) -> Vec<State> {
    let mut turn = Turn { state: state.clone(), me: state.procs[MANAGER], bound };
    if turn.step() { vec![turn.state] } else { Vec::new() }
}

struct Turn<'a> {
    state: State,
    me: Proc,
    bound: &'a Bound,
}

impl Turn<'_> {
    fn to(&mut self, at: u8) -> bool {
        self.state.procs[MANAGER].at = at;
        true
    }

    fn take(&mut self) -> bool {
        let free = self.state.claim == NOBODY;
        if free {
            self.state.claim = MANAGER as u8;
        }
        free
    }

    /// What make_durable knows the current run's directory by: its number, and whether it has ended.
    fn current(&self) -> u8 {
        let current = self.state.current();
        current << 1 | u8::from(self.state.fact(current, END) != 0)
    }

    fn again(&mut self) -> bool {
        if self.state.claim == MANAGER as u8 {
            self.state.claim = NOBODY;
        }
        self.state.procs[MANAGER] = Proc { at: 1, ..Proc::default() };
        true
    }

    fn set(&mut self, name: u8, value: u8, at: u8) -> bool {
        self.state.dirs[SCRATCH].set(name, value);
        self.to(at)
    }

    fn sync(&mut self, dir: usize, at: u8) -> bool {
        self.state.dirs[dir].sync();
        self.to(at)
    }

    fn end(&mut self, run: u8, reason: u8) -> bool {
        if self.state.fact(run, END) != 0 {
            return self.again();
        }
        if self.state.alive(run) {
            self.state.bad = Some("the end before the death");
        }
        self.state.run_dir(run).set(END, reason);
        self.to(17)
    }

    fn step(&mut self) -> bool {
        let (run, mutation) = (self.me.run, self.bound.mutation);
        let (hold, intent) = (self.state.scratch(HOLD), self.state.scratch(INTENT));
        match self.me.at {
            // look::look: without the claim, to find that there is nothing to do; then with it.
            1 => {
                let (step, run) = decide(&self.state);
                if step == WAIT {
                    // Step::Keep: what a resume asked for is there, and is adopted.
                    let adopts = intent == 0 && self.state.memory.resume;
                    self.state.memory.resume &= !adopts;
                    return adopts;
                }
                if !self.take() {
                    return false;
                }
                self.state.procs[MANAGER] = Proc { at: 2, run, step, nonce: 0 };
                true
            }
            // look::make_durable.
            2 => {
                let marks = hold << 4 | intent;
                if intent == 0 || self.state.memory.marks != marks {
                    if mutation != Mutation::NoSyncOfScratch {
                        self.state.dirs[SCRATCH].sync();
                    }
                    self.state.memory.marks = marks;
                }
                self.to(3)
            }
            3 => {
                if !self.state.memory.runs && mutation != Mutation::NoSyncOfRuns {
                    self.state.dirs[RUNS].sync();
                }
                self.state.memory.runs = true;
                let current = self.state.current();
                let known = self.state.memory.current == self.current();
                if current == 0 || known || mutation == Mutation::NoSyncOfCurrent {
                    return self.perform();
                }
                self.to(4)
            }
            4 => {
                let current = self.state.current();
                self.state.run_dir(current).sync();
                self.state.memory.current = self.current();
                self.perform()
            }
            // end::end_context: the hash, the stop, the bytes, the draft (that has no name yet), scratch/.
            10 if matches!(self.state.scratch(ACCEPTED + run), GOOD | UNSYNCED) => {
                self.to(if mutation == Mutation::EndBeforeDeath { 14 } else { 11 })
            }
            10 => self.to(18),
            11 => {
                self.state.stop(run, self.bound);
                let whole = matches!(self.state.scratch(ACCEPTED + run), GOOD | UNSYNCED);
                self.to(if whole { 14 } else { 12 })
            }
            12 => self.set(ACCEPTED + run, GOOD, 13),
            13 => self.sync(SCRATCH, 14),
            14 => {
                let bytes = self.state.scratch(ACCEPTED + run);
                self.set(HANDOFF + run, bytes, if mutation == Mutation::NoSyncOfHandoff { 16 } else { 15 })
            }
            15 => self.sync(SCRATCH, 16),
            // Under the claim, the intent still there: the end has its name.
            16 => {
                if !self.take() {
                    return false;
                }
                if intent != run && mutation != Mutation::NoLookBeforeEnd {
                    return self.again();
                }
                self.end(run, COMPACTED)
            }
            17 => {
                self.state.run_dir(run).sync();
                if self.state.fact(run, END) == COMPACTED {
                    self.state.memory.current = self.current();
                }
                self.again()
            }
            // intent::retire.
            18 => {
                if !self.take() {
                    return false;
                }
                if intent == run {
                    self.state.dirs[SCRATCH].set(INTENT, 0);
                }
                self.to(43)
            }
            // create_and_start, after a pause.
            19 => {
                if !self.take() {
                    return false;
                }
                let fits = kind(&self.state) == self.me.nonce && self.state.next() == run;
                let ended = self.state.fact(self.state.current(), END) != 0;
                if !(fits && ended) && mutation != Mutation::NoLookBeforeCreate {
                    return self.again();
                }
                self.to(20)
            }
            // create::create.
            20 => {
                if self.state.dirs[RUNS].get(run) == 0 {
                    self.state.dirs[RUNS].set(run, 1);
                    self.state.memory.runs = false;
                }
                self.to(if mutation == Mutation::RunFirst { 22 } else { 21 })
            }
            21 => {
                self.state.run_dir(run).set(PROMPT, 1);
                self.to(if mutation == Mutation::RunFirst { 23 } else { 22 })
            }
            22 => {
                let kind = self.me.nonce;
                self.state.run_dir(run).set(RUN, kind);
                self.to(if mutation == Mutation::RunFirst { 21 } else { 23 })
            }
            23 => {
                if mutation != Mutation::ForkBeforeSync {
                    self.state.run_dir(run).sync();
                }
                self.to(24)
            }
            24 => {
                if mutation != Mutation::ForkBeforeSync {
                    self.state.dirs[RUNS].sync();
                }
                let memory = Memory { current: self.current(), ..self.state.memory };
                let attempts = memory.attempts + u8::from(intent != 0);
                self.state.memory = Memory { runs: true, attempts, resume: false, ..memory };
                self.state.claim = NOBODY;
                self.to(30)
            }
            // start::start: spawn_shim.
            30 => {
                let Some(slot) = (SHIM..SLOTS).find(|slot| self.state.procs[*slot].at == 0) else { return false };
                self.state.nonce += 1;
                let nonce = self.state.nonce;
                self.state.memory.starts += 1;
                self.state.procs[slot] = Proc { at: 1, run, step: 0, nonce };
                self.state.procs[MANAGER].nonce = nonce;
                self.to(31)
            }
            // start::listen.
            31 => {
                let mine = |slot: usize| self.state.procs[slot].at > 0 && self.state.procs[slot].nonce == self.me.nonce;
                if !(SHIM..SLOTS).any(mine) {
                    return self.to(32);
                }
                self.state.fact(run, END) != 0 && self.again()
            }
            // What the shim recorded is read again.
            32 => {
                let gives_up = self.state.memory.starts >= self.bound.starts;
                match self.state.fact(run, PID) {
                    pid if pid == self.me.nonce && pid != 0 => {
                        self.state.memory.executed = run;
                        self.state.memory.starts = 0;
                        self.again()
                    }
                    _ if mutation == Mutation::OwnShimJudges => self.to(45),
                    0 if gives_up && mutation == Mutation::NoTombstone => self.to(45),
                    0 if gives_up => self.to(33),
                    _ => self.again(),
                }
            }
            // start::bury_with_tombstone.
            33 => {
                self.state.memory.starts = 0;
                if self.state.fact(run, PID) != 0 {
                    return self.again();
                }
                self.state.run_dir(run).set(PID, TOMBSTONE);
                self.to(17)
            }
            // Step::DropIntent.
            40 => {
                if intent != run {
                    return self.again();
                }
                self.set(INTENT, 0, 41)
            }
            41 => {
                self.state.memory.attempts = 0;
                let executed = self.state.memory.executed;
                if executed != 0 && self.state.replaces(executed, run) {
                    self.state.memory.resume = false;
                }
                self.state.dirs[SCRATCH].sync();
                self.again()
            }
            42 => {
                if intent == run {
                    self.state.dirs[SCRATCH].set(INTENT, 0);
                }
                self.to(43)
            }
            43 => {
                self.state.dirs[SCRATCH].sync();
                self.again()
            }
            // start::bury.
            45 => self.take() && self.end(run, SPAWN_FAILED),
            // end::kill.
            50 | 55 => {
                self.state.stop(run, self.bound);
                self.to(self.me.at + 1)
            }
            51 => {
                if !self.take() {
                    return false;
                }
                if mutation == Mutation::RetireOnlyAtOrder {
                    return self.to(53);
                }
                if intent != run {
                    return self.to(if mutation == Mutation::NoSyncOfRetired { 53 } else { 52 });
                }
                self.set(INTENT, 0, if mutation == Mutation::RetireUnsynced { 53 } else { 52 })
            }
            52 => self.sync(SCRATCH, 53),
            53 => self.end(run, KILLED),
            // end::settle.
            56 => {
                if !self.take() {
                    return false;
                }
                if intent == run && mutation != Mutation::NoLookBeforeEnd {
                    return self.again();
                }
                let returned = self.state.dirs[RETURNS].get(run) != 0;
                if mutation != Mutation::NoSyncOfRetired {
                    self.state.dirs[SCRATCH].sync();
                }
                if returned && mutation != Mutation::NoSyncOfReturn {
                    self.state.dirs[RETURNS].sync();
                }
                let reason = match self.state.fact(run, KILL) {
                    0 if returned => RETURNED,
                    0 => EXITED,
                    _ => KILLED,
                };
                self.end(run, reason)
            }
            _ => false,
        }
    }

    /// mod::perform: the claim is held on where the commit comes at once.
    fn perform(&mut self) -> bool {
        let Proc { step, run, .. } = self.me;
        if !matches!(step, CREATE | DROP | CALL_OFF) {
            self.state.claim = NOBODY;
        }
        match step {
            END_CONTEXT => self.to(10),
            CREATE => {
                if usize::from(run) > MOST {
                    self.state.bad = Some("run after run");
                    return true;
                }
                self.state.procs[MANAGER].nonce = kind(&self.state);
                // mod::pause: none before the first attempt.
                if self.state.memory.attempts == 0 || self.state.scratch(INTENT) == 0 {
                    return self.to(20);
                }
                self.state.claim = NOBODY;
                self.to(19)
            }
            START => self.to(30),
            DROP => self.to(40),
            CALL_OFF => self.to(42),
            BURY => self.to(45),
            KILL_RUN => self.to(50),
            REAP => self.to(55),
            _ => {
                self.state.die(MANAGER);
                true
            }
        }
    }
}

/// The exec shim (bins/shim/run.rs): each state that its next operation leads to.
pub fn shim(state: &State, slot: usize, bound: &Bound) -> Vec<State> {
    let me = state.procs[slot];
    let mut next = state.clone();
    let go = |state: &mut State, at: u8| state.procs[slot].at = at;
    match me.at {
        // fact::create of pid.
        1 => {
            if state.fact(me.run, PID) != 0 && bound.mutation != Mutation::PidReplaces {
                next.die(slot);
                return vec![next];
            }
            next.run_dir(me.run).set(PID, me.nonce);
            go(&mut next, if bound.mutation == Mutation::ShimUnsynced { 3 } else { 2 });
        }
        2 => {
            next.run_dir(me.run).sync();
            go(&mut next, 3);
        }
        // become_harness.
        3 => {
            let executable = state.fact(me.run, PROMPT) != 0;
            let mut all = Vec::new();
            if executable {
                let mut harness = state.clone();
                harness.die(slot);
                if harness.executed >> me.run & 1 == 1 {
                    harness.bad = Some("a run whose harness is executed twice");
                }
                if harness.fact(me.run, END) != 0 {
                    harness.bad = Some("a run that has ended comes up");
                }
                harness.executed |= 1 << me.run;
                harness.lives |= 1 << me.run;
                all.push(harness);
            }
            if !executable || state.failures > 0 {
                next.failures -= u8::from(executable);
                go(&mut next, 4);
                all.push(next);
            }
            return all;
        }
        4 => {
            if state.fact(me.run, END) == 0 {
                next.run_dir(me.run).set(END, SPAWN_FAILED);
            }
            go(&mut next, 5);
        }
        _ => {
            next.run_dir(me.run).sync();
            next.die(slot);
        }
    }
    vec![next]
}

/// A fork that fails.
pub fn fail(state: &State) -> Option<State> {
    let mut next = state.clone();
    if state.procs[MANAGER].at != 30 {
        return None;
    }
    next.nonce += 1;
    next.memory.starts += 1;
    next.procs[MANAGER].nonce = next.nonce;
    next.procs[MANAGER].at = 31;
    next.failures -= 1;
    Some(next)
}
