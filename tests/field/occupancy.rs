//! What misled others about how full a context is.

use crate::agents::{Stage, claude, codex, first, story};
use crate::harness::model::{Script, Step, Turn};
use crate::harness::{Session, World, wait_for};
use crate::transcript::{answer, answer_of, boundary, compacted, count, count_of, estimate, lines, sample, user, with};
use serde_json::{Value, json};

/// A harness of this test, and how it tells what it uses.
struct Teller {
    target: &'static str,
    /// What it tells of a context of so many tokens; `None` where it reports to a file instead.
    record: Option<fn(u64) -> Value>,
    max: u64,
}

const TELLERS: [Teller; 3] = [
    Teller { target: "claude/one", record: Some(answer), max: 200_000 },
    Teller { target: "codex/one", record: Some(count), max: 258_400 },
    Teller { target: "command/one", record: None, max: 200_000 },
];

impl Teller {
    fn launch<'w>(&self, world: &'w World) -> Session<'w> {
        let (runtime, _) = self.target.split_once('/').unwrap();
        let more = match runtime {
            "claude" => json!({"model": "claude-sonnet-4-5"}),
            "codex" => json!({}),
            _ => json!({"context_window": self.max}),
        };
        world.stand_in(runtime, "one", &more);
        world.launch(self.target, "do nothing")
    }

    /// Lets the harness of a run tell that so many tokens are in use.
    fn tell(&self, session: &Session, run: &str, used: u64) {
        match self.record {
            Some(record) => write(session, run, &[record(used)]),
            None => session.report_context(run, &json!({"used": used}).to_string()),
        }
    }
}

/// Appends records to the transcript of a run.
fn write(session: &Session, run: &str, records: &[Value]) {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().append(true).create(true).open(session.transcript(run));
    file.unwrap().write_all(lines(records).as_bytes()).unwrap();
}

/// Every view of the occupancy shows this: `context`, the Page of the run itself and of an observer, `list`, `inspect`.
#[track_caller]
fn shown(session: &Session, run: &str, line: &str) {
    let world = session.world;
    assert_eq!(world.orbh(["context", &session.id]).run().ok(), format!("{line}\n"));
    assert_eq!(session.verb(run, ["context"]).run().ok(), format!("{line}\n"));
    let pages = [world.orbh(["page", &session.id]), session.verb(run, ["page"])];
    for page in pages.map(|page| page.run().exits(0).stdout) {
        assert!(page.contains(&format!("CONTEXT      {line}\n")), "no {line:?} in: {page}");
    }
    let list = world.orbh(["list"]).run().exits(0).stdout;
    assert!(list.contains(&format!("  {line}  ")), "no {line:?} in: {list}");
    let inspected = world.orbh(["inspect", &session.id]).run().exits(0).stdout;
    assert!(inspected.contains(&format!("context      {line}\n")), "no {line:?} in: {inspected}");
    let json = world.orbh(["context", &session.id, "--json"]).run().json();
    assert_eq!(json["used"].is_null(), line.starts_with("unknown"), "{json}");
    assert_eq!(json["percent"].is_null(), !line.contains('%'), "{json}");
}

/// Seen: right after a compaction the old number was still shown, or 0 %. Rule: what counts is the newest usage on the
/// main chain of the current context's own transcript; until there is one, the occupancy is unknown.
#[test]
fn right_after_a_compaction_occupancy_is_unknown_and_never_the_old_number_or_0() {
    for teller in TELLERS {
        let world = World::new();
        let session = teller.launch(&world);
        let unknown = format!("unknown / {}", teller.max);
        let full = |used: u64| format!("{used} / {} ({}%)", teller.max, (used * 100 + teller.max / 2) / teller.max);
        if teller.target != "codex/one" {
            // The window of codex stands in its transcript, so without one there is none.
            shown(&session, "0001", &unknown);
        }
        teller.tell(&session, "0001", 190_000);
        shown(&session, "0001", &full(190_000));
        session.compact("0001", "0002");
        let unknown = if teller.record.is_some() && teller.target == "codex/one" { "unknown" } else { &unknown };
        shown(&session, "0002", unknown);
        // Whatever still writes to the old transcript measures a context that is over.
        teller.tell(&session, "0001", 195_000);
        shown(&session, "0002", unknown);
        if teller.target == "claude/one" {
            // Neither a question nor an error that the CLI wrote down in the model's name is a measurement.
            let failed = with(answer(0), "/message/model", json!("<synthetic>"));
            write(&session, "0002", &[user("go on"), with(failed, "/isApiErrorMessage", json!(true)), answer(0)]);
            shown(&session, "0002", unknown);
        }
        if teller.target == "codex/one" {
            write(
                &session,
                "0002",
                &[count_of(Value::Null), with(count(9), "/payload/info/last_token_usage", Value::Null)],
            );
            shown(&session, "0002", unknown);
        }
        teller.tell(&session, "0002", 9_000);
        shown(&session, "0002", &full(9_000));
        session.verb("0002", ["compact", "finish"]).run().ok();
        shown(&session, "0002", &full(9_000));
    }
}

