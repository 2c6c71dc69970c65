//! More than two at once, and what they say: that is not in the model.

use super::facts::{Facts, Kind};
use super::round::two_live;
use crate::harness::{Outcome, Session, World, outcome, wait_for};
use std::process::Child;

/// How many start together.
const MANY: usize = 6;

fn ends(verbs: impl IntoIterator<Item = Child>) -> Vec<Outcome> {
    verbs.into_iter().map(outcome).collect()
}

/// Waits until a run works under a manager and nothing is pending.
#[track_caller]
fn works(session: &Session, run: u8) -> Facts {
    wait_for("the session to work", || {
        let facts = Facts::of(session)?;
        let current = facts.run(facts.current());
        let up = current.started && !current.dead && current.end.is_none() && facts.intent.is_none();
        (facts.current() == run && up && session.managed()).then_some(facts)
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
    assert_eq!(works(&session, 2).run(2).kind, Kind::Compact);
    assert_eq!(two_live(&session), Vec::<String>::new());
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
        works(&session, run);
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
    assert_eq!(two_live(&session), Vec::<String>::new());
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
        works(&session, 1);
    }
    assert_eq!(session.pid("0001"), live);
    assert_eq!(two_live(&session), Vec::<String>::new());
}
