//! Codex's transcript: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl` below CODEX_HOME.
//!
//! A `token_count` event carries the usage of the newest call (`last_token_usage`) beside the window; the sums over the
//! thread next to it (`total_token_usage`, and `token_usage_record` lines) say nothing about the context. `info` may be
//! null. A native compaction is a `compacted` record; a few milliseconds later a `token_count` with an estimate of what
//! is left follows, which has a total but no tokens of any call. Until a call has measured the context again, it is
//! the newest word.

use super::tail::{FIRST, lines_backwards};
use super::{Usage, uuid_like};
use anyhow::Result;
use serde::Deserialize;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The parts of a record that matter here. A record in which one of them has another type is noise.
#[derive(Deserialize)]
struct Record {
    r#type: String,
    timestamp: Option<String>,
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    r#type: Option<String>,
    role: Option<String>,
    info: Option<Info>,
}

#[derive(Deserialize)]
struct Info {
    last_token_usage: Option<Tokens>,
    model_context_window: Option<u64>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// What a `token_count` tells.
struct Count {
    usage: Usage,
    /// It is no measurement of a call, but an estimate by the harness.
    estimated: bool,
}

impl Record {
    /// The usage in a `token_count`. A total of zero is none: nothing was sent yet.
    fn count(&self) -> Option<Count> {
        let payload = self.payload.as_ref().filter(|_| self.r#type == "event_msg")?;
        let info = payload.info.as_ref().filter(|_| payload.r#type.as_deref() == Some("token_count"))?;
        let last = info.last_token_usage.as_ref()?;
        let used = last.total_tokens.filter(|total| *total > 0)?;
        let max = info.model_context_window.filter(|max| *max > 0);
        let measured_at = self.timestamp.clone();
        let usage = Usage { used: Some(used), max, model: None, compacted_natively: false, measured_at };
        Some(Count { usage, estimated: (last.input_tokens, last.output_tokens) == (Some(0), Some(0)) })
    }

    /// Whether the model made this: what it says, thinks or calls. What tools and people answer has other types.
    fn is_answer(&self) -> bool {
        let Some(payload) = self.payload.as_ref().filter(|_| self.r#type == "response_item") else { return false };
        match payload.r#type.as_deref() {
            Some("message") => payload.role.as_deref() == Some("assistant"),
            Some(kind) => kind == "reasoning" || kind.ends_with("_call"),
            None => false,
        }
    }
}

/// What was met on the way back from the end of the file.
#[derive(Default)]
struct Search {
    /// The newest count, an estimate: whether a compaction led to it stands further up.
    estimate: Option<Usage>,
    /// The newest compaction, which no count followed.
    compaction: Option<Usage>,
}

impl Search {
    /// Takes the next older record, and breaks with the answer as soon as no older one can change it.
    fn step(&mut self, record: Record) -> ControlFlow<Usage> {
        if let Some(count) = record.count() {
            return match (self.compaction.take(), self.estimate.take()) {
                (Some(compaction), _) => ControlFlow::Break(Usage { max: count.usage.max, ..compaction }),
                (None, Some(estimate)) if !count.estimated => ControlFlow::Break(estimate),
                (None, None) if !count.estimated => ControlFlow::Break(count.usage),
                // An estimate may be written twice: the newest counts.
                (None, newer) => {
                    self.estimate = newer.or(Some(count.usage));
                    ControlFlow::Continue(())
                }
            };
        }
        if record.r#type == "compacted" {
            if let Some(estimate) = self.estimate.take() {
                return ControlFlow::Break(Usage { compacted_natively: true, ..estimate });
            }
            let measured_at = record.timestamp;
            let compaction = Usage { used: None, max: None, model: None, compacted_natively: true, measured_at };
            self.compaction.get_or_insert(compaction);
        }
        ControlFlow::Continue(())
    }

    /// The answer when there are no older records.
    fn end(self) -> Option<Usage> {
        self.compaction.or(self.estimate)
    }
}

/// How full the context of a Codex transcript is; `None` while there is no usage yet, or no file.
pub fn codex(path: &Path) -> Result<Option<Usage>> {
    let mut search = Search::default();
    let found = lines_backwards(path, FIRST, |line| {
        if !line.contains(r#""token_count""#) && !line.contains(r#""compacted""#) {
            return ControlFlow::Continue(());
        }
        match serde_json::from_str(line) {
            Ok(record) => search.step(record),
            Err(_) => ControlFlow::Continue(()),
        }
    })?;
    Ok(found.or_else(|| search.end()))
}

/// Whether the model gave any answer in a Codex transcript. Reads on to the start only when there is none.
pub fn answered_codex(path: &Path) -> Result<bool> {
    let found = lines_backwards(path, FIRST, |line| {
        let record: Option<Record> =
            line.contains(r#""response_item""#).then(|| serde_json::from_str(line).ok()).flatten();
        if record.is_some_and(|record| record.is_answer()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found.is_some())
}

/// The transcript of a thread of Codex, whose home is `codex_home` (`~/.codex`, CODEX_HOME).
///
/// It lies under the day on which the thread was made, whatever the day is now: the newest day is looked at first.
/// `None` when there is none, or the id is no UUID. A subagent has an id of its own, and is found by that only.
pub fn find_codex(codex_home: &Path, native_id: &str) -> Option<PathBuf> {
    if !uuid_like(native_id) {
        return None;
    }
    let end = format!("-{native_id}.jsonl");
    let years = numbered(&codex_home.join("sessions"), 4);
    let mut days = years.iter().flat_map(|year| numbered(year, 2)).flat_map(|month| numbered(&month, 2));
    days.find_map(|day| {
        let entries = fs::read_dir(day).ok()?;
        let rollouts = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            (name.starts_with("rollout-") && name.ends_with(&end) && entry.path().is_file()).then(|| entry.path())
        });
        // The name begins with the time of day: of several, the newest.
        rollouts.max()
    })
}

/// Where a rollout that does not exist yet may appear: in the newest day, or in one that will be.
pub fn places_codex(codex_home: &Path) -> Vec<PathBuf> {
    let mut places = vec![codex_home.join("sessions")];
    for digits in [4, 2, 2] {
        let newest = places.last().and_then(|dir| numbered(dir, digits).into_iter().next());
        places.extend(newest);
    }
    places
}

/// The directories below `dir` whose names are numbers of so many digits, the largest first.
fn numbered(dir: &Path, digits: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            name.len() == digits && name.iter().all(u8::is_ascii_digit)
        })
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// The thread's id as `codex exec --json` tells it, from the beginning of its standard output; `None` while it is not
/// there. Other lines, whatever they hold, are passed over; the first id counts.
pub fn thread_id(stdout: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Event {
        r#type: String,
        thread_id: Option<String>,
    }
    // A last line without its newline needs no care: half an object is no JSON.
    let lines = stdout.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    let mut events = lines.filter_map(|line| serde_json::from_str::<Event>(line).ok());
    events.find_map(|event| event.thread_id.filter(|id| event.r#type == "thread.started" && uuid_like(id)))
}
