//! What came from elsewhere gives a terminal no orders and forges no line, whichever verb shows it.

use crate::harness::{Cmd, Session, World, private_dir};
use serde_json::{Value, json};

/// What a hostile name or text would try: a window title, a cleared screen, a line of its own, a carriage return, an
/// eight-bit CSI, text turned round, something invisible, a backspace and a DEL.
const NASTY: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\nFORGED: line\rFORGED\u{9b}31m\u{202e}gnp\u{200b}\u{8}\u{7f}\u{85}y";

/// The same as a name of a file.
fn nasty_name() -> String {
    NASTY.replace('/', "")
}

#[track_caller]
fn harmless(what: &str, shown: &str, lines_of_its_own: bool) {
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || ['\u{202e}', '\u{200b}'].contains(&c);
    assert!(!shown.chars().any(bad), "{what} shows raw: {shown:?}");
    let forged = shown.lines().any(|line| line.starts_with("FORGED"));
    assert!(lines_of_its_own || !forged, "{what} lets a line be forged: {shown}");
}

/// Runs it on a terminal; asserts that it shows something, and nothing raw.
#[track_caller]
fn show(what: &str, cmd: Cmd) -> String {
    let shown = cmd.on_terminal();
    assert!(!shown.is_empty(), "{what} shows nothing");
    harmless(what, &shown, false);
    shown
}

/// Asserts that JSON has nothing raw either; returns the last object.
#[track_caller]
fn object(what: &str, cmd: Cmd) -> Value {
    let out = cmd.run();
    harmless(what, &out.stdout, false);
    serde_json::from_str(out.stdout.lines().last().unwrap_or_else(|| panic!("{what}: {out:?}"))).unwrap()
}

/// Writes NASTY wherever it can come from, into a session that works; also a child of it with a nasty title.
fn poison(session: &Session) {
    let world = session.world;
    for key in ["title", "description", "k"] {
        std::fs::write(session.path(&format!("keys/{key}")), NASTY).unwrap();
    }
    let child = session.verb("0001", ["launch", "command/idle", NASTY, "--title", NASTY]).run().ok();
    assert!(session.exists(&format!("links/child-{}", child.trim())));
    let event = json!({"v": 1, "at": "2026-01-01T00:00:00Z", "event": NASTY, "text": NASTY}).to_string();
    let log = format!("{event}\n{NASTY}\n{{\"v\":1,\"event\":\"{NASTY}\n");
    let path = session.path("log/events.ndjson");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &log).unwrap();
    // C1 and what turns text round pass in JSON as they are.
    let c1 = "{\"v\":1,\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"\u{9b}31m\",\"text\":\"\u{202e}\"}\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + c1).unwrap();
    let accounts = world.config().join("accounts/claude");
    private_dir(&accounts.join(nasty_name()));
    private_dir(&accounts.join("good"));
    world
        .profile("nasty", &json!({"command": ["/bin/true", NASTY], "class": "full", "model": NASTY, "needs": [NASTY]}));
    world.profile(&nasty_name(), &json!({"command": ["/bin/true"], "class": "full"}));
    world.profile("bad", &json!({"command": ["/bin/true"], "class": NASTY}));
}

