//! Verbs that are started together. Whatever their order turns out to be, the outcome is that of one after the other.

use crate::harness::{Cmd, Outcome, Session, World, alive, outcome, wait_for};

/// How often each race is run: in both orders of starting.
const ROUNDS: usize = 6;

/// What must hold whatever happened: at most one live context, a context that ended by compaction has its accepted
/// bytes on disk and exactly one successor, no gap and no double number, and nothing is stuck.
#[track_caller]
fn consistent(session: &Session) {
    wait_for("the session to be at rest", || at_rest(session).then_some(()));
    let runs = session.runs();
    let numbers: Vec<String> = (1..=runs.len()).map(|number| format!("{number:04}")).collect();
    assert_eq!(runs, numbers);
    let mut open = 0;
    for run in &runs {
        let end = session.fact(&format!("runs/{run}/end.json"));
        let live = alive(session.pid(run));
        assert!(!(live && end.is_some()), "run {run} has ended, and lives");
        open += usize::from(end.is_none());
        let replaces = |other: &&String| {
            let fact = session.fact(&format!("runs/{other}/run.json")).unwrap();
            fact["kind"] == "compact" && fact["closes"] == run.as_str()
        };
        let successors = runs.iter().filter(replaces).count();
        let compacted = end.is_some_and(|end| end["reason"] == "compacted");
        assert_eq!(successors, usize::from(compacted), "successors of run {run}");
        if compacted {
            let accepted = session.text(&format!("scratch/accepted-{run}.md")).unwrap();
            assert_eq!(accepted, session.good_handoff(&format!("run {run}")));
            assert_eq!(Some(accepted), session.text(&format!("scratch/handoff-{run}.md")));
        }
    }
    assert!(open <= 1);
}

/// Nothing is under way: no intent, and the newest run either works under a manager or has its end.
fn at_rest(session: &Session) -> bool {
    let newest = session.runs().pop().unwrap();
    let over = session.exists(&format!("runs/{newest}/end.json"));
    let works = session.exists(&format!("runs/{newest}/pid")) && session.managed();
    !session.exists("scratch/relaunch.json") && (over || works)
}

/// Starts a good handoff of run 0001 together with something else, in rounds; `judge` is given both outcomes.
fn race(other: impl Fn(&Session) -> Cmd, judge: impl Fn(&Session, Outcome, Outcome)) {
    for round in 0..ROUNDS {
        let world = World::new();
        let session = world.idle_session();
        session.verb("0001", ["compact", "start"]).run().ok();
        session.write_good_handoff("0001");
        let handoff = session.verb("0001", ["compact", "handoff"]);
        let (handoff, other) = if round % 2 == 0 {
            let other = other(&session).spawn();
            (handoff.spawn(), other)
        } else {
            let handoff = handoff.spawn();
            (handoff, other(&session).spawn())
        };
        let (handoff, other) = (outcome(handoff), outcome(other));
        consistent(&session);
        judge(&session, handoff, other);
    }
}

/// Exactly one of the two was done: `done` is the exit status by which the other one tells that it was it.
#[track_caller]
fn one_of(session: &Session, handoff: Outcome, other: &Outcome) -> bool {
    match (handoff.code, other.code) {
        (Some(75), Some(1)) => {
            assert_eq!(session.wait_end("0001"), "compacted");
            true
        }
        (Some(1), Some(0)) => {
            handoff.not_ended();
            assert_eq!(session.runs(), ["0001"]);
            false
        }
        other => panic!("not one of the two: {other:?}"),
    }
}

/// R21: of two handoffs exactly one is accepted.
#[test]
fn two_handoffs_together() {
    race(
        |session| session.verb("0001", ["compact", "handoff"]),
        |session, one, other| {
            let accepted = [&one, &other].iter().filter(|one| one.stdout.contains("accepted: this")).count();
            assert_eq!(accepted, 1, "{one:?} {other:?}");
            assert_eq!(session.runs(), ["0001", "0002"]);
        },
    );
}

/// R21: of many handoffs, started together, exactly one is accepted.
#[test]
fn many_handoffs_together() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    let verbs: Vec<_> = (0..8).map(|_| session.verb("0001", ["compact", "handoff"]).spawn()).collect();
    // The others are told that it is accepted already, or come when the run is over.
    let said: Vec<_> = verbs.into_iter().map(|verb| outcome(verb).stdout).collect();
    assert_eq!(said.iter().filter(|said| said.contains("accepted: this")).count(), 1, "{said:?}");
    consistent(&session);
    assert_eq!(session.runs(), ["0001", "0002"]);
}

