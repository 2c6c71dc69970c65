//! shared::harness::transcript: what real transcripts of Claude Code and Codex tell about the context, and what must
//! not mislead. The samples in tests/data/transcripts are records of real runs of those CLIs, long strings cut.

#![allow(clippy::unwrap_used)]

mod claude;
mod codex;
mod edges;
mod naive;
mod places;
mod random;

use serde_json::{Value, json};
use shared::harness::transcript::{self, Usage};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The bytes of a sample.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transcripts").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The first lines of a sample.
fn first_lines(name: &str, count: usize) -> Vec<u8> {
    sample(name).split_inclusive(|byte| *byte == b'\n').take(count).collect::<Vec<_>>().concat()
}

/// A transcript of its own.
struct Transcript {
    _dir: TempDir,
    path: PathBuf,
}

impl Transcript {
    fn of(bytes: &[u8]) -> Transcript {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("transcript.jsonl");
        fs::write(&path, bytes).unwrap();
        Transcript { _dir: dir, path }
    }

    fn claude(&self) -> Option<Usage> {
        transcript::claude(&self.path).unwrap()
    }

    fn codex(&self) -> Option<Usage> {
        transcript::codex(&self.path).unwrap()
    }
}

fn claude(bytes: impl AsRef<[u8]>) -> Option<Usage> {
    Transcript::of(bytes.as_ref()).claude()
}

fn codex(bytes: impl AsRef<[u8]>) -> Option<Usage> {
    Transcript::of(bytes.as_ref()).codex()
}

/// Tokens in use, where the transcript tells any.
fn used(usage: Option<Usage>) -> Option<u64> {
    usage.and_then(|usage| usage.used)
}

/// These records as lines.
pub(crate) fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// An answer of a Claude model after which `used` tokens are in the context.
pub(crate) fn answer(used: u64) -> Value {
    answer_of("claude-sonnet-4-5", used)
}

pub(crate) fn answer_of(model: &str, used: u64) -> Value {
    let usage = json!({
        "input_tokens": used.min(3), "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": used.saturating_sub(3), "output_tokens": 0,
    });
    json!({
        "isSidechain": false, "type": "assistant", "timestamp": "2026-11-30T18:29:10.351Z",
        "message": {"role": "assistant", "model": model, "content": [{"type": "text", "text": "ok"}], "usage": usage},
    })
}

/// The same record with one key, given as a JSON pointer, set to another value.
pub(crate) fn with(mut record: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    record.pointer_mut(parent).unwrap()[key] = value;
    record
}

/// A user's message.
pub(crate) fn user(text: &str) -> Value {
    json!({"isSidechain": false, "type": "user", "message": {"role": "user", "content": text}})
}

/// Claude's record of a native compaction.
pub(crate) fn boundary(left: Option<u64>) -> Value {
    json!({
        "isSidechain": false, "type": "system", "subtype": "compact_boundary", "timestamp": "2026-11-30T19:00:00.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 190_077, "postTokens": left},
    })
}

/// Codex's count after a call that left `total` tokens in the context.
pub(crate) fn count(total: u64) -> Value {
    let last = json!({"input_tokens": total.min(total.saturating_sub(7)), "output_tokens": 7, "total_tokens": total});
    count_of(json!({
        "total_token_usage": {"input_tokens": 900_000, "output_tokens": 1, "total_tokens": 900_001},
        "last_token_usage": last, "model_context_window": 258_400,
    }))
}

/// Codex's estimate after a native compaction.
pub(crate) fn estimate(total: u64) -> Value {
    let last = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": total});
    count_of(json!({"last_token_usage": last, "model_context_window": 258_400}))
}

pub(crate) fn count_of(info: Value) -> Value {
    let payload = json!({"type": "token_count", "info": info, "rate_limits": null});
    json!({"timestamp": "2026-11-30T18:42:09.682Z", "type": "event_msg", "payload": payload})
}

/// Codex's record of a native compaction.
pub(crate) fn compacted() -> Value {
    json!({
        "timestamp": "2026-11-30T19:00:00.000Z", "type": "compacted",
        "payload": {"message": "summary", "replacement_history": [{"type": "message", "role": "user", "content": []}]},
    })
}
