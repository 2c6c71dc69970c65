//! Codex: which records tell how full the context is.

use super::*;
use shared::harness::transcript::{answered_codex, thread_id};

fn answered(bytes: impl AsRef<[u8]>) -> bool {
    answered_codex(&Transcript::of(bytes.as_ref()).path).unwrap()
}

#[test]
fn real_rollouts_tell_the_last_call_and_not_the_sum() {
    for (name, expected) in [
        ("codex-rollout-two-turns-exec.jsonl", 61_007),
        ("codex-rollout-tui.jsonl", 12_130),
        ("codex-rollout-interrupted.jsonl", 12_143),
        ("codex-rollout-subagent-parent.jsonl", 12_111),
        ("codex-rollout-compacted.jsonl", 12_109),
    ] {
        let usage = codex(sample(name)).unwrap();
        assert_eq!((usage.used, usage.max), (Some(expected), Some(258_400)), "{name}");
        assert!(!usage.compacted_natively, "{name}");
        assert!(usage.measured_at.is_some_and(|at| at.starts_with("2026-11-30T")), "{name}");
        assert!(answered(sample(name)), "{name}");
    }
}

#[test]
fn after_a_native_compaction_the_estimate_counts_until_the_next_call() {
    let at = |count| codex(first_lines("codex-rollout-compacted.jsonl", count)).unwrap();
    let told = |count| (at(count).used, at(count).max, at(count).compacted_natively);
    assert_eq!(told(18), (Some(250_007), Some(258_400), false));
    // The size of what is left is not told at once; the number from before would be stale.
    for count in 19..=22 {
        assert_eq!(told(count), (None, Some(258_400), true), "to line {count}");
        assert_eq!(at(count).measured_at.as_deref(), Some("2026-11-30T18:42:09.685Z"));
    }
    for count in 23..=27 {
        assert_eq!(told(count), (Some(6056), Some(258_400), true), "to line {count}");
    }
    assert_eq!(told(28), (Some(12_109), Some(258_400), false));
    // The estimate is written twice.
    let twice = codex(lines(&[count(9000), compacted(), estimate(300), estimate(200)])).unwrap();
    assert_eq!((twice.used, twice.compacted_natively), (Some(200), true));
}

#[test]
fn an_estimate_without_a_compaction_is_none() {
    let usage = codex(lines(&[compacted(), count(9000), estimate(300)])).unwrap();
    assert_eq!((usage.used, usage.compacted_natively), (Some(300), false));
    let usage = codex(lines(&[user("hello"), estimate(300)])).unwrap();
    assert_eq!((usage.used, usage.compacted_natively), (Some(300), false));
}

#[test]
fn a_compaction_alone_is_told() {
    let usage = codex(lines(&[compacted(), compacted()])).unwrap();
    assert_eq!((usage.used, usage.max, usage.compacted_natively), (None, None, true));
}

#[test]
fn counts_without_a_number_are_passed_over() {
    let null = count_of(json!(null));
    let zero = count(0);
    let rates = json!({"type": "event_msg", "payload": {"type": "token_count", "rate_limits": {"primary": 1}}});
    let negative = with(count(5), "/payload/info/last_token_usage/total_tokens", json!(-5));
    let text = with(count(5), "/payload/info/last_token_usage", json!("five"));
    for last in [null, zero, rates, negative, text] {
        assert_eq!(used(codex(lines(&[count(1000), last.clone()]))), Some(1000), "{last}");
        assert_eq!(codex(format!("{last}\n")), None, "{last}");
    }
}

#[test]
fn no_call_yet_is_no_usage() {
    let start = first_lines("codex-rollout-two-turns-exec.jsonl", 9);
    assert_eq!(codex(&start), None);
    assert!(!answered(&start));
    assert!(answered(first_lines("codex-rollout-two-turns-exec.jsonl", 10)));
    // The call is done, its count not yet written.
    assert_eq!(codex(first_lines("codex-rollout-two-turns-exec.jsonl", 13)), None);
    assert_eq!(codex(""), None);
    assert!(!answered(""));
}

#[test]
fn more_in_use_than_the_maximum_is_told_as_it_is() {
    let usage = codex(lines(&[count(300_000)])).unwrap();
    assert_eq!((usage.used, usage.max), (Some(300_000), Some(258_400)));
    for (window, max) in [(json!(null), None), (json!(0), None), (json!(475_000), Some(475_000))] {
        let usage = codex(lines(&[with(count(300), "/payload/info/model_context_window", window)])).unwrap();
        assert_eq!((usage.used, usage.max), (Some(300), max));
    }
}

#[test]
fn what_stands_in_a_message_is_only_text() {
    let message = |role: &str, text: String| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
    };
    let output = json!({"type": "response_item", "payload": {
        "type": "function_call_output", "output": compacted().to_string(), "info": count(5)["payload"]["info"],
    }});
    let record = with(count(5), "/type", json!("token_usage_record"));
    let texts =
        lines(&[message("user", count(5).to_string()), message("user", compacted().to_string()), output, record]);
    assert_eq!(codex(&texts), None);
    assert!(!answered(&texts));
    assert_eq!(used(codex(lines(&[count(1000)]) + &texts)), Some(1000));
    assert!(answered(lines(&[message("assistant", "hello".to_owned())])));
}

#[test]
fn the_thread_is_known_from_the_first_line_of_exec() {
    let id = "01a22dd8-e312-77e3-873d-0ab60fa7a6e4";
    let stdout = sample("codex-stdout.exec-json.jsonl");
    assert_eq!(thread_id(&stdout).as_deref(), Some(id));
    let first = stdout.split(|byte| *byte == b'\n').next().unwrap();
    for cut in 0..first.len() {
        assert_eq!(thread_id(&first[..cut]), None, "cut at {cut}");
    }
    assert_eq!(thread_id(first).as_deref(), Some(id));
    let quoted = serde_json::to_string(&String::from_utf8_lossy(first)).unwrap();
    let noise =
        format!("Reading prompt from stdin...\n\n{quoted}\n{{\"type\":\"error\",\"thread_id\":\"{id}\"}}\n[]\n7\n");
    let wrong = "{\"type\":\"thread.started\",\"thread_id\":\"../../etc\"}\n{\"type\":\"thread.started\"}\n";
    let all = [b"\xff\xfe{\n".as_slice(), noise.as_bytes(), wrong.as_bytes(), &stdout].concat();
    assert_eq!(thread_id(&all).as_deref(), Some(id));
    assert_eq!(thread_id((noise + wrong).as_bytes()), None);
    assert_eq!(thread_id(b""), None);
}
