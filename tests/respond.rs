//! `orbh respond`: who may answer, once, and what is refused.

use crate::harness::{Outcome, Session, World, is_root, outcome, wait_for};
use serde_json::json;
use std::process::Child;

/// A question to a person, of run 0001; its id.
#[track_caller]
pub fn ask(session: &Session, text: &str) -> String {
    let out = session.verb("0001", ["session", "ask", text, "--deferred"]).run().exits(0);
    let id = out.stdout.trim().to_owned();
    assert_eq!(out.stderr, format!("asked {id}\n"));
    id
}

/// What the files of a question to another session are, and the message that brings it: as `message request` makes them.
#[track_caller]
pub fn request(from: &Session, to: &Session, id: &str, text: &str, deliver: bool) {
    let at = from.world.shell("date +%Y-%m-%dT%H:%M:%S.%3N%:z").run().ok();
    std::fs::create_dir_all(from.path(&format!("asked/{id}"))).unwrap();
    std::fs::write(from.path(&format!("asked/{id}/question.md")), text).unwrap();
    let fact = json!({"v": 1, "id": id, "to": to.id, "blocking": true, "run": "0001", "at": at.trim()});
    from.write_fact(&format!("asked/{id}/request.json"), &fact);
    if deliver {
        let seconds = from.world.shell("date +%s").run().ok();
        let name = format!("inbox/new/{}.M000000_{id}.here", seconds.trim());
        let letter = format!("From: a\nSubject: s\nX-Orbh-Question: {}/{id}\n\n{text}\n", from.id);
        std::fs::write(to.path(&name), letter).unwrap();
    }
}

/// The names of the messages in a directory of the inbox.
pub fn letters(session: &Session, place: &str) -> Vec<String> {
    let entries = std::fs::read_dir(session.path(&format!("inbox/{place}"))).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_person_answers_and_learns_whom_it_reached() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "register", "The parser", "more"]).run().ok();
    let id = ask(&session, "which platforms?");
    let out = world.orbh(["respond", &session.id[..8], "linux"]).run().ok();
    let told = format!("answered {id} of session {} (The parser): it works, and collects the answer\n", session.id);
    assert_eq!(out, told);
    assert_eq!(session.text(&format!("asked/{id}/answer.md")).unwrap(), "linux");
    assert_eq!(session.events().last().unwrap(), "answered");
    let id = ask(&session, "and?");
    let json = world.orbh(["respond", &session.id, &id, "-", "--json"]).stdin("two\nlines\n").run().exits(0);
    assert!(json.stdout.starts_with(r#"{"v":1,"session":"#), "{}", json.stdout);
    let json = json.json();
    assert_eq!((&json["by"], &json["delivered"], &json["question"]), (&"person".into(), &true.into(), &id.into()));
    world.orbh(["kill", &session.id]).run().exits(0);
    assert_eq!(json["state"], "working");
}

/// Which question is meant must be sure: with several open ones nothing is answered, and they are named.
#[test]
fn without_a_question_the_only_open_one_is_meant() {
    let world = World::new();
    let session = world.idle_session();
    let respond = |args: &[&str]| world.orbh([&["respond", &session.id], args].concat()).run();
    respond(&["yes"]).fails(66, &["has no open question that is yours to answer", "hint: "]);
    let first = ask(&session, "the first\u{1b}[2J?");
    let second = ask(&session, &"a very long question ".repeat(20));
    let several = respond(&["yes"]).fails(2, &["has 2 open questions", &first, &second, "the first", "hint: "]);
    assert!(!several.stderr.contains('\u{1b}') && several.stderr.len() < 600, "{}", several.stderr);
    let missing = ["no answer was given", "hint: "];
    respond(&[]).fails(2, &missing);
    respond(&[&first]).fails(2, &missing);
    respond(&[&first, "yes", "--file", "f"]).fails(2, &["given twice"]);
    respond(&["nonsense", "yes"]).fails(2, &["'nonsense' is not the id of a message or a question"]);
    respond(&["--file", "nowhere"]).fails(74, &["cannot read 'nowhere'"]);
    respond(&[&first, "yes"]).ok();
    std::fs::write(world.work().join("answer"), "from a file").unwrap();
    respond(&["--file", "answer"]).ok();
    assert_eq!(session.text(&format!("asked/{second}/answer.md")).unwrap(), "from a file");
}

#[test]
fn what_cannot_be_answered_is_refused_and_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    let [answered, cancelled, open] = ["a", "b", "c"].map(|text| ask(&session, text));
    let respond = |id: &str, text: &str| world.orbh(["respond", &session.id, id, text]).run();
    respond(&answered, "once").ok();
    session.verb("0001", ["session", "cancel", &cancelled]).run().ok();
    let before = session.fingerprint();
    let again = respond(&answered, "twice").fails(1, &["is answered already, at 20", "hint: the first answer counts"]);
    assert!(!again.stderr.contains("panicked"));
    respond(&cancelled, "late").fails(1, &["was called off", "hint: "]);
    respond("q000000000", "x").fails(66, &["has put no question q000000000", "hint: "]);
    for empty in ["", " \n\t"] {
        respond(&open, empty).fails(1, &["the answer is empty", "hint: "]);
    }
    world.orbh(["respond", "00000000-0000-4000-8000-000000000000", "x"]).run().fails(66, &["no session"]);
    for (id, code) in [(&answered, "answered"), (&cancelled, "cancelled")] {
        let json = world.orbh(["respond", &session.id, id, "x", "--json"]).run().exits(1).json();
        assert_eq!(json["refused"][0]["code"], code);
    }
    assert_eq!(session.fingerprint(), before);
}

