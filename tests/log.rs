//! `orbh log`: what happened, once or as it comes.

use crate::harness::{DEADLINE, World, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};

#[test]
fn every_event_is_a_line() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "return", "done"]).run().ok();
    session.wait_end("0001");
    wait_for("the last line", || session.text("log/events.ndjson").filter(|text| text.contains("run-ended")));
    let json = world.orbh(["log", &session.id, "--json"]).run().ok();
    let events: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["launched", "run-created", "run-started", "returned", "run-ended"]);
    assert!(json.lines().all(|line| line.starts_with(r#"{"v":1,"at":"#)), "{json}");
    assert_eq!(session.text("log/events.ndjson").unwrap(), json);
    assert_eq!(world.orbh(["log", &session.id]).run().ok().lines().count(), 5);
}

#[test]
fn lines_that_cannot_be_read_spoil_only_themselves() {
    let world = World::new();
    let session = world.fake_session("11111111-1111-4111-8111-111111111111", "t", std::process::id().cast_signed());
    assert_eq!(world.orbh(["log", &session.id]).run().ok(), "");
    let good = r#"{"v":1,"at":"2026-01-01T00:00:00Z","event":"one","new_key":1}"#;
    std::fs::write(session.path("log/events.ndjson"), format!("{good}\nnot json\n\n{good}\n{{\"v\":1,\"at\":"))
        .unwrap();
    let text = world.orbh(["log", &session.id]).run().ok();
    assert_eq!(text.lines().count(), 4);
    assert_eq!(text.lines().filter(|line| line.starts_with("?  ")).count(), 2);
    assert_eq!(world.orbh(["log", &session.id, "--json"]).run().ok(), format!("{good}\n{good}\n"));
}

/// A torn last line is shown when it is whole, and the end of the session ends it.
#[test]
fn following_shows_whole_lines_and_ends_with_the_session() {
    let world = World::new();
    let session = world.idle_session();
    let mut following = world.orbh(["log", "-f", &session.id, "--json"]).spawn();
    let (sender, lines) = std::sync::mpsc::channel();
    let out = BufReader::new(following.stdout.take().unwrap());
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let next = || lines.recv_timeout(DEADLINE).unwrap();
    for name in ["launched", "run-created", "run-started"] {
        assert!(next().contains(name));
    }
    let mut log = std::fs::OpenOptions::new().append(true).open(session.path("log/events.ndjson")).unwrap();
    log.write_all(br#"{"v":1,"at":"2026-01-01T00:00:00Z","#).unwrap();
    log.write_all(b"\"event\":\"by-hand\"}\n").unwrap();
    assert!(next().contains("by-hand"));
    world.orbh(["kill", &session.id]).run().ok();
    let rest: Vec<String> = lines.iter().collect();
    assert!(rest.last().unwrap().contains("run-ended"), "{rest:?}");
    assert_eq!(following.wait().unwrap().code(), Some(0));
}

#[test]
fn following_a_session_that_is_over_ends_at_once() {
    let world = World::new();
    let session = world.idle_session();
    world.orbh(["kill", &session.id]).run().ok();
    let out = world.orbh(["log", "--follow", &session.id]).run().ok();
    assert!(out.contains("kill-ordered"), "{out}");
}

/// Times have the offset of the machine, by TZ or by /etc/localtime, as date(1) tells it.
#[test]
fn times_have_the_offset_of_the_machine() {
    let world = World::new();
    let session = world.idle_session();
    for zone in [None, Some("Asia/Kathmandu"), Some("America/St_Johns")] {
        let with = |cmd: crate::harness::Cmd| zone.into_iter().fold(cmd, |cmd, zone| cmd.env("TZ", zone));
        with(session.verb("0001", ["session", "set", "key", "value"])).run().ok();
        with(session.verb("0001", ["session", "register", "a title", "a description"])).run().exits(0);
        let json = with(world.orbh(["inspect", &session.id, "--json"])).run().json();
        let date = with(world.shell("date +%:z")).run().ok();
        let at = json["created_at"].as_str().unwrap();
        assert!(at.ends_with(date.trim()), "{at} is not of the zone {zone:?}, {date}");
    }
}
