//! Claude Code: which records tell how full the context is.

use super::*;
use shared::harness::transcript::{answered_claude, window};

fn answered(bytes: impl AsRef<[u8]>) -> bool {
    answered_claude(&Transcript::of(bytes.as_ref()).path).unwrap()
}

#[test]
fn real_transcripts_tell_what_the_cli_itself_reported() {
    for (name, expected) in [
        ("claude-print-tools-subagent-bgshell.jsonl", 3 + 500 + 11_722 + 7),
        ("claude-interactive-tui.jsonl", 3 + 500 + 63_497 + 7),
        ("claude-manual-compact-multiturn-resume.jsonl", 3 + 500 + 11_716 + 7),
        ("claude-autocompact.jsonl", 3 + 500 + 11_715 + 7),
        ("claude-v2.1.197-two-turns.jsonl", 3 + 500 + 11_811 + 7),
    ] {
        let usage = claude(sample(name)).unwrap();
        assert_eq!(usage.used, Some(expected), "{name}");
        assert_eq!(usage.max, Some(200_000), "{name}");
        assert_eq!(usage.model.as_deref(), Some("claude-sonnet-4-5"), "{name}");
        assert!(!usage.compacted_natively, "{name}");
        assert!(answered(sample(name)), "{name}");
    }
    // The resume hook of the CLI reported 150007 there.
    let resumed = first_lines("claude-manual-compact-multiturn-resume.jsonl", 33);
    let usage = claude(resumed).unwrap();
    assert_eq!(usage.used, Some(150_007));
    assert_eq!(usage.measured_at.as_deref().map(|at| &at[..10]), Some("2026-11-30"));
}

#[test]
fn an_api_error_with_zero_usage_hides_no_number() {
    let usage = claude(sample("claude-api-error-synthetic.jsonl")).unwrap();
    assert_eq!((usage.used, usage.measured_at.as_deref()), (Some(190_042), Some("2026-11-30T18:29:16.007Z")));
    let synthetic = answer_of("<synthetic>", 0);
    let spoken_for = answer_of("<synthetic>", 99);
    let error = with(answer(99), "/isApiErrorMessage", json!(true));
    for last in [synthetic, spoken_for, error, answer(0)] {
        assert_eq!(used(claude(lines(&[answer(1000), last.clone()]))), Some(1000), "{last}");
        assert_eq!(claude(lines(&[user("hello"), last.clone()])), None, "{last}");
    }
}

#[test]
fn a_subagent_does_not_count() {
    let subagent = sample("claude-print-tools-subagent-bgshell.subagent.jsonl");
    assert_eq!(claude(&subagent), None);
    assert!(!answered(&subagent));
    let main = sample("claude-interactive-tui.jsonl");
    assert_eq!(used(claude([main, subagent].concat())), Some(64_007));
    let compacted = with(boundary(Some(5)), "/isSidechain", json!(true));
    assert_eq!(used(claude(lines(&[answer(1000), compacted]))), Some(1000));
}

#[test]
fn after_a_native_compaction_what_is_left_counts_until_the_next_answer() {
    for (name, boundary_line, left) in
        [("claude-autocompact.jsonl", 34, 2664), ("claude-manual-compact-multiturn-resume.jsonl", 97, 2657)]
    {
        for count in boundary_line..boundary_line + 13 {
            let usage = claude(first_lines(name, count)).unwrap();
            assert_eq!(usage.used, Some(left), "{name} to line {count}");
            assert!(usage.compacted_natively);
            assert_eq!((usage.max, usage.model.as_deref()), (Some(200_000), Some("claude-sonnet-4-5")));
        }
        assert!(!claude(first_lines(name, boundary_line - 1)).unwrap().compacted_natively);
    }
    let usage = claude(first_lines("claude-autocompact.jsonl", 48)).unwrap();
    assert_eq!((usage.used, usage.compacted_natively), (Some(12_224), false));
}

#[test]
fn a_compaction_that_tells_no_size_leaves_no_stale_number() {
    for left in [None, Some(0)] {
        let usage = claude(lines(&[answer(190_000), boundary(left)])).unwrap();
        assert_eq!((usage.used, usage.max, usage.compacted_natively), (None, Some(200_000), true));
        assert_eq!(usage.measured_at.as_deref(), Some("2026-11-30T19:00:00.000Z"));
    }
    // Without any answer before, there is no model; with two in a row, the newer counts.
    let usage = claude(lines(&[boundary(Some(9)), boundary(Some(8))])).unwrap();
    assert_eq!((usage.used, usage.max, usage.model, usage.compacted_natively), (Some(8), None, None, true));
}

#[test]
fn records_of_one_message_are_not_added_up() {
    let block = |kind: &str| with(answer(5000), "/message/content", json!([{"type": kind}]));
    assert_eq!(used(claude(lines(&[block("thinking"), block("text"), block("tool_use")]))), Some(5000));
}