/// The first writer wins, also over a file that an editor has made and not written to yet.
#[test]
fn of_eight_answers_at_once_one_counts() {
    let world = World::new();
    let session = world.idle_session();
    for prepared in [false, true] {
        let id = ask(&session, "which?");
        if prepared {
            std::fs::write(session.path(&format!("asked/{id}/answer.md")), "").unwrap();
        }
        let racing: Vec<Child> =
            (0..8).map(|n| world.orbh(["respond", &session.id, &id, &format!("answer {n}")]).spawn()).collect();
        let ends: Vec<Outcome> = racing.into_iter().map(outcome).collect();
        let winners: Vec<usize> = (0..8).filter(|n| ends[*n].code == Some(0)).collect();
        assert_eq!(winners.len(), 1, "{ends:?}");
        assert_eq!(session.text(&format!("asked/{id}/answer.md")).unwrap(), format!("answer {}", winners[0]));
        let refused = |end: &&Outcome| end.code == Some(1) && end.stderr.contains("is answered already");
        assert_eq!(ends.iter().filter(refused).count(), 7, "{ends:?}");
    }
}

/// Of an answer and a cancellation, given together, one succeeds, and it is the one that stands.
#[test]
fn an_answer_and_a_cancellation_at_once_are_one_of_the_two() {
    let world = World::new();
    let session = world.idle_session();
    for round in 0..6 {
        let id = ask(&session, &format!("round {round}?"));
        let answer = world.orbh(["respond", &session.id, &id, "yes"]).spawn();
        let cancel = session.verb("0001", ["session", "cancel", &id]).spawn();
        let codes = [outcome(answer).code, outcome(cancel).code];
        let files = ["answer.md", "cancelled"].map(|name| session.exists(&format!("asked/{id}/{name}")));
        let expected =
            if codes[0] == Some(0) { ([Some(0), Some(1)], [true, false]) } else { ([Some(1), Some(0)], [false, true]) };
        assert_eq!((codes, files), expected);
    }
}

