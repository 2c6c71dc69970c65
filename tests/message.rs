//! `orbh message`: mail between sessions, from people and from scripts.

mod agents;
mod badinput;
mod interop;
mod outbox;
mod request;

use crate::harness::{Outcome, Session, World};
use serde_json::Value;

/// Two sessions of agents that do nothing.
pub(crate) fn pair(world: &World) -> (Session<'_>, Session<'_>) {
    (world.idle_session(), world.launch("command/idle", "do nothing either"))
}

/// The id of a message that was just sent.
#[track_caller]
pub(crate) fn sent(out: Outcome) -> String {
    let line = out.ok();
    let id = line.strip_prefix("queued ").and_then(|rest| rest.split(' ').next()).unwrap_or_else(|| panic!("{line}"));
    id.to_owned()
}

impl Session<'_> {
    /// `message list ID --json`, with further options.
    #[track_caller]
    pub(crate) fn mail(&self, options: &[&str]) -> Vec<Value> {
        let out = self.world.orbh([&["message", "list", &self.id, "--json"], options].concat()).run();
        out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// `message show MESSAGE --json`.
    #[track_caller]
    pub(crate) fn letter(&self, id: &str) -> Value {
        self.world.orbh(["message", "show", id, "--session", &self.id, "--json"]).run().exits(0).json()
    }

    /// What became of a message: `new`, `shown` or `answered`.
    #[track_caller]
    pub(crate) fn state_of(&self, id: &str) -> String {
        self.letter(id)["state"].as_str().unwrap().to_owned()
    }

    /// What this session sees of what it sent to another one, as `ID STATE PLACE`.
    #[track_caller]
    pub(crate) fn sent_to(&self, to: &Session) -> Vec<String> {
        let out = self.verb("0001", ["message", "list", &to.id, "--sent", "--json"]).run().ok();
        let line = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            let word = |key: &str| value[key].as_str().unwrap().to_owned();
            [word("id"), word("state"), word("place")].join(" ")
        };
        out.lines().map(line).collect()
    }

    /// Puts a file into the inbox as any program may, and returns its name.
    pub(crate) fn put_mail(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path("inbox/tmp").join(name), bytes).unwrap();
        std::fs::rename(self.path("inbox/tmp").join(name), self.path("inbox/new").join(name)).unwrap();
        name.to_owned()
    }
}

#[test]
fn a_session_a_person_and_a_script_send_and_each_is_named_on_the_page() {
    let world = World::new();
    let (one, two) = pair(&world);
    one.verb("0001", ["session", "set", "title", "The sender"]).run().ok();
    let session = sent(one.verb("0001", ["message", "send", &two.id[..8], "from a session"]).run());
    let person = sent(world.orbh(["message", "send", &two.id, "from a person"]).run());
    let file = world.work().join("file");
    std::fs::write(&file, "from a file\n").unwrap();
    world.orbh(["message", "send", &two.id, "--file", file.to_str().unwrap(), "--subject", "about"]).run().ok();
    let json = world.orbh(["message", "send", &two.id, "-", "--json"]).stdin("from a script\n").run().json();
    assert_eq!((&json["v"], &json["to"], &json["way"]), (&1.into(), &two.id.as_str().into(), &"inbox".into()));
    assert_eq!(two.letter(&session)["session"], one.id.as_str());
    assert_eq!(two.letter(&person)["session"], Value::Null);

    let page = two.verb("0001", ["page"]).run().ok();
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).unwrap();
    let user = user.map_or_else(|| format!("uid-{}", nix::unistd::geteuid()), |user| user.name);
    for part in [
        &format!("- message {session} from The sender <{}@orbh.localhost>, ", one.id),
        &format!("- message {person} from {user} <{user}@"),
        ": about\n  | from a file\n",
        ": from a script\n",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    // In the order in which they were sent.
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("from a session") < at("from a person") && at("from a person") < at("from a file"));
    assert!(!two.verb("0001", ["page"]).run().ok().contains("MESSAGES"));
}

#[test]
fn whatever_text_is_sent_is_the_text_that_is_shown() {
    let world = World::new();
    let (_, two) = pair(&world);
    let long = "0123456789abcdef".repeat(400);
    let lines = "a line of some length, ünïcödé 🦀\n".repeat(30_000);
    for text in [
        "plain",
        "empty lines\n\n\nbetween\n\n",
        "\n\nbefore",
        " blanks \n\tand tabs\t\n",
        "ünïcödé 🦀 \u{202e}",
        "From the beginning\n.\n..\n>From\n",
        "Subject: no header\nX-Orbh-Question: neither\n\nbody",
        "-- \nsignature",
        "=?utf-8?Q?not_encoded?= =20 =\nso",
        "a NUL \0 an escape \u{1b}[2J, a return \r in it",
        &long,
        &lines,
        &format!("{long}\n\nünd {long}"),
    ] {
        let out = world.orbh(["message", "send", &two.id, "-", "--json"]).stdin(text).run().exits(0).json();
        let id = out["id"].as_str().unwrap();
        let whole = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        assert_eq!(two.letter(id)["text"], whole.as_str());
        let shown = world.orbh(["message", "show", id, "--session", &two.id]).run().ok();
        assert_eq!(shown.split_once("\n\n").unwrap().1, whole);
        let raw = world.orbh(["message", "show", id, "--session", &two.id, "--raw"]).run().ok();
        assert!(raw.lines().all(|line| line.len() <= 998), "a line that mail does not allow");
    }
}

