//! Bad input: one clear sentence, the right exit status, nothing lost, the context alive.

use crate::harness::{Cmd, Outcome, Session, World, alive, is_root, wait_for};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

mod damage;
mod handoff;
mod root;

/// The verbs that work inside a run only.
const INSIDE: [&[&str]; 6] = [
    &["compact", "start"],
    &["compact", "handoff"],
    &["compact", "finish"],
    &["compact", "abort"],
    &["session", "return", "x"],
    &["session", "register", "x", "y"],
];

/// The verbs that are about the calling session, or a named one.
const ABOUT: [&[&str]; 7] = [
    &["page"],
    &["context"],
    &["compact", "status"],
    &["inspect"],
    &["log"],
    &["session", "get"],
    &["session", "set", "k", "v"],
];

/// The verbs that want an id.
const NAMED: [&[&str]; 4] = [&["result"], &["kill"], &["resume"], &["relaunch"]];

/// Everything of a spool by which something could be decided, to see that it is as it was.
fn facts(session: &Session) -> Vec<(String, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(session.path("")).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    let facts = files.filter(|entry| {
        let name = entry.file_name().to_string_lossy();
        !name.ends_with(".lock") && name != "events.ndjson" && !name.starts_with("awake-") && name != "output"
    });
    facts.map(|entry| (entry.path().display().to_string(), std::fs::read(entry.path()).unwrap_or_default())).collect()
}

fn last_line(out: &Outcome) -> &str {
    out.stderr.lines().last().unwrap_or_default()
}

#[test]
fn without_a_session_in_the_environment_a_verb_says_what_is_missing() {
    let world = World::new();
    for args in INSIDE {
        let out = world.orbh(args).run().fails(2, &["ORBH_SESSION_ID is not set", "hint: "]);
        if args[1] == "handoff" {
            assert_eq!(last_line(&out), "Your context will NOT end.");
        }
    }
    for args in ABOUT {
        world.orbh(args).run().fails(
            2,
            &["needs the id of a session here: ORBH_SESSION_ID is not set", "'orbh list --all' shows the ids"],
        );
    }
    for args in NAMED {
        world.orbh(args).run().exits(2).says("<ID>");
    }
    assert!(!world.root().exists());
}

/// An agent whose ORBH_ROOT is lost is told where was looked.
#[test]
fn a_session_of_another_root_is_missing_by_the_name_of_the_root() {
    let (world, other) = (World::new(), World::new());
    let session = world.idle_session();
    other.idle_session();
    for args in INSIDE.iter().chain(&ABOUT) {
        let verb = session.verb("0001", *args).env("ORBH_ROOT", other.root());
        verb.run().fails(66, &[&session.id, other.root().to_str().unwrap(), "ORBH_ROOT"]);
    }
    let json = session.verb("0001", ["compact", "handoff", "--json"]).env("ORBH_ROOT", other.root()).run().exits(66);
    assert_eq!(
        (json.json()["error"]["kind"].as_str(), last_line(&json)),
        (Some("missing"), "Your context will NOT end.")
    );
}

#[test]
fn borrowed_or_broken_variables_move_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let before = facts(&session);
    type Change = fn(Cmd) -> Cmd;
    let changes: [(Change, i32, &str); 9] = [
        (|cmd| cmd.env_remove("ORBH_RUN"), 2, "ORBH_RUN is not set"),
        (|cmd| cmd.env("ORBH_RUN", ""), 2, "ORBH_RUN is not set"),
        (|cmd| cmd.env("ORBH_RUN", "one"), 2, "ORBH_RUN: 'one' is not the number of a run"),
        (|cmd| cmd.env("ORBH_RUN", "0002"), 1, "run 0001 is the current one"),
        (|cmd| cmd.env_remove("ORBH_NONCE"), 1, "ORBH_NONCE is not that of run 0001"),
        (|cmd| cmd.env("ORBH_NONCE", "guessed"), 1, "ORBH_NONCE is not that of run 0001"),
        (|cmd| cmd.env("ORBH_SESSION_ID", "not-an-id"), 2, "ORBH_SESSION_ID: 'not-an-id' is not a session id"),
        (|cmd| cmd.env("ORBH_SESSION_ID", "../../etc"), 2, "is not a session id"),
        (|cmd| cmd.env("ORBH_SESSION_ID", "00000000-0000-4000-8000-000000000000"), 66, "no session"),
    ];
    for (change, code, says) in changes {
        for args in INSIDE {
            let out = change(session.verb("0001", args)).run().fails(
                code,
                &[says, "hint: "].as_slice()
                    [..if code == 2 && says.contains(": '") || says.starts_with("is not a s") { 1 } else { 2 }],
            );
            if args[1] == "handoff" {
                assert_eq!(last_line(&out), "Your context will NOT end.");
            }
        }
    }
    assert_eq!(facts(&session), before);
    assert!(alive(session.pid("0001")));
    assert_eq!(session.phase(), "drafting");
}

