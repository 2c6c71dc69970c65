//! The shapes of `--json`: one object a line, `"v":1` first, refusals and failures too.

use crate::harness::{Outcome, Session, World, wait_for};
use serde_json::Value;

/// Asserts this exit status, that all of standard output is objects of version 1, and nothing else was said; returns
/// the last object.
#[track_caller]
fn object(out: Outcome, code: i32) -> Value {
    let out = out.exits(code);
    assert!(!out.stdout.is_empty() && out.stdout.ends_with('\n'), "{out:?}");
    let objects = out.stdout.lines().map(|line| {
        assert!(line.starts_with(r#"{"v":1,""#), "{line}");
        serde_json::from_str::<Value>(line).unwrap()
    });
    objects.collect::<Vec<Value>>().pop().unwrap()
}

#[track_caller]
fn has(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "no {key} in {value}");
    }
}

fn until_its_manager_is_gone(session: &Session) {
    wait_for("the manager to leave", || session.inspect()["manager"].is_null().then_some(()));
}

#[test]
fn every_answer_is_an_object_of_version_one() {
    let world = World::new();
    let session = world.idle_session();
    let id = session.id.as_str();
    let inside =
        |run: &str, args: &[&str], code: i32| object(session.verb(run, [args, &["--json"]].concat()).run(), code);
    let outside = |args: &[&str], code: i32| object(world.orbh([args, &["--json"]].concat()).run(), code);
    has(&inside("0001", &["session", "register", "t", "d"], 0), &["session", "keys"]);
    has(&inside("0001", &["session", "set", "k", "v"], 0), &["session", "keys"]);
    has(&inside("0001", &["session", "unset", "k"], 0), &["session", "keys"]);
    has(&inside("0001", &["session", "get"], 0), &["session", "keys"]);
    has(&inside("0001", &["compact", "start"], 0), &["run", "path", "contract", "obligations", "page"]);
    has(&inside("0001", &["compact", "abort"], 0), &["session", "aborted"]);
    has(&inside("0001", &["page"], 0), &["session", "state", "context", "compaction", "obligations", "notices"]);
    has(
        &outside(&["compact", "status", id], 0),
        &["session", "phase", "since", "age_s", "reason", "last_completed", "count"],
    );
    has(&outside(&["context", id], 0), &["session", "run", "used", "max", "percent", "source", "measured_at"]);
    has(&outside(&["inspect", id], 0), &["session", "history", "keys", "children", "files"]);
    has(&outside(&["list"], 0), &["session", "state", "title", "target"]);
    has(&outside(&["log", id], 0), &["at", "event"]);
    inside("0001", &["compact", "start"], 0);
    session.write_good_handoff("0001");
    let checked = inside("0001", &["compact", "handoff", "--check"], 0);
    has(&checked, &["run", "target", "files", "warnings", "accepted"]);
    assert_eq!((&checked["accepted"], &checked["context_ends"]), (&false.into(), &false.into()));
    // One who outlives its context, because it is no process of the run, gets a second object for how it ended.
    let said = session.verb("0001", ["compact", "handoff", "--json"]).run().exits(75).stdout;
    let said: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&said[0]["v"], &said[0]["accepted"], &said[0]["context_ends"]),
        (&1.into(), &true.into(), &true.into())
    );
    assert_eq!(
        (&said[1]["v"], &said[1]["outcome"], &said[1]["context_ends"]),
        (&1.into(), &"ended".into(), &true.into())
    );
    assert_eq!(said.len(), 2);
    session.pid("0002");
    has(&inside("0002", &["compact", "finish"], 0), &["session", "closed", "run", "since", "finished_at", "count"]);
    has(&inside("0002", &["session", "return", "x"], 0), &["session", "run", "disposition", "at"]);
    has(&outside(&["result", id], 0), &["session", "run", "disposition", "at", "text"]);
    session.wait_end("0002");
    until_its_manager_is_gone(&session);
    has(&outside(&["resume", id], 0), &["session", "run", "kind", "adopted"]);
    has(&outside(&["kill", id], 0), &["session", "run", "end"]);
    until_its_manager_is_gone(&session);
    has(&outside(&["relaunch", id], 0), &["session", "state", "run"]);
}

#[test]
fn every_refusal_and_failure_is_an_object_too() {
    let world = World::new();
    let session = world.idle_session();
    let id = session.id.as_str();
    let refused = |out: Outcome| {
        let object = object(out, 1);
        has(&object["refused"][0], &["code", "message", "fix"]);
        assert_eq!(object["context_ends"], false);
    };
    for args in [
        &["compact", "handoff"][..],
        &["compact", "handoff", "--check"],
        &["compact", "finish"],
        &["session", "return", ""],
    ] {
        refused(session.verb("0001", [args, &["--json"]].concat()).run());
    }
    for args in [
        &["result", id][..],
        &["resume", id],
        &["relaunch", id, "--cancel"],
        &["relaunch", id, "--into", "command/idle"],
        &["launch", "a/b", "c"],
    ] {
        refused(world.orbh([args, &["--json"]].concat()).run());
    }
    for (args, code, kind) in [
        (&["page", "cccc"][..], 66, "missing"),
        (&["context", "cccc"], 66, "missing"),
        (&["log", "cccc"], 66, "missing"),
        (&["inspect", "c"], 2, "usage"),
        (&["compact", "start"], 2, "usage"),
        (&["session", "set", "/", "v"], 2, "usage"),
        (&["relaunch", id], 75, "busy"),
        (&["launch", "command/idle", "--file", "/nonexistent"], 74, "system"),
    ] {
        let object = object(world.orbh([args, &["--json"]].concat()).run(), code);
        assert_eq!(object["error"]["kind"], kind, "{args:?}");
        has(&object["error"], &["message"]);
    }
    let full = world.orbh(["page", id, "--json"]).run_into("/dev/full");
    full.fails(74, &["cannot write to standard output"]);
}
