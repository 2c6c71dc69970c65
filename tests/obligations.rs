//! The handoff against durable state: what is open and old must be named, by its id (R34, R35).

use crate::harness::{Session, World};
use crate::respond::{ask, request};
use serde_json::{Value, json};

/// A draft that lists this.
fn write(session: &Session, list: &str) {
    let handoff = session.good_handoff("run 0001").replace("- none\n", list);
    std::fs::write(session.handoff("0001"), handoff).unwrap();
}

/// What `handoff --check` says, without a trace.
fn check(session: &Session) -> Value {
    session.verb("0001", ["compact", "handoff", "--check", "--json"]).run().json()
}

/// The codes of the findings, or of the warnings.
fn codes(said: &Value, list: &str) -> Vec<String> {
    let findings = said[list].as_array().unwrap_or_else(|| panic!("{said}"));
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// A session with one of each: a question of its own, one to it, a session that it launched.
fn owing(world: &World) -> (Session<'_>, Vec<String>) {
    let session = world.idle_session();
    let mine = ask(&session, "may I delete the branch?");
    let other = world.launch("command/idle", "ask");
    let theirs = "q00000000b".to_owned();
    request(&other, &session, &theirs, "are you done?", true);
    let child = session.verb("0001", ["launch", "command/idle", "go", "--title", "The child"]).run().ok();
    (session, vec![theirs, mine, child.trim().to_owned()])
}

/// R34, R35: each of the things that are open is refused when it is not named, with the very line to add; the lines that
/// `start` prints are what the handoff wants.
#[test]
fn what_is_open_and_not_named_is_refused_with_the_line_to_add() {
    let world = World::new();
    let (session, ids) = owing(&world);
    let start = session.verb("0001", ["compact", "start", "--json"]).run().exits(0).json();
    let section = start["section"].as_str().unwrap();
    let lines: Vec<&str> = section.lines().collect();
    assert_eq!(lines.len(), 3, "{section}");
    let text = session.verb("0001", ["compact", "start"]).run().ok();
    assert!(text.contains(&format!("\n\n{section}\n")), "{text}");
    for (left_out, id) in ids.iter().enumerate() {
        let list: Vec<&str> = (0..3).filter(|at| *at != left_out).map(|at| lines[at]).collect();
        write(&session, &format!("{}\n", list.join("\n")));
        let said = check(&session);
        assert_eq!(codes(&said, "refused"), ["obligation-missing"], "{said}");
        let finding = &said["refused"][0];
        assert!(finding["message"].as_str().unwrap().contains(id), "{finding}");
        assert_eq!(finding["fix"], format!("add the line: {}", lines[left_out]));
        let heading = session.text("scratch/handoff-0001.md").unwrap();
        let line = 1 + heading.lines().position(|line| line == "## OPEN OBLIGATIONS").unwrap();
        assert_eq!(finding["line"], line);
        let refused = session.verb("0001", ["compact", "handoff"]).run().exits(1);
        refused.says(lines[left_out]).not_ended();
    }
    write(&session, "- none\n");
    let said = check(&session);
    assert_eq!(codes(&said, "refused"), ["obligation-missing"; 3]);
    assert!(said["refused"][0]["message"].as_str().unwrap().starts_with("'- none' is not true: "), "{said}");
    // All that is wrong is told at once.
    write(&session, "* none\n");
    let said = codes(&check(&session), "refused");
    assert_eq!(said, ["handoff-none-form", "obligation-missing", "obligation-missing", "obligation-missing"]);
    std::fs::write(session.handoff("0001"), "COMPACTION_ARTIFACT_V1\n").unwrap();
    let said = codes(&check(&session), "refused");
    assert_eq!(said.iter().filter(|code| *code == "obligation-missing").count(), 3, "{said:?}");
    write(&session, section);
    assert_eq!(codes(&check(&session), "warnings"), Vec::<String>::new());
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}

/// By its whole id, or a session by a beginning that is its own, as a word; in whatever words and order.
#[test]
fn an_obligation_is_named_by_its_id_as_a_word() {
    let world = World::new();
    let (session, ids) = owing(&world);
    let [theirs, mine, child] = [&ids[0], &ids[1], &ids[2]];
    session.verb("0001", ["compact", "start"]).run().ok();
    let good = [
        format!("- The questions {theirs} (theirs), `{mine}`.\n  And the child: {child}\n"),
        format!("- {child}/{mine}\n- see below\n\n  ~~~\n  {theirs}\n  ~~~\n"),
        format!("### Waiting\n\n- the child {}: wait\n- ask:{mine},{theirs}\n", &child[..8]),
        format!("- {}… -- {mine}- [{theirs}] and q00000000e, which is closed\n", &child[..20]),
    ];
    for list in good {
        write(&session, &list);
        let said = check(&session);
        assert_eq!(said["accepted"], false, "{list}: {said}");
        assert_eq!(said.get("refused"), None, "{list}: {said}");
    }
    let bad = [
        (format!("- {theirs}x, {mine}, {child}\n"), theirs),
        (format!("- {}, {theirs}, {child}\n", &mine[..9]), mine),
        (format!("- {mine}, {theirs}, {}\n", &child[..7]), child),
        (format!("- {mine}, {theirs}, x{child}\n"), child),
        (format!("### {mine}\n\n- {theirs}, {child}\n"), mine),
    ];
    for (list, missing) in &bad {
        write(&session, list);
        let said = check(&session);
        assert_eq!(codes(&said, "refused"), ["obligation-missing"], "{list}");
        assert!(said["refused"][0]["message"].as_str().unwrap().contains(*missing), "{list}: {said}");
    }
    // A beginning that another session has, too, names neither.
    world.fake_session(&format!("{}-0000-4000-8000-000000000000", &child[..8]), "another", 1);
    write(&session, &format!("- {mine}, {theirs}, {}\n", &child[..8]));
    assert_eq!(codes(&check(&session), "refused"), ["obligation-missing"]);
    write(&session, &format!("- {mine}, {theirs}, {}\n", &child[..9]));
    let nine = check(&session);
    assert_eq!(nine.get("refused").is_none(), child[8..9] == *"-" && nine["accepted"] == false, "{nine}");
}

/// What came after the hold began is told and does not stand in the way; what was closed meanwhile does not either; nor
/// does mail that nobody has read.
#[test]
fn what_is_newer_than_the_hold_is_a_warning() {
    let world = World::new();
    let session = world.idle_session();
    let old = ask(&session, "old?");
    session.verb("0001", ["compact", "start"]).run().ok();
    // The next second, so that no rounding can make it old.
    let hold = session.fact("scratch/compacting.json").unwrap()["since"].as_str().unwrap().to_owned();
    session.write_fact("scratch/compacting.json", &json!({"v": 1, "run": "0001", "since": hold}));
    let new = ask(&session, "new?");
    std::fs::write(session.path("inbox/new/1.2.here"), "Subject: read me\n\nunread\n").unwrap();
    write(&session, &format!("- {old}\n"));
    let said = check(&session);
    assert_eq!(codes(&said, "warnings"), ["obligation-new"], "{said}");
    assert!(said["warnings"][0]["message"].as_str().unwrap().contains(&new), "{said}");
    let text = session.verb("0001", ["compact", "handoff", "--check"]).run().exits(0);
    assert!(text.stderr.contains("orbh-compact: warning: ") && text.stderr.contains(&new), "{}", text.stderr);
    // Alone it is no reason either why none should be listed.
    world.orbh(["respond", &session.id, &old, "yes"]).run().ok();
    session.verb("0001", ["session", "cancel", &new]).run().ok();
    let third = ask(&session, "third?");
    session.verb("0001", ["compact", "abort"]).run().ok();
    assert_eq!(session.verb("0001", ["session", "answer", &old]).run().ok(), "yes\n");
    session.verb("0001", ["session", "cancel", &third]).run().ok();
    session.verb("0001", ["compact", "start"]).run().ok();
    write(&session, &format!("- {old} and {third} were closed\n"));
    assert_eq!(codes(&check(&session), "warnings"), Vec::<String>::new());
    ask(&session, "fourth?");
    write(&session, "- none\n");
    assert_eq!(codes(&check(&session), "warnings"), ["obligation-new"]);
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}

/// In doubt a thing is old: what bears the same time as the hold, or the second in which it began, none, or one that is
/// yet to come; and all of it, when the hold bears an earlier time than its own run.
#[test]
fn in_doubt_an_obligation_is_old() {
    let world = World::new();
    let session = world.idle_session();
    let other = world.launch("command/idle", "ask");
    let id = ask(&session, "when?");
    let place = format!("asked/{id}/request.json");
    let record = session.fact(&place).unwrap();
    session.verb("0001", ["compact", "start"]).run().ok();
    write(&session, "- none\n");
    let hold = session.fact("scratch/compacting.json").unwrap();
    let asked_at = |at: &str| {
        let mut record = record.clone();
        record["at"] = at.into();
        session.write_fact(&place, &record);
        check(&session)
    };
    for at in [hold["since"].as_str().unwrap(), "2020-01-01T00:00:00.000+00:00", "2999-01-01T00:00:00.000+00:00"] {
        assert_eq!(codes(&asked_at(at), "refused"), ["obligation-missing"], "{at}");
    }
    let now = world.shell("date +%Y-%m-%dT%H:%M:%S.%3N%:z").run().ok();
    assert_eq!(codes(&asked_at(now.trim()), "warnings"), ["obligation-new"]);
    // The clock was set back after the run had begun.
    let early = json!({"v": 1, "run": "0001", "since": "2020-01-01T00:00:00.000+00:00"});
    session.write_fact("scratch/compacting.json", &early);
    assert_eq!(codes(&check(&session), "refused"), ["obligation-missing"]);
    session.write_fact("scratch/compacting.json", &hold);
    session.verb("0001", ["session", "cancel", &id]).run().ok();
    // By mail: in the second of the hold, whenever in it.
    let mail = "q00000000c";
    request(&other, &session, mail, "are you done?", false);
    let seconds = world.shell(&format!("date +%s -d {}", hold["since"].as_str().unwrap())).run().ok();
    let letter = format!("From: a\nSubject: s\nX-Orbh-Question: {}/{mail}\n\nwell?\n", other.id);
    let path = session.path(&format!("inbox/new/{}.M999999_{mail}.here", seconds.trim()));
    std::fs::write(path, letter).unwrap();
    assert_eq!(codes(&check(&session), "refused"), ["obligation-missing"]);
}

/// What cannot be read is a warning that names it, and hides nothing else.
#[test]
fn what_is_open_and_cannot_be_read_is_said() {
    let world = World::new();
    let session = world.idle_session();
    let [damaged, good] = ["a?", "b?"].map(|text| ask(&session, text));
    let child = session.verb("0001", ["launch", "command/idle", "go"]).run().ok();
    let child = Session::new(&world, child.trim());
    let other = world.launch("command/idle", "ask");
    request(&other, &session, "q00000000d", "are you done?", true);
    std::fs::write(session.path(&format!("asked/{damaged}/request.json")), "{").unwrap();
    std::fs::write(child.path("session.json"), "{").unwrap();
    std::fs::write(other.path("asked/q00000000d/request.json"), "{").unwrap();
    session.verb("0001", ["compact", "start"]).run().ok();
    // It is there, of whatever time it is.
    write(&session, "- none\n");
    assert_eq!(codes(&check(&session), "refused"), ["obligation-missing"; 2]);
    write(&session, &format!("- {damaged} {good}\n"));
    let said = check(&session);
    assert_eq!(codes(&said, "warnings"), ["obligation-unknown"; 3], "{said}");
    for what in [&format!("asked/{damaged}/request.json"), "asked/q00000000d/request.json", &child.id] {
        assert!(said["warnings"].to_string().contains(what), "{what}: {said}");
    }
    let place = session.path("asked");
    std::fs::rename(&place, world.path().join("aside")).unwrap();
    std::fs::write(&place, "no directory").unwrap();
    write(&session, "- none\n");
    let said = check(&session);
    assert!(said["warnings"].to_string().contains("asked': a part of it is not a directory"), "{said}");
}

/// More than anybody reads is counted, and a handoff that names all is accepted.
#[test]
fn very_many_obligations_are_counted() {
    let world = World::new();
    let session = world.idle_session();
    let ids: Vec<String> = (0..150).map(|number| format!("q{number:09x}")).collect();
    for id in &ids {
        std::fs::create_dir(session.path(&format!("asked/{id}"))).unwrap();
        let at = "2026-01-01T00:00:00.000+00:00";
        let fact = json!({"v": 1, "id": id, "to": "human", "blocking": false, "at": at});
        session.write_fact(&format!("asked/{id}/request.json"), &fact);
    }
    session.verb("0001", ["compact", "start"]).run().ok();
    write(&session, "- none\n");
    let said = codes(&check(&session), "refused");
    assert_eq!((said.len(), said.last().unwrap().as_str()), (101, "obligation-more"));
    write(&session, &format!("- {}\n", ids.join(", ")));
    assert_eq!(codes(&check(&session), "warnings"), Vec::<String>::new());
}
