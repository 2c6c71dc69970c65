//! `orbh session`: keys, questions, and the return of a result.

mod questions;

use crate::harness::{World, wait_for};

#[test]
fn what_is_set_is_got_whatever_it_is() {
    let world = World::new();
    let session = world.idle_session();
    let file = world.path().join("value");
    std::fs::write(&file, "of a\nfile").unwrap();
    let megabyte = "0123456789abcdef".repeat(65536);
    for value in ["plain", "", "two\nlines", "ünïcödé 🦀", "-dash", " blanks ", "a=b"] {
        session.verb("0001", ["session", "set", "k", "--", value]).run().ok();
        assert_eq!(session.verb("0001", ["session", "get", "k"]).run().ok(), format!("{value}\n"));
        let json = world.orbh(["session", "get", "k", "--session", &session.id, "--json"]).run();
        assert!(json.stdout.starts_with(r#"{"v":1,"session":"#), "{}", json.stdout);
        assert_eq!(json.json()["keys"]["k"], value);
        assert_eq!(session.text("keys/k").unwrap(), format!("{value}\n"));
    }
    session.verb("0001", ["session", "set", "k", "-"]).stdin(megabyte.clone()).run().ok();
    assert!(session.verb("0001", ["session", "get", "k"]).run().ok() == megabyte + "\n");
    session.verb("0001", ["session", "set", "k", "--file", file.to_str().unwrap()]).run().ok();
    assert_eq!(session.verb("0001", ["session", "get", "k"]).run().ok(), "of a\nfile\n");
}

#[test]
fn keys_are_listed_registered_and_removed() {
    let world = World::new();
    let session = world.idle_session();
    assert_eq!(session.verb("0001", ["session", "get"]).run().ok(), "");
    session.verb("0001", ["session", "register", "Title", "Words"]).run().ok();
    session.verb("0001", ["session", "set", "A.b_c-1", "1\n2"]).run().ok();
    assert_eq!(session.verb("0001", ["session", "get"]).run().ok(), "A.b_c-1=1\\n2\ndescription=Words\ntitle=Title\n");
    let json = session.verb("0001", ["session", "get", "--json"]).run().json();
    assert_eq!(json["keys"], serde_json::json!({"A.b_c-1": "1\n2", "description": "Words", "title": "Title"}));
    session.verb("0001", ["session", "unset", "A.b_c-1"]).run().ok();
    session
        .verb("0001", ["session", "get", "A.b_c-1"])
        .run()
        .fails(66, &["the key 'A.b_c-1' of session", "is not set", "hint: "]);
    session.verb("0001", ["session", "unset", "A.b_c-1"]).run().exits(66);
    assert!(world.orbh(["list"]).run().ok().contains("Title"));
}

#[test]
fn what_is_no_name_is_no_key() {
    let world = World::new();
    let session = world.idle_session();
    for key in ["", ".", "..", "../session.json", "a/b", ".hidden", "_x", "a b", "ä", "a\n", &"k".repeat(65), ".tmp-1"]
    {
        for verb in [vec!["set", key, "v"], vec!["get", key], vec!["unset", key]] {
            session.verb("0001", [vec!["session"], verb].concat()).run().fails(2, &["is not a name", "hint: "]);
        }
    }
    session.verb("0001", ["session", "set", &"k".repeat(64), "v"]).run().ok();
    session.verb("0001", ["session", "set", "k"]).run().exits(2);
    session.verb("0001", ["session", "set", "k", "v", "--file", "f"]).run().exits(2);
    assert_eq!(std::fs::read_dir(session.path("keys")).unwrap().count(), 1);
}

#[test]
fn a_person_sets_keys_from_outside_and_an_editor_does_too() {
    let world = World::new();
    let session = world.idle_session();
    world.orbh(["session", "set", "k", "from outside", "--session", &session.id[..8]]).run().ok();
    assert_eq!(world.orbh(["session", "get", "k", "--session", &session.id]).run().ok(), "from outside\n");
    std::fs::write(session.path("keys/by-hand"), "no newline").unwrap();
    assert_eq!(session.verb("0001", ["session", "get", "by-hand"]).run().ok(), "no newline\n");
    for verb in ["set", "get", "unset"] {
        let args = if verb == "set" { vec!["session", verb, "k", "v"] } else { vec!["session", verb, "k"] };
        world.orbh(args).run().fails(2, &["needs the id of a session here", "hint: "]);
    }
}

/// A key that cannot be read hides neither the other keys nor the session.
#[test]
fn a_damaged_key_is_named_beside_the_others() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "set", "good", "v"]).run().ok();
    std::os::unix::fs::symlink("/etc/hostname", session.path("keys/link")).unwrap();
    nix::unistd::mkfifo(&session.path("keys/fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::create_dir(session.path("keys/title")).unwrap();
    for args in [vec!["session", "get", "--session", &session.id], vec!["inspect", &session.id]] {
        let out = world.orbh(args).run().exits(65);
        assert!(out.stdout.contains("good"), "{out:?}");
        for name in [
            "keys/link': a part of it is a symbolic link",
            "keys/fifo': it is not a regular file",
            "keys/title': it is not a regular file",
        ] {
            assert!(out.stdout.contains(name) || out.stderr.contains(name), "{name}: {out:?}");
        }
    }
    assert!(world.orbh(["list"]).run().exits(0).stdout.contains("working"));
    session.verb("0001", ["session", "get", "good"]).run().ok();
    session.verb("0001", ["session", "get", "fifo"]).run().fails(65, &["keys/fifo"]);
}

#[test]
fn a_run_returns_once_and_something() {
    let world = World::new();
    let session = world.idle_session();
    for (args, stdin) in [(vec!["", ""], ""), (vec![" \n", ""], ""), (vec!["-", ""], "\n")] {
        session
            .verb("0001", ["session", "return", args[0]])
            .stdin(stdin)
            .run()
            .fails(1, &["the result is empty", "hint: "]);
    }
    session.verb("0001", ["session", "return"]).run().exits(2);
    session
        .verb("0001", ["session", "return", "-"])
        .stdin(&b"caf\xe9"[..])
        .run()
        .fails(2, &["standard input is not UTF-8 at byte 3"]);
    assert!(!session.exists("returns/0001.json"));
    assert_eq!(session.state(), "working");
    let out = session.verb("0001", ["session", "return", "-", "--json"]).stdin("of\nmany lines\n").run().exits(0);
    assert!(out.stdout.starts_with(r#"{"v":1,"session":"#), "{}", out.stdout);
    assert_eq!((&out.json()["run"], &out.json()["disposition"]), (&"0001".into(), &"finish".into()));
    session.verb("0001", ["session", "return", "again"]).run().fails(1, &["run 0001 of session", "is over", "hint: "]);
    assert_eq!(session.text("returns/0001.md").unwrap(), "of\nmany lines\n");
    assert_eq!(session.wait_end("0001"), "returned");
    assert_eq!(session.state(), "finished");
}

#[test]
fn eight_returns_at_once_are_one() {
    let world = World::new();
    let session = world.idle_session();
    let racing: Vec<_> =
        (0..8).map(|n| session.verb("0001", ["session", "return", &format!("result {n}")]).spawn()).collect();
    let codes: Vec<_> = racing.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 1].contains(code)), "{codes:?}");
    wait_for("the end", || session.fact("runs/0001/end.json"));
}
