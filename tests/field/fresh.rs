//! What others met between an accepted handoff and a context that works again: an advice for the one that is over, no
//! room to compact in, no end of it, no end of them, and no room for what the handoff lists.

use crate::harness::{Session, World, alive, outcome, signal, wait_for};
use crate::transcript::{answer, count, lines};
use nix::sys::signal::Signal;
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

/// Puts so many seconds between now and the time that a fact of the spool has under `key`.
fn age(session: &Session, below: &str, key: &str, seconds: u64) {
    let mut fact = session.fact(below).unwrap();
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(i64::try_from(seconds).unwrap());
    fact[key] = json!(at.to_string());
    std::fs::remove_file(session.path(below)).unwrap();
    session.write_fact(below, &fact);
}

/// Whether every place that shows a session says that its compaction takes too long.
#[track_caller]
fn overdue(session: &Session, expected: bool) {
    let world = session.world;
    let compaction = session.inspect()["compaction"].clone();
    assert_eq!(compaction["overdue"], expected, "{compaction}");
    for args in
        [vec!["compact", "status", &session.id], vec!["page", &session.id], vec!["inspect", &session.id], vec!["list"]]
    {
        let shown = world.orbh(&args).run().exits(0).stdout;
        assert_eq!(shown.contains("(overdue)"), expected, "{args:?}: {shown}");
    }
}

/// Seen: "compacting" for ever. Rule: every phase has an age and a visible reason, and a time after which every view of
/// the session says that it takes too long; what cannot go on by itself is called failed, with the command that helps.
#[test]
fn every_phase_has_an_age_a_reason_and_a_deadline() {
    let world = World::new();
    world.agent("weak", "[ $ORBH_RUN = 0001 ] || [ $ORBH_RUN = 0003 ] || exit 3\nexec sleep 100000\n");
    let session = world.launch("command/weak", "do nothing");
    let phase = |expected: &str, reason: &str| {
        let compaction = session.inspect()["compaction"].clone();
        assert_eq!(compaction["phase"], expected, "{compaction}");
        assert!(compaction["reason"].as_str().unwrap_or_default().contains(reason), "no {reason:?} in {compaction}");
        let (aged, begun) = (compaction["age_s"].is_u64(), compaction["since"].is_string());
        assert_eq!((aged, begun), (expected != "idle", expected != "idle"), "{compaction}");
        assert_eq!(compaction["hint"].is_string(), expected == "failed", "{compaction}");
        let status = world.orbh(["compact", "status", &session.id]).run().ok();
        assert!(status.starts_with(expected) && status.contains(reason), "{status}");
    };
    phase("idle", "");
    overdue(&session, false);

    session.verb("0001", ["compact", "start"]).run().exits(0);
    phase("drafting", "run 0001 writes its handoff");
    overdue(&session, false);
    age(&session, "scratch/compacting.json", "since", 29 * 60);
    overdue(&session, false);
    age(&session, "scratch/compacting.json", "since", 31 * 60);
    phase("drafting", "run 0001 writes its handoff");
    overdue(&session, true);

    // A manager that does not carry it out: it is stopped, and that is said.
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    let compaction = session.inspect()["compaction"].clone();
    assert_eq!((&compaction["phase"], &compaction["overdue"]), (&json!("relaunching"), &json!(false)));
    assert_eq!(compaction["hint"], format!("kill -CONT {manager}"));
    assert!(compaction["reason"].as_str().unwrap().contains("the context of run 0001 ends"), "{compaction}");
    overdue(&session, false);
    age(&session, "scratch/relaunch.json", "at", 91);
    overdue(&session, true);
    signal(manager, Signal::SIGCONT);

    // The successor exits at once.
    session.wait_relaunched("0002");
    outcome(verb).accepted();
    assert_eq!(session.wait_end("0002"), "exited");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    phase("failed", "run 0002 ended (exited) without 'orbh compact finish'");

    // The next one lives, and does not finish.
    world.orbh(["resume", &session.id]).run().ok();
    phase("bootstrapping", "run 0003 has not run 'orbh compact finish' yet");
    overdue(&session, false);
    age(&session, "runs/0003/run.json", "started_at", 31 * 60);
    overdue(&session, true);
    session.verb("0003", ["compact", "finish"]).run().ok();
    phase("idle", "");
    overdue(&session, false);
}