/// R26: a handoff and an abort: one of them is done.
#[test]
fn handoff_and_abort_together() {
    race(
        |session| session.verb("0001", ["compact", "abort"]),
        |session, handoff, abort| {
            let handed_off = one_of(session, handoff, &abort);
            assert_eq!(session.exists("scratch/compacting.json"), handed_off);
        },
    );
}

/// R27: a handoff and a return: one of them is done.
#[test]
fn handoff_and_return_together() {
    race(
        |session| session.verb("0001", ["session", "return", "done"]),
        |session, handoff, returned| {
            let handed_off = one_of(session, handoff, &returned);
            assert_eq!(session.exists("returns/0001.json"), !handed_off);
            assert_eq!(session.exists("scratch/compacting.json"), handed_off);
        },
    );
}

/// R11: a start that comes together with the handoff changes nothing about it.
#[test]
fn handoff_and_start_together() {
    race(
        |session| session.verb("0001", ["compact", "start"]),
        |session, handoff, start| {
            handoff.exits(75);
            assert!(matches!(start.code, Some(0 | 1)), "{start:?}");
            assert_eq!(session.runs(), ["0001", "0002"]);
        },
    );
}

/// R24: a finish that comes too early is refused, whenever it comes.
#[test]
fn handoff_and_finish_together() {
    race(
        |session| session.verb("0001", ["compact", "finish"]),
        |session, handoff, finish| {
            handoff.exits(75);
            finish.exits(1);
            assert!(session.exists("scratch/compacting.json"));
        },
    );
}

/// A kill that is obeyed leaves nothing alive, whichever context it found; between the two it is refused.
#[test]
fn handoff_and_kill_together() {
    race(
        |session| session.world.orbh(["kill", &session.id]),
        |session, handoff, kill| {
            assert!(matches!(handoff.code, Some(1 | 75)), "{handoff:?}");
            match kill.code {
                Some(0) => {
                    assert_eq!(session.state(), "killed");
                    let newest = session.runs().pop().unwrap();
                    assert_eq!(session.wait_end(&newest), "killed");
                }
                Some(1) => {
                    handoff.exits(75);
                    assert_eq!(session.runs(), ["0001", "0002"]);
                    assert_eq!(session.state(), "working");
                }
                other => panic!("kill exits {other:?}: {kill:?}"),
            }
        },
    );
}

/// R19: a straggler of an old context disturbs no handoff of the new one.
#[test]
fn handoff_and_a_straggler_together() {
    for verb in
        [&["compact", "handoff"][..], &["compact", "abort"], &["session", "return", "late"], &["compact", "finish"]]
    {
        let world = World::new();
        let session = world.idle_session();
        session.compact("0001", "0002");
        session.verb("0002", ["compact", "finish"]).run().ok();
        session.verb("0002", ["compact", "start"]).run().ok();
        session.write_good_handoff("0002");
        let straggler = session.verb("0001", verb).spawn();
        let handoff = session.verb("0002", ["compact", "handoff"]).spawn();
        let more = session.verb("0001", verb).spawn();
        for straggler in [straggler, more] {
            outcome(straggler).exits(1).says("is over");
        }
        outcome(handoff).exits(75);
        consistent(&session);
        assert_eq!(session.runs(), ["0001", "0002", "0003"]);
    }
}

/// Two kills at once: the run is killed, once.
#[test]
fn two_kills_together() {
    for _ in 0..ROUNDS {
        let world = World::new();
        let session = world.idle_session();
        let kills = [(); 2].map(|()| world.orbh(["kill", &session.id]).spawn());
        let codes = kills.map(|kill| outcome(kill).code);
        assert!(codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 1))), "{codes:?}");
        consistent(&session);
        assert_eq!(session.state(), "killed");
    }
}

/// Two recoveries at once: one manager takes the session, and the run goes on.
#[test]
fn two_recoveries_together() {
    for _ in 0..ROUNDS {
        let world = World::new();
        let session = world.idle_session();
        let live = session.pid("0001");
        session.kill_manager();
        let resumes = [(); 2].map(|()| world.orbh(["resume", &session.id]).spawn());
        let codes = resumes.map(|resume| outcome(resume).code);
        assert!(codes.contains(&Some(0)), "{codes:?}");
        consistent(&session);
        assert!(alive(live) && session.managed());
        assert_eq!(session.runs(), ["0001"]);
    }
}
