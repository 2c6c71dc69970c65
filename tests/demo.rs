//! `orbh demo`: what a newcomer sees first.

use crate::harness::World;
use serde_json::Value;

/// One session lives in two contexts, a refused handoff included, and everything that is named at the end is there.
#[test]
fn the_demonstration_ends_well_and_names_what_is_there() {
    let world = World::new();
    let tale = world.orbh(["demo", "--pace", "0"]).env("TMPDIR", world.path()).run().exits(0).stdout;
    for said in ["Your context will NOT end.", "accepted: this context ends now", "finished: run 0002", "(returned)"] {
        assert!(tale.contains(said), "no {said:?} in:\n{tale}");
    }
    let spool = tale.lines().find_map(|line| line.strip_prefix("What to look at, in ")).unwrap();
    for file in ["scratch/handoff-0001.md", "runs/0001/output", "runs/0002/prompt.md", "runs/0001/end.json"] {
        assert!(tale.contains(file), "{file} is not named");
        assert!(std::path::Path::new(spool).join(file).is_file(), "{spool}/{file}");
    }
}

#[test]
fn the_demonstration_in_json_is_the_log_of_its_session() {
    let world = World::new();
    let lines = world.orbh(["demo", "--pace", "0", "--json"]).env("TMPDIR", world.path()).run().exits(0).stdout;
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["v"] == 1));
    for event in ["handoff-refused", "handoff-accepted", "compaction-finished", "returned"] {
        assert!(events.iter().any(|one| one["event"] == event), "no {event} in:\n{lines}");
    }
}
