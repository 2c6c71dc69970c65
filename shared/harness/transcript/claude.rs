//! Claude Code's transcript: `projects/<some encoding of the cwd>/<session id>.jsonl` below its configuration.
//!
//! Each content block of an answer is an `assistant` record of its own, and all blocks of one message carry the same
//! usage. Its four counts make up what is in the context after it (the CLI reports the same sum on resume); so the
//! newest one tells all, and nothing is ever added up over records. Not counted: side chains (subagents), and what the
//! CLI writes in the model's name (`<synthetic>`, API errors), which carries zeros. After a `compact_boundary` the
//! `postTokens` of its metadata stand until the next answer. The window is not in the transcript: see [`super::window`].

use super::tail::{FIRST, lines_backwards};
use super::{Usage, uuid_like, window};
use anyhow::Result;
use serde::Deserialize;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// More directories of projects than these are not watched for a transcript to appear.
const MOST_PLACES: usize = 64;

/// The parts of a record that matter here. A record in which one of them has another type is noise.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    r#type: String,
    subtype: Option<String>,
    timestamp: Option<String>,
    is_sidechain: Option<bool>,
    is_api_error_message: Option<bool>,
    message: Option<Message>,
    requested_model: Option<String>,
    compact_metadata: Option<Compaction>,
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compaction {
    post_tokens: Option<u64>,
}

impl Tokens {
    /// What is in the context after the answer; `None` for zeros, which no call to a model ever has.
    fn context(&self) -> Option<u64> {
        let counts =
            [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens, self.output_tokens];
        Some(counts.into_iter().flatten().fold(0, u64::saturating_add)).filter(|sum| *sum > 0)
    }
}

impl Record {
    /// The record on this line, if it is of the main chain.
    fn parse(line: &str) -> Option<Record> {
        serde_json::from_str(line).ok().filter(|record: &Record| record.is_sidechain != Some(true))
    }

    /// What the model itself answered.
    fn answer(&self) -> Option<&Message> {
        let message = self.message.as_ref().filter(|_| self.r#type == "assistant")?;
        let synthetic = message.model.as_deref() == Some("<synthetic>") || self.is_api_error_message == Some(true);
        (!synthetic).then_some(message)
    }

    /// The usage after an answer of the model.
    fn usage(&self) -> Option<Usage> {
        let message = self.answer()?;
        let used = message.usage.as_ref()?.context()?;
        let requested = self.requested_model.as_deref();
        let max = message.model.as_deref().and_then(|model| window::of_answer(model, requested));
        let (model, measured_at) = (message.model.clone(), self.timestamp.clone());
        Some(Usage { used: Some(used), max, model, compacted_natively: false, measured_at })
    }

    /// The usage after a native compaction; the model, and with it the window, is the business of older records.
    fn compaction(&self) -> Option<Usage> {
        if self.r#type != "system" || self.subtype.as_deref() != Some("compact_boundary") {
            return None;
        }
        let left = self.compact_metadata.as_ref().and_then(|metadata| metadata.post_tokens);
        let (used, measured_at) = (left.filter(|left| *left > 0), self.timestamp.clone());
        Some(Usage { used, max: None, model: None, compacted_natively: true, measured_at })
    }
}

/// Whether a line can be an answer at all. Cheap; what it lets through is parsed.
fn may_answer(line: &str) -> bool {
    line.contains(r#""assistant""#)
}

/// How full the context of a Claude Code transcript is; `None` while there is no usage yet, or no file.
pub fn claude(path: &Path) -> Result<Option<Usage>> {
    let mut compacted: Option<Usage> = None;
    let found = lines_backwards(path, FIRST, |line| {
        let may_count = may_answer(line) && line.contains(r#""usage""#);
        if !may_count && (compacted.is_some() || !line.contains(r#""compact_boundary""#)) {
            return ControlFlow::Continue(());
        }
        let Some(record) = Record::parse(line) else { return ControlFlow::Continue(()) };
        if let Some(answer) = record.usage() {
            return ControlFlow::Break(match compacted.take() {
                Some(compacted) => Usage { max: answer.max, model: answer.model, ..compacted },
                None => answer,
            });
        }
        if compacted.is_none() {
            compacted = record.compaction();
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.or(compacted))
}

/// Whether the model gave any answer in a Claude Code transcript: on the main chain, and not one that the CLI wrote in
/// its name. Reads on to the start only when there is none.
pub fn answered_claude(path: &Path) -> Result<bool> {
    let found = lines_backwards(path, FIRST, |line| {
        let answer = may_answer(line) && Record::parse(line).is_some_and(|record| record.answer().is_some());
        if answer { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found.is_some())
}

/// The transcript of a session of Claude Code, whose configuration is in `config_dir` (`~/.claude`, CLAUDE_CONFIG_DIR).
///
/// It is looked for under every project, since the directory's name cannot be computed safely; of several (version
/// 2.1.197, resumed elsewhere, or copies) the one written to last. `None` when there is none, or the id is no UUID.
pub fn find_claude(config_dir: &Path, native_id: &str) -> Option<PathBuf> {
    if !uuid_like(native_id) {
        return None;
    }
    let name = format!("{native_id}.jsonl");
    let projects = fs::read_dir(config_dir.join("projects")).ok()?;
    let candidates = projects.filter_map(|project| {
        let path = project.ok()?.path().join(&name);
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), path))
    });
    candidates.max().map(|(_, path)| path)
}

/// Where a transcript that does not exist yet may appear: `projects`, and the newest of the directories in it.
pub fn places_claude(config_dir: &Path) -> Vec<PathBuf> {
    let all = config_dir.join("projects");
    let projects = fs::read_dir(&all).into_iter().flatten().flatten().filter_map(|project| {
        let metadata = project.metadata().ok().filter(fs::Metadata::is_dir)?;
        Some((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), project.path()))
    });
    let mut projects: Vec<(SystemTime, PathBuf)> = projects.collect();
    projects.sort_unstable_by(|a, b| b.cmp(a));
    projects.truncate(MOST_PLACES);
    std::iter::once(all).chain(projects.into_iter().map(|(_, path)| path)).collect()
}
