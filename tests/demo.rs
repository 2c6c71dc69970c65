//! `orbh demo`: the main job of orbh, as a newcomer sees it.

use crate::harness::{Outcome, World, alive};
use std::path::PathBuf;

fn demo(world: &World, more: &[&str]) -> Outcome {
    let args = [&["demo", "--pace", "0"], more].concat();
    world.orbh(args).env("TMPDIR", world.path()).env_remove("ORBH_ROOT").run()
}

/// Every path that the demo names is there when it ends.
fn named_files(out: &str) -> Vec<PathBuf> {
    let spool = out.lines().find_map(|line| line.strip_prefix("What to look at, in ")).unwrap();
    let files = out.lines().skip_while(|line| !line.starts_with("What to look at")).skip(1);
    let files = files.take_while(|line| !line.is_empty());
    files.map(|line| PathBuf::from(spool).join(line.split_whitespace().next().unwrap())).collect()
}

#[track_caller]
fn in_order(text: &str, steps: &[&str]) {
    let mut from = 0;
    for step in steps {
        let found = text[from..].find(step);
        from += found.unwrap_or_else(|| panic!("no {step:?} after byte {from} of: {text}"));
    }
}

/// R1 R2 R16 R22 R24 R38 R39: a refused handoff, an accepted one, a successor that finishes and returns.
#[test]
fn the_demo_lives_through_a_whole_compaction() {
    let world = World::new();
    let out = demo(&world, &[]).ok();
    in_order(
        &out,
        &["Run 0001 begins", "handoff is refused", "handoff is accepted", "Run 0002 begins", "confirmed it"],
    );
    // What the agent says is told along with the next event, so its order is another one.
    let agent: String = out.lines().filter(|line| line.starts_with("  | ")).collect::<Vec<&str>>().join("\n");
    let said = [
        "163402 / 200000 (82%)",
        "Your context will NOT end.",
        "accepted: this context ends now",
        "bootstrapping",
        "finished: run 0002 has taken the place of run 0001",
    ];
    in_order(&agent, &said);
    for told in
        ["[Compacting...] Count the words", "No process of it lives", "Its result: The longest chapter is three.txt"]
    {
        assert!(out.contains(told), "no {told:?}: {out}");
    }
    assert!(!out.contains("never printed"), "{out}");
    let files = named_files(&out);
    assert_eq!(files.len(), 5);
    for file in files {
        assert!(file.is_file(), "{}", file.display());
    }
}

#[test]
fn the_demo_leaves_no_process_behind() {
    let world = World::new();
    let out = demo(&world, &[]).ok();
    let pids: Vec<i32> = out
        .lines()
        .filter_map(|line| line.split("pid ").nth(1))
        .map(|rest| rest.trim_end_matches(')').parse().unwrap())
        .collect();
    assert!(pids.len() >= 3, "{out}");
    // The run has ended, and with it all that was started in it.
    assert!(pids.iter().all(|pid| !alive(*pid)), "{pids:?}");
}

#[test]
fn with_json_the_demo_prints_the_events_alone() {
    let world = World::new();
    let out = demo(&world, &["--json"]).ok();
    let events: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["v"] == 1 && event["event"].is_string()));
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"launched"));
    assert!(names.contains(&"handoff-refused") && names.contains(&"compaction-finished"), "{names:?}");
}

#[test]
fn a_pace_that_makes_no_sense_is_a_usage_error() {
    let world = World::new();
    world.orbh(["demo", "--pace", "-1"]).run().exits(2);
    world.orbh(["demo", "--pace", "61"]).run().exits(2).says("61");
    world.orbh(["demo", "--pace", "NaN"]).run().exits(2);
}