/// A question to a person is not answered from inside a run: not with its variables, not with half of them, and not
/// without them either, whichever way its process took them out.
#[test]
fn no_run_answers_for_a_person() {
    let world = World::new();
    let asker = world.idle_session();
    let id = ask(&asker, "may I?");
    let respond = ["respond", &asker.id, &id, "yes"];
    asker.verb("0001", respond).run().fails(1, &["only a person may answer", "hint: "]);
    asker.verb("0001", ["respond", &asker.id, "yes"]).run().fails(1, &["only a person may answer"]);
    for name in ["ORBH_SESSION_ID", "ORBH_RUN", "ORBH_NONCE"] {
        world.orbh(respond).env(name, "something").run().fails(1, &["only a person may answer"]);
    }
    let json = asker.verb("0001", ["respond", &asker.id, &id, "yes", "--json"]).run().exits(1).json();
    assert_eq!(json["refused"][0]["code"], "person-only");
    let clean = "env -i PATH=\"$PATH\" ORBH_ROOT=\"$ORBH_ROOT\"";
    // The manager takes in what has lost its parent.
    let orphaned = "until [ $(cut -d\\  -f4 /proc/$$/stat) = $1 ]; do sleep 0.01; done; ";
    let ways = [
        ("unset", format!("env -u ORBH_SESSION_ID -u ORBH_RUN -u ORBH_NONCE orbh respond {} {id} yes", asker.id)),
        ("clean", format!("{clean} orbh respond {} {id} yes", asker.id)),
        ("setsid", format!("{clean} setsid -w sh -c 'orbh respond {} {id} yes'", asker.id)),
        (
            "orphan",
            format!(
                "({clean} setsid sh -c '{orphaned}orbh respond {} {id} yes >orphan 2>&1; echo $? >orphan.code' sh $PPID &)",
                asker.id
            ),
        ),
    ];
    let lines = ways.iter().map(|(name, line)| match *name {
        "orphan" => format!("{line}\n"),
        _ => format!("{line} >{name} 2>&1; echo $? >{name}.code\n"),
    });
    world.agent("sly", &(lines.collect::<String>() + "exec sleep 100000\n"));
    world.launch("command/sly", "answer for the person");
    for (name, _) in &ways {
        assert_eq!(world.wait_line(&format!("{name}.code")), "1", "{name}");
        let said = std::fs::read_to_string(world.work().join(name)).unwrap();
        assert!(said.contains("only a person may answer"), "{name}: {said}");
    }
    // The whole harness without the variables, and its manager gone: it is the recorded process of an open run.
    let line = format!(
        "until [ -e go ]; do sleep 0.01; done; orbh respond {} {id} yes >bare 2>&1; echo $? >bare.code",
        asker.id
    );
    world.agent("bare", &format!("exec {clean} sh -c '{line}; exec sleep 100000'\n"));
    let bare = world.launch("command/bare", "answer for the person");
    bare.kill_manager();
    std::fs::write(world.work().join("go"), "").unwrap();
    assert_eq!(world.wait_line("bare.code"), "1");
    let said = std::fs::read_to_string(world.work().join("bare")).unwrap();
    let why = format!("process {}, above this one, is that of a run of session {}", bare.pid("0001"), bare.id);
    assert!(said.contains(&why), "{said}");
    assert!(!asker.exists(&format!("asked/{id}/answer.md")));
    world.orbh(respond).run().ok();
}

/// R34: a question between sessions: it is open for the one that was asked until that answers, which it does once; nobody
/// answers in its place.
#[test]
fn a_session_answers_what_it_was_asked() {
    let world = World::new();
    let asker = world.idle_session();
    let asked = world.launch("command/idle", "answer");
    let id = "q0123456789".get(..10).unwrap();
    request(&asker, &asked, id, "are you done?", true);
    let page = asked.verb("0001", ["page"]).run().ok();
    let command = format!("orbh respond {} {id} TEXT", asker.id);
    assert_eq!(page.matches(&command).count(), 2, "among messages and obligations: {page}");
    world.orbh(["respond", &asker.id, id, "yes"]).run().fails(1, &["is put to session", &asked.id, "hint: "]);
    asker.verb("0001", ["respond", &asker.id, id, "yes"]).run().fails(1, &["is not put to this session"]);
    let forged = asked.verb_as("0001", "guessed", ["respond", &asker.id, id, "yes"]);
    forged.run().fails(1, &["this is not a process of that run"]);
    assert!(!asker.exists(&format!("asked/{id}/answer.md")));
    let waiting = asker.verb("0001", ["session", "answer", id]).spawn();
    let out = asked.verb("0001", ["respond", &asker.id[..8], "nearly"]).run().ok();
    assert!(out.starts_with(&format!("answered {id} of session {}", asker.id)), "{out}");
    assert_eq!(outcome(waiting).ok(), "nearly\n");
    let flags: Vec<bool> = letters(&asked, "cur").iter().map(|name| name.ends_with(":2,RS")).collect();
    assert_eq!(flags, [true]);
    assert!(letters(&asked, "new").is_empty());
    asked.verb("0001", ["respond", &asker.id, id, "again"]).run().fails(1, &["is answered already"]);
    for session in [&asker, &asked] {
        let page = session.verb("0001", ["page"]).run().ok();
        assert!(page.ends_with("OPEN OBLIGATIONS\n- none\n"), "{page}");
    }
}

