//! From an error to its exit status and its words. The only writer of standard error.

use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::ground::foreign::clean;
use serde::Serialize;
use std::fmt::Write;

/// The kind of an error: what a typed failure in it says, else a failed system call.
pub fn kind(error: &anyhow::Error) -> Kind {
    if error.chain().any(|cause| cause.is::<Refusal>()) {
        return Kind::Refused;
    }
    error.chain().find_map(|cause| cause.downcast_ref::<Fault>()).map_or(Kind::System, |fault| fault.kind)
}

/// Whether the reader of our output has gone.
pub fn broken_pipe(error: &anyhow::Error) -> bool {
    let is = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(is)
}

/// The error as people read it: one sentence, then what to do next; a finding a paragraph.
pub fn words(program: &str, error: &anyhow::Error) -> String {
    if let Some(refusal) = error.chain().find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return refusal.findings.iter().map(|finding| finding_words(program, "refused", finding)).collect();
    }
    let mut text = format!("{program}: {}\n", clean(&sentence(error)));
    if let Some(hint) =
        error.chain().find_map(|cause| cause.downcast_ref::<Fault>()).and_then(|fault| fault.hint.as_ref())
    {
        let _ = writeln!(text, "hint: {}", clean(hint));
    }
    text
}

/// The causes of an error, outermost first, each system error without its number.
fn sentence(error: &anyhow::Error) -> String {
    let causes: Vec<String> = error.chain().map(|cause| plain(&cause.to_string())).collect();
    causes.join(": ")
}

fn plain(cause: &str) -> String {
    match cause.find(" (os error ") {
        Some(at) if cause.ends_with(')') => cause[..at].to_owned(),
        _ => cause.to_owned(),
    }
}

/// A finding as people read it: where, what, and what to do.
pub fn finding_words(program: &str, how: &str, finding: &Finding) -> String {
    let mut text = format!("{program}: {how}: ");
    if let Some(path) = &finding.path {
        let _ = write!(text, "{}", clean(&path.display().to_string()));
        if let Some(line) = finding.line {
            let _ = write!(text, ":{line}");
        }
        text.push_str(": ");
    }
    let _ = writeln!(text, "{}", clean(&finding.message));
    let _ = writeln!(text, "hint: {}", clean(&finding.fix));
    text
}

#[derive(Serialize)]
struct RefusedJson<'a> {
    v: u32,
    refused: &'a [Finding],
    context_ends: bool,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    v: u32,
    error: ErrorBody<'a>,
    context_ends: bool,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a str>,
}

/// The error as scripts read it: an object on standard output.
pub fn json(error: &anyhow::Error) -> String {
    let object = match error.chain().find_map(|cause| cause.downcast_ref::<Refusal>()) {
        Some(refusal) => {
            // The one refusal that comes from a context which ends: its handoff was accepted before.
            let context_ends = refusal.findings.iter().any(|finding| finding.code == "accepted");
            serde_json::to_string(&RefusedJson { v: 1, refused: &refusal.findings, context_ends })
        }
        None => {
            let fault = error.chain().find_map(|cause| cause.downcast_ref::<Fault>());
            let body = ErrorBody {
                kind: kind_name(kind(error)),
                message: sentence(error),
                fix: fault.and_then(|fault| fault.hint.as_deref()),
            };
            serde_json::to_string(&ErrorJson { v: 1, error: body, context_ends: false })
        }
    };
    object.unwrap_or_default()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Refused => "refused",
        Kind::Usage => "usage",
        Kind::Damaged => "damaged",
        Kind::Missing => "missing",
        Kind::System => "system",
        Kind::Busy => "busy",
    }
}