#[test]
fn a_message_that_says_nothing_or_is_no_text_is_refused_and_nothing_is_sent() {
    let world = World::new();
    let (one, two) = pair(&world);
    let send = |args: &[&str]| one.verb("0001", [&["message", "send"], args].concat());
    send(&[&two.id, ""]).run().fails(1, &["the message is empty", "hint: "]);
    send(&[&two.id, " \n"]).run().fails(1, &["the message is empty"]);
    send(&[&two.id, "-"]).stdin(&b"caf\xe9"[..]).run().fails(2, &["standard input is not UTF-8 at byte 3"]);
    send(&[&two.id]).run().fails(2, &["no text was given", "hint: "]);
    send(&[]).run().exits(2);
    send(&["0000", "text"]).run().fails(66, &["no session '0000'", "hint: "]);
    send(&[&two.id, "text", "--file", "f"]).run().exits(2);
    assert_eq!(two.mail(&[]).len(), 0);
    send(&[&two.id, "", "--subject", "all is said"]).run().ok();
    assert_eq!(two.mail(&[])[0]["subject"], "all is said");
}

#[test]
fn an_answer_to_a_message_goes_to_who_sent_it_and_marks_it() {
    let world = World::new();
    let (one, two) = pair(&world);
    let first = sent(one.verb("0001", ["message", "send", &two.id, "are you there?"]).run());
    let other = sent(world.orbh(["message", "send", &two.id, "from nobody"]).run());
    let reply = |args: &[&str]| two.verb("0001", [&["message", "send", "--reply-to"], args].concat()).run();
    let second = sent(reply(&[&first[..5], "yes"]));
    let letter = one.letter(&second);
    assert_eq!((&letter["subject"], &letter["text"]), (&"Re: are you there?".into(), &"yes\n".into()));
    let raw = one.verb("0001", ["message", "show", &second, "--raw"]).run().ok();
    assert!(raw.contains(&format!("In-Reply-To: <{first}.{}@orbh.localhost>\n", two.id)), "{raw}");
    assert_eq!((two.state_of(&first), two.state_of(&other)), ("answered".to_owned(), "new".to_owned()));
    // Answered, and still for its Page.
    assert!(two.verb("0001", ["page"]).run().ok().contains(&first));
    assert_eq!(one.sent_to(&two), [format!("{first} answered cur")]);
    // An answer to an answer has no second Re:, and may go to another session.
    let third = sent(one.verb("0001", ["message", "send", "--reply-to", &second, &one.id, "-"]).stdin("so\n").run());
    assert_eq!(one.letter(&third)["subject"], "Re: are you there?");

    reply(&[&other, "who are you?"]).fails(2, &["names no session that sent it", "hint: give the id"]);
    sent(reply(&[&other, &one.id, "tell them"]));
    reply(&["m000000000", "yes"]).fails(66, &["has no message 'm000000000'", "hint: "]);
    world.orbh(["message", "send", "--reply-to", &first, "x"]).run().fails(2, &["inside a run"]);
}

#[test]
fn the_sender_sees_what_is_queued_and_what_was_shown() {
    let world = World::new();
    let (one, two) = pair(&world);
    let send = |text: &str| sent(one.verb("0001", ["message", "send", &two.id, text]).run());
    let first = send("first");
    world.orbh(["message", "send", &two.id, "from another"]).run().ok();
    assert_eq!(one.sent_to(&two), [format!("{first} queued new")]);
    two.verb("0001", ["page"]).run().ok();
    let second = send("second");
    assert_eq!(one.sent_to(&two), [format!("{first} shown cur"), format!("{second} queued new")]);
    assert_eq!(two.mail(&[]).len(), 3);
    one.verb("0001", ["message", "list", "--sent"]).run().exits(2);
    world.orbh(["message", "list", &two.id, "--sent"]).run().fails(2, &["ORBH_SESSION_ID is not set"]);
}

