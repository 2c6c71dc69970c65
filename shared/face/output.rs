//! Writing to standard output, which may be full, closed, or gone. A failed write is an error like any other, never a
//! panic, and nothing counts as said before it was flushed.

use crate::ground::fact;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;

/// Writes text, all of it, now.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes one JSON object on a line, `"v": 1` first.
pub fn print_json<T: Serialize>(body: &T) -> Result<()> {
    print(&(fact::to_line(body)? + "\n"))
}

/// Writes to standard error; whoever cannot hear it does not need it.
pub fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
