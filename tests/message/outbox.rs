//! What a sandboxed run sends: its spool alone is its own to write, and its manager delivers.
//!
//! The sandbox is played by a mount: all of the root can be read, and only the run's own spool be written.

use super::{Session, pair, sent};
use crate::harness::{Cmd, World, is_root, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A verb of a run in the sandbox; `None` where the machine has no such mounts.
fn boxed(session: &Session, args: &[&str]) -> Option<Cmd> {
    let line = "mount --bind \"$ORBH_ROOT\" \"$ORBH_ROOT\" && mount --bind \"$OWN\" \"$OWN\" && \
                mount -o remount,ro,bind \"$ORBH_ROOT\" && exec \"$ORBH\" \"$@\"";
    let cmd = session.world.mounting_shell(line)?.bare_args(["orbh"]).args(args);
    let cmd = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001");
    Some(cmd.env("ORBH_NONCE", session.nonce("0001")).env("OWN", session.path("")))
}

/// The subjects in an inbox.
fn subjects(session: &Session) -> Vec<String> {
    session.mail(&["--all"]).iter().map(|line| line["subject"].as_str().unwrap().to_owned()).collect()
}

/// Waits until nothing is left to be delivered.
#[track_caller]
fn wait_delivered(session: &Session) {
    let waiting = || {
        let names = std::fs::read_dir(session.path("outbox")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().ends_with(".json")).count()
    };
    wait_for("the outbox to be empty", || (waiting() == 0).then_some(()));
}

/// Writes an order as a run can, whole.
fn order(session: &Session, name: &str, order: &Value) {
    let path = session.path("outbox").join(format!(".tmp-{name}"));
    std::fs::write(&path, order.to_string()).unwrap();
    std::fs::rename(path, session.path("outbox").join(name)).unwrap();
}

fn message(id: &str, to: &str, text: &str) -> Value {
    json!({"v": 1, "kind": "message", "id": id, "to": to, "at": "2026-01-01T00:00:00.000+00:00", "text": text})
}

fn answer(id: &str, to: &str, text: &str) -> Value {
    json!({"v": 1, "kind": "answer", "id": id, "to": to, "at": "2026-01-01T00:00:00.000+00:00", "text": text})
}

fn send_order(session: &Session, id: &str, to: &str, text: &str) {
    order(session, &format!("{id}.json"), &message(id, to, text));
}

#[test]
fn a_sandboxed_run_sends_and_asks_by_way_of_its_outbox() {
    let world = World::new();
    let (one, two) = pair(&world);
    let Some(send) = boxed(&one, &["message", "send", &two.id, "from the sandbox"]) else { return };
    let manager = one.stop_manager();
    let out = send.run().ok();
    assert!(out.ends_with(", by way of the outbox\n"), "{out}");
    let id = out.split(' ').nth(1).unwrap().to_owned();
    let out = boxed(&one, &["message", "request", &two.id, "may I?", "--deferred", "--json"]).unwrap().run();
    let question = out.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(out.json()["way"], "outbox");
    assert_eq!(one.sent_to(&two), [format!("{id} queued outbox"), format!("{question} queued outbox")]);
    assert_eq!(subjects(&two), Vec::<String>::new());
    signal(manager, Signal::SIGCONT);
    wait_delivered(&one);
    assert_eq!(one.sent_to(&two), [format!("{id} queued new"), format!("{question} queued new")]);
    assert_eq!(two.letter(&id)["session"], one.id.as_str());
    let page = two.verb("0001", ["page"]).run().ok();
    assert!(page.contains("from the sandbox"), "{page}");
    assert!(page.contains(&format!("answer it: orbh respond {} {question} TEXT", one.id)), "{page}");
    assert_eq!(one.sent_to(&two), [format!("{id} shown cur"), format!("{question} shown cur")]);
    // Its own inbox it may write: it is consumed, and answered, without the manager.
    two.verb("0001", ["message", "send", &one.id, "and back"]).run().ok();
    assert!(boxed(&one, &["page"]).unwrap().run().ok().contains("and back"));
    assert!(!boxed(&one, &["page"]).unwrap().run().ok().contains("and back"));
}

#[test]
fn what_is_too_long_for_the_outbox_is_refused() {
    let world = World::new();
    let (one, two) = pair(&world);
    let Some(send) = boxed(&one, &["message", "send", &two.id, "--file", "long", "--json"]) else { return };
    let long = |text: String| std::fs::write(world.work().join("long"), text).unwrap();
    long("x".repeat(400 * 1024 + 1));
    assert_eq!(send.run().exits(1).json()["refused"][0]["code"], "outbox-too-long");
    // JSON needs six bytes for each of these: no reader would take such an order.
    let send = || boxed(&one, &["message", "send", &two.id, "--file", "long", "--json"]).unwrap();
    long("\u{1}".repeat(400 * 1024));
    assert_eq!(send().run().exits(1).json()["refused"][0]["code"], "outbox-too-long");
    assert_eq!(std::fs::read_dir(one.path("outbox")).unwrap().count(), 0);
    for text in ["x".repeat(400 * 1024), "\u{1}".repeat(100 * 1024)] {
        long(text.clone());
        let id = send().run().exits(0).json()["id"].as_str().unwrap().to_owned();
        wait_delivered(&one);
        assert!(two.letter(&id)["text"] == format!("{text}\n"));
    }
}

/// Who may not write there either, the manager, says so to the session that sent it.
#[test]
fn what_cannot_be_delivered_comes_back() {
    let world = World::new();
    let (one, two) = pair(&world);
    let nobody = "00000000-0000-4000-8000-000000000000";
    send_order(&one, "m000000001", nobody, "to nobody\nat all");
    wait_delivered(&one);
    let page = one.verb("0001", ["page"]).run().ok();
    for part in [
        "from orbh <orbh@orbh.localhost>",
        &format!("not delivered: message m000000001 for session {nobody}\n"),
        &format!("was not delivered: no session '{nobody}'"),
        "  | > to nobody\n  | > at all\n",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    if is_root() {
        println!("skipped, in part: the superuser may write everywhere");
        return;
    }
    std::fs::set_permissions(two.path("inbox/tmp"), std::fs::Permissions::from_mode(0o500)).unwrap();
    let out = one.verb("0001", ["message", "send", &two.id, "closed", "--json"]).run().exits(0);
    assert_eq!(out.json()["way"], "outbox");
    wait_delivered(&one);
    let page = one.verb("0001", ["page"]).run().ok();
    assert!(page.contains("not delivered") && page.contains("Permission denied"), "{page}");
    assert_eq!(subjects(&two), Vec::<String>::new());
}

/// A question that nobody will ever see is called off, and who waits for its answer is told.
#[test]
fn a_question_that_cannot_be_delivered_is_called_off() {
    let world = World::new();
    let (one, two) = pair(&world);
    let Some(ask) = boxed(&one, &["message", "request", &two.id, "are you there?"]) else { return };
    let manager = one.stop_manager();
    let waiting = ask.spawn();
    wait_for("the order", || std::fs::read_dir(one.path("outbox")).unwrap().next().map(drop));
    let at = two.path("");
    kill_dead(two.manager_pid());
    kill_dead(two.pid("0001"));
    std::fs::remove_dir_all(at).unwrap();
    signal(manager, Signal::SIGCONT);
    outcome(waiting).exits(1).says("was called off").says("'orbh page' says why");
    let page = one.verb("0001", ["page"]).run().ok();
    assert!(page.contains("not delivered: question q") && page.contains("OPEN OBLIGATIONS\n- none\n"), "{page}");
}

/// Each is put aside under another name, each is told, and what is right beside them is delivered.
#[test]
fn a_forged_order_does_nothing_but_come_back() {
    let world = World::new();
    let (one, two) = pair(&world);
    let three = world.launch("command/idle", "the third");
    // A question of three to two, which one knows of.
    let question = sent(three.verb("0001", ["message", "request", &two.id, "secret?", "--deferred"]).run());
    let own = sent(one.verb("0001", ["message", "request", &two.id, "mine?", "--deferred"]).run());
    let before = three.fingerprint();
    let known = subjects(&two);
    // Another sender is named.
    let mut other = message("m000000001", &two.id, "in the name of another");
    other["from"] = three.id.as_str().into();
    other["subject"] = format!("x\nX-Orbh-Session: {}", three.id).into();
    order(&one, "m000000001.json", &other);
    // An answer to a question that was not put to it, to its own, to none; an empty one.
    for (id, to) in [(&question, &three.id), (&own, &one.id), (&"q00000000f".to_owned(), &two.id)] {
        order(&one, &format!("answer-{id}-{to}.json"), &answer(id, to, "forged"));
    }
    // A question without a record, and one that was put to somebody else.
    send_order(&one, "q00000000e", &two.id, "no record");
    send_order(&one, &own, &three.id, "not to you");
    // No ids, no session, no kind, another version, another name, no JSON, no file.
    order(&one, "path.json", &message("../../m0", &two.id, "a path"));
    order(&one, "to.json", &message("m000000002", "../../etc", "a path"));
    order(&one, "kind.json", &json!({"v": 1, "kind": "kill", "id": "m000000003", "to": two.id}));
    order(&one, "version.json", &json!({"v": 2, "kind": "message"}));
    order(&one, "m00000000a.json", &message("m00000000b", &two.id, "another name"));
    std::fs::write(one.path("outbox/torn.json"), "{\"v\": 1, \"ki").unwrap();
    std::fs::create_dir(one.path("outbox/dir.json")).unwrap();
    nix::unistd::mkfifo(&one.path("outbox/fifo.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink(two.path("prompt.md"), one.path("outbox/link.json")).unwrap();
    let huge = std::fs::File::create(one.path("outbox/huge.json")).unwrap();
    huge.set_len(2 << 30).unwrap();
    send_order(&one, "m00000000c", &two.id, "the good one");
    wait_delivered(&one);
    // Of all of them two have arrived, from who sent them.
    let arrived: Vec<String> = subjects(&two).into_iter().filter(|subject| !known.contains(subject)).collect();
    assert_eq!(arrived.len(), 2, "{arrived:?}");
    for id in ["m000000001", "m00000000c"] {
        assert_eq!(two.letter(id)["session"], one.id.as_str());
    }
    assert!(three.fingerprint() == before);
    let mut aside: Vec<PathBuf> = std::fs::read_dir(one.path("outbox")).unwrap().map(|e| e.unwrap().path()).collect();
    aside.sort();
    let names: Vec<&str> = aside.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let refused = ["dir", "fifo", "huge", "kind", "link", "m00000000a", "path", "to", "torn", "version"];
    assert_eq!(names, refused.map(|name| format!("{name}.json.refused")));
    let back = subjects(&one);
    assert_eq!(back.iter().filter(|subject| subject.starts_with("not delivered: the order outbox/")).count(), 10);
    assert_eq!(back.iter().filter(|subject| subject.starts_with("not delivered: the answer to ")).count(), 3);
    assert_eq!(back.iter().filter(|subject| subject.starts_with("not delivered: question q")).count(), 2);
    assert_eq!(back.len(), 15, "{back:?}");
    let said = one.text("log/events.ndjson").unwrap();
    assert_eq!(said.matches("\"not-delivered\"").count(), 15, "{said}");
    assert_eq!(one.state(), "working");
}

/// The record of the one who asked says who may answer, and the first answer counts.
#[test]
fn an_answer_goes_to_the_question_that_was_put_to_the_session() {
    let world = World::new();
    let (one, two) = pair(&world);
    let ask = |text: &str| sent(one.verb("0001", ["message", "request", &two.id, text, "--deferred"]).run());
    let (first, second, third) = (ask("first?"), ask("second?"), ask("third?"));
    let give = |id: &str, text: &str| order(&two, &format!("answer-{id}-{}.json", one.id), &answer(id, &one.id, text));
    give(&first, "the first answer");
    wait_delivered(&two);
    assert_eq!(one.text(&format!("asked/{first}/answer.md")).unwrap(), "the first answer");
    assert_eq!(two.state_of(&first), "answered");
    assert_eq!(two.state_of(&second), "new");
    assert_eq!(subjects(&two).len(), 3);
    // A second answer, one to a question that was called off, and an empty one change nothing and come back.
    std::fs::write(one.path(&format!("asked/{second}/cancelled")), "").unwrap();
    give(&first, "another");
    give(&second, "too late");
    give(&third, " \n");
    wait_delivered(&two);
    assert_eq!(one.text(&format!("asked/{first}/answer.md")).unwrap(), "the first answer");
    assert!(!one.exists(&format!("asked/{second}/answer.md")) && !one.exists(&format!("asked/{third}/answer.md")));
    let page = two.verb("0001", ["page"]).run().ok();
    for part in ["was answered before", "was called off", "the answer is empty"] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
}

/// What fails for want of something waits for that, and nothing else waits for it.
#[test]
fn a_delivery_that_fails_is_tried_again_and_holds_up_nothing() {
    let world = World::new();
    let (one, two) = pair(&world);
    let three = world.launch("command/idle", "the third");
    // Every temporary name that the manager would write under is taken: EEXIST, as odd as EIO and ENOSPC.
    let manager = one.manager_pid();
    let start = shared::ground::process::stat(manager).unwrap().proc.start;
    let taken = |serial: u32| two.path("inbox/tmp").join(format!(".tmp-{manager}-{start}-{serial}"));
    for serial in 0..1000 {
        std::fs::write(taken(serial), "").unwrap();
    }
    send_order(&one, "m000000001", &two.id, "in spite of all");
    wait_for("the failure to be told", || {
        one.text("log/events.ndjson").unwrap().contains("\"delivery-waits\"").then_some(())
    });
    send_order(&one, "m000000002", &three.id, "meanwhile");
    wait_for("the other delivery", || (subjects(&three) == ["meanwhile"]).then_some(()));
    one.compact("0001", "0002");
    assert!(one.exists("outbox/m000000001.json"));
    assert_eq!(subjects(&two), Vec::<String>::new());
    assert_eq!(subjects(&one), Vec::<String>::new(), "nothing came back");
    for serial in 0..1000 {
        std::fs::remove_file(taken(serial)).unwrap();
    }
    wait_delivered(&one);
    assert_eq!(subjects(&two), ["in spite of all"]);
    let said = one.text("log/events.ndjson").unwrap();
    assert_eq!(said.matches("\"delivered\"").count(), 2, "{said}");
}

/// The last words of a run are delivered before its manager leaves.
#[test]
fn what_a_run_sent_before_it_returned_is_delivered() {
    let world = World::new();
    let (one, two) = pair(&world);
    let manager = one.stop_manager();
    for number in 0..100 {
        send_order(&one, &format!("m{number:09x}"), &two.id, "the last words");
    }
    one.verb("0001", ["session", "return", "done"]).run().ok();
    signal(one.pid("0001"), Signal::SIGTERM);
    signal(manager, Signal::SIGCONT);
    assert_eq!(one.wait_end("0001"), "returned");
    wait_for("the manager to leave", || (!one.managed()).then_some(()));
    assert_eq!(two.mail(&["--all"]).len(), 100);
    assert_eq!(std::fs::read_dir(one.path("outbox")).unwrap().count(), 0);
}

/// The message was delivered, and shown, when the manager died that would have taken the order away.
#[test]
fn a_manager_that_takes_over_delivers_nothing_twice() {
    let world = World::new();
    let (one, two) = pair(&world);
    let ask = sent(two.verb("0001", ["message", "request", &one.id, "what?", "--deferred"]).run());
    send_order(&one, "m000000001", &two.id, "once");
    wait_delivered(&one);
    assert!(two.verb("0001", ["page"]).run().ok().contains("once"));
    one.kill_manager();
    send_order(&one, "m000000001", &two.id, "once");
    send_order(&one, "m000000002", &two.id, "while nobody was there");
    order(&one, &format!("answer-{ask}-{}.json", two.id), &answer(&ask, &two.id, "this"));
    std::fs::write(two.path(&format!("asked/{ask}/answer.md")), "this").unwrap();
    world.orbh(["resume", &one.id]).run().exits(0);
    wait_delivered(&one);
    let page = two.verb("0001", ["page"]).run().ok();
    assert!(page.contains("while nobody was there") && !page.contains("once"), "{page}");
    assert_eq!(two.mail(&["--all"]).len(), 2);
    assert_eq!(subjects(&one), ["what?"], "nothing came back");
}

/// Who sends by way of the outbox while nobody delivers is told what puts that right.
#[test]
fn an_outbox_without_a_manager_is_told_to_who_sends() {
    let world = World::new();
    let (one, two) = pair(&world);
    let Some(send) = boxed(&one, &["message", "send", &two.id, "hello"]) else { return };
    one.kill_manager();
    send.run().exits(0).says("the manager of this session is gone").says(&format!("orbh resume {}", one.id));
    world.orbh(["resume", &one.id]).run().exits(0);
    wait_delivered(&one);
    assert_eq!(subjects(&two), ["hello"]);
}

/// An outbox that is none, or of which nothing is to be had, keeps the manager from nothing.
#[test]
fn something_else_in_the_place_of_the_outbox_leads_nowhere() {
    let world = World::new();
    let (one, two) = pair(&world);
    let elsewhere = world.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("m000000001.json"), message("m000000001", &two.id, "not mine").to_string()).unwrap();
    std::fs::remove_dir(one.path("outbox")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, one.path("outbox")).unwrap();
    one.compact("0001", "0002");
    assert_eq!(subjects(&two), Vec::<String>::new());
    assert!(elsewhere.join("m000000001.json").exists());
    std::fs::remove_file(one.path("outbox")).unwrap();
    std::fs::create_dir(one.path("outbox")).unwrap();
    send_order(&one, "m000000002", &two.id, "mine");
    wait_delivered(&one);
    assert_eq!(subjects(&two), ["mine"]);
}
