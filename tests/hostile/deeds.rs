//! The same wrong things under the verbs that end or begin a run. What is refused has changed nothing; what is not goes
//! on when the thing is taken away, at the latest by one recovery verb. There is never a second context.

use super::names::{Kind, paths};
use super::wrong::{BOUND, Planted, WRONG, Wrong, outside, sound, untouched, usable};
use crate::harness::{NOT_ENDED, Outcome, Session, World, alive, outcome, signal, wait_for};
use nix::sys::signal::Signal;

/// Two kinds for each place: what can neither be read nor replaced, and in turn what leads elsewhere, what cannot be
/// opened, what says nothing, and what is not understood.
fn kinds(index: usize) -> impl Iterator<Item = Wrong> {
    let turns = ["a symlink to a file outside", "a FIFO", "an empty file", "a later version"];
    let turn = turns[index % turns.len()];
    WRONG.into_iter().filter(move |(name, _)| *name == "a directory" || *name == turn)
}

/// The places of the current run.
fn places(run: &str) -> Vec<String> {
    paths(Kind::File).map(|path| path.replace("0001", run)).collect()
}

/// The places of a run that is not there yet, as a hostile one could prepare them.
fn places_of_the_next(next: &str) -> Vec<String> {
    let mut places: Vec<String> = places(next).into_iter().filter(|path| path.contains(next)).collect();
    places.push(format!("runs/{next}"));
    places
}

fn number(run: u32) -> String {
    format!("{run:04}")
}

fn current(session: &Session) -> String {
    session.inspect()["run"]["run"].as_str().unwrap().to_owned()
}

/// Waits for a run after this one to be up, and helps it up once its manager has left.
#[track_caller]
fn successor_of(session: &Session, run: &str, what: &str) -> String {
    wait_for(&format!("{what}: a successor"), || {
        let inspected = session.inspect();
        let newest = inspected["run"]["run"].as_str()?.to_owned();
        let up = inspected["state"] == "working" && !inspected["run"]["pid"].is_null();
        if newest.as_str() > run && up && !session.exists("scratch/relaunch.json") {
            return Some(newest);
        }
        if !session.managed() {
            sound(&format!("{what}: resume"), &session.world.orbh(["resume", &session.id]).run_within(BOUND));
        }
        None
    })
}

/// Ends with the verb, or as soon as whoever carries it out waits for somebody to mend something.
fn end_or_stuck(session: &Session, mut verb: std::process::Child, planted: Planted) -> Outcome {
    let waits = || session.text("log/events.ndjson").unwrap_or_default().matches("manager-waits").count();
    let before = waits();
    wait_for("the verb to end or to wait", || {
        let ended = verb.try_wait().unwrap().is_some();
        (ended || !session.managed() || waits() > before).then_some(())
    });
    planted.take_away();
    outcome(verb)
}

fn hand_off_among_wrong_things(share: usize, of: usize) {
    let world = World::fast();
    let session = world.idle_session();
    outside(&world);
    let mut run = 1;
    let mut carried_out = 0;
    let own = places("0001").len();
    for index in (share..own + places_of_the_next("0002").len()).step_by(of) {
        for wrong in kinds(index) {
            let (me, next) = (number(run), number(run + 1));
            let place = match index.checked_sub(own) {
                None => places(&me)[index].clone(),
                Some(index) => places_of_the_next(&next)[index].clone(),
            };
            let what = format!("{} at {place}", wrong.0);
            // An empty directory without run.json is what a creation that was cut short leaves, and is taken over.
            if place == format!("runs/{next}") && wrong.0 == "a directory" {
                continue;
            }
            session.verb(&me, ["compact", "start"]).run().exits(0);
            session.write_good_handoff(&me);
            let nonce = session.nonce(&me);
            if place.starts_with(&format!("runs/{next}/")) && !session.exists(&format!("runs/{next}")) {
                std::fs::create_dir(session.path(&format!("runs/{next}"))).unwrap();
            }
            let planted = Planted::put(&session, &place, wrong);
            let verb = session.verb_as(&me, &nonce, ["compact", "handoff"]).spawn();
            let out = end_or_stuck(&session, verb, planted);
            untouched(&world, &what);
            if out.code == Some(75) && out.stdout.contains("accepted") || out.code.is_none() {
                let successor = successor_of(&session, &me, &what);
                session.verb(&successor, ["compact", "finish"]).run().exits(0);
                assert_eq!(session.wait_end(&me), "compacted", "{what}");
                run = successor.parse().unwrap();
                carried_out += 1;
            } else {
                sound(&format!("{what}: \"handoff\""), &out);
                assert_eq!(out.stderr.lines().last(), Some(NOT_ENDED), "{what}");
                assert!(!session.exists("scratch/relaunch.json"), "{what}");
                usable(&session, &me, &what);
            }
        }
    }
    assert!(carried_out > 10, "only {carried_out} were carried out");
}

