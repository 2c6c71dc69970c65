//! What others met between an accepted handoff and a context that works again: an advice for the one that is over, no
//! room to compact in, no end of it, no end of them, and no room for what the handoff lists.

use crate::harness::{Session, World};
use crate::transcript::{count, lines};
use serde_json::json;

/// Writes a handoff of a run that lists these files.
fn list_files(session: &Session, run: &str, files: &[&std::path::Path]) {
    let line = format!("{} :: the duty", session.path("prompt.md").display());
    let listed: Vec<String> = files.iter().map(|path| format!("{} :: to be read", path.display())).collect();
    let handoff = session.good_handoff(&format!("run {run}")).replace(&line, &listed.join("\n"));
    std::fs::write(session.handoff(run), handoff).unwrap();
}

/// Seen: the successor refilled its window by reading what the handoff listed. Rule: `handoff` states the total size of
/// FILES against the window that the successor will have, wherever it will run, and warns of more than half.
#[test]
fn the_weight_of_files_is_told_against_the_window_of_the_successor() {
    let world = World::new();
    let session = world.idle_session();
    for (name, profile) in [("small", json!({"context_window": 20_000})), ("open", json!({}))] {
        world.stand_in("command", name, &profile);
    }
    world.stand_in("claude", "model", &json!({"model": "claude-sonnet-4-5"}));
    let sized = |name: &str, bytes: u64| {
        let path = world.work().join(name);
        std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        path
    };
    let (small, large) = (sized("small", 48_000), sized("large", 480_000));
    let (small, large) = (small.as_path(), large.as_path());
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let cases: [(&[&std::path::Path], &str, &str, bool); 9] = [
        (&[small], "", "about 12,000 tokens (6% of the window)", false),
        (&[small, small], "", "1 file, 46.9 KiB, about 12,000 tokens (6% of the window)", false),
        (&[large], "", "about 120,000 tokens (60% of the window)", true),
        (&[large, small], "", "2 files, 515.6 KiB, about 132,000 tokens (66% of the window)", true),
        (&[small], "command/idle", "about 12,000 tokens (6% of the window)", false),
        (&[small], "command/small", "about 12,000 tokens (60% of the window)", true),
        (&[large], "command/small", "about 120,000 tokens (600% of the window)", true),
        (&[large], "command/open", "about 120,000 tokens\n", false),
        (&[large], "claude/model", "about 120,000 tokens (60% of the window)", true),
    ];
    for (files, into, weight, warned) in cases {
        list_files(&session, "0001", files);
        let into: &[&str] = if into.is_empty() { &[] } else { &["--into", into] };
        let args = [&["compact", "handoff", "--check"], into].concat();
        let checked = session.verb("0001", &args).run().exits(0);
        assert!(checked.stdout.contains(weight), "{into:?}: no {weight:?} in: {}", checked.stdout);
        assert_eq!(checked.stderr.contains("fill more than half of the new context"), warned, "{into:?} {checked:?}");
    }
    // A profile that was changed counts for the next run, and a warning is no refusal.
    world.agent("idle", "exec sleep 100000\n");
    let path = world.config().join("profiles/command/idle.json");
    let smaller = std::fs::read_to_string(&path).unwrap().replace("200000", "20000");
    std::fs::write(&path, smaller).unwrap();
    list_files(&session, "0001", &[small]);
    let verb = session.verb("0001", ["compact", "handoff"]).run();
    verb.says("fill more than half of the new context").accepted();
    session.wait_relaunched("0002");

    // The window that only the harness tells is the successor's, too, on the same target.
    world.stand_in("codex", "told", &json!({}));
    let session = world.launch("codex/told", "do nothing");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    list_files(&session, "0001", &[large]);
    let check = || session.verb("0001", ["compact", "handoff", "--check"]).run().exits(0);
    assert!(check().stdout.contains("about 120,000 tokens\n"));
    std::fs::write(session.transcript("0001"), lines(&[count(240_000)])).unwrap();
    assert!(check().stdout.contains("about 120,000 tokens (46% of the window)"));
}
