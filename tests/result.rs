//! `orbh result`: what a session returned.

use crate::harness::World;

#[test]
fn a_result_is_printed_as_it_was_given() {
    let world = World::new();
    let session = world.idle_session();
    world.orbh(["result", &session.id]).run().fails(1, &["has returned no result; it is working", "hint: orbh page"]);
    let json = world.orbh(["result", &session.id, "--json"]).run().exits(1);
    assert!(json.stdout.starts_with(r#"{"v":1,"refused":[{"code":"no-result""#), "{}", json.stdout);
    session.verb("0001", ["session", "return", "no newline"]).run().ok();
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "no newline\n");
    let json = world.orbh(["result", &session.id[..8], "--json"]).run();
    assert!(json.stdout.starts_with(r#"{"v":1,"session":"#), "{}", json.stdout);
    let json = json.json();
    assert_eq!(
        (&json["run"], &json["disposition"], &json["text"]),
        (&"0001".into(), &"finish".into(), &"no newline".into())
    );
    assert!(json["at"].is_string());
}

#[test]
fn a_result_of_a_run_is_of_that_run() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "return", "first"]).run().ok();
    session.wait_end("0001");
    let begin = std::time::Instant::now();
    while world.orbh(["resume", &session.id, "again"]).run().code == Some(1) {
        assert!(begin.elapsed() < crate::harness::DEADLINE, "its manager never leaves");
    }
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "first\n");
    world.orbh(["result", &session.id, "--run", "2"]).run().fails(1, &["no result"]);
    session.verb("0002", ["session", "return", "second"]).run().ok();
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "second\n");
    for run in ["1", "0001"] {
        assert_eq!(world.orbh(["result", &session.id, "--run", run]).run().ok(), "first\n");
    }
    world.orbh(["result", &session.id, "--run", "3"]).run().fails(66, &["has no run 0003", "hint: "]);
    for run in ["0", "-1", "x", "", "+1", "99999999999"] {
        world.orbh(["result", &session.id, &format!("--run={run}")]).run().fails(2, &["is not the number of a run"]);
    }
}

#[test]
fn a_damaged_result_is_named() {
    let world = World::new();
    let session = world.fake_session("11111111-1111-4111-8111-111111111111", "t", std::process::id().cast_signed());
    std::fs::write(session.path("returns/0001.json"), "{\"v\":1,").unwrap();
    std::fs::write(session.path("returns/0001.md"), "text").unwrap();
    world.orbh(["result", &session.id]).run().fails(65, &["returns/0001.json': damaged at byte 7"]);
    session.write_fact(
        "returns/0001.json",
        &serde_json::json!({"run": "0001", "disposition": "finish", "at": "2026-01-01T00:00:00Z"}),
    );
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "text\n");
    std::fs::remove_file(session.path("returns/0001.md")).unwrap();
    world.orbh(["result", &session.id]).run().fails(65, &["returns/0001.md' is missing"]);
}
