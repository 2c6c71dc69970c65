//! `pager watch`: the stream that scripts and status bars are built on.

use super::Armed;
use crate::harness::{Cmd, DEADLINE, World, changes, signal, wait_for};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

/// A stream that is read line by line.
struct Lines {
    child: Child,
    lines: Receiver<Value>,
    had: Vec<Value>,
}

impl Lines {
    fn of(cmd: Cmd) -> Lines {
        let mut child = cmd.spawn();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        let unseen = |c: char| c.is_control() || c == '\u{202e}';
        std::thread::spawn(move || {
            for line in out.lines() {
                let line = line.unwrap();
                assert!(line.starts_with("{\"v\":1,\"event\":\"") && !line.contains(unseen), "{line:?}");
                // Who reads no more lets the stream end.
                if tell.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Lines { child, lines, had: Vec::new() }
    }

    /// The next line of that kind; the others are passed over.
    #[track_caller]
    fn next(&mut self, event: &str) -> Value {
        loop {
            let Ok(line) = self.lines.recv_timeout(DEADLINE) else {
                panic!("waited in vain for {event}, after {:#?}", self.had)
            };
            self.had.push(line.clone());
            assert!(line["at"].is_string() && line["session"].is_string(), "{line}");
            if line["event"] == event {
                return line;
            }
        }
    }

    /// The same, with these values.
    #[track_caller]
    fn wait(&mut self, event: &str, values: &Value) -> Value {
        loop {
            let line = self.next(event);
            if values.as_object().unwrap().iter().all(|(key, value)| line[key] == *value) {
                return line;
            }
        }
    }

    fn end(mut self) -> Option<i32> {
        wait_for("the end of the stream", || self.child.try_wait().unwrap()).code()
    }
}

/// A whole life, told while it happens; and of a second session that is launched meanwhile.
#[test]
fn everything_that_happens_is_a_line() {
    let world = World::new();
    let session = world.idle_session();
    session.deliver("0.old.x", "was there before");
    let mut stream = Lines::of(world.orbh(["pager", "watch", "--all"]));
    let first = stream.next("session");
    let expected = json!({
        "new": false, "state": "working", "compacting": false, "phase": "idle", "run": "0001", "max": 200_000,
        "used": null, "percent": null, "advised": false, "pager": "unarmed", "pid": null,
        "messages": 1, "questions": 0, "answers": 0, "session": session.id,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(first[key], *value, "{key}: {first}");
    }
    assert_eq!(first["pending"].as_array().unwrap().len(), 1);

    session.verb("0001", ["page"]).run().ok();
    assert_eq!(stream.next("consumed")["id"], first["pending"][0]);
    let armed = session.arm("0001");
    stream.wait("pager", &json!({"from": "unarmed", "to": "armed", "pid": armed.pid()}));
    session.deliver("1.one.x", "hello");
    let message = stream.next("message");
    assert_eq!(
        (&message["subject"], &message["from"]),
        (&"hello".into(), &"Ada <ada@example.org>".into()),
        "{message}"
    );
    armed.page();
    stream.wait("pager", &json!({"to": "unarmed", "pid": null}));
    session.verb("0001", ["page"]).run().ok();
    stream.wait("consumed", &json!({"kind": "message", "id": message["id"]}));

    // A question waits for a person, who answers with an editor.
    session.ask("q000000001", "May I?");
    stream.wait("state", &json!({"from": "working", "to": "needs-input"}));
    std::fs::write(session.path("asked/q000000001/answer.md"), "Yes,\nyou may.\n").unwrap();
    stream.wait("state", &json!({"to": "working"}));
    let answer = stream.next("answer");
    assert_eq!(
        (&answer["id"], &answer["from"], &answer["question"], &answer["gist"]),
        (&"q000000001".into(), &"human".into(), &"May I?".into(), &"Yes, you may.".into())
    );
    session.verb("0001", ["page"]).run().ok();
    stream.wait("consumed", &json!({"kind": "answer", "id": "q000000001"}));

    // Each whole percent, and no line for less.
    for (used, percent) in [(100_000, 50), (100_100, 50), (160_000, 80), (190_000, 95), (20_000, 10)] {
        session.report_context("0001", &json!({"used": used}).to_string());
        if used != 100_100 {
            let line = stream.wait("context", &json!({"percent": percent, "max": 200_000, "advised": used >= 160_000}));
            assert_eq!(line["used"], used);
        }
    }

    let held = session.arm("0001");
    stream.wait("pager", &json!({"to": "armed"}));
    held.stop();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    stream.wait("compaction", &json!({"compacting": true, "from": "idle", "to": "drafting"}));
    stream.wait("pager", &json!({"from": "armed", "to": "held"}));
    held.go_on();
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    stream.wait("run", &json!({"run": "0002", "kind": "compact"}));
    stream.wait("compaction", &json!({"compacting": true, "to": "bootstrapping"}));
    session.wait_relaunched("0002");
    session.verb("0002", ["compact", "finish"]).run().exits(0);
    stream.wait("compaction", &json!({"compacting": false, "to": "idle"}));

    let other = world.launch("command/idle", "another");
    let new = stream.wait("session", &json!({"session": other.id}));
    assert_eq!(new["new"], true);
    other.deliver("1.two.x", "to the other");
    stream.wait("message", &json!({"session": other.id, "subject": "to the other"}));
    session.verb("0002", ["session", "return", "done"]).run().ok();
    stream.wait("state", &json!({"session": session.id, "to": "finished"}));
    world.orbh(["kill", &other.id]).run().exits(0);
    stream.wait("state", &json!({"session": other.id, "to": "killed"}));
    wait_for("its manager to leave", || (!other.managed()).then_some(()));
    std::fs::remove_dir_all(other.path("")).unwrap();
    stream.wait("forgotten", &json!({"session": other.id}));
    let lines: Vec<String> = stream.had.iter().map(Value::to_string).collect();
    crate::docs::every_key_is_documented("pager", &lines.join("\n"));
    signal(stream.child.id().cast_signed(), Signal::SIGTERM);
    stream.end();
}

/// A manager, or a pager, that is killed changes no file: its lease tells, also where the kernel reports nothing of it.
#[test]
fn the_death_of_a_keeper_is_a_line() {
    for backend in ["inotify", "dnotify", "polling"] {
        let world = World::new();
        let session = world.idle_session();
        session.pid("0001");
        let mut stream = Lines::of(world.orbh(["pager", "watch", &session.id]).env("ORBH_WATCH", backend));
        assert_eq!(stream.next("session")["state"], "working");
        let armed = session.arm("0001");
        stream.wait("pager", &json!({"to": "armed", "pid": armed.pid()}));
        signal(armed.pid(), Signal::SIGKILL);
        stream.wait("pager", &json!({"to": "unarmed"}));
        session.kill_manager();
        crate::harness::kill_dead(session.pid("0001"));
        stream.wait("state", &json!({"to": "lost"}));
        signal(stream.child.id().cast_signed(), Signal::SIGTERM);
    }
}

/// It needs no run, consumes nothing, and leaves no trace; named sessions alone are watched.
#[test]
fn a_stream_leaves_no_trace() {
    let world = World::new();
    let (session, other) = (world.quick_session(1), world.quick_session(2));
    session.deliver("1.one.x", "first");
    let before = changes(&session.path(""));
    let mut stream = Lines::of(world.orbh(["pager", "watch", &session.id, "--json"]));
    assert_eq!(stream.next("session")["messages"], 1);
    assert_eq!(changes(&session.path("")), before);
    other.deliver("1.other.x", "to another");
    session.deliver("2.two.x", "second");
    let line = stream.next("message");
    assert_eq!((&line["subject"], &line["session"]), (&"second".into(), &session.id.as_str().into()));
    assert!(session.exists("inbox/new/1.one.x") && !session.exists("inbox/cur"));
    // Whatever a subject holds, it is text on one line.
    session.deliver("3.evil.x", "=?utf-8?q?=1b[2J=0a{=22event=22:=22state=22}=c2=9b31m=e2=80=ae?=");
    let evil = stream.next("message")["subject"].as_str().unwrap().to_owned();
    assert!(evil.contains("[2J\n{\"event\":\"state\"}"), "{evil:?}");
    // The last one that it was to watch is forgotten: there is nothing left to tell.
    std::fs::remove_dir_all(session.path("")).unwrap();
    stream.next("forgotten");
    assert_eq!(stream.end(), Some(0));
    world.orbh(["pager", "watch"]).run().fails(2, &["needs the id of a session"]);
    world.orbh(["pager", "watch", "ffff"]).run().fails(66, &["ffff"]);
    world.orbh(["pager", "watch", "--all", &other.id]).run().exits(2);
}

/// Who reads no more ends it, also while there is nothing to write: as the end of a pipeline does.
#[test]
fn a_reader_that_goes_ends_it() {
    let world = World::new();
    let session = world.quick_session(1);
    let line = format!("$ORBH pager watch {} | head -n 1 | jq -r .session; echo \"${{PIPESTATUS[0]}}\"", session.id);
    assert_eq!(world.shell(&line).run().ok(), format!("{}\n0\n", session.id));
}

/// A pipeline that a person would write: what comes for any session, in words.
#[test]
fn a_pipeline_reads_it_as_it_comes() {
    let world = World::new();
    let session = world.quick_session(1);
    let line = "$ORBH pager watch --all | jq --unbuffered -r 'select(.event==\"message\") | .subject' | head -n 2";
    let pipeline = world.shell(line).spawn();
    // The first line of the stream tells that it is there; jq(1) passes it over, so a message is sent until it is told.
    let count = std::cell::Cell::new(0);
    let mut pipeline = pipeline;
    wait_for("the pipeline to have had two lines", || {
        count.set(count.get() + 1);
        session.deliver(&format!("{:05}.p.x", count.get()), "by the pipeline");
        pipeline.try_wait().unwrap()
    });
    let told = crate::harness::outcome(pipeline).ok();
    assert_eq!(told, "by the pipeline\nby the pipeline\n");
}

/// A reader that does not read for a while finds the last state of everything, and the stream grows no larger meanwhile.
#[test]
fn a_slow_reader_misses_no_state_and_costs_no_memory() {
    let world = World::fast();
    let session = world.quick_session(1);
    let mut child = world.orbh(["pager", "watch", &session.id]).spawn();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let subject = "x".repeat(900);
    // More lines than the pipe holds: then it waits for its reader, within write(2).
    for number in 0..200 {
        session.deliver(&format!("{number:05}.a.x"), &subject);
    }
    let blocked = || std::fs::read_to_string(format!("/proc/{}/wchan", child.id())).is_ok_and(|at| at.contains("pipe"));
    wait_for("the stream to wait for its reader", || blocked().then_some(()));
    let before = resident();
    for number in 0..3000 {
        session.report_context("0001", &json!({"used": number * 60}).to_string());
    }
    session.deliver("99999.z.x", "the last one");
    assert!(resident() <= before + 1024, "{before} KiB, then {}", resident());
    let mut lines: Vec<Value> = Vec::new();
    let last = |lines: &Vec<Value>| {
        let context = lines.iter().rfind(|line| line["event"] == "context");
        context.is_some_and(|line| line["percent"] == 90) && lines.iter().any(|line| line["subject"] == "the last one")
    };
    while !last(&lines) {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "{} lines", lines.len());
        lines.push(serde_json::from_str(&line).unwrap());
    }
    let told: Vec<&Value> = lines.iter().filter(|line| line["event"] == "message").collect();
    assert_eq!((told.len(), told[200]["subject"].as_str()), (201, Some("the last one")), "all of them, in their order");
    // Of three thousand reports hardly any were told: those that were there when it looked.
    assert!(lines.iter().filter(|line| line["event"] == "context").count() < 100);
    drop(out);
    wait_for("the stream to end", || child.try_wait().unwrap());
}

/// Many sessions: only those are looked at in which something happened, and none is forgotten.
#[test]
fn of_many_sessions_each_is_heard() {
    let world = World::fast();
    let sessions: Vec<_> = (1..=120).map(|number| world.quick_session(number)).collect();
    let mut stream = Lines::of(world.orbh(["pager", "watch", "--all"]));
    for _ in &sessions {
        stream.next("session");
    }
    for session in sessions.iter().rev() {
        session.deliver("1.m.x", "to each");
    }
    let mut heard: Vec<String> =
        sessions.iter().map(|_| stream.next("message")["session"].as_str().unwrap().to_owned()).collect();
    heard.sort();
    assert_eq!(heard, sessions.iter().map(|session| session.id.clone()).collect::<Vec<_>>());
    let armed =
        Armed::start(&sessions[60], sessions[60].verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "600000"));
    assert_eq!(stream.wait("pager", &json!({"to": "armed"}))["session"], sessions[60].id);
    signal(armed.pid(), Signal::SIGKILL);
    assert_eq!(stream.wait("pager", &json!({"to": "unarmed"}))["session"], sessions[60].id);
    signal(stream.child.id().cast_signed(), Signal::SIGTERM);
}
