//! The reference model: every verb is a few steps, each of which happens at one moment, and so is what a manager does.
//! Written from orbh-spool(5), SUCCESSION, and from nothing that orbh does.
//!
//! All interleavings of two verbs and a manager are walked through; where they come to rest are the serial outcomes.

use super::facts::{End, Facts, Intent, Keeper, Kind, Number, Run};
use std::collections::{BTreeSet, HashSet};

/// A verb, and what it is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Verb {
    Start,
    Handoff,
    Abort,
    Finish,
    Return,
    Page,
    Kill,
    Resume,
    Relaunch,
    Cancel,
    Into,
}

/// How a verb came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Code {
    Exit(i32),
    /// It was a process of a run that was stopped, by the mark in its environment.
    Stopped,
    /// It is the manager of the session.
    Keeps,
}

/// How far a verb has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    Begin,
    /// After its first look: a handoff has a keeper, a Page is printed, a resume was not refused, an intent is redirected.
    Looked,
    /// A handoff is accepted, a kill is ordered, a resume has its manager, a relaunch is one; what is awaited.
    Waits(Number),
    /// The run has returned, and its harness is about to exit.
    Returned,
    /// All is done; only the process has not ended.
    Ends(i32),
    Done(Code),
}

/// One of two verbs that are started together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Racer {
    pub verb: Verb,
    /// The run that gives it; 0 from outside.
    pub run: Number,
}

/// A state of the race.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Moment {
    facts: Facts,
    at: [At; 2],
}

/// Where a race can come to rest: how the two verbs ended, and the facts.
pub type Outcome = ([Code; 2], Facts);

/// Every outcome that some order of the steps leads to.
pub fn outcomes(start: &Facts, racers: [Racer; 2]) -> BTreeSet<Outcome> {
    let mut found = BTreeSet::new();
    let first = Moment { facts: start.clone(), at: [At::Begin; 2] };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(moment) = open.pop() {
        let mut next = manager(&moment);
        for who in 0..2 {
            next.extend(verb(&moment, racers, who));
        }
        if next.is_empty() {
            found.insert((at_rest(&moment), moment.facts.compared()));
        }
        open.extend(next.into_iter().filter(|moment| seen.insert(moment.clone())));
    }
    found
}

fn at_rest(moment: &Moment) -> [Code; 2] {
    [0, 1].map(|who| match moment.at[who] {
        At::Done(code) => code,
        At::Waits(_) if keeps(&moment.facts, who) => Code::Keeps,
        at => panic!("the model is stuck: {at:?} in {moment:?}"),
    })
}

fn keeps(facts: &Facts, who: usize) -> bool {
    matches!(facts.keeper, Keeper::Manager { racer, .. } if racer == Some(who))
}

impl Facts {
    fn open(&self, number: Number) -> bool {
        self.current() == number && self.run(number).end.is_none() && !self.run(number).returned
    }

    fn replaces(&self, closing: Number) -> impl DoubleEndedIterator<Item = Number> + '_ {
        let all = 1..=self.current();
        all.filter(move |number| self.run(*number).kind == Kind::Compact && self.run(*number).closes == Some(closing))
    }

    fn successor(&self, closing: Number) -> Option<Number> {
        self.replaces(closing).find(|number| self.run(*number).end != Some(End::SpawnFailed))
    }

    fn continues(&self, number: Number, first: Number) -> bool {
        number == first || self.run(number).continues.is_some_and(|before| self.continues(before, first))
    }

    /// The hold of another run than this, if it is effective.
    fn earlier_hold(&self, me: Number) -> bool {
        self.hold.filter(|hold| *hold != me).is_some_and(|hold| {
            self.intent.is_some_and(|intent| intent.closing == hold)
                || self.successor(hold).is_some()
                || self.open(hold)
        })
    }

    fn retire(&mut self, closing: Number) {
        if let Some(intent) = self.intent.filter(|intent| intent.closing == closing) {
            self.cancelled = Some(intent);
            self.intent = None;
        }
    }

    fn end(&mut self, number: Number, end: End) {
        let run = self.run_mut(number);
        run.end = run.end.or(Some(end));
    }

    fn create(&mut self, kind: Kind, closes: Option<Number>, continues: Number, other_target: bool) {
        self.other_target = other_target;
        let continues = Some(continues);
        let (started, dead, killed, returned, end, awake) = (false, false, false, false, None, false);
        self.runs.push(Run { kind, closes, continues, other_target, started, dead, killed, returned, end, awake });
    }

    fn manage(&mut self, resume: bool, racer: Option<usize>) {
        self.keeper = Keeper::Manager { resume, own: None, racer };
    }
}

