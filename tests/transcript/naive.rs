//! The same answers the slow way: the whole file, forwards, each line as a free JSON value.

use serde_json::Value;
use shared::harness::transcript::{Usage, window};

/// The whole lines that are JSON objects.
fn records(bytes: &[u8]) -> impl Iterator<Item = Value> {
    let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole.filter_map(|line| serde_json::from_str(std::str::from_utf8(line).ok()?).ok()).filter(Value::is_object)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The number there; `Some(None)` when there is none, `None` when something else is there.
fn number(value: &Value) -> Option<Option<u64>> {
    if value.is_null() { Some(None) } else { value.as_u64().map(Some) }
}

fn claude_answer(record: &Value) -> Option<Usage> {
    let message = &record["message"];
    if message["model"] == "<synthetic>" || record["isApiErrorMessage"] == true {
        return None;
    }
    let mut sum = 0_u64;
    for name in ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"] {
        sum = sum.saturating_add(number(&message["usage"][name])?.unwrap_or(0));
    }
    let model = text(&message["model"]);
    (sum > 0).then(|| Usage {
        used: Some(sum),
        max: model.as_deref().and_then(window),
        model,
        compacted_natively: false,
        measured_at: text(&record["timestamp"]),
    })
}

pub fn claude(bytes: &[u8]) -> Option<Usage> {
    let mut newest: Option<Usage> = None;
    for record in records(bytes).filter(|record| record["isSidechain"] != true) {
        if record["type"] == "assistant" {
            newest = claude_answer(&record).or(newest);
        } else if record["type"] == "system" && record["subtype"] == "compact_boundary" {
            let Some(left) = number(&record["compactMetadata"]["postTokens"]) else { continue };
            let before = newest.take();
            newest = Some(Usage {
                used: left.filter(|left| *left > 0),
                max: before.as_ref().and_then(|before| before.max),
                model: before.and_then(|before| before.model),
                compacted_natively: true,
                measured_at: text(&record["timestamp"]),
            });
        }
    }
    newest
}

pub fn codex(bytes: &[u8]) -> Option<Usage> {
    let mut newest: Option<Usage> = None;
    let mut compacted = false;
    for record in records(bytes) {
        if record["type"] == "compacted" {
            compacted = true;
            newest = Some(Usage {
                used: None,
                max: newest.and_then(|before| before.max),
                model: None,
                compacted_natively: true,
                measured_at: text(&record["timestamp"]),
            });
        } else if record["type"] == "event_msg" && record["payload"]["type"] == "token_count" {
            let info = &record["payload"]["info"];
            let last = &info["last_token_usage"];
            let numbers = ["input_tokens", "output_tokens", "total_tokens"].map(|name| number(&last[name]));
            let [Some(input), Some(output), Some(Some(total))] = numbers else { continue };
            let Some(max) = number(&info["model_context_window"]) else { continue };
            if total == 0 {
                continue;
            }
            compacted &= (input, output) == (Some(0), Some(0));
            newest = Some(Usage {
                used: Some(total),
                max: max.filter(|max| *max > 0),
                model: None,
                compacted_natively: compacted,
                measured_at: text(&record["timestamp"]),
            });
        }
    }
    newest
}