/// Seen: compaction loops. Rule: several successions within minutes are reported on the Page and in `list`, whoever
/// looks; several within hours are not.
#[test]
fn several_successions_within_minutes_are_reported() {
    let world = World::new();
    let session = world.idle_session();
    let neighbour = world.launch("command/idle", "be quiet");
    let reported = |run: &str, expected: bool| {
        for page in [world.orbh(["page", &session.id]), session.verb(run, ["page"])] {
            let page = page.run().exits(0).stdout;
            assert_eq!(page.contains("compacted several times within minutes"), expected, "{page}");
        }
        let list = world.orbh(["list"]).run().exits(0).stdout;
        assert_eq!(list.matches("(compacting in a loop)").count(), usize::from(expected), "{list}");
        assert_eq!(session.inspect()["compaction"]["looping"], expected);
        let status = world.orbh(["compact", "status", &session.id]).run().ok();
        assert_eq!(status.contains("in a loop"), expected, "{status}");
    };
    for (run, successor, loops) in [("0001", "0002", false), ("0002", "0003", false), ("0003", "0004", true)] {
        session.compact(run, successor);
        session.verb(successor, ["compact", "finish"]).run().ok();
        reported(successor, loops);
    }
    assert_eq!(neighbour.inspect()["compaction"]["looping"], false);
    // The one that goes on compacting reads it while it drafts, too.
    let start = session.verb("0004", ["compact", "start"]).run().exits(0).stdout;
    assert!(start.contains("compacted several times within minutes"), "{start}");
    session.verb("0004", ["compact", "abort"]).run().ok();
    // The same three, hours ago.
    let lines = session.text("scratch/compactions.ndjson").unwrap();
    let earlier = |line: &str, hours: i64| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["finished_at"] = json!((jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours)).to_string());
        format!("{line}\n")
    };
    let old: String = lines.lines().zip([3, 2, 1]).map(|(line, hours)| earlier(line, hours)).collect();
    std::fs::write(session.path("scratch/compactions.ndjson"), old).unwrap();
    reported("0004", false);
}

/// Seen: a fresh context still got the old one's warning, and handed off again at 40 %. Rule: occupancy and advice belong
/// to a context; a fresh one ignores the old transcript, and one that is only resumed keeps its own.
#[test]
fn an_advice_belongs_to_the_context_that_is_full() {
    let world = World::new();
    world.stand_in("claude", "one", &json!({"model": "claude-sonnet-4-5"}));
    world.idle_agent();
    for target in ["claude/one", "command/idle"] {
        let session = world.launch(target, "do nothing");
        let tell = |run: &str, used: u64| match target {
            "command/idle" => session.report_context(run, &json!({"used": used}).to_string()),
            _ => std::fs::write(session.transcript(run), lines(&[answer(used)])).unwrap(),
        };
        let advised = |run: &str, expected: bool| {
            for page in [world.orbh(["page", &session.id]), session.verb(run, ["page"])] {
                let page = page.run().exits(0).stdout;
                assert_eq!(page.contains("compact soon"), expected, "{target} {run}: {page}");
            }
        };
        tell("0001", 164_000);
        advised("0001", true);
        // While it compacts there is nothing more to advise.
        session.verb("0001", ["compact", "start"]).run().exits(0);
        advised("0001", false);
        session.compact("0001", "0002");
        advised("0002", false);
        session.verb("0002", ["compact", "finish"]).run().ok();
        advised("0002", false);
        tell("0001", 199_000);
        tell("0002", 80_000);
        advised("0002", false);
        tell("0002", 165_000);
        advised("0002", true);
        // The next run of the same conversation is as full; a harness without one begins afresh.
        world.orbh(["kill", &session.id]).run().ok();
        world.orbh(["resume", &session.id]).run().ok();
        advised("0003", target == "claude/one");
    }
}

/// Seen: compaction itself failed because the context was full. Rule: no verb needs an answer of a model, and all of them
/// work at 100 percent and past it.
#[test]
fn a_context_that_is_full_can_still_be_replaced() {
    let world = World::new();
    world.stand_in("claude", "one", &json!({"model": "claude-sonnet-4-5"}));
    for (used, resumed) in
        [(176_900, true), (177_000, false), (200_000, false), (250_000, false), (u64::MAX / 2, false)]
    {
        let session = world.launch("claude/one", "do nothing");
        std::fs::write(session.transcript("0001"), lines(&[answer(used)])).unwrap();
        for args in [&["page"][..], &["context"], &["session", "set", "phase", "full"], &["compact", "start"]] {
            session.verb("0001", args).run().exits(0);
        }
        std::fs::write(session.handoff("0001"), "not yet").unwrap();
        session.verb("0001", ["compact", "handoff"]).run().exits(1).not_ended();
        assert!(alive(session.pid("0001")));
        session.verb("0001", ["compact", "abort"]).run().ok();
        session.compact("0001", "0002");
        std::fs::write(session.transcript("0002"), lines(&[answer(used)])).unwrap();
        session.verb("0002", ["compact", "finish"]).run().ok();
        // A conversation in which the harness would not say another word is not resumed.
        world.orbh(["kill", &session.id]).run().ok();
        world.orbh(["resume", &session.id]).run().ok();
        let argv = session.fact("runs/0003/run.json").unwrap()["argv"].to_string();
        assert_eq!(argv.contains("--resume"), resumed, "{used}: {argv}");
        session.verb("0003", ["session", "return", "done"]).run().ok();
        assert_eq!(session.state(), "finished");
    }
}
