//! The lines of a growing file, from the last to the first.
//!
//! The end of the file is read first, as much as `first` says; what lies before it follows in pieces that make the part
//! read four times as large each time, down to the start if nobody stops it. A piece is never larger than 16 MiB and
//! is forgotten when the next is read, so that memory is bounded by it and by the longest line. A line that spans
//! pieces is read once more, by itself: such a file is only ever appended to.
//!
//! Only what was there when the file was opened is looked at. Nothing is written, and no lock is taken: the writer
//! appends whole lines, and one that is cut short has no newline yet.

use crate::ground::fault::{Fault, Kind};
use anyhow::{Context, Result};
use nix::fcntl::OFlag;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// How much of the end is read first, in bytes: more than one turn in most transcripts, and one read(2).
pub const FIRST: usize = 64 * 1024;

/// No piece is larger, in bytes.
const PIECE: u64 = 16 << 20;

/// A longer line, in bytes, is noise. No writer makes one (a string of node ends at 512 MiB of UTF-16), but a hole in
/// a damaged file can look like one.
const LONGEST: u64 = 256 << 20;

/// Opens a transcript and tells its size; `None` when it does not exist. It lies outside of the spool, so symlinks are
/// followed; but nothing but a regular file is read, and opening a FIFO does not block.
fn open(path: &Path) -> Result<Option<(File, u64)>> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.with_context(|| format!("cannot open '{}'", path.display()))?,
    };
    let metadata = file.metadata().with_context(|| format!("cannot stat '{}'", path.display()))?;
    if !metadata.is_file() {
        let message = format!("cannot read '{}': it is not a regular file", path.display());
        return Err(Fault::new(Kind::Damaged, message).into());
    }
    Ok(Some((file, metadata.len())))
}

/// Shows each whole line of the file, the last first and without its newline, until `visit` breaks; answers what it
/// broke with, or `None` at the start of the file and when there is no file. Lines that are no UTF-8 are left out.
pub fn lines_backwards<T>(
    path: &Path,
    first: usize,
    mut visit: impl FnMut(&str) -> ControlFlow<T>,
) -> Result<Option<T>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    let reading = || format!("cannot read '{}'", path.display());
    let mut piece = Vec::new();
    let mut long = Vec::new();
    // All from `start` on was looked at; the line before `end`, an offset of a newline, was not shown yet.
    let mut start = size;
    let mut end: Option<u64> = None;
    while start > 0 {
        let step = if start == size { first.max(1) as u64 } else { (size - start).saturating_mul(3) };
        let low = start - step.min(PIECE).min(start);
        read(&file, low, start, &mut piece).with_context(reading)?;
        let mut rest = piece.len();
        loop {
            let newline = piece[..rest].iter().rposition(|byte| *byte == b'\n');
            let begin = match newline {
                Some(at) => at + 1,
                None if low == 0 => 0,
                None => break,
            };
            let (from, newline_at) = (low + begin as u64, newline.map(|at| low + at as u64));
            if let Some(to) = end {
                let line = if to <= start {
                    &piece[begin..(to - low) as usize]
                } else if to - from <= LONGEST {
                    read(&file, from, to, &mut long).with_context(reading)?;
                    &long[..]
                } else {
                    &[]
                };
                if let Ok(line) = str::from_utf8(line)
                    && let ControlFlow::Break(found) = visit(line)
                {
                    return Ok(Some(found));
                }
            }
            let Some(at) = newline else { break };
            end = newline_at;
            rest = at;
        }
        start = low;
    }
    Ok(None)
}

/// Fills `into` with the bytes from offset `from` up to `to`.
fn read(file: &File, from: u64, to: u64, into: &mut Vec<u8>) -> std::io::Result<()> {
    into.resize((to - from) as usize, 0);
    file.read_exact_at(into, from)
}
