//! `orbh context`: the occupancy, as the harness tells it.

use crate::harness::{Outcome, Session, World, wait_for};
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};

fn of(session: &Session) -> String {
    session.world.orbh(["context", &session.id]).run().ok()
}

/// R6 R7: the Page, the list and `context` show one number, and what is not known is not 0.
#[test]
fn what_is_not_known_is_unknown_and_what_is_known_is_the_same_everywhere() {
    let world = World::new();
    let session = world.idle_session();
    assert_eq!(of(&session), "unknown / 200000\n");
    let json = world.orbh(["context", &session.id, "--json"]).run();
    assert!(json.stdout.starts_with(r#"{"v":1,"session":"#), "{}", json.stdout);
    for key in ["used", "percent", "source", "measured_at"] {
        assert!(json.json()[key].is_null(), "{key}");
    }
    let cases = [
        (r#"{"used": 0}"#, "0 / 200000 (0%)"),
        (r#"{"used": 163402}"#, "163402 / 200000 (82%)"),
        (r#"{"used": 999, "max": 200000}"#, "999 / 200000 (0%)"),
        (r#"{"used": 1000}"#, "1000 / 200000 (1%)"),
        (r#"{"used": 210000, "max": 200000}"#, "210000 / 200000 (105%)"),
        (r#"{"used": 500, "max": 1000, "unheard": "of"}"#, "500 / 1000 (50%)"),
        (r#"{"used": 5, "max": 0}"#, "5 / unknown"),
        (r#"{"v": 1, "used": 5, "max": null}"#, "5 / 200000 (0%)"),
        (r#"{"used": 18446744073709551615, "max": 1}"#, "18446744073709551615 / 1 (18446744073709551615%)"),
    ];
    for (report, line) in cases {
        session.report_context("0001", report);
        assert_eq!(of(&session), format!("{line}\n"), "{report}");
        let page = world.orbh(["page", &session.id]).run().ok();
        assert!(page.contains(&format!("CONTEXT      {line}\n")), "{page}");
        assert!(world.orbh(["list"]).run().ok().contains(line));
        assert_eq!(session.verb("0001", ["context"]).run().ok(), format!("{line}\n"));
    }
    session.report_context("0001", r#"{"used": 210000}"#);
    let json = world.orbh(["context", &session.id, "--json"]).run().json();
    assert_eq!(
        (json["used"].as_u64(), json["max"].as_u64(), json["percent"].as_u64()),
        (Some(210_000), Some(200_000), Some(105))
    );
    assert_eq!(json["run"], "0001");
    assert_eq!(json["source"].as_str().unwrap(), session.path("scratch/context-0001.json").to_str().unwrap());
    assert!(json["measured_at"].as_str().unwrap().contains('T'));
}

#[test]
fn used_without_a_window_is_told_without_a_share() {
    let world = World::new();
    world.profile("open", &serde_json::json!({"command": ["sleep", "100000"], "class": "full"}));
    let session = world.launch("command/open", "go");
    assert_eq!(of(&session), "unknown\n");
    session.report_context("0001", r#"{"used": 7}"#);
    assert_eq!(of(&session), "7 / unknown\n");
}

/// R9: at 80 percent there is an advice, and no verb behaves differently.
#[test]
fn eighty_percent_is_an_advice_and_no_gate() {
    let world = World::new();
    let session = world.idle_session();
    for (used, advised) in [(159_999, false), (160_000, true), (210_000, true)] {
        session.report_context("0001", &format!(r#"{{"used": {used}}}"#));
        let page = session.verb("0001", ["page"]).run().ok();
        assert_eq!(page.contains("compact soon"), advised, "{page}");
        session.verb("0001", ["compact", "start"]).run().exits(0);
        session.verb("0001", ["compact", "abort"]).run().exits(0);
    }
    assert_eq!(session.state(), "working");
}

#[test]
fn a_damaged_report_is_named_and_hides_nothing_else() {
    let world = World::new();
    let session = world.idle_session();
    for report in ["{\"used\": ", "", "{\"used\": -1}", "{\"used\": \"many\"}", "\u{0}"] {
        session.report_context("0001", report);
        world.orbh(["context", &session.id]).run().fails(65, &["context-0001.json': damaged at byte", "hint: "]);
        let json = world.orbh(["context", &session.id, "--json"]).run().exits(65).json();
        assert_eq!((json["v"].as_u64(), json["error"]["kind"].as_str()), (Some(1), Some("damaged")));
        assert!(world.orbh(["page", &session.id]).run().exits(0).stdout.contains("damage: "));
        assert_eq!(session.state(), "working");
    }
    session.report_context("0001", r#"{"v": 2, "used": 1}"#);
    world.orbh(["context", &session.id]).run().fails(65, &["version 2 of the spool format"]);
}

/// The lines of a process as they come.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}

#[track_caller]
fn next(lines: &Receiver<String>) -> String {
    lines.recv_timeout(crate::harness::DEADLINE).unwrap()
}

/// R7: each change once, across a compaction, until the session is over.
#[test]
fn watch_shows_each_change_once_follows_a_compaction_and_ends() {
    let world = World::new();
    let session = world.idle_session();
    let mut watching = world.orbh(["context", &session.id, "--watch"]).spawn();
    let seen = lines(&mut watching);
    assert_eq!(next(&seen), "unknown / 200000");
    session.report_context("0001", r#"{"used": 100000}"#);
    assert_eq!(next(&seen), "100000 / 200000 (50%)");
    session.report_context("0001", r#"{"used": 100000 }"#);
    // A report that is met halfway through being written ends nothing.
    session.report_context("0001", r#"{"used": 1"#);
    session.report_context("0001", r#"{"used": 170000}"#);
    assert_eq!(next(&seen), "170000 / 200000 (85%)");
    session.compact("0001", "0002");
    assert_eq!(next(&seen), "unknown / 200000");
    session.report_context("0002", r#"{"used": 4000}"#);
    assert_eq!(next(&seen), "4000 / 200000 (2%)");
    session.report_context("0001", r#"{"used": 9}"#);
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.report_context("0002", r#"{"used": 5000}"#);
    assert_eq!(next(&seen), "5000 / 200000 (3%)");
    session.verb("0002", ["session", "return", "done"]).run().ok();
    assert!(seen.recv_timeout(crate::harness::DEADLINE).is_err());
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}

#[test]
fn watch_of_a_session_that_is_over_shows_it_and_ends() {
    let world = World::new();
    let session = world.idle_session();
    session.report_context("0001", r#"{"used": 20000}"#);
    world.orbh(["kill", &session.id]).run().ok();
    assert_eq!(world.orbh(["context", &session.id, "--watch"]).run().ok(), "20000 / 200000 (10%)\n");
}

#[test]
fn watch_says_when_the_session_is_forgotten() {
    let world = World::new();
    let session = world.fake_session("11111111-1111-4111-8111-111111111111", "t", std::process::id().cast_signed());
    let mut watching = world.orbh(["context", &session.id, "--watch"]).spawn();
    let seen = lines(&mut watching);
    next(&seen);
    std::fs::rename(session.path(""), world.path().join("away")).unwrap();
    wait_for("the watcher to leave", || watching.try_wait().unwrap());
    let out = Outcome::from(watching.wait_with_output().unwrap());
    out.fails(66, &["session 11111111-1111-4111-8111-111111111111 is gone"]);
}