/// What one verb can do next, each way.
fn verb(moment: &Moment, racers: [Racer; 2], who: usize) -> Vec<Moment> {
    let Racer { verb, run: me } = racers[who];
    let mut next = Vec::new();
    if matches!(moment.at[who], At::Done(_)) {
        return next;
    }
    let mut step = |at: At, change: &dyn Fn(&mut Facts)| {
        let mut then = moment.clone();
        then.at[who] = at;
        change(&mut then.facts);
        next.push(then);
    };
    let facts = &moment.facts;
    if me != 0 && stopping(facts) == Some(me) {
        step(At::Done(Code::Stopped), &|_| {});
        // Between two of its changes.
        let committing = moment.at[who] == At::Begin && facts.open(me) && facts.intent.is_none();
        match (verb, facts.hold) {
            (Verb::Return, Some(hold)) if committing && hold == me => {
                step(At::Done(Code::Stopped), &|facts| facts.hold = None);
            }
            (Verb::Finish, Some(hold)) if committing && hold != me && facts.successor(hold).is_some() => {
                step(At::Done(Code::Stopped), &|facts| facts.finished.push((hold, me)));
            }
            _ => {}
        }
    }
    let done = if me == 0 { |code| At::Done(Code::Exit(code)) } else { At::Ends };
    let wake = |facts: &mut Facts| facts.run_mut(me).awake = true;
    match (verb, moment.at[who]) {
        (_, At::Ends(code)) => step(At::Done(Code::Exit(code)), &|_| {}),
        // A run that is not current and open gives no verb; but one that hands off again is told that it was accepted.
        (
            Verb::Start | Verb::Handoff | Verb::Abort | Verb::Finish | Verb::Return | Verb::Page,
            At::Begin | At::Looked,
        ) if !facts.open(me) => {
            step(done(1), &|_| {});
        }
        (Verb::Start, _) if facts.intent.is_some() || facts.earlier_hold(me) => step(done(1), &wake),
        (Verb::Start, _) => step(done(0), &|facts| {
            wake(facts);
            facts.hold = Some(me);
        }),
        (Verb::Abort, _) => {
            let successor = facts.hold.is_some_and(|hold| facts.successor(hold).is_some());
            if facts.intent.is_some() || successor {
                step(done(1), &wake);
            } else {
                step(done(0), &|facts| {
                    wake(facts);
                    facts.hold = None;
                });
            }
        }
        (Verb::Return, At::Begin) if facts.intent.is_some() => step(done(1), &wake),
        (Verb::Return, At::Begin) => step(At::Returned, &|facts| {
            wake(facts);
            facts.hold = facts.hold.filter(|hold| *hold != me);
            facts.run_mut(me).returned = true;
        }),
        (Verb::Return, _) => step(done(0), &|facts| facts.run_mut(me).dead = true),
        (Verb::Finish, _) => {
            let of = facts.hold.filter(|hold| *hold != me);
            let of = of.filter(|hold| facts.successor(*hold).is_some_and(|first| facts.continues(me, first)));
            let Some(hold) = of else {
                step(done(1), &wake);
                return next;
            };
            step(done(0), &|facts| {
                wake(facts);
                facts.intent = facts.intent.filter(|intent| intent.closing != hold);
                facts.finished.push((hold, me));
                facts.hold = None;
            });
        }
        (Verb::Page, At::Begin) => step(At::Looked, &|_| {}),
        (Verb::Page, _) => step(done(0), &wake),
        (Verb::Handoff, at) => handoff(facts, me, at, &mut step),
        (Verb::Kill, at) => kill(facts, who, at, &mut step),
        (Verb::Resume, At::Begin | At::Looked) => resume(facts, who, moment.at[who], &mut step),
        (Verb::Resume, _) => {
            // It has come up, or its manager has left.
            let up = facts.run(facts.current()).started && facts.intent.is_none();
            if !keeps(facts, who) || up {
                step(done(0), &|_| {});
            }
        }
        (Verb::Relaunch | Verb::Into, At::Waits(_)) => {
            if !keeps(facts, who) {
                step(done(0), &|_| {});
            }
        }
        (Verb::Relaunch, _) => match facts.keeper {
            Keeper::Nobody => step(At::Waits(0), &|facts| facts.manage(false, Some(who))),
            _ => step(done(75), &|_| {}),
        },
        (Verb::Into, At::Looked) => match facts.keeper {
            Keeper::Nobody => step(At::Waits(0), &|facts| facts.manage(false, Some(who))),
            _ => step(done(0), &|_| {}),
        },
        (Verb::Cancel | Verb::Into, _) => match pending(facts) {
            None => step(done(1), &|_| {}),
            Some(intent) => {
                let redirect = verb == Verb::Into;
                step(if redirect { At::Looked } else { done(0) }, &|facts| {
                    // An attempt that has no process yet is kept from starting.
                    let attempt = facts.replaces(intent.closing).next_back();
                    if let Some(attempt) = attempt {
                        facts.end(attempt, End::SpawnFailed);
                    }
                    if redirect {
                        facts.intent = Some(Intent { other_target: true, ..intent });
                    } else {
                        facts.retire(intent.closing);
                        facts.other_target = facts.run(intent.closing).other_target;
                    }
                });
            }
        },
    }
    next
}