#[test]
fn no_verb_shows_a_control_sequence() {
    let world = World::new();
    let session = world.idle_session();
    poison(&session);
    let id = session.id.as_str();
    let good = world.launch("command/idle", "go");
    let name = nasty_name();
    // From outside.
    let outside: Vec<Vec<&str>> = vec![
        vec!["list"],
        vec!["list", "--all", "--tree"],
        vec!["inspect", id],
        vec!["page", id],
        vec!["context", id],
        vec!["compact", "status", id],
        vec!["log", id],
        vec!["result", id],
        vec!["session", "get", "--session", id],
        vec!["profiles"],
        vec!["profiles", "command"],
        vec!["profiles", "show", "command/nasty"],
        vec!["profiles", "show", "command/bad"],
        vec!["accounts"],
        vec!["accounts", "add", "claude", NASTY],
        vec!["runtimes"],
        vec!["inspect", NASTY],
        vec!["kill", NASTY],
        vec!["resume", NASTY],
        vec!["relaunch", NASTY],
        vec!["session", "get", NASTY, "--session", id],
        vec!["session", "set", NASTY, "v", "--session", id],
        vec!["launch", NASTY, "go"],
        vec!["launch", "command/bad", "go"],
        vec!["launch", "command/idle", "--file", &name],
        vec!["launch", "command/idle", "go", "--cwd", &name],
        vec!["resume", id, "--into", NASTY],
        vec!["compact", "start", NASTY],
        vec![NASTY],
        vec!["help", NASTY],
    ];
    for args in &outside {
        show(&format!("{args:?}"), world.orbh(args));
    }
    // From inside, with a draft full of it.
    let verb = |args: &[&str]| show(&format!("{args:?}"), session.verb("0001", args));
    verb(&["page"]);
    let start = verb(&["compact", "start"]);
    assert!(start.contains("- session ") && start.contains("owned"), "{start}");
    let draft = session.good_handoff("it");
    let missing = format!("/nowhere/{}", name.replace('\n', ""));
    for draft in [
        draft.replace(" :: the duty", &format!(" :: the duty\n{missing} :: it")),
        draft.replace("- none", &format!("- {NASTY}")),
        draft.replace("## FILES", &format!("## {NASTY}\n\n## FILES")),
        NASTY.to_owned(),
    ] {
        std::fs::write(session.handoff("0001"), draft).unwrap();
        verb(&["compact", "handoff", "--check"]);
    }
    std::fs::remove_file(session.handoff("0001")).unwrap();
    std::fs::write(session.path(&format!("scratch/handoff-{name}.md")), "x").unwrap();
    let elsewhere = verb(&["compact", "handoff"]);
    assert!(elsewhere.contains("owned"), "{elsewhere}");
    verb(&["compact", "handoff", "--into", NASTY]);
    verb(&["compact", "handoff", "--account", NASTY, "--into", "claude/sonnet"]);
    verb(&["session", "register", NASTY, NASTY]);
    verb(&["session", "set", "k", NASTY]);
    // A manager that says of itself what it likes.
    let holder = json!({"pid": session.manager_pid(), "start": 1, "kind": NASTY}).to_string();
    std::fs::write(session.path("scratch/manager.lock"), holder).unwrap();
    session.write_good_handoff("0001");
    for args in [&["inspect", id][..], &["relaunch", id], &["list"], &["page", id]] {
        show(&format!("{args:?}"), world.orbh(args));
    }
    let handoff = verb(&["compact", "handoff"]);
    assert!(handoff.contains("does not know compaction") && handoff.contains("owned"), "{handoff}");
    verb(&["compact", "abort"]);
    // What was asked for as it is: to a terminal without orders, to a program byte by byte.
    session.verb("0001", ["session", "return", NASTY]).run().ok();
    for args in [&["result", id][..], &["session", "get", "k", "--session", id]] {
        harmless(&format!("{args:?}"), &world.orbh(args).on_terminal(), true);
        assert_eq!(world.orbh(args).run().ok(), format!("{NASTY}\n"));
    }
    world.orbh(["kill", &good.id]).run().ok();
}

#[test]
fn no_json_shows_a_control_sequence_and_all_of_it_says_what_is_there() {
    let world = World::new();
    let session = world.idle_session();
    poison(&session);
    let id = session.id.as_str();
    for args in [&["list", "--json"][..], &["log", id, "--json"], &["profiles", "--json"], &["accounts", "--json"]] {
        object(&format!("{args:?}"), world.orbh(args));
    }
    for args in [&["inspect", id][..], &["page", id], &["session", "get", "--session", id]] {
        let object = object(&format!("{args:?}"), world.orbh([args, &["--json"]].concat()));
        let title = if args[0] == "session" { &object["keys"]["title"] } else { &object["title"] };
        assert_eq!(title, NASTY, "{args:?}");
    }
    let refused = object("kill", world.orbh(["kill", NASTY, "--json"]));
    assert_eq!(refused["error"]["kind"], "missing");
    session.verb("0001", ["session", "return", NASTY]).run().ok();
    assert_eq!(object("result", world.orbh(["result", id, "--json"]))["text"], NASTY);
}