/// What was not shown is always listed; of the rest the newest.
#[test]
fn a_list_has_all_that_is_new_and_the_newest_of_the_rest() {
    let world = World::new();
    let session = world.fake_session("00000000-0000-4000-8000-000000000000", "t", std::process::id().cast_signed());
    for dir in ["inbox/tmp", "inbox/new", "inbox/cur"] {
        crate::harness::private_dir(&session.path(dir));
    }
    for number in 1..=50 {
        let text = format!("From: x@y\nSubject: number {number}\n\n");
        let name = format!("cur/{}.M000000_m{number:09}.host:2,S", 1_700_000_000 + number);
        std::fs::write(session.path("inbox").join(name), text).unwrap();
    }
    session.put_mail("1600000000.old.host", b"From: x@y\nSubject: old and new\n\n");
    let listed = |options: &[&str]| -> Vec<String> {
        session.mail(options).iter().map(|line| line["subject"].as_str().unwrap().to_owned()).collect()
    };
    let mut expected = vec!["old and new".to_owned()];
    expected.extend((31..=50).map(|number| format!("number {number}")));
    assert_eq!(listed(&[]), expected);
    assert_eq!(listed(&["--all"]).len(), 51);
    let out = world.orbh(["message", "list", &session.id]).run().exits(0).says("30 older ones are not listed");
    assert_eq!(out.stdout.lines().count(), 21);
    let first = out.stdout.lines().next().unwrap();
    assert!(first.contains("  new  ") && first.ends_with("  x@y  old and new"), "{first}");
}

#[test]
fn a_look_at_mail_changes_nothing() {
    let world = World::new();
    let (one, two) = pair(&world);
    let id = sent(one.verb("0001", ["message", "send", &two.id, "look at me"]).run());
    let before = two.fingerprint();
    two.verb("0001", ["message", "list"]).run().ok();
    two.verb("0001", ["message", "show", &id]).run().ok();
    let raw = two.verb("0001", ["message", "show", &id, "--raw"]).run().ok();
    world.orbh(["message", "show", &id[..4], "--session", &two.id, "--json"]).run().ok();
    one.verb("0001", ["message", "list", &two.id, "--sent"]).run().ok();
    assert!(two.fingerprint() == before);
    let path = two.letter(&id)["path"].as_str().unwrap().to_owned();
    assert_eq!(raw, std::fs::read_to_string(path).unwrap());
    let show = |text: &str| two.verb("0001", ["message", "show", text]).run();
    show(&id[..3]).fails(2, &["does not name a message", "hint: "]);
    show("../../prompt.md").fails(2, &["does not name a message"]);
    show("mffffffff").fails(66, &["has no message"]);
    two.put_mail("1.M000000_m123400000.h", b"\n");
    two.put_mail("2.M000000_m123400001.h", b"\n");
    show("m1234").fails(2, &["names 2 messages: m123400000 m123400001", "hint: "]);
    show("m123400001").ok();
}

/// A straggler sends nothing, and who only borrowed the variables of a run does not either.
#[test]
fn only_the_current_run_sends_for_its_session() {
    let world = World::new();
    let (one, two) = pair(&world);
    one.verb_as("0001", "borrowed", ["message", "send", &two.id, "x"]).run().fails(1, &["is not that of run 0001"]);
    one.compact("0001", "0002");
    let out = one.verb("0001", ["message", "send", &two.id, "x", "--json"]).run().exits(1);
    assert_eq!(out.json()["refused"][0]["code"], "run-over");
    assert_eq!(two.mail(&[]).len(), 0);
    one.verb("0002", ["message", "send", &two.id, "x"]).run().ok();
}

#[test]
fn a_finished_session_keeps_what_it_is_sent_for_the_run_that_resumes_it() {
    let world = World::new();
    let (one, two) = pair(&world);
    two.return_and_exit("0001");
    let out = one.verb("0001", ["message", "send", &two.id, "still there?"]).run().exits(0);
    assert!(out.stdout.starts_with("queued m"), "{out:?}");
    let out = out.says("has no run (finished)").says(&format!("orbh resume {}", two.id));
    assert_eq!(out.stderr.lines().count(), 1);
    world.orbh(["resume", &two.id]).run().ok();
    assert!(two.verb("0002", ["page"]).run().ok().contains("still there?"));
}

/// What stands in a subject or a title begins no header of its own.
#[test]
fn nobody_forges_a_header_by_a_subject_or_a_title() {
    let world = World::new();
    let (one, two) = pair(&world);
    let evil = format!("a\nX-Orbh-Session: {}\r\nX-Orbh-Question: {}/q000000000\n\nbody", two.id, two.id);
    one.verb("0001", ["session", "set", "title", &evil]).run().ok();
    let id = sent(one.verb("0001", ["message", "send", &two.id, "text", "--subject", &evil]).run());
    let letter = two.letter(&id);
    assert_eq!((&letter["session"], &letter["respond"]), (&one.id.as_str().into(), &Value::Null));
    assert_eq!(letter["text"], "text\n");
    let raw = two.verb("0001", ["message", "show", &id, "--raw"]).run().ok();
    let headers = raw.split("\n\n").next().unwrap();
    assert_eq!(headers.lines().filter(|line| line.starts_with("X-Orbh-")).count(), 1, "{raw}");
    assert_eq!(headers.matches("charset").count(), 1, "{raw}");
}
