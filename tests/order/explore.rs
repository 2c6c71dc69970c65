//! Every state that a bound allows, depth first, each once.
//!
//! Of the states that were seen only a fingerprint of 64 bits is kept: among ten million, two that collide (and hide a
//! state) are to be expected once in several hundred thousand runs.

use super::disk::{END, INTENT, KILLED};
use super::keeper;
use super::state::{Bound, MANAGER, NOBODY, Proc, SHIM, SLOTS, State, Verb};
use super::verbs;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

#[derive(Default)]
struct Fingerprint(u64);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// What was found: the states that were seen, and the way to a violation.
pub struct Found {
    pub states: usize,
    pub violation: Option<(&'static str, Vec<String>)>,
}

type Next = (String, State);

pub fn explore(bound: &Bound) -> Found {
    let mut seen: HashSet<u64, BuildHasherDefault<Fingerprint>> = HashSet::default();
    let mut way: Vec<(String, Vec<Next>)> = vec![(String::new(), vec![("begin".to_owned(), State::begin(bound))])];
    while let Some((_, open)) = way.last_mut() {
        let Some((label, mut state)) = open.pop() else {
            way.pop();
            continue;
        };
        let lost = label == "power";
        if state.power == 0 {
            // Nothing will tell what is durable from what is visible.
            state.dirs.iter_mut().for_each(super::disk::Dir::sync);
        }
        let mut hasher = DefaultHasher::new();
        (&state, lost).hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        let wrong = state.check(bound, lost);
        let next = if wrong.is_none() { successors(&state, bound) } else { Ok(Vec::new()) };
        match (wrong, next) {
            (None, Ok(next)) => way.push((label, next)),
            (Some(what), _) | (None, Err(what)) => {
                let mut labels: Vec<String> = way.into_iter().map(|(label, _)| label).skip(1).collect();
                labels.extend([label, format!("{state:?}")]);
                return Found { states: seen.len(), violation: Some((what, labels)) };
            }
        }
    }
    Found { states: seen.len(), violation: None }
}

fn successors(state: &State, bound: &Bound) -> Result<Vec<Next>, &'static str> {
    let mut next: Vec<Next> = Vec::new();
    for slot in 0..bound.verbs.len() {
        if let Some(run) = begins(state, slot, bound) {
            let mut begun = state.clone();
            begun.begun |= 1 << slot;
            begun.procs[slot] = Proc { at: 1, run, step: 0, nonce: 0 };
            next.push((format!("{:?} of run {run} begins", bound.verbs[slot].0), begun));
        }
    }
    for slot in (0..SLOTS).filter(|slot| state.procs[*slot].at > 0) {
        let stepped = match slot {
            MANAGER => keeper::manager(state, bound),
            SHIM.. => keeper::shim(state, slot, bound),
            _ => verbs::step(state, slot, bound),
        };
        let at = state.procs[slot].at;
        let who = |slot: usize| bound.verbs.get(slot).map_or(format!("{slot}"), |(verb, ..)| format!("{verb:?}"));
        next.extend(stepped.into_iter().map(|state| (format!("{} at {at}", who(slot)), state)));
    }
    if next.is_empty() {
        next.extend(rest(state)?);
    }
    if state.failures > 0 {
        next.extend(keeper::fail(state).map(|state| ("no fork".to_owned(), state)));
        for slot in (0..bound.verbs.len()).filter(|slot| state.procs[*slot].at > 0) {
            next.extend(verbs::fail(state, slot, bound).map(|state| ("no sync".to_owned(), state)));
        }
    }
    if state.managers > 0 && state.lease == NOBODY {
        // A handoff that waits, sweep, attach: one after another.
        let mut hired = state.clone();
        hired.managers -= 1;
        hired.hire(false);
        next.push(("another manager".to_owned(), hired));
    }
    if state.crashes > 0 {
        for slot in (0..SLOTS).filter(|slot| state.procs[*slot].at > 0) {
            let mut crashed = state.clone();
            crashed.crashes -= 1;
            crashed.die(slot);
            next.push((format!("{slot} is killed"), crashed));
        }
        if state.lives != 0 {
            let mut crashed = state.clone();
            crashed.crashes -= 1;
            crashed.lives = 0;
            next.push(("the harness dies".to_owned(), crashed));
        }
    }
    if state.power > 0 {
        next.extend(state.power_losses(bound.any).into_iter().map(|state| ("power".to_owned(), state)));
    }
    Ok(next)
}

/// The run that a verb which has not begun can be begun by.
fn begins(state: &State, slot: usize, bound: &Bound) -> Option<u8> {
    if state.begun >> slot & 1 == 1 {
        return None;
    }
    let (verb, run, escapes) = bound.verbs[slot];
    match (verb, run) {
        (Verb::Kill | Verb::Cancel, _) => Some(0),
        (_, 0) => State::runs().find(|run| *run > 1 && state.alive(*run)),
        _ => (state.alive(run) || escapes && state.executed >> run & 1 == 1).then_some(run),
    }
}

/// Nothing goes on by itself: either all is well, or one `resume` makes it so.
fn rest(state: &State) -> Result<Option<Next>, &'static str> {
    if state.claim != NOBODY {
        return Err("a claim that nobody lets go");
    }
    if state.lease == NOBODY && !state.resumed {
        let mut resumed = state.clone();
        // From here on nothing goes wrong any more, but the power may go.
        (resumed.crashes, resumed.failures, resumed.resumed) = (0, 0, true);
        resumed.hire(true);
        return Ok(Some(("resume".to_owned(), resumed)));
    }
    // An order to kill that survived a power loss is obeyed all the same.
    if state.lives == 0 && state.fact(state.current(), END) != KILLED {
        return Err("no run lives, whatever is resumed");
    }
    if state.scratch(INTENT) != 0 {
        return Err("an accepted handoff that nobody carries out");
    }
    Ok(None)
}
