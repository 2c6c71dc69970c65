//! Variables with values that cannot be used: a person is told, and nothing fails of it.

use crate::harness::{Cmd, World, outcome, wait_for};

const WARNINGS: [&str; 5] = [
    "ORBH_KILL_GRACE_MS is 'abc', not a number of milliseconds: 5000 is used",
    "ORBH_DISPATCH_DEPTH_CAP is '-1', not a number of launches: 5 is used",
    "ORBH_PAGER_SETTLE_MS is 'soon', not a number of milliseconds: 300 is used",
    "ORBH_PAGE_ARM_TTL_SECONDS is '2h', not a number of seconds: 7200 is used",
    "ORBH_WATCH is 'eyes', not inotify, dnotify or polling: the first that works is used",
];

fn unusable(cmd: Cmd) -> Cmd {
    let cmd = cmd.env("ORBH_PAGER_SETTLE_MS", "soon").env("ORBH_PAGE_ARM_TTL_SECONDS", "2h");
    cmd.env("ORBH_KILL_GRACE_MS", "abc").env("ORBH_DISPATCH_DEPTH_CAP", "-1").env("ORBH_WATCH", "eyes")
}

/// The warnings of that program, each once, in this order.
#[track_caller]
fn warned(program: &str, stderr: &str) {
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("ORBH_")).collect();
    let expected: Vec<String> = WARNINGS.iter().map(|warning| format!("{program}: {warning}")).collect();
    assert_eq!(lines, expected);
}

/// Each command that starts or manages something says it once, and does what it was told.
#[test]
fn a_person_is_told_of_values_that_cannot_be_used() {
    let world = World::new();
    world.idle_agent();
    let launched = unusable(world.orbh(["launch", "command/idle", "do nothing"])).run().exits(0);
    warned("orbh-launch", &launched.stderr);
    let session = crate::harness::Session::new(&world, launched.stdout.trim());
    session.kill_manager();
    warned("orbh-resume", &unusable(world.orbh(["resume", &session.id])).run().exits(0).stderr);
    session.kill_manager();
    let manager = unusable(world.orbh(["relaunch", &session.id])).spawn();
    wait_for("the manager", || session.managed().then_some(()));
    warned("orbh-kill", &unusable(world.orbh(["kill", &session.id])).run().exits(0).stderr);
    warned("orbh-relaunch", &outcome(manager).exits(0).stderr);
    assert!(!session.text("log/events.ndjson").unwrap().contains("eyes"));
}

/// An agent has not set them and cannot mend them; and who only looks is not told either.
#[test]
fn an_agent_and_a_reader_are_not_told() {
    let world = World::new();
    let session = world.idle_session();
    unusable(session.verb("0001", ["launch", "command/idle", "a child"])).run().ok();
    unusable(session.verb("0001", ["page"])).run().ok();
    unusable(world.orbh(["page", &session.id])).run().ok();
    unusable(world.orbh(["list"])).run().ok();
    // Empty is not set, and what can be used is no reason to speak.
    session.kill_manager();
    world.orbh(["resume", &session.id]).env("ORBH_WATCH", "").env("ORBH_DISPATCH_DEPTH_CAP", "7").run().ok();
}
