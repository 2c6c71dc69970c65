//! More than two at once, and what they say: that is not in the model.

use super::facts::{Facts, Kind};
use super::stage::Stage;
use crate::harness::{Outcome, Session, World, outcome, wait_for};
use std::process::Child;

/// How many start together.
const MANY: usize = 6;

fn ends(verbs: impl IntoIterator<Item = Child>) -> Vec<Outcome> {
    verbs.into_iter().map(outcome).collect()
}

/// Waits until a run works under a manager and nothing is pending.
#[track_caller]
fn works(session: &Session) -> Facts {
    wait_for("the session to work", || {
        let facts = Facts::of(session)?;
        let current = facts.run(facts.current());
        let up = current.started && !current.dead && current.end.is_none() && facts.intent.is_none();
        (up && session.managed()).then_some(facts)
    })
}

/// R21: of many handoffs exactly one is accepted; the others are told that it was, or come when the run is over.
#[test]
fn of_many_handoffs_one_is_accepted() {
    let world = World::fast();
    world.watched_agent("idle");
    let session = world.launch("command/idle", "do nothing");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    let verbs: Vec<Child> = (0..MANY).map(|_| session.verb("0001", ["compact", "handoff"]).spawn()).collect();
    let accepted = ends(verbs).into_iter().filter(|end| end.stdout.contains("accepted: this")).count();
    assert_eq!(accepted, 1);
    let facts = works(&session);
    assert_eq!((facts.current(), facts.run(2).kind), (2, Kind::Compact));
    assert_eq!(world.one_at_a_time(), Ok(()));
}

/// Of many resumes one begins the new run, with its words; the others exit 1 or 75, and do not say that theirs were heard.
#[test]
fn of_many_resumes_one_begins_the_run() {
    let world = World::fast();
    world.watched_agent("idle");
    let session = world.launch("command/idle", "do nothing");
    for run in 2..5 {
        world.orbh(["kill", &session.id]).run().ok();
        let resume = |who: usize| world.orbh(["resume", &session.id, &format!("words of {who}")]).spawn();
        let resumes = ends((0..MANY).map(resume).collect::<Vec<_>>());
        let done: Vec<usize> = (0..MANY).filter(|who| resumes[*who].code == Some(0)).collect();
        assert_eq!(done.len(), 1, "{resumes:#?}");
        assert_eq!(works(&session).current(), run);
        let prompt = session.text(&format!("runs/{run:04}/prompt.md")).unwrap();
        assert!(prompt.contains(&format!("words of {}", done[0])), "{prompt}");
        for other in resumes.into_iter().filter(|end| end.code != Some(0)) {
            assert!(matches!(other.code, Some(1 | 75)), "{other:?}");
            assert_eq!(other.stdout, "");
            if other.code == Some(75) {
                other.says("meanwhile").says("was not told what you added");
            }
        }
    }
    assert_eq!(world.one_at_a_time(), Ok(()));
}

/// Of many recoveries of a live run one puts the manager in place, and the run goes on.
#[test]
fn of_many_recoveries_one_adopts_the_run() {
    let world = World::fast();
    world.watched_agent("idle");
    let session = world.launch("command/idle", "do nothing");
    let live = session.pid("0001");
    for _ in 0..3 {
        session.kill_manager();
        let resumes = ends((0..MANY).map(|_| world.orbh(["resume", &session.id]).spawn()).collect::<Vec<_>>());
        let done: Vec<&Outcome> = resumes.iter().filter(|end| end.code == Some(0)).collect();
        assert_eq!(done.len(), 1, "{resumes:#?}");
        assert!(done[0].stdout.contains("was alive"), "{resumes:#?}");
        assert_eq!(works(&session).current(), 1);
    }
    assert_eq!(session.pid("0001"), live);
    assert_eq!(world.one_at_a_time(), Ok(()));
}

/// R23: of many redirections of one relaunch each is done or refused, and one keeps the session.
#[test]
fn of_many_redirections_each_is_done_or_refused() {
    for _ in 0..4 {
        let world = World::fast();
        let session = Stage::Accepted.set(&world);
        let into = || world.orbh(["relaunch", &session.id, "--into", "command/other"]).spawn();
        let mut verbs: Vec<Child> = (0..MANY).map(|_| into()).collect();
        // The one that does not end keeps the session.
        wait_for("all others to end", || {
            let left = verbs.iter_mut().filter_map(|verb| verb.try_wait().unwrap().is_none().then_some(verb.id()));
            let left: Vec<u32> = left.collect();
            (left.len() == 1 && left[0] == session.manager_pid().cast_unsigned()).then_some(())
        });
        // An attempt that had no process yet was kept from starting: then it is not the second run.
        let facts = works(&session);
        assert!(facts.run(facts.current()).other_target, "{facts:?}");
        assert_eq!(world.one_at_a_time(), Ok(()));
        world.end();
        let said: Vec<Outcome> = ends(verbs);
        for end in said.iter().filter(|end| end.code.is_some()) {
            let done = end.code == Some(0) && end.stdout.contains("will be relaunched on command/other");
            assert!(done || end.code == Some(1), "{said:#?}");
        }
        assert_eq!(said.iter().filter(|end| end.code.is_none()).count(), 1);
    }
}