type Step<'a> = dyn FnMut(At, &dyn Fn(&mut Facts)) + 'a;

/// The intent, unless its successor has started.
fn pending(facts: &Facts) -> Option<Intent> {
    let intent = facts.intent?;
    let attempt = facts.replaces(intent.closing).next_back().map(|number| facts.run(number));
    attempt.is_none_or(|run| !run.started).then_some(intent)
}

fn handoff(facts: &Facts, me: Number, at: At, step: &mut Step) {
    let done = At::Ends;
    let accepted = facts.intent.is_some_and(|intent| intent.closing == me);
    match at {
        At::Begin | At::Looked if accepted => step(At::Waits(me), &|_| {}),
        At::Begin => step(At::Looked, &|facts| {
            facts.run_mut(me).awake = true;
            if facts.keeper == Keeper::Nobody {
                facts.manage(false, None);
            }
        }),
        At::Looked if facts.intent.is_some() || facts.earlier_hold(me) || facts.hold != Some(me) => {
            step(done(1), &|_| {});
        }
        At::Looked => step(At::Waits(me), &|facts| {
            facts.intent = Some(Intent { closing: me, other_target: facts.other_target });
        }),
        // Ended or called off.
        _ if !accepted || facts.run(me).end.is_some() => step(done(75), &|_| {}),
        _ if facts.keeper == Keeper::Nobody => step(At::Waits(me), &|facts| facts.manage(false, None)),
        _ => {}
    }
}

fn kill(facts: &Facts, who: usize, at: At, step: &mut Step) {
    let done = |code: i32| At::Done(Code::Exit(code));
    let At::Waits(number) = at else {
        let current = facts.current();
        let run = facts.run(current);
        return match run.started && run.end.is_none() {
            false => step(done(1), &|_| {}),
            true => step(At::Waits(current), &|facts| {
                facts.run_mut(current).killed = true;
                facts.retire(current);
            }),
        };
    };
    let mine = facts.keeper == Keeper::Killer(who);
    let release = move |facts: &mut Facts| {
        if mine {
            facts.keeper = Keeper::Nobody;
        }
    };
    match facts.run(number).end {
        Some(End::Compacted) => step(At::Begin, &release),
        Some(_) => step(done(0), &release),
        None if facts.keeper == Keeper::Nobody => step(at, &|facts| facts.keeper = Keeper::Killer(who)),
        None if mine && !facts.run(number).dead => step(at, &|facts| facts.run_mut(number).dead = true),
        None if mine => step(at, &|facts| {
            facts.retire(number);
            facts.end(number, End::Killed);
        }),
        None => {}
    }
}

