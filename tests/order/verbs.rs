//! The verbs, one file-system operation a step. What is checked under the claim is one step with taking it: nobody else
//! changes what is checked meanwhile.

use super::disk::{
    ACCEPTED, BAD, COMPACTED, END, GOOD, HOLD, INTENT, KILL, KILLED, LINE, PID, RETURNS, SCRATCH, SPAWN_FAILED,
    TOMBSTONE, UNSYNCED,
};
use super::state::{Bound, Mutation, NOBODY, Proc, State, Verb};

/// Each state that the next operation of this process leads to; none when it waits.
pub fn step(state: &State, slot: usize, bound: &Bound) -> Vec<State> {
    let (verb, ..) = bound.verbs[slot];
    let me = state.procs[slot];
    let mut next = state.clone();
    // Claim::take.
    if me.at == 1 || verb == Verb::Kill && me.at == 9 {
        if !matches!(verb, Verb::Write) {
            if state.claim != NOBODY {
                return Vec::new();
            }
            next.claim = slot as u8;
        }
        // The first verb of a run makes scratch/awake-N (Caller).
        if !matches!(verb, Verb::Kill | Verb::Cancel | Verb::Write) {
            next.awake |= 1 << me.run;
        }
    }
    let mut turn = Turn { state: next, slot, bound };
    let went = match verb {
        Verb::Start => turn.start(me),
        Verb::Handoff => turn.handoff(me),
        Verb::Abort => turn.abort(me),
        Verb::Return => turn.give_back(me),
        Verb::Finish => turn.finish(me),
        Verb::Kill => turn.kill(me),
        Verb::Cancel => turn.cancel(me),
        Verb::Write => {
            if bound.mutation == Mutation::AcceptedIsTheDraft && turn.state.scratch(ACCEPTED + 1) != 0 {
                turn.set(SCRATCH, ACCEPTED + 1, BAD);
            }
            turn.over()
        }
    };
    if went { vec![turn.state] } else { Vec::new() }
}

struct Turn<'a> {
    state: State,
    slot: usize,
    bound: &'a Bound,
}

