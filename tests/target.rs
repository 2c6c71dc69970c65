//! `handoff --into` and `--account`: the successor on another target.

use crate::harness::{Session, World, alive, difference, wait_for};
use serde_json::json;

/// A session that has begun a compaction and written a good handoff.
fn drafted(world: &World) -> Session<'_> {
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session
}

/// R41 R44: only the fresh run uses the new profile; all else of the session stays.
#[test]
fn into_another_profile_changes_the_run_alone() {
    let world = World::new();
    world.agent("other", "cat >given\nexec sleep 1000\n");
    let session = drafted(&world);
    let born = (session.text("session.json"), session.text("prompt.md"));
    session.verb("0001", ["compact", "handoff", "--into", "command/other"]).run().accepted();
    session.wait_relaunched("0002");
    assert_eq!((session.text("session.json"), session.text("prompt.md")), born);
    assert_eq!(session.inspect()["target"], "command/other");
    assert_eq!(session.fact("runs/0001/run.json").unwrap()["target"], "command/idle");
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["target"], "command/other");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    assert_eq!(world.wait_line("given"), prompt.trim_end());
    session.verb("0002", ["compact", "finish"]).run().ok();
    // And it stays there: what comes next runs on the target in force.
    session.compact("0002", "0003");
    assert_eq!(session.fact("runs/0003/run.json").unwrap()["target"], "command/other");
}

/// R43: an unknown target, a damaged profile, a missing program, too high a class: all refuse, and the context lives.
#[test]
fn a_bad_target_is_refused_and_the_context_lives() {
    let world = World::new();
    let agent = world.script("agent-low", "#!/bin/sh\nexec sleep 1000\n");
    world.profile("low", &json!({"command": [agent], "class": "sandboxed"}));
    world.idle_agent();
    world.profile("no-program", &json!({"command": ["/nowhere/at/all"], "class": "sandboxed"}));
    world.profile("no-class", &json!({"command": [agent]}));
    let damaged = world.config().join("profiles/command/damaged.json");
    std::fs::write(&damaged, "{\n  \"command\": [,\n").unwrap();
    let session = world.launch("command/low", "do nothing");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    let before = session.fingerprint();
    for (target, says) in [
        ("command/lowe", "near names: command/low"),
        ("command/nothing-like-it", "there is no target 'command/nothing-like-it'"),
        ("nowhere/low", "known runtimes: claude codex command"),
        ("command/damaged", &format!("{}:2: ", damaged.display())),
        ("command/no-class", "states no class"),
        ("command/no-program", "does not exist"),
        ("command/idle", "was granted 'sandboxed'"),
    ] {
        for check in [&["--check"][..], &[]] {
            let args = ["compact", "handoff", "--into", target];
            session.verb("0001", args.iter().chain(check)).run().exits(1).says(says).not_ended();
        }
    }
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert!(alive(session.pid("0001")));
    assert_eq!(session.phase(), "drafting");
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}

/// R43: what is wrong with the handoff and what is wrong with the target are told together.
#[test]
fn all_findings_are_told_together() {
    let world = World::new();
    let session = drafted(&world);
    std::fs::write(session.handoff("0001"), "COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n").unwrap();
    let args = ["compact", "handoff", "--into", "command/nowhere", "--account", "nobody", "--json"];
    let refused = session.verb("0001", args).run().exits(1).not_ended().json();
    let codes: Vec<&str> =
        refused["refused"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"target-unknown") && codes.contains(&"account-unknown") && codes.len() > 2, "{codes:?}");
}

/// R42 R43: an account requires a target, and the command runtime has none.
#[test]
fn an_account_needs_a_target_that_has_accounts() {
    let world = World::new();
    let session = drafted(&world);
    let before = session.fingerprint();
    let handoff = ["compact", "handoff", "--account", "somebody"];
    session.verb("0001", handoff).run().exits(2).says("--into").not_ended();
    let into = session.verb("0001", handoff.iter().chain(&["--into", "command/idle"]));
    into.run().exits(1).says("has no accounts").not_ended();
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert!(alive(session.pid("0001")));
}

/// R43: the target in force is checked as well: its program may have been removed since the launch.
#[test]
fn a_target_in_force_whose_program_is_gone_is_refused() {
    let world = World::new();
    let session = drafted(&world);
    // Its shell has read the script, and is something else by now.
    let comm = || std::fs::read_to_string(format!("/proc/{}/comm", session.pid("0001"))).ok();
    wait_for("the agent to idle", || comm().filter(|name| name == "sleep\n"));
    std::fs::remove_file(world.path().join("agent-idle")).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().exits(1).says("does not exist").not_ended();
    assert!(alive(session.pid("0001")));
    world.idle_agent();
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
}
