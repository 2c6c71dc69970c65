//! Every process of the succession, met by death and by errors at each of its state-changing system calls.
//!
//! A scene is a process in a state of its session. One run of it under strace(1) lists the points; then each point is met
//! in a session of its own: the process is killed before the call, or when it is done, or the call fails. One recovery
//! verb is given, and the session is judged against orbh-spool(5), SUCCESSION. A point that is listed and not reached
//! fails the test as a violation does.
//!
//! For the night, every system call of every scene, whatever it does:
//!
//!     cargo test --locked -- --ignored --nocapture night_
//!
//! ORBH_NIGHT_SCENE: only the scenes whose name has this.

pub mod judge;
pub mod mail;
pub mod scene;
pub mod sweep;
pub mod trace;

use crate::harness::can_trace;
use mail::MAIL;
use scene::{MANAGERS, RECOVERY, Scene, VERBS};
use std::sync::OnceLock;
use sweep::{Tally, record, sweep};
use trace::{Calls, Fate, Point};

/// The point at which a manager that carries out a relaunch spawns the shim.
fn spawn_of_the_shim() -> &'static Point {
    static POINT: OnceLock<Point> = OnceLock::new();
    POINT.get_or_init(|| spawn(&MANAGERS[0]))
}

/// The point at which `launch` spawns the manager.
fn spawn_of_the_manager() -> &'static Point {
    static POINT: OnceLock<Point> = OnceLock::new();
    POINT.get_or_init(|| spawn(&RECOVERY[0]))
}

/// The point at which a process spawns another one: std waits until that has executed, as vfork(2) does.
fn spawn(scene: &Scene) -> Point {
    let (points, _) = record(scene, Calls::Changing);
    let spawns = |point: &&Point| point.text.contains("CLONE_VFORK") || point.name == "vfork";
    points.iter().find(spawns).unwrap_or_else(|| panic!("{} spawns nothing: {points:?}", scene.name)).clone()
}

fn death(scene: &Scene) {
    sweep(scene, Calls::Changing, |_, _| vec![Fate::DeathBefore, Fate::DeathAfter]).holds(scene.name);
}

/// What may fail, and how.
const ERRORS: [&str; 6] = ["ENOSPC", "EDQUOT", "EIO", "EACCES", "EINTR", "EMFILE"];

/// A verb meets all of them at each point. A manager, which waits before it tries again, meets two, by turns; all of
/// them in the night.
fn errors(scene: &Scene) {
    let some = |at: usize, _: &Point| match scene.verb {
        true => ERRORS.map(Fate::Error).to_vec(),
        false => [at, at + 2 + at % 3].map(|at| Fate::Error(ERRORS[at % ERRORS.len()])).to_vec(),
    };
    let mut tally = sweep(scene, Calls::Changing, some);
    tally.add(sweep(scene, Calls::Opening, some));
    tally.holds(scene.name);
}

/// A test of each scene, by what is done to it.
macro_rules! each_scene {
    ($meet:path; $($name:ident: $scene:expr;)*) => {$(
        #[test]
        fn $name() {
            if can_trace() {
                $meet(&$scene);
            }
        }
    )*};
    ($meet:path) => { each_scene! { $meet;
        start: VERBS[0];
        handoff: VERBS[1];
        handoff_without_a_manager: VERBS[2];
        abort: VERBS[3];
        finish: VERBS[4];
        session_return: VERBS[5];
        launch: RECOVERY[0];
        resume_of_a_live_run: RECOVERY[1];
        resume: RECOVERY[2];
        resume_into: RECOVERY[3];
        cancel: RECOVERY[4];
        cancel_of_a_created_successor: RECOVERY[5];
        kill: RECOVERY[6];
        kill_without_a_manager: RECOVERY[7];
        kill_of_an_accepted_handoff: RECOVERY[8];
        manager_in_a_succession: MANAGERS[0];
        manager_of_relaunch_into: MANAGERS[1];
        manager_of_the_first_run: MANAGERS[2];
        manager_in_the_background: MANAGERS[3];
        manager_told_to_kill: MANAGERS[4];
        manager_of_a_return: MANAGERS[5];
        manager_of_a_death: MANAGERS[6];
        shim: MANAGERS[7];
        message_send: MAIL[0];
        page: MAIL[1];
        page_during_a_hold: MAIL[2];
        page_arm: MAIL[3];
        session_ask: MAIL[4];
        respond: MAIL[5];
        message_request: MAIL[6];
        manager_that_delivers: MAIL[7];
    } };
}

/// Killed before and after each state-changing call.
mod killed {
    use super::*;

    each_scene!(death);
}

/// Each state-changing call, and each that opens a file of the spool, fails.
mod failed {
    use super::*;

    each_scene!(errors);
}

fn all() -> impl Iterator<Item = &'static Scene> {
    VERBS.iter().chain(&RECOVERY).chain(&MANAGERS).chain(&MAIL)
}

/// Every system call of every scene meets these fates. What a process reads may come in another number each time: here
/// only violations fail.
fn night(name: &str, fates: impl Fn(usize, &Point) -> Vec<Fate> + Copy) {
    let mut total = Tally::default();
    let only = std::env::var("ORBH_NIGHT_SCENE").unwrap_or_default();
    for scene in all().filter(|scene| scene.name.contains(&only)) {
        let tally = sweep(scene, Calls::All, fates);
        tally.tell(scene.name);
        total.add(tally);
    }
    total.tell(name);
    assert_eq!(total.violations, Vec::<String>::new());
}

/// Killed before every system call there is.
#[test]
#[ignore = "for the night: an hour"]
fn night_deaths() {
    night("death before every system call", |_, _| vec![Fate::DeathBefore]);
}

/// Every system call there is fails, in each of the ways.
#[test]
#[ignore = "for the night: hours"]
fn night_errors() {
    night("every system call fails", |_, _| ERRORS.map(Fate::Error).to_vec());
}