impl Turn<'_> {
    fn to(&mut self, at: u8) -> bool {
        self.state.procs[self.slot].at = at;
        true
    }

    fn over(&mut self) -> bool {
        self.state.die(self.slot);
        true
    }

    fn release(&mut self) {
        self.state.claim = NOBODY;
    }

    fn refuse(&mut self, run: u8) -> bool {
        // What an accepted handoff refuses says that this context ends (`succession::owned`).
        if self.state.scratch(INTENT) != run && self.state.open(run) {
            self.state.promised = run;
        }
        self.over()
    }

    /// Takes the own hold away, once it is durable that there is no intent.
    fn unlink_hold(&mut self) {
        if self.bound.mutation != Mutation::NoSyncBeforeRelease {
            self.state.dirs[SCRATCH].sync();
        }
        self.set(SCRATCH, HOLD, 0);
    }

    fn set(&mut self, dir: usize, name: u8, value: u8) {
        self.state.dirs[dir].set(name, value);
    }

    /// `Dir::sync`, and on.
    fn sync(&mut self, dir: usize, at: u8) -> bool {
        self.state.dirs[dir].sync();
        self.to(at)
    }

    /// `Caller::check`: the calling run is the current one, and open.
    fn mine(&self, run: u8) -> bool {
        self.bound.mutation == Mutation::AnyRunMay || self.state.current() == run && self.state.open(run)
    }

    /// Takes an intent away; it must have been carried out.
    fn unlink_intent(&mut self) {
        let closing = self.state.scratch(INTENT);
        if self.state.newest_attempt(closing) == 0 {
            self.state.bad = Some("an accepted handoff that nobody carries out");
        }
        self.set(SCRATCH, INTENT, 0);
    }

    /// start::start.
    fn start(&mut self, me: Proc) -> bool {
        match me.at {
            1 => {
                let hold = self.state.scratch(HOLD);
                let unfinished = hold != 0 && hold != me.run && self.state.succeeds(me.run, hold);
                if !self.mine(me.run) || self.state.scratch(INTENT) != 0 || unfinished || hold == me.run {
                    return self.over();
                }
                self.set(SCRATCH, HOLD, me.run);
                self.to(2)
            }
            _ => {
                self.state.dirs[SCRATCH].sync();
                self.over()
            }
        }
    }

    fn handoff(&mut self, me: Proc) -> bool {
        let mutation = self.bound.mutation;
        match me.at {
            // handoff::keeper before the claim: a manager that died is replaced, or it refuses.
            1 => {
                if self.state.lease == NOBODY {
                    if self.state.managers == 0 {
                        return self.refuse(me.run);
                    }
                    self.state.managers -= 1;
                    self.state.hire(false);
                }
                if !self.mine(me.run) || self.state.scratch(HOLD) != me.run || self.state.scratch(INTENT) != 0 {
                    return self.refuse(me.run);
                }
                self.to(2)
            }
            // handoff::write: Dir::replace_mode of accepted-N.md, its bytes synced under a temporary name.
            2 => {
                let bytes = if mutation == Mutation::NoSyncBeforeIntent { UNSYNCED } else { GOOD };
                self.set(SCRATCH, ACCEPTED + me.run, bytes);
                self.to(if mutation == Mutation::NoSyncBeforeIntent { 4 } else { 3 })
            }
            3 => self.sync(SCRATCH, 4),
            // fact::create of relaunch.json.
            4 => {
                self.set(SCRATCH, INTENT, me.run);
                self.state.promised = 0;
                self.to(5)
            }
            // The commit; then the claim is let go.
            5 => {
                self.state.dirs[SCRATCH].sync();
                if mutation != Mutation::ClaimHeldWhileWaiting {
                    self.release();
                }
                self.to(8)
            }
            // handoff::withdraw, after a sync that failed.
            6 => {
                self.set(SCRATCH, INTENT, 0);
                self.to(7)
            }
            7 => {
                self.state.dirs[SCRATCH].sync();
                self.refuse(me.run)
            }
            9 => {
                if mutation != Mutation::NoSyncBeforeCalledOff {
                    self.state.dirs[SCRATCH].sync();
                }
                self.state.promised = me.run;
                self.over()
            }
            // handoff::wait.
            _ => {
                let ended = self.state.fact(me.run, END) != 0;
                if ended {
                    return self.over();
                }
                if self.state.scratch(INTENT) != me.run {
                    return self.to(9);
                }
                if self.state.lease == NOBODY && self.state.managers > 0 {
                    self.state.managers -= 1;
                    self.state.hire(false);
                    return true;
                }
                false
            }
        }
    }

    /// finish::abort.
    fn abort(&mut self, me: Proc) -> bool {
        match me.at {
            1 => {
                let hold = self.state.scratch(HOLD);
                let succeeded = self.state.successor(hold) != 0;
                if !self.mine(me.run) || self.state.scratch(INTENT) != 0 || hold == 0 || succeeded {
                    return self.over();
                }
                self.unlink_hold();
                self.to(2)
            }
            _ => {
                self.state.dirs[SCRATCH].sync();
                self.over()
            }
        }
    }

    /// returning::give_back.
    fn give_back(&mut self, me: Proc) -> bool {
        match me.at {
            1 => {
                if !self.mine(me.run) || self.state.scratch(INTENT) != 0 {
                    return self.over();
                }
                if self.state.scratch(HOLD) == me.run {
                    self.unlink_hold();
                    return self.to(2);
                }
                self.to(3)
            }
            2 => self.sync(SCRATCH, 3),
            3 => {
                self.set(RETURNS, me.run, 1);
                self.to(4)
            }
            _ => {
                self.state.dirs[RETURNS].sync();
                self.over()
            }
        }
    }

    /// finish::finish.
    fn finish(&mut self, me: Proc) -> bool {
        let mutation = self.bound.mutation;
        match me.at {
            1 => {
                let hold = self.state.scratch(HOLD);
                if !self.mine(me.run) || hold == 0 || hold == me.run || !self.state.succeeds(me.run, hold) {
                    return self.over();
                }
                if mutation == Mutation::FinishTakesAnyIntent {
                    // What it read is old when it has the claim.
                    self.release();
                    return self.to(9);
                }
                if self.state.scratch(INTENT) == hold {
                    self.unlink_intent();
                    return self.to(2);
                }
                self.to(3)
            }
            2 => self.sync(SCRATCH, 3),
            // Dir::append_line, durable.
            3 if mutation != Mutation::HoldBeforeLine => {
                if self.state.scratch(LINE) == 0 {
                    self.set(SCRATCH, LINE, 1);
                }
                self.sync(SCRATCH, 4)
            }
            3 | 4 => {
                self.set(SCRATCH, HOLD, 0);
                self.to(5)
            }
            5 => {
                self.state.dirs[SCRATCH].sync();
                self.over()
            }
            _ => {
                if self.state.claim != NOBODY {
                    return false;
                }
                self.state.claim = self.slot as u8;
                if self.state.scratch(INTENT) != 0 {
                    self.unlink_intent();
                    return self.to(2);
                }
                self.to(3)
            }
        }
    }

    /// kill::order, then kill::carry_out.
    fn kill(&mut self, me: Proc) -> bool {
        let mutation = self.bound.mutation;
        match me.at {
            1 => {
                let run = self.state.current();
                if matches!(self.state.fact(run, PID), 0 | TOMBSTONE) || self.state.fact(run, END) != 0 {
                    return self.over();
                }
                self.state.procs[self.slot].run = run;
                if self.state.fact(run, KILL) != 0 {
                    return self.to(3);
                }
                self.state.run_dir(run).set(KILL, 1);
                self.to(2)
            }
            2 => {
                self.state.run_dir(me.run).sync();
                self.to(3)
            }
            // intent::retire_for_kill.
            3 => {
                if self.state.scratch(INTENT) != me.run {
                    return self.to(if mutation == Mutation::NoSyncOfRetired { 5 } else { 4 });
                }
                self.set(SCRATCH, INTENT, 0);
                self.to(if mutation == Mutation::RetireUnsynced { 5 } else { 4 })
            }
            4 => self.sync(SCRATCH, 5),
            5 => {
                self.release();
                self.to(6)
            }
            6 => match self.state.fact(me.run, END) {
                COMPACTED => self.to(1),
                0 if self.state.lease == NOBODY => {
                    self.state.lease = self.slot as u8;
                    self.to(8)
                }
                0 => false,
                _ => {
                    if self.state.alive(me.run) {
                        self.state.bad = Some("a killed run that lives");
                    }
                    self.state.killed = me.run;
                    self.over()
                }
            },
            // kill::stop_it.
            8 => {
                self.state.stop(me.run, self.bound);
                self.to(9)
            }
            9 => {
                if mutation == Mutation::RetireOnlyAtOrder {
                    return self.to(11);
                }
                let unsynced = if self.state.scratch(INTENT) == me.run {
                    self.set(SCRATCH, INTENT, 0);
                    Mutation::RetireUnsynced
                } else {
                    Mutation::NoSyncOfRetired
                };
                self.to(if mutation == unsynced { 11 } else { 10 })
            }
            10 => self.sync(SCRATCH, 11),
            11 => {
                if self.state.fact(me.run, END) == 0 {
                    self.state.run_dir(me.run).set(END, KILLED);
                }
                self.to(12)
            }
            _ => {
                self.state.run_dir(me.run).sync();
                self.state.claim = NOBODY;
                self.state.lease = NOBODY;
                self.to(6)
            }
        }
    }

    /// redirect::pending, then redirect::cancel.
    fn cancel(&mut self, me: Proc) -> bool {
        let closing = self.state.scratch(INTENT);
        let attempt = self.state.newest_attempt(closing);
        match me.at {
            1 => match (attempt, self.state.fact(attempt, END), self.state.fact(attempt, PID)) {
                _ if closing == 0 => self.over(),
                (0, ..) => self.to(6),
                (_, SPAWN_FAILED, _) => self.to(if self.bound.mutation == Mutation::NoSyncAtCancel { 6 } else { 4 }),
                (_, 0, 0) => {
                    self.state.run_dir(attempt).set(PID, TOMBSTONE);
                    self.to(2)
                }
                (_, 0, TOMBSTONE) => self.to(3),
                _ => self.over(),
            },
            2 | 4 => {
                self.state.run_dir(attempt).sync();
                self.to(if me.at == 2 { 3 } else { 6 })
            }
            3 => {
                if self.state.fact(attempt, END) == 0 {
                    self.state.run_dir(attempt).set(END, SPAWN_FAILED);
                }
                self.to(4)
            }
            6 => {
                self.set(SCRATCH, INTENT, 0);
                self.state.cancelled = closing;
                self.to(if self.bound.mutation == Mutation::RetireUnsynced { 8 } else { 7 })
            }
            7 => self.sync(SCRATCH, 8),
            _ => {
                self.state.cancelled |= 8;
                self.over()
            }
        }
    }
}

/// A call of this process that fails: the sync of the intent.
pub fn fail(state: &State, slot: usize, bound: &Bound) -> Option<State> {
    let mut next = state.clone();
    if bound.verbs[slot].0 != Verb::Handoff || state.procs[slot].at != 5 {
        return None;
    }
    next.procs[slot].at = 6;
    next.failures -= 1;
    Some(next)
}
