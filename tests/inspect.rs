//! `orbh inspect`: everything about a session; and what becomes of one that is removed.

use crate::harness::{Outcome, Session, World, alive, wait_for};
use std::io::{BufRead, BufReader, Read};

#[test]
fn a_session_is_shown_with_its_runs_keys_and_files() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "register", "Title", "Words"]).run().ok();
    let out = world.orbh(["inspect", &session.id, "--json"]).run().exits(0);
    assert!(out.stdout.starts_with(r#"{"v":1,"session":"#), "{}", out.stdout);
    let json = out.json();
    for (key, value) in [
        ("state", "working"),
        ("title", "Title"),
        ("description", "Words"),
        ("mode", "headless"),
        ("class", "full"),
        ("target", "command/idle"),
    ] {
        assert_eq!(json[key], value);
    }
    for key in [
        "hint",
        "compacting",
        "compaction",
        "run",
        "runs",
        "context",
        "manager",
        "parent",
        "continues",
        "created_at",
        "cwd",
        "spool",
        "damage",
        "history",
        "keys",
        "children",
        "files",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["compaction"]["phase"], "idle");
    assert_eq!(json["history"][0]["run"], "0001");
    for what in ["duty", "log", "prompt", "output"] {
        assert!(std::path::Path::new(json["files"][what].as_str().unwrap()).is_file(), "{what}");
    }
    let text = session.verb("0001", ["inspect"]).run().ok();
    for part in ["state        working", "manager      pid ", "key title", "RUN   KIND"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// Damage is shown with all that can be read, and by the exit status.
#[test]
fn an_older_damaged_run_is_shown_and_stops_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    std::fs::write(session.path("runs/0001/run.json"), "{\"v\": 1,\n\"target\": oops}").unwrap();
    let damage = "runs/0001/run.json': damaged at byte 19: expected value";
    assert!(world.orbh(["inspect", &session.id]).run().exits(65).stdout.contains(damage));
    let json = world.orbh(["inspect", &session.id, "--json"]).run().exits(65).json();
    assert!(json["damage"][0].as_str().unwrap().contains(damage), "{json}");
    assert_eq!(json["state"], "working");
    assert!(world.orbh(["list"]).run().exits(0).says(damage).stdout.contains("working"));
    session.verb("0002", ["page"]).run().exits(0);
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.compact("0002", "0003");
    session.verb("0003", ["compact", "finish"]).run().ok();
    session.verb("0003", ["session", "return", "done"]).run().ok();
    assert_eq!(session.wait_end("0003"), "returned");
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "done\n");
}

/// `rm -r` of a spool is a way to forget a session: its run is stopped, its manager leaves, nothing comes back.
#[test]
fn a_session_whose_spool_is_removed_is_forgotten() {
    let world = World::new();
    for _ in 0..5 {
        let session = world.idle_session();
        let (harness, manager) = (session.pid("0001"), session.manager_pid());
        let child = session.verb("0001", ["launch", "command/idle", "go"]).run().ok();
        let child = Session::new(&world, child.trim());
        let spared = [child.pid("0001"), child.manager_pid()];
        let following = world.orbh(["log", "-f", &session.id]).spawn();
        let rm = world.program("rm").bare_args(["-r", session.path("").to_str().unwrap()]).run();
        assert_eq!((rm.code, rm.stderr.as_str()), (Some(0), ""));
        wait_for("the manager to leave", || (!alive(manager)).then_some(()));
        assert!(!alive(harness), "the harness lives on");
        assert!(spared.into_iter().all(alive), "another session was hit");
        assert!(!session.exists(""), "something of it came back");
        let left = world.processes().len();
        world.orbh(["page", &session.id]).run().fails(66, &["no session"]);
        let out = Outcome::from(following.wait_with_output().unwrap());
        // It may have met the session half removed, and taken it for one that is over.
        assert!([Some(0), Some(65), Some(66)].contains(&out.code) && !out.stderr.contains("panicked"), "{out:?}");
        assert!(left >= 2);
        assert_eq!(child.state(), "working");
    }
}

/// A manager that finds a fact gone from a spool that is there does not start a second context beside the first.
#[test]
fn a_fact_that_vanishes_starts_nothing() {
    let world = World::new();
    let session = world.idle_session();
    let (harness, manager) = (session.pid("0001"), session.manager_pid());
    let pid = session.text("runs/0001/pid").unwrap();
    std::fs::remove_file(session.path("runs/0001/pid")).unwrap();
    wait_for("the manager to notice", || {
        session.text("log/events.ndjson").filter(|log| log.contains("facts of run 0001 were removed"))
    });
    assert!(alive(harness) && alive(manager));
    assert!(!session.exists("runs/0001/pid") && !session.exists("runs/0002"));
    std::fs::write(session.path("runs/0001/pid"), pid).unwrap();
    session.compact("0001", "0002");
    assert!(!alive(harness));
}

/// The same for a manager in the foreground, which took the run over, and for a spool that is moved away.
#[test]
fn a_manager_in_the_foreground_says_that_the_session_is_gone() {
    let world = World::new();
    world.agent("family", "setsid sleep 100000 & sleep 100000 & exec sleep 100000\n");
    let session = world.launch("command/family", "go");
    let harness = session.pid("0001");
    let stranger = world.idle_session();
    let first = nix::unistd::Pid::from_raw(session.manager_pid());
    nix::sys::signal::kill(first, nix::sys::signal::Signal::SIGKILL).unwrap();
    wait_for("the first manager to die", || (!alive(first.as_raw())).then_some(()));
    let mut second = world.orbh(["relaunch", &session.id]).spawn();
    let mut said = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.starts_with(&format!("managing session {}", session.id)), "{line}");
    let mark = format!("ORBH_SESSION_ID={}", session.id);
    let of_session = || {
        let all = shared::ground::process::all().into_iter().filter(|one| one.lives());
        all.filter(|one| shared::ground::process::environment_has(one.proc.pid, std::slice::from_ref(&mark))).count()
    };
    assert_eq!(of_session(), 3);
    let mut following = world.orbh(["log", "-f", &session.id]).spawn();
    BufReader::new(following.stdout.take().unwrap()).read_line(&mut line).unwrap();
    std::fs::rename(session.path(""), world.path().join("away")).unwrap();
    let followed = Outcome::from(following.wait_with_output().unwrap());
    followed.exits(66).says(&format!("session {} is gone", session.id)).says("hint: 'orbh list --all'");
    line.clear();
    said.read_to_string(&mut line).unwrap();
    assert!(line.contains("is gone") && line.contains("its run is stopped"), "{line}");
    assert_eq!(second.wait().unwrap().code(), Some(66));
    assert!(!alive(harness) && of_session() == 0);
    assert!(alive(stranger.pid("0001")) && alive(stranger.manager_pid()));
}
