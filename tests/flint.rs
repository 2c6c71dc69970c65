//! `flint orbh …`, the spelling of older documentation.

use crate::harness::World;

/// A program of this package in a world.
fn flint(world: &World, args: &[&str]) -> crate::harness::Outcome {
    let mut command = world.program(env!("CARGO_BIN_EXE_flint")).bare();
    command.args(args).output().unwrap().into()
}

#[test]
fn flint_orbh_is_orbh() {
    let world = World::new();
    let session = world.idle_session();
    let by_orbh = world.orbh(["compact", "status", &session.id]).run();
    let by_flint = flint(&world, &["orbh", "compact", "status", &session.id]);
    assert_eq!((by_flint.code, by_flint.stdout), (by_orbh.code, by_orbh.stdout));
    flint(&world, &["orbh", "no-such-verb"]).exits(127).says("there is no verb 'no-such-verb'");
}

#[test]
fn flint_refuses_what_is_not_orbh() {
    let world = World::new();
    flint(&world, &[]).exits(2).says("usage: flint orbh VERB");
    flint(&world, &["git"]).exits(2).says("'git' is not 'orbh'");
    assert!(flint(&world, &["--help"]).ok().contains("flint orbh VERB"));
}