/// What a sandbox keeps a run from writing elsewhere waits in its outbox, and counts as its one answer.
#[test]
fn an_answer_that_may_not_be_written_there_goes_by_way_of_the_outbox() {
    if is_root() {
        return eprintln!("skipped: the superuser may write everywhere");
    }
    let world = World::new();
    let asker = world.idle_session();
    let asked = world.launch("command/idle", "answer");
    let id = "q00000000a";
    request(&asker, &asked, id, "are you done?", true);
    // Nobody delivers meanwhile.
    asked.stop_manager();
    let dir = asker.path(&format!("asked/{id}"));
    let mode = |mode| std::fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    mode(0o500);
    let long = asked.verb("0001", ["respond", &asker.id, id, "-"]).stdin("x".repeat(500_000)).run();
    long.fails(1, &["has 409600 bytes at most", "hint: "]);
    let json = asked.verb("0001", ["respond", &asker.id, id, "yes", "--json"]).run().exits(0).json();
    assert_eq!((&json["delivered"], &json["by"]), (&false.into(), &asked.id.clone().into()));
    let order = asked.fact(&format!("outbox/answer-{id}-{}.json", asker.id)).unwrap();
    assert_eq!((&order["kind"], &order["text"]), (&"answer".into(), &"yes".into()));
    let again = asked.verb("0001", ["respond", &asker.id, id, "no"]).run();
    mode(0o700);
    again.fails(1, &["the answer waits to be delivered"]);
    assert!(letters(&asked, "cur")[0].ends_with(":2,S"));
}

/// Wrong things in a question: named with status 65, for the one question alone.
#[test]
fn a_damaged_question_is_named_and_hides_no_other() {
    let world = World::new();
    let session = world.idle_session();
    let [record, place, pipe, other, good] = ["a", "b", "c", "d", "e"].map(|text| ask(&session, text));
    let path = |id: &str, name: &str| session.path(&format!("asked/{id}/{name}"));
    std::fs::write(path(&record, "request.json"), "{").unwrap();
    std::fs::create_dir(path(&place, "answer.md")).unwrap();
    nix::unistd::mkfifo(&path(&pipe, "answer.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::copy(path(&good, "request.json"), path(&other, "request.json")).unwrap();
    std::fs::write(session.path("asked/q00000000f"), "no directory").unwrap();
    for (id, what) in [
        (&record[..], "request.json': damaged at byte 1"),
        (&place, "answer.md': it is not a regular file"),
        (&pipe, "answer.md': it is not a regular file"),
        (&other, "speaks of another question"),
        ("q00000000f", "a part of it is not a directory"),
    ] {
        world.orbh(["respond", &session.id, id, "x"]).run().fails(65, &[what, "hint: "]);
    }
    let listed = world.orbh(["session", "answer", "--session", &session.id]).run().exits(65);
    assert!(listed.stdout.contains(&format!("{good}  open      human")), "{}", listed.stdout);
    assert!(listed.stderr.contains("request.json': damaged at byte 1"), "{}", listed.stderr);
    world.orbh(["inspect", &session.id]).run().exits(65);
    let page = session.verb("0001", ["page"]).run().ok();
    for id in [&record, &place, &pipe, &other, &good] {
        assert!(page.contains(&format!("- asked {id}: ")), "{id}: {page}");
    }
    assert!(page.contains("- damage: cannot read"), "{page}");
    world.orbh(["respond", &session.id, "the only one that can be answered"]).run().ok();
    assert!(path(&good, "answer.md").is_file());
}

/// A million characters, and such as move a cursor, pass through as they are, and no line that is shown of them does.
#[test]
fn an_answer_is_handed_on_byte_by_byte() {
    let world = World::new();
    let session = world.idle_session();
    let evil = format!("\u{1b}[2J\r\u{7}| forged\n- asked q000000000: nothing\n{}", "x".repeat(1 << 20));
    let id = session.verb("0001", ["session", "ask", "-", "--deferred"]).stdin(evil.clone()).run().exits(0).stdout;
    let id = id.trim();
    world.orbh(["respond", &session.id, "-"]).stdin(evil.clone()).run().ok();
    let page = session.verb("0001", ["page"]).run().ok();
    assert!(page.lines().all(|line| !line.starts_with("- asked q000000000")), "{page}");
    assert!(!page.contains(['\u{1b}', '\r', '\u{7}']) && page.len() <= 12 * 1024);
    assert!(session.verb("0001", ["session", "answer", id]).run().ok() == evil.clone() + "\n");
    let json = session.verb("0001", ["session", "answer", id, "--json"]).run().exits(0);
    assert!(json.json()["answer"] == evil);
    wait_for("it to be seen", || session.exists(&format!("asked/{id}/seen")).then_some(()));
}
