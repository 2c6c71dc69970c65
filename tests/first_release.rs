//! The spool of the first release, tests/data/v1-spool, which every later one reads, shows, resumes and compacts. How it
//! was made is in first_release/bless.rs; it is never made again.

use crate::docs::top;
use crate::harness::{Session, World, private_dir, wait_for};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

mod bless;

/// Stands in the files for the directory of the world that they are copied into.
const WORLD: &str = "@WORLD@";
/// Stands in the files for the directory of the programs.
const PROGRAMS: &str = "@PROGRAMS@";
/// The directories that every spool is born with; git keeps no empty ones.
const BORN_WITH: [&str; 6] = ["keys", "runs", "returns", "links", "log", "scratch"];

fn data() -> PathBuf {
    top().join("tests/data/v1-spool")
}

/// What is to be seen of each session, by its id.
fn expected() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(data().join("expected.json")).unwrap();
    let all: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    all.into_iter().collect()
}

/// Copies the spool into a world, as an administrator would who moves a root to another place.
fn unpack(world: &World) {
    world.idle_agent();
    private_dir(&world.root());
    let programs = crate::harness::bin_dir().display().to_string();
    for entry in walkdir::WalkDir::new(data().join("sessions")) {
        let entry = entry.unwrap();
        let place = world.root().join(entry.path().strip_prefix(data()).unwrap());
        if entry.file_type().is_dir() {
            private_dir(&place);
        } else if entry.file_type().is_symlink() {
            symlink(std::fs::read_link(entry.path()).unwrap(), place).unwrap();
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let text = text.replace(WORLD, &world.path().display().to_string()).replace(PROGRAMS, &programs);
            std::fs::write(&place, text).unwrap();
            let accepted = entry.file_name().to_str().unwrap().starts_with("accepted-");
            let mode = if accepted { 0o400 } else { 0o600 };
            std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    for (id, _) in expected() {
        for name in BORN_WITH {
            private_dir(&world.root().join("sessions").join(&id).join(name));
        }
    }
}

/// Everything that is shown of a session, without what depends on the hour.
fn seen(world: &World, id: &str) -> Value {
    let text = |args: &[&str]| {
        let out = world.orbh(args).env("TZ", "UTC").run();
        (out.code, out.stdout.replace(&world.path().display().to_string(), WORLD), out.stderr)
    };
    let objects = |args: &[&str]| {
        let (code, text, stderr) = text(args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        let mut objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        objects.iter_mut().for_each(forget_the_hour);
        objects
    };
    let lines = |args: &[&str]| {
        let (code, text, stderr) = text(args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        json!(timeless(&text).lines().collect::<Vec<_>>())
    };
    let listed = objects(&["list", "--all", "--json"]).into_iter().find(|line| line["session"] == id).unwrap();
    // The others show the same, and more, which is kept.
    let besides = |args: &[&str], same: &Value| {
        let mut object = objects(args).remove(0);
        let keys = object.as_object_mut().unwrap();
        for (key, value) in same.as_object().unwrap() {
            let found = keys.remove(key);
            assert!(found.is_none_or(|found| found == *value), "{args:?} and the list differ in {key}");
        }
        object
    };
    let (code, result, _) = text(&["result", id]);
    let context = objects(&["context", id, "--json"]).remove(0);
    let same_context = missing("context", &listed["context"], &context);
    assert!(same_context.is_empty(), "{same_context:?}");
    let status = objects(&["compact", "status", id, "--json"]).remove(0);
    let same_status = missing("compact status", &listed["compaction"], &status);
    assert!(same_status.is_empty(), "{same_status:?}");
    json!({
        "list": listed,
        "inspect": besides(&["inspect", id, "--json"], &listed),
        "page --json": besides(&["page", id, "--json"], &listed),
        "compact status": lines(&["compact", "status", id]),
        "page": lines(&["page", id]),
        "log": lines(&["log", id]),
        "result": {"status": code, "text": result},
    })
}

/// A text without the spans of time that count from then to now.
fn timeless(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_span = |index: usize| {
            let number = words[index].trim_end_matches([',', ':', ';']).strip_suffix(['s', 'm', 'h', 'd']);
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let said = |index: usize| if is_span(index) { "SPAN" } else { words[index] };
        lines.push((0..words.len()).map(said).collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

fn forget_the_hour(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for key in ["age_s", "overdue", "measured_at"] {
                object.remove(key);
            }
            object.values_mut().for_each(forget_the_hour);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_the_hour),
        _ => {}
    }
}

/// Where `expected` is not part of `found`: later releases may say more, and nothing else.
fn missing(path: &str, expected: &Value, found: &Value) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .flat_map(|(key, value)| missing(&format!("{path}/{key}"), value, found.get(key).unwrap_or(&Value::Null)))
            .collect(),
        // The sections of a Page have another order since.
        (Value::Array(expected), Value::Array(found)) if path.ends_with("/page") => {
            let lines = |list: &[Value]| {
                let mut lines = list.to_vec();
                lines.sort_by_key(ToString::to_string);
                lines
            };
            let (expected, found) = (lines(expected), lines(found));
            if expected == found { Vec::new() } else { vec![format!("{path}: {expected:?} became {found:?}")] }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            expected.iter().zip(found).flat_map(|(one, other)| missing(path, one, other)).collect()
        }
        _ if expected == found => Vec::new(),
        _ => vec![format!("{path}: {expected} became {found}")],
    }
}

fn json_files(dir: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().map(Result::unwrap);
    let json = |path: &Path| {
        let fact = path.extension().is_some_and(|ending| ending == "json") || path.ends_with("pid");
        // What a harness writes has no version of ours, and what is put aside nobody reads.
        let name = path.file_name().unwrap().to_str().unwrap();
        fact && !name.starts_with("context-") && name != "relaunch.cancelled.json"
    };
    entries.map(walkdir::DirEntry::into_path).filter(|path| path.is_file() && json(path)).collect()
}

#[test]
fn every_file_of_the_first_release_is_read_and_shown() {
    let world = World::new();
    unpack(&world);
    if std::env::var_os("ORBH_BLESS").is_some_and(|what| what == "v1-spool") {
        bless::expectation(&world, &expected());
    }
    let all = expected();
    assert!(all.len() >= 8);
    let mut complaints = Vec::new();
    for (id, expected) in &all {
        complaints.extend(missing(id, &expected["seen"], &seen(&world, id)));
        world.orbh(["inspect", id]).run().ok();
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    // By one who knows keys that those of the first release did not have.
    for path in json_files(&world.root()) {
        let mut fact: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(fact["v"], 1, "{}", path.display());
        fact["of_a_later_release"] = json!({"a": [1, {"b": null}]});
        std::fs::write(&path, fact.to_string()).unwrap();
    }
    for (id, expected) in &all {
        complaints.extend(missing(id, &expected["seen"], &seen(&world, id)));
    }
    assert!(complaints.is_empty(), "with unknown keys: {}", complaints.join("\n"));
}

/// What a later release writes in a format of its own is refused by name, fact by fact.
#[test]
fn a_higher_version_is_refused_by_name() {
    let world = World::new();
    unpack(&world);
    let mut refused = 0;
    for path in json_files(&world.root()) {
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"v\": 1", "\"v\": 2", 1)).unwrap();
        let below = path.strip_prefix(world.root().join("sessions")).unwrap();
        let id = below.components().next().unwrap().as_os_str().to_str().unwrap();
        let out = world.orbh(["inspect", id]).run().exits(65);
        let says = format!("'{}': it has version 2 of the spool format, and this orbh reads up to 1", path.display());
        assert!(out.stdout.contains(&says), "{says}\n{out:?}");
        world.orbh(["list", "--all"]).run().exits(0).says(&says);
        std::fs::write(&path, text).unwrap();
        world.orbh(["inspect", id]).run().exits(0);
        refused += 1;
    }
    assert!(refused > 30, "{refused}");
}

/// The one whose handoff was accepted is carried out, the others are resumed; then each lives through a compaction of this
/// release, and returns.
#[test]
fn every_session_of_the_first_release_goes_on() {
    let world = World::new();
    unpack(&world);
    for (id, expected) in expected() {
        let session = Session::new(&world, &id);
        let what = expected["what"].as_str().unwrap();
        let before: u32 = session.runs().last().unwrap().parse().unwrap();
        let said = world.orbh(["resume", &id]).run().ok();
        let kind = if what == "accepted" { "compact" } else { "resume" };
        let run = format!("{:04}", before + 1);
        assert_eq!(said, format!("run {run} ({kind}) of session {id}\n"), "{what}");
        session.pid(&run);
        wait_for("no relaunch to be pending", || (!session.exists("scratch/relaunch.json")).then_some(()));
        let prompt = session.text(&format!("runs/{run}/prompt.md")).unwrap();
        assert!(prompt.contains(&session.text("prompt.md").unwrap()), "{what}");
        let page = session.verb(&run, ["page"]).run().ok();
        if session.inspect()["compacting"] == true {
            assert!(["accepted", "unfinished"].contains(&what), "{what}: {page}");
            let finished = session.verb(&run, ["compact", "finish", "--json"]).run().exits(0).json();
            assert_eq!((&finished["closed"], &finished["count"]), (&"0001".into(), &1.into()), "{what}");
        }
        let count = session.inspect()["compaction"]["count"].as_u64().unwrap();
        let next = format!("{:04}", before + 2);
        session.compact(&run, &next);
        let finished = session.verb(&next, ["compact", "finish", "--json"]).run().exits(0).json();
        assert_eq!((&finished["closed"], &finished["count"]), (&run.into(), &(count + 1).into()), "{what}");
        session.return_and_exit(&next);
        assert_eq!(session.state(), "finished", "{what}");
        world.orbh(["inspect", &id]).run().ok();
    }
}