fn resume(facts: &Facts, who: usize, at: At, step: &mut Step) {
    let done = |code: i32| At::Done(Code::Exit(code));
    let current = facts.run(facts.current());
    let works = facts.intent.is_some() || (current.end.is_none() && !current.returned);
    match (at, facts.keeper) {
        (At::Begin, Keeper::Nobody) => step(At::Looked, &|_| {}),
        (At::Looked, Keeper::Nobody) => step(At::Waits(0), &|facts| facts.manage(true, Some(who))),
        // Somebody else was quicker.
        (At::Looked, _) => step(done(75), &|_| {}),
        // One that is about to leave is waited for.
        _ if works => step(done(1), &|_| {}),
        _ => {}
    }
}

/// Whose processes are being stopped by somebody who knows them by their mark alone.
fn stopping(facts: &Facts) -> Option<Number> {
    let current = facts.current();
    let run = facts.run(current);
    match facts.keeper {
        Keeper::Nobody => None,
        Keeper::Killer(_) => Some(current),
        Keeper::Manager { own, .. } if own == Some(current) => None,
        Keeper::Manager { .. } => {
            let closed = facts.intent.is_some_and(|intent| intent.closing == current);
            (closed || run.killed || run.returned || run.dead).then_some(current)
        }
    }
}

/// What a manager does next, if one is there.
fn manager(moment: &Moment) -> Vec<Moment> {
    let Keeper::Manager { resume, own, racer } = moment.facts.keeper else { return Vec::new() };
    let mut next = moment.clone();
    let facts = &mut next.facts;
    let current = facts.current();
    let keep = |resume: bool, own: Option<Number>| Keeper::Manager { resume, own, racer };
    if let Some(intent) = facts.intent {
        let closing = intent.closing;
        let attempt = facts.replaces(closing).next_back();
        match attempt {
            None if facts.run(closing).end.is_none() => end_context(facts, closing),
            Some(attempt) if facts.run(attempt).end.is_none() && !facts.run(attempt).started => {
                facts.run_mut(attempt).started = true;
                facts.keeper = keep(resume, Some(attempt));
            }
            Some(attempt) if facts.run(attempt).end != Some(End::SpawnFailed) => facts.intent = None,
            _ => {
                facts.create(Kind::Compact, Some(closing), closing, intent.other_target);
                facts.keeper = keep(false, own);
            }
        }
        return vec![next];
    }
    let run = facts.run(current).clone();
    if run.end.is_some() {
        if resume {
            begin_again(facts);
            facts.keeper = keep(false, own);
        } else {
            facts.keeper = Keeper::Nobody;
        }
    } else if !run.started {
        facts.run_mut(current).started = true;
        facts.keeper = keep(resume, Some(current));
    } else if run.killed || run.dead || run.returned {
        settle(facts, current);
    } else if resume {
        // What a resume asked for is there.
        facts.keeper = keep(false, own);
    } else {
        return Vec::new();
    }
    vec![next]
}

/// First every process dies, then the end is written; an order to kill that came first is obeyed.
fn end_context(facts: &mut Facts, closing: Number) {
    let run = facts.run_mut(closing);
    if !run.dead {
        run.dead = true;
    } else if run.killed {
        facts.retire(closing);
        facts.end(closing, End::Killed);
    } else {
        facts.end(closing, End::Compacted);
    }
}

fn settle(facts: &mut Facts, number: Number) {
    let run = facts.run_mut(number);
    if !run.dead {
        run.dead = true;
        return;
    }
    let end = match (run.killed, run.returned) {
        (true, _) => End::Killed,
        (_, true) => End::Returned,
        _ => End::Died,
    };
    facts.end(number, end);
}

/// What `resume` begins: from the handoff again, if its successor never became a context.
fn begin_again(facts: &mut Facts) {
    let stillborn = facts.hold.and_then(|hold| {
        let successor = facts.successor(hold)?;
        let nobody = facts.replaces(hold).all(|number| facts.run(number).end.is_some() && !facts.run(number).awake);
        nobody.then_some((hold, successor))
    });
    let (target, current) = (facts.other_target, facts.current());
    match stillborn {
        Some((closed, first)) => facts.create(Kind::Compact, Some(closed), first, target),
        None => facts.create(Kind::Resume, None, current, target),
    }
}
