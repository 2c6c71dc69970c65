//! How tests/data/v1-spool was made: by the programs of the first release, then with fixed ids, an earlier boot, another
//! machine and an earlier day, so that nothing of it lives anywhere.

use super::{PROGRAMS, WORLD, data, seen, unpack};
use crate::harness::{Session, World, kill_dead, wait_for};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A handoff that names no path of the world: the hash of its bytes must not change when it is unpacked.
const HANDOFF: &str = "COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\nI am the agent of this session. My duty is to do nothing, and to go on \
                       with it when my context is replaced. Nothing was decided but to wait; nothing is half done; the \
                       constraint is that nothing else may be begun. The one who reads this goes on waiting, as I have done \
                       from the beginning of run 0001, with no thread that is still open.\n\n## FILES\n\n/bin/sh :: the \
                       program that waits\n\n## OPEN OBLIGATIONS\n\n- none\n";

fn launch<'w>(world: &'w World, title: &str) -> Session<'w> {
    let out = world.orbh(["launch", "command/idle", "do nothing, and go on with it", "--title", title]).run().ok();
    Session::new(world, out.trim())
}

/// Lets everything of a session die at once, so that nobody writes an end.
fn die(session: &Session, run: &str) {
    session.kill_manager();
    kill_dead(session.pid(run));
}

fn hand_off(session: &Session) {
    session.verb("0001", ["compact", "start"]).run().exits(0);
    std::fs::write(session.handoff("0001"), HANDOFF).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
    session.verb("0002", ["page"]).run().ok();
}

fn accept(session: &Session) {
    session.verb("0001", ["compact", "start"]).run().exits(0);
    std::fs::write(session.handoff("0001"), HANDOFF).unwrap();
    let manager = session.stop_manager();
    let mut verb = session.verb("0001", ["compact", "handoff"]).spawn();
    session.wait_fact("scratch/relaunch.json");
    verb.kill().unwrap();
    verb.wait().unwrap();
    kill_dead(manager);
    kill_dead(session.pid("0001"));
}

/// A session in each state that one can be left in.
fn live(world: &World) -> Vec<(&'static str, String)> {
    world.idle_agent();
    world.agent("fails", "echo 'I cannot do this.' >&2; exit 3\n");
    let mut all = Vec::new();
    let parent = launch(world, "a compaction that is finished");
    parent.report_context("0001", r#"{"used": 163402, "max": 200000}"#);
    hand_off(&parent);
    parent.verb("0002", ["compact", "finish"]).run().ok();
    parent
        .verb("0002", ["session", "register", "a compaction that is finished", "its child is finished, too"])
        .run()
        .ok();
    parent.verb("0002", ["session", "set", "branch", "main"]).run().ok();
    let child = parent.verb("0002", ["launch", "command/idle", "return at once", "--title", "finished"]).run().ok();
    let child = Session::new(world, child.trim());
    child.return_and_exit("0001");
    parent.report_context("0002", r#"{"used": 20000, "max": 200000}"#);
    die(&parent, "0002");
    all.push(("compacted", parent.id));
    all.push(("finished", child.id));
    let lost = launch(world, "lost");
    lost.verb("0001", ["page"]).run().ok();
    die(&lost, "0001");
    all.push(("lost", lost.id));
    let failed = world.launch("command/fails", "do nothing, and go on with it");
    assert_eq!(failed.wait_end("0001"), "exited");
    std::fs::write(failed.path("target.json"), "{\n  \"v\": 1,\n  \"target\": \"command/idle\"\n}\n").unwrap();
    all.push(("failed", failed.id));
    let killed = launch(world, "killed");
    world.orbh(["kill", &killed.id]).run().ok();
    all.push(("killed", killed.id));
    let held = launch(world, "held, with a draft");
    held.verb("0001", ["compact", "start"]).run().exits(0);
    std::fs::write(held.handoff("0001"), HANDOFF).unwrap();
    die(&held, "0001");
    all.push(("held", held.id));
    let accepted = launch(world, "accepted, and not relaunched");
    accept(&accepted);
    all.push(("accepted", accepted.id));
    let unfinished = launch(world, "a successor without finish");
    hand_off(&unfinished);
    die(&unfinished, "0002");
    all.push(("unfinished", unfinished.id));
    let cancelled = launch(world, "called off");
    accept(&cancelled);
    world.orbh(["relaunch", &cancelled.id, "--cancel"]).run().exits(0);
    all.push(("cancelled", cancelled.id));
    wait_for("nothing to live any more", || world.processes().is_empty().then_some(()));
    all
}

/// What stands in the files instead of what was there.
fn instead(world: &World, all: &[(&'static str, String)]) -> BTreeMap<String, String> {
    let mut instead = BTreeMap::from([
        (world.path().display().to_string(), WORLD.to_owned()),
        (crate::harness::bin_dir().display().to_string(), PROGRAMS.to_owned()),
        (shared::ground::process::boot_id().to_owned(), "c25bcd93-e625-497a-ae63-1fb5c9f305bb".to_owned()),
        (format!("\"host\": \"{}\"", shared::ground::process::host()), "\"host\": \"lantern\"".to_owned()),
    ]);
    for (index, (_, id)) in all.iter().enumerate() {
        instead.insert(id.clone(), format!("{:08}-0000-4000-8000-000000000000", index + 1));
    }
    instead
}

fn write(from: &Path, to: &Path, instead: &BTreeMap<String, String>, today: &str) {
    let change = |text: &str| {
        let text = instead.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new));
        text.replace(today, "2026-01-01T")
    };
    for entry in walkdir::WalkDir::new(from).sort_by_file_name() {
        let entry = entry.unwrap();
        let place = to.join(change(entry.path().strip_prefix(from).unwrap().to_str().unwrap()));
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(place).unwrap();
        } else if entry.file_type().is_symlink() {
            let goal = change(std::fs::read_link(entry.path()).unwrap().to_str().unwrap());
            std::os::unix::fs::symlink(goal, place).unwrap();
        } else {
            std::fs::write(place, change(&std::fs::read_to_string(entry.path()).unwrap())).unwrap();
        }
    }
}

/// Writes down what is seen of each session now: for a change of what is shown, never for a change of the spool.
pub fn expectation(unpacked: &World, sessions: &[(String, Value)]) {
    let look = |(id, was): &(String, Value)| (id.clone(), json!({"what": was["what"], "seen": seen(unpacked, id)}));
    save(&sessions.iter().map(look).collect());
}

fn save(expected: &Map<String, Value>) {
    let text = serde_json::to_string_pretty(expected).unwrap() + "\n";
    std::fs::write(data().join("expected.json"), text).unwrap();
}

/// `cargo test -- --ignored bless_v1_spool`, given once, at the first release. It refuses to do it again.
#[test]
#[ignore = "tests/data/v1-spool is made once"]
fn bless_v1_spool() {
    assert!(!data().join("sessions").exists(), "it is there, and is never changed again");
    let world = World::new();
    let all = live(&world);
    let at = shared::ground::clock::At::now().to_string();
    std::fs::create_dir_all(data()).unwrap();
    let instead = instead(&world, &all);
    write(&world.root(), &data(), &instead, &at[..11]);
    let sessions = all.into_iter().map(|(what, id)| (instead[&id].clone(), json!({"what": what}))).collect::<Vec<_>>();
    save(&sessions.iter().cloned().collect());
    let unpacked = World::new();
    unpack(&unpacked);
    expectation(&unpacked, &sessions);
}
