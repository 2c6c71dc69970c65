//! A pager that is killed at any moment loses nothing.

use super::subjects;
use crate::harness::{World, can_trace};

/// Killed at each system call that changes something, and at many that do not: what was announced was printed, whole;
/// what was not announced is told by the next one.
#[test]
fn a_pager_that_is_killed_at_any_moment_loses_nothing() {
    if !can_trace() {
        return;
    }
    let world = World::fast();
    let session = world.quick_session(1);
    let mut points = 0;
    let mut announced = 0;
    for call in ["write", "flock", "linkat", "unlinkat", "ftruncate", "fcntl", "poll"] {
        for when in 1.. {
            let name = format!("{points}.m.x");
            session.deliver(&name, &name);
            let inject = format!("inject={call}:signal=KILL:when={when}");
            let arm = session.arm_cmd("0001");
            let mut strace = world.program("strace").args(["-f", "-o", "/dev/null", "-e", &inject]);
            strace = strace.args([arm.as_command().get_program()]).args(arm.as_command().get_args());
            let variables: Vec<_> = arm.as_command().get_envs().collect();
            for (variable, value) in variables {
                strace = strace.env(variable.to_str().unwrap(), value.unwrap());
            }
            let out = strace.run();
            if out.code == Some(0) {
                break;
            }
            points += 1;
            let told = session.pager()["pending"][0]["announced"] == true;
            if told {
                announced += 1;
                assert!(out.stdout.ends_with("OPEN OBLIGATIONS\n- none\n"), "{call} {when}: {}", out.stdout);
                assert_eq!(subjects(&out.stdout), [name]);
            } else {
                assert_eq!(subjects(&session.arm_cmd("0001").run().ok()), [name], "{call} {when}");
            }
            session.verb("0001", ["page"]).run().ok();
        }
        session.verb("0001", ["page"]).run().ok();
    }
    assert!(points > 10, "{points}");
    println!("{points} points, {announced} of them after the announcement");
}