/// The same kind, when the harness compacts by itself: what it says is left counts, and without that nothing does.
#[test]
fn after_a_native_compaction_occupancy_is_what_is_left_or_unknown() {
    let cases: [(usize, Vec<Value>, &str); 4] = [
        (0, vec![boundary(Some(20_000))], "20000 / 200000 (10%)"),
        (0, vec![boundary(None)], "unknown / 200000"),
        (1, vec![compacted(), estimate(25_840)], "25840 / 258400 (10%)"),
        (1, vec![compacted()], "unknown / 258400"),
    ];
    for (teller, records, line) in cases {
        let world = World::new();
        let teller = &TELLERS[teller];
        let session = teller.launch(&world);
        teller.tell(&session, "0001", 190_000);
        write(&session, "0001", &records);
        shown(&session, "0001", line);
        let page = session.verb("0001", ["page"]).run().ok();
        assert!(page.contains("compacted this context by itself") && !page.contains("compact soon"), "{page}");
        teller.tell(&session, "0001", 30_000);
        assert!(world.orbh(["context", &session.id]).run().ok().starts_with("30000 / "));
    }
}

/// Seen: a window of a million tokens measured against 200,000. Rule: the maximum comes from the harness, the profile, or
/// a dated table of models; where none of them tells, tokens are shown alone, and nothing is advised.
#[test]
fn the_maximum_is_told_by_somebody_or_there_is_no_percentage() {
    const USED: u64 = 170_000;
    let model = |name: &str| answer_of(name, USED);
    let cases: [(&str, Value, Value, &str); 14] = [
        ("claude", json!({"model": "claude-sonnet-4-5"}), model("claude-sonnet-4-5-20250929"), "/ 200000 (85%)"),
        ("claude", json!({"model": "claude-sonnet-4-5[1m]"}), model("claude-sonnet-4-5-20250929"), "/ 1000000 (17%)"),
        ("claude", json!({"model": "claude-opus-4-8"}), model("claude-opus-4-8"), "/ 1000000 (17%)"),
        ("claude", json!({"model": "opus"}), model("claude-opus-5-5-20261001"), "/ 1000000 (17%)"),
        ("claude", json!({}), model("claude-opus-4-8"), "/ 1000000 (17%)"),
        ("claude", json!({}), model("claude-sonnet-4-5"), "/ 200000 (85%)"),
        ("claude", json!({}), model("claude-nobody-9"), "/ unknown"),
        ("claude", json!({"model": "claude-nobody-9"}), model("claude-nobody-9"), "/ unknown"),
        ("claude", json!({"context_window": 500_000}), model("claude-nobody-9"), "/ 500000 (34%)"),
        ("codex", json!({}), count(USED), "/ 258400 (66%)"),
        ("codex", json!({"context_window": 1_000_000}), count(USED), "/ 1000000 (17%)"),
        ("codex", json!({}), with(count(USED), "/payload/info/model_context_window", Value::Null), "/ unknown"),
        ("command", json!({}), json!({"used": USED, "max": 1_000_000}), "/ 1000000 (17%)"),
        ("command", json!({}), json!({"used": USED}), "/ unknown"),
    ];
    let world = World::new();
    for (index, (runtime, profile, record, line)) in cases.into_iter().enumerate() {
        let name = format!("case-{index}");
        world.stand_in(runtime, &name, &profile);
        let session = world.launch(&format!("{runtime}/{name}"), "do nothing");
        match runtime {
            "command" => session.report_context("0001", &record.to_string()),
            _ => write(&session, "0001", &[record]),
        }
        shown(&session, "0001", &format!("{USED} {line}"));
        let page = session.verb("0001", ["page"]).run().ok();
        assert_eq!(page.contains("compact soon"), line.ends_with("(85%)"), "{runtime} {profile}: {page}");
        world.orbh(["kill", &session.id]).run().ok();
    }
}

