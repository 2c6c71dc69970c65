//! What the pages say is what the verbs do: the keys of their JSON, and the codes of their refusals.

use super::{pages, top};
use crate::harness::{World, wait_for};
use serde_json::Value;
use std::collections::BTreeSet;

/// A page as text, its hyphens plain.
fn page(name: &str) -> String {
    std::fs::read_to_string(top().join("man").join(name)).unwrap().replace("\\-", "-")
}

/// Whether a page has this word in bold, as it has every key and code that it documents.
fn documents(page: &str, word: &str) -> bool {
    let bold = [".B ", ".BR ", ".RB ", ".BI ", ".IB "];
    let lines = page.lines().filter(|line| bold.iter().any(|request| line.starts_with(request)));
    lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || ",\":;.()".contains(c))).any(|found| found == word)
}

/// All keys of an object and of those inside of it; not below `keys`, whose names are the user's.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.insert(key.clone());
                if key != "keys" {
                    keys(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// Compares the JSON of a verb with its page and with those that it refers to: orbh.1 for what all verbs have in
/// common, and that of the Page.
#[track_caller]
pub fn check(verb: &str, output: &str) {
    let common = page("orbh.1") + if verb == "compact" { page("orbh-page.1") } else { String::new() }.as_str();
    let own = page(&format!("orbh-{verb}.1"));
    assert!(!output.is_empty());
    for line in output.lines() {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{verb}: {error}: {line}"));
        assert_eq!(value["v"], 1, "{verb}: {line}");
        let mut found = BTreeSet::new();
        keys(&value, &mut found);
        let unknown = found.iter().filter(|key| *key != "v" && !documents(&own, key) && !documents(&common, key));
        assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&String>::new(), "orbh-{verb}.1");
    }
}

#[test]
fn every_key_of_the_json_is_in_the_pages() {
    let world = World::new();
    let session = world.idle_session();
    let id = &session.id;
    let one = |args: &[&str]| session.verb("0001", args).run();
    let sent = one(&["message", "send", id, "hello", "--json"]).ok();
    check("message", &sent);
    check("message", &one(&["message", "list", "--json"]).ok());
    let sent: Value = serde_json::from_str(&sent).unwrap();
    check("message", &one(&["message", "show", sent["id"].as_str().unwrap(), "--json"]).ok());
    check("message", &one(&["message", "request", id, "why?", "--json"]).run_refused());
    let launched = one(&["launch", "command/idle", "a child", "--json"]).ok();
    check("launch", &launched);
    check("session", &one(&["session", "register", "title", "description", "--json"]).ok());
    check("session", &one(&["session", "set", "key", "value", "--json"]).ok());
    check("session", &one(&["session", "unset", "key", "--json"]).ok());
    std::fs::write(session.path("scratch/context-0001.json"), r#"{"used": 170000}"#).unwrap();
    check("context", &one(&["context", "--json"]).ok());
    check("pager", &one(&["pager", "status", "--json"]).ok());
    check("compact", &one(&["compact", "start", "--json"]).ok());
    check("compact", &one(&["compact", "status", "--json"]).ok());
    check("page", &one(&["page", "--json"]).ok());
    check("compact", &one(&["compact", "handoff", "--json"]).run_refused());
    let child: Value = serde_json::from_str(&launched).unwrap();
    let owed = format!("- the child {}", child["session"].as_str().unwrap());
    std::fs::write(session.handoff("0001"), session.good_handoff("run 0001").replace("- none", &owed)).unwrap();
    check("compact", &one(&["compact", "handoff", "--check", "--json"]).exits(0).stdout);
    check("compact", &one(&["compact", "abort", "--json"]).ok());
    check("compact", &one(&["compact", "start", "--json"]).ok());
    // What outlives its wait says so in a second object, not in words.
    let accepted = one(&["compact", "handoff", "--json"]).exits(75).stdout;
    check("compact", &accepted);
    assert_eq!(accepted.lines().count(), 2, "{accepted}");
    session.pid("0002");
    let two = |args: &[&str]| session.verb("0002", args).run();
    check("compact", &two(&["compact", "finish", "--json"]).ok());
    check("session", &two(&["session", "return", "done", "--json"]).ok());
    session.wait_end("0002");
    check("result", &world.orbh(["result", id, "--json"]).run().ok());
    check("inspect", &world.orbh(["inspect", id, "--json"]).run().ok());
    check("list", &world.orbh(["list", "--all", "--json"]).run().ok());
    check("log", &world.orbh(["log", id, "--json"]).run().ok());
    let other = world.launch("command/idle", "another");
    let ask = |text: &str| other.verb("0001", ["session", "ask", text, "--deferred", "--json"]).run().exits(0).stdout;
    check("session", &ask("what?"));
    check("respond", &world.orbh(["respond", &other.id, "that", "--json"]).run().ok());
    check("session", &world.orbh(["session", "answer", "--session", &other.id, "--json"]).run().ok());
    ask("and what?");
    check("inspect", &world.orbh(["inspect", &other.id, "--json"]).run().ok());
    check("page", &world.orbh(["page", &other.id, "--json"]).run().ok());
    check("kill", &world.orbh(["kill", &other.id, "--json"]).run().ok());
    wait_for("the manager to leave", || other.inspect()["manager"].is_null().then_some(()));
    check("resume", &world.orbh(["resume", &other.id, "--json"]).run().ok());
    check("accounts", &world.orbh(["accounts", "add", "claude", "work", "--json"]).run().ok());
    check("accounts", &world.orbh(["accounts", "--json"]).run().ok());
    check("profiles", &world.orbh(["profiles", "--json"]).run().ok());
    check("profiles", &world.orbh(["profiles", "show", "command/idle", "--json"]).run().ok());
    check("runtimes", &world.orbh(["runtimes", "--json"]).run().ok());
    check("relaunch", &world.orbh(["relaunch", &other.id, "--cancel", "--json"]).run().exits(1).stdout);
}

impl crate::harness::Outcome {
    /// Standard output of a refused verb.
    #[track_caller]
    fn run_refused(self) -> String {
        self.exits(1).stdout
    }
}

/// The codes in the source: the first argument of `Finding::new`, of `refuse` and of `warn`, and those in pairs.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for dir in ["bins", "shared"] {
        for entry in walkdir::WalkDir::new(top().join(dir)) {
            let entry = entry.unwrap();
            if entry.path().extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            for before in ["Finding::new(", "refuse(", "warn("] {
                for (at, _) in text.match_indices(before) {
                    let after = text[at + before.len()..].trim_start();
                    let word = after.strip_prefix('"').and_then(|rest| rest.split('"').next());
                    codes.extend(word.map(str::to_owned));
                }
            }
            let words = text.split('"').skip(1).step_by(2).filter(|word| word.starts_with("handoff-"));
            codes.extend(words.filter(|word| entry.path().ends_with("files.rs") && is_code(word)).map(str::to_owned));
        }
    }
    codes
}

fn is_code(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[test]
fn every_code_of_a_refusal_is_in_a_page() {
    let codes = codes();
    assert!(codes.len() > 40, "{codes:?}");
    let pages: Vec<String> = pages().iter().map(|(name, _)| page(name)).collect();
    let missing: Vec<&String> = codes.iter().filter(|code| !pages.iter().any(|page| documents(page, code))).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// Every variable that the product reads or sets stands in orbh.1.
#[test]
fn every_variable_is_in_the_page_of_orbh() {
    let common = page("orbh.1");
    let mut missing = BTreeSet::new();
    for entry in ["bins", "shared"].iter().flat_map(|dir| walkdir::WalkDir::new(top().join(dir))) {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
            let variables = words.filter(|word| word.starts_with("ORBH_") || word.starts_with("XDG_"));
            missing.extend(variables.filter(|name| !documents(&common, name)).map(str::to_owned));
        }
    }
    assert_eq!(missing, BTreeSet::new());
}
