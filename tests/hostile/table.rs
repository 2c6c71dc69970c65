//! Wrong things in the place of every file that a verb reads or writes: each verb says so with a status of the table,
//! ends, writes nothing elsewhere, and when the thing is taken away the session is as it was.

use super::names::{Kind, paths};
use super::wrong::{BOUND, Planted, WRONG, Wrong, outside, read_all, sound, untouched, usable};
use crate::harness::{Session, World};

/// The verbs that change nothing for long where they succeed.
fn writers(session: &Session, nonce: &str) {
    for args in [
        &["compact", "start"][..],
        &["compact", "handoff", "--check"],
        &["compact", "finish"],
        &["session", "set", "title", "t"],
        &["session", "register", "t", "d"],
        &["compact", "abort"],
        &["page"],
    ] {
        sound(&format!("{args:?}"), &session.verb_as("0001", nonce, args).run_within(BOUND));
    }
    for args in [&["relaunch", &session.id, "--cancel"][..], &["resume", &session.id]] {
        sound(&format!("{args:?}"), &session.world.orbh(args).run_within(BOUND));
    }
}

fn try_all(places: impl Iterator<Item = &'static str>, kinds: &[Wrong]) {
    let world = World::fast();
    let session = world.idle_session();
    let neighbour = world.launch("command/idle", "be a neighbour");
    outside(&world);
    let nonce = session.nonce("0001");
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    for place in places {
        for wrong in kinds {
            let what = format!("{} at {place}", wrong.0);
            // One cannot be handed over without the draft that it stands for.
            session.write_good_handoff("0001");
            let planted = Planted::put(&session, place, *wrong);
            read_all(&session, &neighbour, &what);
            writers(&session, &nonce);
            untouched(&world, &what);
            planted.take_away();
            usable(&session, "0001", &what);
        }
    }
    session.compact("0001", "0002");
    neighbour.compact("0001", "0002");
}

/// The files, dealt out to several tests that run at the same time.
fn share(of: usize) -> impl Iterator<Item = &'static str> {
    paths(Kind::File).enumerate().filter(move |(index, _)| index % 3 == of).map(|(_, path)| path)
}

#[test]
fn no_wrong_thing_in_place_of_a_file_costs_a_session_1() {
    try_all(share(0), &WRONG);
}

#[test]
fn no_wrong_thing_in_place_of_a_file_costs_a_session_2() {
    try_all(share(1), &WRONG);
}

#[test]
fn no_wrong_thing_in_place_of_a_file_costs_a_session_3() {
    try_all(share(2), &WRONG);
}

/// The manager makes its lease again, and never is there another one beside it for long.
#[test]
fn no_wrong_thing_in_place_of_a_lease_costs_a_session() {
    try_all(paths(Kind::Lock), &WRONG);
}

#[test]
fn no_wrong_thing_in_place_of_a_directory_costs_a_session() {
    try_all(paths(Kind::Dir), &WRONG.map(|wrong| wrong)[..7]);
}