#[test]
fn a_handoff_among_wrong_things_is_refused_or_carried_out_1() {
    hand_off_among_wrong_things(0, 3);
}

#[test]
fn a_handoff_among_wrong_things_is_refused_or_carried_out_2() {
    hand_off_among_wrong_things(1, 3);
}

#[test]
fn a_handoff_among_wrong_things_is_refused_or_carried_out_3() {
    hand_off_among_wrong_things(2, 3);
}

#[test]
fn a_kill_and_a_resume_among_wrong_things_do_what_they_say_1() {
    kill_and_resume_among_wrong_things(0, 2);
}

#[test]
fn a_kill_and_a_resume_among_wrong_things_do_what_they_say_2() {
    kill_and_resume_among_wrong_things(1, 2);
}

fn kill_and_resume_among_wrong_things(share: usize, of: usize) {
    let world = World::fast();
    let session = world.idle_session();
    outside(&world);
    let mut run = "0001".to_owned();
    for index in (share..places(&run).len()).step_by(of) {
        for wrong in kinds(index) {
            let place = &places(&run)[index];
            let what = format!("{} at {place}", wrong.0);
            let process = session.pid(&run);
            let planted = Planted::put(&session, place, wrong);
            let out = world.orbh(["kill", &session.id]).run_within(BOUND);
            planted.take_away();
            sound(&format!("{what}: kill"), &out);
            untouched(&world, &what);
            if out.code != Some(0) {
                usable(&session, &run, &what);
                let again = world.orbh(["kill", &session.id]).run_within(BOUND);
                assert_eq!(again.code, Some(0), "{what}: {out:?}, then {again:?}");
            }
            assert!(!alive(process), "{what}");
            wait_for("the manager to leave", || (!session.managed()).then_some(()));
            let planted = Planted::put(&session, place, wrong);
            let out = world.orbh(["resume", &session.id]).run_within(BOUND);
            planted.take_away();
            sound(&format!("{what}: resume"), &out);
            untouched(&world, &what);
            run = successor_of(&session, &run, &what);
            assert_eq!(current(&session), run);
        }
    }
}

#[test]
fn a_return_among_wrong_things_is_refused_or_kept_1() {
    give_back_among_wrong_things(0, 2);
}

#[test]
fn a_return_among_wrong_things_is_refused_or_kept_2() {
    give_back_among_wrong_things(1, 2);
}

fn give_back_among_wrong_things(share: usize, of: usize) {
    let world = World::fast();
    let session = world.idle_session();
    outside(&world);
    let mut run = "0001".to_owned();
    for index in (share..places(&run).len()).step_by(of) {
        for wrong in kinds(index) {
            let place = &places(&run)[index];
            let what = format!("{} at {place}", wrong.0);
            let (nonce, process) = (session.nonce(&run), session.pid(&run));
            let planted = Planted::put(&session, place, wrong);
            let out = session.verb_as(&run, &nonce, ["session", "return", "kept"]).run_within(BOUND);
            planted.take_away();
            sound(&format!("{what}: return"), &out);
            untouched(&world, &what);
            if out.code != Some(0) {
                usable(&session, &run, &what);
                continue;
            }
            assert_eq!(world.orbh(["result", &session.id]).run().ok(), "kept\n", "{what}");
            signal(process, Signal::SIGTERM);
            assert_eq!(session.wait_end(&run), "returned", "{what}");
            wait_for("the manager to leave", || (!session.managed()).then_some(()));
            world.orbh(["resume", &session.id]).run().ok();
            run = successor_of(&session, &run, &what);
        }
    }
}