/// A root with such a name, and in it a session whose facts are full of it: every path and every fact that is shown.
#[test]
fn no_path_and_no_fact_shows_a_control_sequence() {
    let world = World::new();
    let dead = world.program("true").spawn();
    let pid = dead.id().cast_signed();
    let id = "11111111-1111-4111-8111-111111111111";
    let session = world.fake_session(id, NASTY, pid);
    dead.wait_with_output().unwrap();
    let at = "2026-01-01T00:00:00Z";
    session.write_fact("target.json", &json!({"v": 1, "target": "command/none"}));
    session.write_fact("scratch/compacting.json", &json!({"v": 1, "run": "0001", "since": at}));
    let intent = json!({"v": 1, "kind": "compact", "closing": "0001", "sha256": NASTY, "target": "command/none",
        "account": NASTY, "by": NASTY, "at": at});
    let run = session.fact("runs/0001/run.json").unwrap();
    session.write_fact("runs/0001/run.json", &{
        let mut run = run.clone();
        (run["argv"], run["cwd"], run["host"]) = (json!([NASTY]), NASTY.into(), NASTY.into());
        run
    });
    session.write_fact("runs/0001/kill.json", &json!({"v": 1, "by": NASTY, "at": at}));
    session.write_fact("runs/0001/end.json", &json!({"v": 1, "reason": "compacted", "detail": NASTY, "at": at}));
    private_dir(&session.path("runs/0002"));
    let mut successor = run;
    (successor["kind"], successor["closes"], successor["continues"]) = ("compact".into(), "0001".into(), "0001".into());
    session.write_fact("runs/0002/run.json", &successor);
    session.write_fact("runs/0002/pid", &json!({"v": 1, "pid": 0, "start": 0, "nonce": NASTY, "tombstone": NASTY}));
    session.write_fact("runs/0002/end.json", &json!({"v": 1, "reason": "spawn-failed", "detail": NASTY, "at": at}));
    session.write_fact("scratch/relaunch.json", &intent);
    session.write_fact("scratch/relaunch.cancelled.json", &intent);
    let mut born = session.fact("session.json").unwrap();
    born["cwd"] = NASTY.into();
    session.write_fact("session.json", &born);
    let root = world.path().join(nasty_name());
    std::fs::rename(world.root(), &root).unwrap();
    let orbh = |args: &[&str]| world.orbh(args).env("ORBH_ROOT", &root);
    let all: [&[&str]; 9] = [
        &["list", "--all"],
        &["inspect", id],
        &["page", id],
        &["context", id],
        &["compact", "status", id],
        &["result", id],
        &["resume", id],
        &["relaunch", id],
        &["relaunch", id, "--into", "command/nothing"],
    ];
    let run_all = |what: &str| {
        for args in all {
            show(&format!("{what}: {args:?}"), orbh(args));
            let json = orbh(&[args, &["--json"]].concat()).run();
            harmless(&format!("{what}: {args:?} --json"), &json.stdout, false);
        }
        show(what, orbh(&["launch", "command/none", "go"]));
        show(what, orbh(&["kill", "2222"]));
    };
    run_all("whole");
    let spool = root.join("sessions").join(id);
    for fact in ["session.json", "target.json", "runs/0002/run.json", "scratch/relaunch.json", "scratch/manager.lock"] {
        let _ = std::fs::rename(spool.join(fact), world.path().join("aside"));
        std::fs::write(spool.join(fact), format!("{{\"v\": 1, \"mode\": \"{}\", \"run\"", NASTY.replace('\n', "")))
            .unwrap();
        run_all(fact);
        std::fs::remove_file(spool.join(fact)).unwrap();
        let _ = std::fs::rename(world.path().join("aside"), spool.join(fact));
    }
    for mode in ["", "0001"] {
        let nonce =
            orbh(&["compact", "start"]).env("ORBH_SESSION_ID", id).env("ORBH_RUN", mode).env("ORBH_NONCE", "fake");
        show("inside", nonce);
    }
}