/// Seen: the tokens of subagents counted as those of the session. Rule: side chains do not count, wherever the harness
/// writes them down: in the same transcript, below a directory of the session, or beside it as a thread of its own.
#[test]
fn the_tokens_of_subagents_do_not_count() {
    let world = World::new();
    let session = TELLERS[0].launch(&world);
    let side = |used| with(answer(used), "/isSidechain", json!(true));
    write(&session, "0001", &[answer(40_000), side(180_000), user("go on"), side(190_000)]);
    let transcript = session.transcript("0001");
    let below = transcript.with_extension("").join("subagents");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("agent-1.jsonl"), lines(&[side(199_000), answer(198_000)])).unwrap();
    std::fs::write(transcript.with_file_name("agent-2.jsonl"), lines(&[answer(197_000)])).unwrap();
    shown(&session, "0001", "40000 / 200000 (20%)");
    // A context in which only a subagent has answered yet is one that has not been measured.
    session.compact("0001", "0002");
    write(&session, "0002", &[user("go on"), side(50_000)]);
    shown(&session, "0002", "unknown / 200000");
    write(&session, "0002", &[answer(12_000), side(60_000)]);
    shown(&session, "0002", "12000 / 200000 (6%)");

    // What the real ones wrote down: the subagents' own files lie beside the session's.
    let world = World::new();
    let session = TELLERS[1].launch(&world);
    let rollout = session.transcript("0001");
    let child = rollout.with_file_name("rollout-2026-11-30T18-42-10-11111111-2222-4333-8444-555555555555.jsonl");
    std::fs::write(&rollout, sample("codex-rollout-subagent-parent.jsonl")).unwrap();
    let alone = world.orbh(["context", &session.id]).run().ok();
    assert!(alone.ends_with("%)\n"), "{alone}");
    std::fs::write(&child, sample("codex-rollout-subagent-child.jsonl")).unwrap();
    let mut later = std::fs::read(&child).unwrap();
    later.extend(lines(&[count(250_000)]).into_bytes());
    std::fs::write(&child, later).unwrap();
    shown(&session, "0001", alone.trim_end());
}

/// The same kind, with the real ones: the first context of 169,000 tokens is over, and its successor waits for its first
/// answer.
#[test]
fn a_real_successor_is_unknown_until_it_is_answered() {
    for agent in [claude("full"), codex("full")] {
        let hangs = Script::new(|_| Step::hang());
        let stage = Stage::new(Script::contexts([first(None), hangs]));
        if !stage.profile("under-test", &agent) {
            continue;
        }
        let session = stage.launch(&format!("{}/under-test", agent.runtime));
        assert_eq!(session.wait_end("0001"), "compacted", "{}", story(&session, &stage));
        wait_for("the successor's question", || (stage.model.conversations().len() > 1).then_some(()));
        // It is found out which conversation it is, and its transcript is there.
        session.wait_fact("runs/0002/native.json");
        let unknown = if agent.runtime == "claude" { "unknown / 200000" } else { "unknown" };
        let context = stage.world.orbh(["context", &session.id]).run().ok();
        // Codex tells its window before anything was answered.
        assert!(context == format!("{unknown}\n") || context == "unknown / 258400\n", "{}: {context}", agent.runtime);
        let page = stage.world.orbh(["page", &session.id]).run().ok();
        assert!(page.contains("CONTEXT      unknown") && !page.contains("compact soon"), "{page}");
        stage.world.orbh(["kill", &session.id]).run().ok();
    }
}

/// The same kind, with a real subagent: what it uses is written down by the harness that runs it, and is not the session's.
#[test]
fn a_real_subagent_does_not_count() {
    const TASK: &str = "Count from one to three, and say that you did.";
    let stage = Stage::new(Script::new(|turn: &Turn| {
        let starts = ["Agent", "Task"].into_iter().find(|name| turn.tools.iter().any(|tool| tool == name));
        match starts {
            _ if turn.prompt.contains(TASK) => Step::say("I counted.").context(190_000),
            Some(name) if turn.tool_outputs.is_empty() => {
                let task = json!({"description": "count", "prompt": TASK, "subagent_type": "general-purpose"});
                Step::tool(name, task).context(40_000)
            }
            _ => Step::hang(),
        }
    }));
    if !stage.profile("under-test", &claude("full")) {
        return;
    }
    let session = stage.launch("claude/under-test");
    let turns = || stage.model.conversations().into_iter().flat_map(|one| one.turns).collect::<Vec<_>>();
    wait_for("the subagent's answer, and the next question of the session", || {
        let turns = turns();
        let counted = turns.iter().any(|(turn, step)| turn.prompt.contains(TASK) && step.is_some());
        let asked = turns.iter().any(|(turn, _)| !turn.prompt.contains(TASK) && !turn.tool_outputs.is_empty());
        (counted && asked).then_some(())
    });
    // The CLI writes behind what it does: wait for both numbers to stand somewhere.
    let written = |used: &str| {
        let files = walkdir::WalkDir::new(stage.world.home().join(".claude/projects")).into_iter().flatten();
        let mut texts = files.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        texts.any(|text| text.contains(&format!("\"cache_read_input_tokens\":{used},")))
    };
    wait_for("both to be written down", || (written("39885") && written("189885")).then_some(()));
    shown(&session, "0001", "40000 / 200000 (20%)");
    stage.world.orbh(["kill", &session.id]).run().ok();
}
