//! Facts as JSON objects: versioned, readable with `cat` and `jq`, and damage named by path, byte offset and reason.

use super::dir::{Dir, Written, read_up_to};
use super::fault::{Fault, Kind};
use anyhow::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the spool format that this build writes, and the highest that it reads.
pub const VERSION: u32 = 1;

/// How a fact of that version begins that this build has written.
const OURS: &[u8] = b"{\n  \"v\": 1,\n";

/// No fact is larger, in bytes: what is, was not written by orbh, and is not read into memory.
pub const LARGEST: u64 = 1024 * 1024;

#[derive(Serialize)]
struct Versioned<'a, T> {
    v: u32,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Deserialize)]
struct VersionOnly {
    v: Option<u32>,
}

/// The JSON text of a fact: `"v": 1` first, indented, with a newline at the end.
pub fn to_text<T: Serialize>(body: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&Versioned { v: VERSION, body })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The JSON of a record on one line, `"v": 1` first, without the newline: for streams and for `--json`.
pub fn to_line<T: Serialize>(body: &T) -> Result<String> {
    Ok(serde_json::to_string(&Versioned { v: VERSION, body })?)
}

/// Creates the fact `name` in `dir`, unless somebody did before.
pub fn create<T: Serialize>(dir: &Dir, name: &str, body: &T) -> Result<Written> {
    dir.create(name, &to_text(body)?)
}

/// Replaces the changing value `name` in `dir`, whole.
pub fn replace<T: Serialize>(dir: &Dir, name: &str, body: &T) -> Result<()> {
    dir.replace(name, &to_text(body)?)
}

/// Reads a fact; `None` when it is not there. Damage is a [`Fault`] of kind `Damaged` that names path, offset, reason.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match read_up_to(path, LARGEST)? {
        Some(bytes) => parse(path, &bytes).map(Some),
        None => Ok(None),
    }
}

/// Parses the bytes of a fact that was read from `path`.
pub fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    // As this build writes it: then a second pass over the bytes is spared.
    let version = match bytes.starts_with(OURS) {
        true => VersionOnly { v: Some(VERSION) },
        false => serde_json::from_slice(bytes).map_err(|error| damaged(path, bytes, &error))?,
    };
    if let Some(v) = version.v.filter(|v| *v > VERSION) {
        let message = format!(
            "cannot read '{}': it has version {v} of the spool format, and this orbh reads up to {VERSION}",
            path.display()
        );
        return Err(Fault::new(Kind::Damaged, message).hint("install the orbh that wrote it, or a newer one").into());
    }
    Ok(serde_json::from_slice(bytes).map_err(|error| damaged(path, bytes, &error))?)
}

fn damaged(path: &Path, bytes: &[u8], error: &serde_json::Error) -> Fault {
    let before = bytes.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let offset = before.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    // What was cut short is damaged where it ends.
    let offset = if error.is_eof() { bytes.len() } else { offset };
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or(&reason);
    Fault::new(
        Kind::Damaged,
        format!("cannot read '{}': damaged at byte {}: {reason}", path.display(), offset.min(bytes.len())),
    )
    .hint(format!("look at it with 'cat {}'; repair it, or move it away", path.display()))
}