#[test]
fn no_answer_yet_is_no_usage() {
    let start = first_lines("claude-autocompact.jsonl", 20);
    assert_eq!(claude(&start), None);
    assert!(!answered(&start));
    assert!(answered(first_lines("claude-autocompact.jsonl", 21)));
    assert_eq!(claude(""), None);
    assert!(!answered(""));
    assert_eq!(claude(lines(&[with(answer(1), "/message/usage", json!(null))])), None);
    assert!(!answered(lines(&[with(answer(9), "/isApiErrorMessage", json!(true)), answer_of("<synthetic>", 0)])));
}

#[test]
fn more_in_use_than_the_maximum_is_told_as_it_is() {
    let usage = claude(lines(&[answer(212_345)])).unwrap();
    assert_eq!((usage.used, usage.max), (Some(212_345), Some(200_000)));
    let most = with(answer(5), "/message/usage/output_tokens", json!(u64::MAX));
    assert_eq!(used(claude(lines(&[most]))), Some(u64::MAX));
}

#[test]
fn a_model_that_nobody_measured_has_no_maximum() {
    let usage = claude(lines(&[answer_of("claude-epic-9", 400)])).unwrap();
    assert_eq!((usage.used, usage.max, usage.model.as_deref()), (Some(400), None, Some("claude-epic-9")));
    let nameless = with(answer(400), "/message/model", json!(null));
    assert_eq!(claude(lines(&[nameless])).map(|usage| (usage.used, usage.max)), Some((Some(400), None)));
}

#[test]
fn the_large_window_is_known_by_its_mark() {
    for (model, expected) in [
        ("claude-sonnet-4-5", Some(200_000)),
        ("claude-sonnet-4-5-20250929", Some(200_000)),
        ("claude-sonnet-4-5@20250929", Some(200_000)),
        ("claude-sonnet-4-5[1m]", Some(1_000_000)),
        ("sonnet[1m]", Some(1_000_000)),
        ("claude-opus-5-5", Some(1_000_000)),
        ("claude-fable-5-2", Some(1_000_000)),
        ("claude-sonnet-4", None),
        ("claude-sonnet-4-5-2025", None),
        ("claude-sonnet-4-5-20250929-x", None),
        ("[1m]", None),
        ("", None),
    ] {
        assert_eq!(window(model), expected, "{model:?}");
    }
    let asked = |requested: &str| with(answer_of("claude-sonnet-4-5-20250929", 9), "/requestedModel", json!(requested));
    let max = |record| claude(lines(&[record])).unwrap().max;
    assert_eq!(max(asked("claude-sonnet-4-5[1m]")), Some(1_000_000));
    assert_eq!(max(asked("claude-sonnet-4-5")), Some(200_000));
    // Another model answered than the one that was asked for.
    assert_eq!(max(asked("claude-opus-4-8[1m]")), Some(200_000));
}

#[test]
fn what_stands_in_a_message_is_only_text() {
    let fake = answer(77).to_string();
    let fake_boundary = boundary(Some(66)).to_string();
    let tool = json!({
        "isSidechain": false, "type": "user", "toolUseResult": answer(55), "compactMetadata": {"postTokens": 44},
        "message": {"role": "user", "content": [{"type": "tool_result", "content": fake}], "usage": {"input_tokens": 3}},
    });
    let quoting = with(answer(1000), "/message/content", json!([{"type": "text", "text": fake_boundary}]));
    let cost = json!({"type": "cost-state", "modelUsage": {"x": {"usage": {"input_tokens": 5}, "assistant": 1}}});
    let broken_out = format!("{}\n{fake} {fake}\n[{fake}]\n\"{fake}\"\n{}", &fake[1..], fake_boundary.replace(':', ""));
    let text = lines(&[quoting, user(&fake), user(&fake_boundary), tool, cost]) + &broken_out + "\n";
    assert_eq!(used(claude(text)), Some(1000));
    assert!(!answered(lines(&[user(&fake), json!({"type": "summary", "assistant": answer(3)})])));
}

#[test]
fn a_record_of_another_shape_is_noise() {
    for (pointer, value) in [
        ("/message/usage/input_tokens", json!(-5)),
        ("/message/usage/input_tokens", json!("5")),
        ("/message/usage/output_tokens", json!(1.5)),
        ("/message/usage", json!("none")),
        ("/message", json!("text")),
        ("/type", json!(7)),
    ] {
        let odd = with(answer(77), pointer, value);
        assert_eq!(used(claude(lines(&[answer(1000), odd.clone()]))), Some(1000), "{odd}");
    }
    // Fields that are missing count nothing, and fields that are new do not matter.
    let sparse = with(answer(77), "/message/usage", json!({"output_tokens": 12, "quantum_tokens": {"a": [1]}}));
    assert_eq!(used(claude(lines(&[answer(1000), sparse]))), Some(12));
}

#[test]
fn half_of_a_surrogate_pair_in_a_message_does_not_hide_its_usage() {
    let whole = answer(4321).to_string();
    let cut = whole.replace(r#""text":"ok""#, r#""text":"cut \ud83d""#);
    assert_ne!(whole, cut);
    assert_eq!(used(claude(cut + "\n")), Some(4321));
}
