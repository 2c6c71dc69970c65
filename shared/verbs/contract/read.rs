//! Reads a draft from the disk, once, into memory.
//!
//! Never follows a symbolic link, never blocks on what is not a regular file, never reads more than the limit,
//! even from a file that grows meanwhile. What is validated is what was read; the path is not looked at again.

use super::MAX_BYTES;
use super::report::quote_path;
use crate::ground::fault::Finding;
use nix::libc;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The bytes of the draft at `path`: at least one, at most [`MAX_BYTES`].
///
/// Otherwise one finding: `handoff-missing`, `-empty`, `-directory`, `-symlink`, `-special` (FIFO, socket, device),
/// `-too-large`, `-unreadable` (permission) or `-read-error`.
pub fn read_draft(path: &Path) -> Result<Vec<u8>, Finding> {
    // lstat first: opening a device can do something, and a socket cannot be opened at all.
    let entry = path.symlink_metadata().map_err(|error| failed(path, &error))?;
    regular(path, entry.file_type())?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| failed(path, &error))?;
    // The name may have changed hands since; from here on it is the descriptor that counts.
    let opened = file.metadata().map_err(|error| failed(path, &error))?;
    regular(path, opened.file_type())?;
    bounded(path, &file, &opened)
}

/// Reads `file` to its end, or refuses it.
fn bounded(path: &Path, file: &File, opened: &Metadata) -> Result<Vec<u8>, Finding> {
    let mut bytes = Vec::new();
    if opened.len() <= MAX_BYTES {
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    }
    let size = opened.len().max(bytes.len() as u64);
    if size > MAX_BYTES {
        return Err(too_large(path, size));
    }
    if bytes.is_empty() {
        return Err(empty(path));
    }
    Ok(bytes)
}

/// Refuses what is not a regular file, by its kind.
fn regular(path: &Path, kind: FileType) -> Result<(), Finding> {
    let special = |what: &str| {
        Finding::new(
            "handoff-special",
            format!("the handoff is {what}, not a regular file"),
            "remove it, and write the handoff there as a regular file",
        )
    };
    let finding = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        Finding::new(
            "handoff-directory",
            "the handoff is a directory, not a regular file",
            "remove the directory, and write the handoff there as a regular file",
        )
    } else if kind.is_symlink() {
        symlink(path)
    } else if kind.is_fifo() {
        special("a FIFO")
    } else if kind.is_socket() {
        special("a socket")
    } else {
        special("a device")
    };
    Err(finding.at(path))
}

/// The draft is a symbolic link.
fn symlink(path: &Path) -> Finding {
    Finding::new(
        "handoff-symlink",
        format!("the handoff {} is a symbolic link, not a regular file", quote_path(path)),
        "put a copy in its place: cp the file it points to beside it, then mv the copy over the link",
    )
    .at(path)
}

/// The draft holds nothing.
pub(super) fn empty(path: &Path) -> Finding {
    Finding::new(
        "handoff-empty",
        format!("the handoff {} is empty", quote_path(path)),
        "write the handoff as the contract says; 'orbh compact start' prints it again",
    )
    .at(path)
}

/// The draft holds `size` bytes or more.
pub(super) fn too_large(path: &Path, size: u64) -> Finding {
    Finding::new(
        "handoff-too-large",
        format!("the handoff has {size} bytes, and at most {MAX_BYTES} are read"),
        "write an account, not a log: move bulk into files of their own, and name them in FILES",
    )
    .at(path)
}

/// A system call on the draft failed.
fn failed(path: &Path, error: &io::Error) -> Finding {
    let shown = quote_path(path);
    if error.raw_os_error() == Some(libc::ELOOP) && path.is_symlink() {
        return symlink(path);
    }
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Finding::new(
            "handoff-missing",
            "there is no handoff yet",
            format!("write the handoff to exactly {shown}; 'orbh compact start' prints the path and the contract"),
        ),
        ErrorKind::PermissionDenied => Finding::new(
            "handoff-unreadable",
            "the handoff cannot be opened for reading: permission denied",
            format!("make it readable: chmod u+r {shown}"),
        ),
        _ => Finding::new(
            "handoff-read-error",
            format!("the handoff cannot be read: {error}"),
            "find out what ails the disk or the path, then try again",
        ),
    }
    .at(path)
}
