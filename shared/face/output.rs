//! Writing to standard output, which may be full, closed, or gone. A failed write is an error like any other, never a
//! panic, and nothing counts as said before it was flushed.

use crate::ground::fact;
use crate::ground::foreign::{clean_json, clean_lines};
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes text for people, all of it, now. No control character but line ends and tabs gets through, wherever in the
/// text it came from.
pub fn print(text: &str) -> Result<()> {
    write(&clean_lines(text))
}

/// The beginning of bold text on a terminal.
pub const BOLD: &str = "\x1b[1m";
/// Its end.
pub const PLAIN: &str = "\x1b[0m";

/// Writes text for people in which these two may stand.
pub fn print_styled(text: &str) -> Result<()> {
    let part = |part: &str| part.split(PLAIN).map(clean_lines).collect::<Vec<_>>().join(PLAIN);
    write(&text.split(BOLD).map(part).collect::<Vec<_>>().join(BOLD))
}

/// Writes text that was asked for as it is: for a program byte by byte, to a terminal without control characters.
pub fn print_exactly(text: &str) -> Result<()> {
    if std::io::stdout().is_terminal() { print(text) } else { write(text) }
}

/// The same, ended as a line is, whether the text is or not.
pub fn print_exactly_ended(text: &str) -> Result<()> {
    if text.ends_with('\n') { print_exactly(text) } else { print_exactly(&format!("{text}\n")) }
}

/// The same for what need not be text.
pub fn print_bytes_exactly(bytes: &[u8]) -> Result<()> {
    if std::io::stdout().is_terminal() { print(&String::from_utf8_lossy(bytes)) } else { write_bytes(bytes) }
}

/// Whether standard output was closed when this program was started.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// The runtime of Rust puts /dev/null in the place of a standard output that is closed, before `main`: everything would
/// seem to be written, and what was shown to nobody would be consumed. The constructors come before it.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: asks for the flags of a descriptor, by value.
        let closed = unsafe { nix::libc::fcntl(nix::libc::STDOUT_FILENO, nix::libc::F_GETFD) } == -1;
        CLOSED.store(closed, Ordering::Relaxed);
    }
    look
};

/// Closes a standard output again that was closed, for a program that this one becomes.
pub fn leave_closed() {
    if CLOSED.load(Ordering::Relaxed) {
        // SAFETY: what stands there is the /dev/null of the runtime, which nobody here writes to.
        unsafe { nix::libc::close(nix::libc::STDOUT_FILENO) };
    }
}

fn write(text: &str) -> Result<()> {
    write_bytes(text.as_bytes())
}

fn write_bytes(bytes: &[u8]) -> Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(std::io::Error::from_raw_os_error(nix::libc::EBADF)).context("cannot write to standard output");
    }
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes one JSON object on a line, `"v": 1` first.
pub fn print_json<T: Serialize>(body: &T) -> Result<()> {
    print_line_of_json(&fact::to_line(body)?)
}

/// Writes a line of JSON that is text already.
pub fn print_line_of_json(json: &str) -> Result<()> {
    write(&(clean_json(json) + "\n"))
}

/// Writes to standard error, with the same care; whoever cannot hear it does not need it.
pub fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(clean_lines(text).as_bytes());
}