#[test]
fn an_id_that_names_nothing_or_too_much_is_refused() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    for id in [
        "aaaaaaaa-0000-4000-8000-000000000001",
        "aaaaaaaa-0000-4000-8000-000000000002",
        "bbbbbbbb-0000-4000-8000-000000000001",
    ] {
        world.fake_session(id, "t", me);
    }
    let cases = [
        ("bbb", 2, "'bbb' is too short to name a session: give 4 characters or more"),
        ("aaaaaaaa", 2, "'aaaaaaaa' names 2 sessions: aaaaaaaa-"),
        ("cccc", 66, "no session 'cccc'"),
        ("bbbbbbbb-0000-4000-8000-000000000009", 66, "no session 'bbbbbbbb-0000-4000-8000-000000000009'"),
        ("bbbbbbbb-0000-4000-8000-0000000000011", 66, "no session"),
        ("hello", 66, "no session 'hello'"),
        ("../sessions/bbbbbbbb-0000-4000-8000-000000000001", 66, "no session"),
        ("", 66, "no session ''"),
        ("b\u{1b}[2J", 66, "no session 'b\\u{1b}[2J'"),
        ("bbbb*", 66, "no session"),
    ];
    for (id, code, says) in cases {
        for args in [
            &["page"][..],
            &["context"],
            &["compact", "status"],
            &["inspect"],
            &["log"],
            &["result"],
            &["kill"],
            &["resume"],
            &["relaunch"],
        ] {
            let out = world.orbh([args, &[id]].concat()).run().fails(code, &[says, "hint: "]);
            assert!(!out.stderr.contains('\u{1b}'));
        }
        world.orbh(["session", "get", "--session", id]).run().fails(code, &[says]);
    }
    let refused = world.orbh(["page", "cccc", "--json"]).run().exits(66);
    assert!(refused.stdout.starts_with(r#"{"v":1,"error":{"kind":"missing","message":"#), "{}", refused.stdout);
    for id in ["bbbb", "bbbbbbbb-", "BBBB", "bbbbbbbb-0000-4000-8000-000000000001"] {
        world.orbh(["page", id]).run().exits(0);
    }
}

/// R5: nobody compacts a session from outside, and who tries is told to ask it.
#[test]
fn a_compaction_from_outside_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    let other = world.launch("command/idle", "go");
    other.verb("0001", ["compact", "start"]).run().exits(0);
    let before = (facts(&session), facts(&other));
    for verb in ["start", "handoff", "finish", "abort"] {
        let outside = world.orbh(["compact", verb, &session.id]);
        let inside = other.verb("0001", ["compact", verb, &session.id]);
        let itself = other.verb("0001", ["compact", verb, &other.id]);
        let by_hand = world.orbh(["compact", verb]).env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001");
        for (cmd, says) in [
            (outside, "compacts the session that calls it, and no other"),
            (inside, "and no other"),
            (itself, "and no other"),
            (by_hand, "this is not a process of that run"),
        ] {
            let out = cmd.run().fails(1, &[says, "ask"]);
            if verb == "handoff" {
                assert_eq!(last_line(&out), "Your context will NOT end.");
            }
        }
        let json = world.orbh(["compact", verb, &session.id, "--json"]).run().exits(1).json();
        assert_eq!(json["refused"][0]["code"], "from-outside");
    }
    world.orbh(["compact", "status", &session.id]).run().ok();
    assert_eq!((facts(&session), facts(&other)), before);
}

#[test]
fn a_mistaken_command_line_says_so_and_the_context_lives() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let before = facts(&session);
    for args in [
        &["--frobnicate"][..],
        &["--account", "me"],
        &["--into"],
        &["a", "b"],
        &["--into", "nonsense"],
        &["--into", "a/b/c"],
    ] {
        let out = session.verb("0001", [&["compact", "handoff"], args].concat()).run().exits(2);
        assert_eq!(last_line(&out), "Your context will NOT end.", "{args:?}");
    }
    for (args, says) in [
        (&["--into", "command/idel"][..], "near names: command/idle"),
        (&["--into", "nothing/x"], "there is no runtime"),
        (&["--into", "command/idle", "--account", "me"], "has no accounts"),
    ] {
        let out = session.verb("0001", [&["compact", "handoff"], args].concat()).run().fails(1, &[says]);
        assert_eq!(last_line(&out), "Your context will NOT end.", "{args:?}");
    }
    assert_eq!(facts(&session), before);
    for args in [
        &["compact"][..],
        &["session"],
        &["compact", "frobnicate"],
        &["page", "a", "b"],
        &["list", "x"],
        &["log", "-x"],
    ] {
        let out = world.orbh(args).run().exits(2);
        assert_eq!(out.stdout, "", "{args:?}");
    }
}
