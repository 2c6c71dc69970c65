//! The context windows of Claude's models, which its transcript does not tell.
//!
//! Source: what Claude Code 2.1.332 itself reported for each (`modelUsage[…].contextWindow`, and the status line's
//! `context_window_size`), measured on 2026-11-30. A profile that states its window knows better, and goes first.

const MILLION: u64 = 1_000_000;

/// Model ids without a date, and their windows in tokens.
const WINDOWS: [(&str, u64); 6] = [
    ("claude-sonnet-4-5", 200_000),
    ("claude-opus-4-8", MILLION),
    ("claude-opus-5-5", MILLION),
    ("claude-sonnet-5-5", MILLION),
    ("claude-haiku-5-5", MILLION),
    ("claude-fable-5-2", MILLION),
];

/// The mark by which a user asks for the large window of a model that has a small one too.
const LARGE: &str = "[1m]";

/// The context window of a model, in tokens; `None` when nobody measured it.
///
/// `model[1m]` is a million for any model, and a date behind the id (`-20250929`, `@20250929`) does not matter. The CLI
/// takes an id that it does not know for one of a million. That is not followed here: a million taken for what is
/// 200,000 tokens would silence the advice to compact until the harness refuses to go on, at 88.5 percent; no maximum
/// at all only costs the percentage.
pub fn window(model: &str) -> Option<u64> {
    if let Some(base) = model.strip_suffix(LARGE) {
        return (!base.is_empty()).then_some(MILLION);
    }
    let base = undated(model);
    WINDOWS.iter().find(|(name, _)| *name == base).map(|(_, tokens)| *tokens)
}

/// The window of the model that answered, which may be named without the mark by which it was asked for.
pub(super) fn of_answer(model: &str, requested: Option<&str>) -> Option<u64> {
    let large = requested.and_then(|requested| requested.strip_suffix(LARGE));
    if large.is_some_and(|base| undated(base) == undated(model)) { Some(MILLION) } else { window(model) }
}

/// The id without its date of eight digits.
fn undated(model: &str) -> &str {
    match model.rsplit_once(['-', '@']) {
        Some((base, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => model,
    }
}
