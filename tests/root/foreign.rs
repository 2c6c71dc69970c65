//! The superuser in somebody else's root: may look at everything, and is told who may change it.

use crate::harness::{Session, World, is_root};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

/// Nobody, who owns nothing else.
const OWNER: u32 = 65534;

/// The superuser reads a root of another user, and every verb that writes names the owner and changes nothing.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_may_look_at_a_root_of_another_user_and_is_told_whose_it_is() {
    if !is_root() {
        println!("skipped: not the superuser");
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    session.pid("0001");
    session.verb("0001", ["session", "register", "Title", "Description"]).run().exits(0);
    let id = session.id.as_str();
    let owner = nix::unistd::User::from_uid(OWNER.into()).unwrap().map_or(format!("#{OWNER}"), |user| user.name);
    give_away(&world.root());
    let before = facts(&session);

    let readers: [&[&str]; 8] = [
        &["list"],
        &["inspect", id],
        &["context", id],
        &["log", id],
        &["compact", "status", id],
        &["page", id, "--no-mutate"],
        &["session", "get", "title", "--session", id],
        &["list", "--all", "--json"],
    ];
    for verb in readers {
        let answer = world.orbh(verb).run().ok();
        assert!(!answer.is_empty(), "{verb:?}");
    }

    let outside: [&[&str]; 6] = [
        &["launch", "command/idle", "do nothing"],
        &["kill", id],
        &["resume", id],
        &["relaunch", id],
        &["relaunch", id, "--cancel"],
        &["session", "set", "key", "value", "--session", id],
    ];
    for verb in outside {
        world.orbh(verb).run().exits(1).says(&format!("sudo -u '{owner}'"));
    }
    let inside: [&[&str]; 6] = [
        &["compact", "start"],
        &["compact", "handoff"],
        &["compact", "abort"],
        &["compact", "finish"],
        &["session", "register", "Other", "Other"],
        &["session", "return", "done"],
    ];
    for verb in inside {
        session.verb("0001", verb).run().exits(1).says(&format!("sudo -u '{owner}'"));
    }
    assert_eq!(facts(&session), before);
    // The manager was started as the superuser: to end it is ours.
    give_back(&world.root());
}

fn give_away(root: &Path) {
    for path in all_below(root) {
        std::os::unix::fs::lchown(&path, Some(OWNER), Some(OWNER)).unwrap();
    }
}

fn give_back(root: &Path) {
    chown(root, Some(0), Some(0)).unwrap();
}

fn all_below(dir: &Path) -> Vec<PathBuf> {
    walkdir::WalkDir::new(dir).into_iter().map(|entry| entry.unwrap().into_path()).collect()
}

/// Every file of the root with its owner, its size and when it changed.
fn facts(session: &Session) -> Vec<(PathBuf, u32, u64, i64, i64)> {
    let mut all: Vec<_> = all_below(&session.world.root())
        .into_iter()
        .map(|path| {
            let stat = path.symlink_metadata().unwrap();
            (path, stat.uid(), stat.size(), stat.mtime(), stat.mtime_nsec())
        })
        .collect();
    all.sort();
    all
}
