//! Facts that may not be read: for who only looks they are like damaged ones.

use crate::harness::{Session, World, is_root};
use std::os::unix::fs::PermissionsExt;

/// Takes every permission from a path of the spool as long as `look` takes.
fn denied<T>(session: &Session, below: &str, look: impl FnOnce() -> T) -> T {
    let path = session.path(below);
    let mode = path.metadata().unwrap().permissions();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let seen = look();
    std::fs::set_permissions(&path, mode).unwrap();
    seen
}

/// Of a fact that may not be read, and of one in a directory that may not, every reader says which it is; the state is
/// unknown, and the rest is shown.
#[test]
fn a_fact_that_may_not_be_read_is_named_and_hides_nothing_else() {
    if is_root() {
        println!("skipped: the superuser can read everything");
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "set", "title", "shown all the same"]).run().ok();
    session.kill_manager();
    let id = session.id.as_str();
    for place in
        ["session.json", "runs/0001/run.json", "runs/0001/pid", "runs/0001", "runs", "scratch/manager.lock", "scratch"]
    {
        denied(&session, place, || {
            let path = session.path(place).display().to_string();
            let inspected = world.orbh(["inspect", id, "--json"]).run().exits(65).json();
            let damage = inspected["damage"].to_string();
            assert!(damage.contains(&path) && damage.contains("permission denied"), "{place}: {damage}");
            assert_eq!(
                (&inspected["state"], &inspected["title"]),
                (&"unknown".into(), &"shown all the same".into()),
                "{place}"
            );
            let page = world.orbh(["page", id]).run().ok();
            assert!(page.contains(&path) && page.contains("shown all the same"), "{place}: {page}");
            let listed = world.orbh(["list", "--json"]).run().exits(0).says(&path).json();
            assert_eq!(
                (&listed["state"], &listed["title"]),
                (&"unknown".into(), &"shown all the same".into()),
                "{place}"
            );
        });
    }
    // What does not decide is named as well, and leaves the state known.
    for place in ["keys", "keys/title", "target.json", "runs/0001/run.json"] {
        let inspected = denied(&session, place, || world.orbh(["inspect", id]).run().exits(65));
        assert!(inspected.stdout.contains(&session.path(place).display().to_string()), "{place}: {}", inspected.stdout);
    }
    denied(&session, "runs/0001/run.json", || world.orbh(["context", id]).run().fails(65, &["permission denied"]));
}

/// A run that looks at its own Page meets the same.
#[test]
fn ones_own_page_shows_the_rest_of_what_may_not_be_read() {
    if is_root() {
        println!("skipped: the superuser can read everything");
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    let nonce = session.nonce("0001");
    let own = denied(&session, "runs/0001/pid", || session.verb_as("0001", &nonce, ["page"]).run().exits(65));
    assert!(own.stdout.contains("permission denied") && own.stdout.contains("command/idle"), "{}", own.stdout);
    session.compact("0001", "0002");
}
