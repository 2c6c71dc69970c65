//! Handoffs that are not what a handoff has to be.

use super::{Session, World, alive, facts, is_root, json, last_line, symlink, wait_for};

/// Gives `handoff`, which must refuse with this code, and do nothing else.
#[track_caller]
fn refused(session: &Session, run: &str, code: &str, says: &str) {
    let before = facts(session);
    for check in [true, false] {
        let args: &[&str] = if check { &["compact", "handoff", "--check"] } else { &["compact", "handoff"] };
        let out = session.verb(run, args).run().fails(1, &["refused: ", says, "hint: "]);
        assert_eq!(last_line(&out), "Your context will NOT end.");
        let json = session.verb(run, [args, &["--json"]].concat()).run().exits(1);
        assert!(json.stdout.starts_with(r#"{"v":1,"refused":["#), "{}", json.stdout);
        let json = json.json();
        assert_eq!((&json["refused"][0]["code"], &json["context_ends"]), (&json!(code), &json!(false)), "{json}");
    }
    assert_eq!(facts(session), before);
    assert!(!session.exists(&format!("scratch/accepted-{run}.md")) && !session.exists("scratch/relaunch.json"));
    assert!(alive(session.pid(run)));
}

/// R17 R18 R22: whatever stands at the path, it is looked at without blocking, and the context lives.
#[test]
fn what_is_no_regular_file_with_text_is_refused_by_its_kind() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let path = session.handoff("0001");
    refused(&session, "0001", "handoff-missing", "there is no handoff");
    std::fs::write(&path, "").unwrap();
    refused(&session, "0001", "handoff-empty", "is empty");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused(&session, "0001", "handoff-directory", "is a directory");
    std::fs::remove_dir(&path).unwrap();
    let elsewhere = world.work().join("handoff.md");
    std::fs::write(&elsewhere, session.good_handoff("elsewhere")).unwrap();
    for to in [elsewhere.as_path(), std::path::Path::new("/nonexistent")] {
        symlink(to, &path).unwrap();
        refused(&session, "0001", "handoff-symlink", "is a symbolic link");
        std::fs::remove_file(&path).unwrap();
    }
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(&session, "0001", "handoff-special", "is a FIFO");
    std::fs::remove_file(&path).unwrap();
    // A socket's path is limited to 108 bytes; a link to the directory is shorter.
    symlink(session.path("scratch"), world.path().join("s")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.path().join("s/handoff-0001.md")).unwrap();
    refused(&session, "0001", "handoff-special", "is a socket");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, session.good_handoff("much") + &"x".repeat(10 << 20)).unwrap();
    refused(&session, "0001", "handoff-too-large", "bytes, and at most");
    std::fs::write(&path, [b"COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\ncaf\xe9\n".as_slice()].concat()).unwrap();
    refused(&session, "0001", "handoff-not-utf8", "UTF-8");
    if is_root() {
        eprintln!("skipped: root reads every file");
    } else {
        session.write_good_handoff("0001");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        assert!(session.verb("0001", ["compact", "handoff"]).run().exits(1).stderr.contains("permission denied"));
        std::fs::remove_file(&path).unwrap();
    }
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

/// R19 R30: a handoff never passes for another run's.
#[test]
fn a_handoff_of_another_run_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.verb("0002", ["compact", "start"]).run().exits(0);
    for older in ["scratch/accepted-0001.md", "scratch/handoff-0001.md"] {
        std::fs::write(session.handoff("0002"), std::fs::read(session.path(older)).unwrap()).unwrap();
        refused(&session, "0002", "handoff-foreign", "is a copy of");
    }
    std::fs::remove_file(session.handoff("0002")).unwrap();
    for stray in ["0003", "0042", "2"] {
        std::fs::write(session.handoff(stray), session.good_handoff("a stray")).unwrap();
        refused(&session, "0002", "handoff-missing", &format!("handoff-{stray}.md' belongs to another run"));
        std::fs::remove_file(session.handoff(stray)).unwrap();
    }
    session.write_good_handoff("0002");
    session.verb("0002", ["compact", "handoff"]).run().exits(75);
    session.pid("0003");
}

/// A path is told to its end, by which it differs from others.
#[test]
fn a_long_path_is_named_whole() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let path = session.handoff("0001").display().to_string();
    assert!(path.len() > 80);
    session.verb("0001", ["compact", "handoff"]).run().fails(1, &[&format!("write the handoff to exactly '{path}'")]);
    let missing = session.path("scratch/notes-that-were-never-written.md").display().to_string();
    let duty = session.path("prompt.md").display().to_string();
    std::fs::write(session.handoff("0001"), session.good_handoff("a path").replace(&duty, &missing)).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().fails(1, &[&format!("there is no file '{missing}'")]);
}

#[test]
fn a_handoff_without_start_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    session.write_good_handoff("0001");
    refused(&session, "0001", "not-started", "has not begun a compaction");
}

/// R22: what cannot be said does not undo what was done.
#[test]
fn an_accepted_handoff_goes_on_although_nobody_hears_of_it() {
    let world = World::new();
    for how in ["/dev/full", "a closed pipe", "no streams"] {
        let session = world.idle_session();
        session.verb("0001", ["compact", "start"]).run().exits(0);
        session.write_good_handoff("0001");
        let verb = session.verb("0001", ["compact", "handoff"]);
        let code = match how {
            "/dev/full" => verb.run_into(how).code,
            "a closed pipe" => verb.run_unread().code(),
            _ => {
                let nonce = session.fact("runs/0001/pid").unwrap()["nonce"].as_str().unwrap().to_owned();
                let line = "exec $ORBH compact handoff <&- >&- 2>&-";
                let verb = world.shell(line).env("ORBH_SESSION_ID", &session.id);
                verb.env("ORBH_RUN", "0001").env("ORBH_NONCE", nonce).run().code
            }
        };
        assert_eq!(code, Some(75), "{how}");
        session.pid("0002");
        wait_for("the intent to be carried out", || (!session.exists("scratch/relaunch.json")).then_some(()));
        assert_eq!(session.wait_end("0001"), "compacted");
    }
}

/// A refusal that cannot be printed is a refusal all the same.
#[test]
fn a_refusal_that_nobody_hears_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let before = facts(&session);
    assert_eq!(session.verb("0001", ["compact", "handoff", "--json"]).run_into("/dev/full").code, Some(1));
    assert_eq!(session.verb("0001", ["compact", "handoff", "--json"]).run_unread().code(), Some(1));
    assert_eq!(facts(&session), before);
    assert!(alive(session.pid("0001")));
}
