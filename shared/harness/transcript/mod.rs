//! How full a context is, from the transcript that its harness writes (Claude Code 2.1.332 and 2.1.197, Codex 0.171.0).
//!
//! A transcript is a file of JSON lines, appended to while it is read, and not ours. What is promised: the answer is
//! that of the newest record that tells it, as a reader of the whole file would give it; a last line without its
//! newline is not there yet; a line that is no UTF-8, no JSON or of another shape is noise, never an error; nothing is
//! ever taken from the text of a message; 0 is never answered for want of a number. Reading starts at the end, so that
//! neither time nor memory grows with the file (see [`tail`]).
//!
//! Subagents write files of their own, which the ids asked for here do not lead to.
//!
//! Shapes and numbers were measured with those versions on 2026-11-30. Later ones are read leniently: unknown records
//! and unknown fields are passed over.

mod claude;
mod codex;
pub mod tail;
mod window;

pub use claude::{answered_claude, claude, find_claude, places_claude};
pub use codex::{answered_codex, codex, find_codex, places_codex, thread_id};
pub use window::window;

/// How full a context is, by the newest record that tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Tokens in use. Absent only when the harness compacted the context by itself and has not said yet how much was
    /// left: the number from before would be stale.
    pub used: Option<u64>,
    /// The size of the window in tokens: from the transcript where it stands there, else by [`window`] of the model.
    pub max: Option<u64>,
    /// The model that answered last. Codex does not name it beside its usage, and needs no table: always absent there.
    pub model: Option<String>,
    /// The harness compacted the context by itself, and no call to the model has measured it since: `used` is what the
    /// harness estimates to be left.
    pub compacted_natively: bool,
    /// The time of the record that `used` comes from (of the compaction, where `used` is absent), as it is written
    /// there: RFC 3339.
    pub measured_at: Option<String>,
}

/// Whether a native id looks like a UUID: all ids of these harnesses do, and no such id can lead out of a directory.
fn uuid_like(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
