//! `orbh-shim`: the last thing before the harness. Single-threaded, and quiet on success.
//!
//! The order matters: the process is recorded, durably, before the program is executed. Whoever finds a run without a
//! record may start it; whoever finds a record must not.

use crate::args::Args;
use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl, open};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, dup, dup2_stderr, dup2_stdin, dup2_stdout, execv, setsid};
use shared::face::output::tell;
use shared::face::text::one_line;
use shared::ground::clock::At;
use shared::ground::dir::{Dir, Written, insist_mode};
use shared::ground::fact;
use shared::ground::fault::{Fault, Kind};
use shared::ground::process::{Proc, boot_id, pid_namespace};
use shared::spool::facts::{End, PidRecord, Reason, Run, Stdin};
use shared::spool::layout;
use shared::verbs::environment::Environment;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The run has a process, or a tombstone, already.
const RECORDED_BEFORE: u8 = 3;
/// The program could not be executed; the end of the run says why.
const NOT_EXECUTED: u8 = 4;

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let path = environment.absolute(&args.run);
    let run: Run = fact::load(&path.join(layout::RUN))?
        .with_context(|| format!("'{}' is missing", path.join(layout::RUN).display()))?;
    let nonce = environment.nonce().context("ORBH_NONCE is not set: this is for a manager to start")?;
    let dir = Dir::open(&path)?;
    // A session and a process group of its own: what hits the manager's terminal does not hit the harness.
    setsid().context("cannot become the leader of a session")?;
    let me = Proc::me().context("cannot read /proc/self/stat")?;
    let record = PidRecord {
        pid: me.pid,
        start: me.start,
        nonce: nonce.to_owned(),
        boot_id: Some(boot_id().to_owned()),
        pid_namespace: pid_namespace(),
        tombstone: None,
    };
    let error = match fact::create(&dir, layout::PID, &record) {
        Ok(Written::Before) => return Ok(RECORDED_BEFORE),
        Ok(Written::Now) => {
            let Err(error) = become_harness(&path, &run);
            error
        }
        // It may be visible all the same, and would count as a run that came up.
        Err(error) => {
            let visible: Option<PidRecord> = fact::load(&path.join(layout::PID)).ok().flatten();
            if visible.is_none_or(|visible| visible.nonce != record.nonce) {
                return Err(error);
            }
            error
        }
    };
    let detail = shared::face::exit::words("orbh-shim", &error);
    let detail = one_line(detail.trim_start_matches("orbh-shim: "));
    tell(&format!("{detail}\n"));
    let end = End { reason: Reason::SpawnFailed, code: None, signal: None, at: At::now(), detail: Some(detail) };
    fact::create(&dir, layout::END, &end)?;
    Ok(NOT_EXECUTED)
}

fn become_harness(dir: &Path, run: &Run) -> Result<std::convert::Infallible> {
    let open_at = |path: &Path, flags: OFlag| {
        open(path, flags | OFlag::O_CLOEXEC, Mode::S_IRUSR | Mode::S_IWUSR)
            .map_err(std::io::Error::from)
            .with_context(|| format!("cannot open '{}'", path.display()))
    };
    let stdin = match run.stdin {
        Stdin::Prompt => open_at(&dir.join(layout::PROMPT), OFlag::O_RDONLY)?,
        Stdin::Null => open_at(Path::new("/dev/null"), OFlag::O_RDONLY)?,
    };
    // Opening a FIFO would wait for a reader that never comes.
    Dir::open(dir)?.free_for_file(layout::OUTPUT)?;
    let appending = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_APPEND | OFlag::O_NOFOLLOW;
    let output = File::from(open_at(&dir.join(layout::OUTPUT), appending)?);
    insist_mode(&output, 0o600).with_context(|| format!("cannot set the mode of '{}'", layout::OUTPUT))?;
    chdir(&run.cwd)
        .map_err(std::io::Error::from)
        .with_context(|| format!("cannot change to the directory '{}'", run.cwd.display()))?;
    let program = run.argv.first().ok_or_else(|| Fault::new(Kind::Damaged, "run.json names no program"))?;
    // Standard error is the manager's ear. It is kept close-on-exec, so that the manager hears either why the program
    // was not executed, or, by the end of the file, that it was.
    let ear: OwnedFd = dup(std::io::stderr()).map_err(std::io::Error::from).context("cannot keep standard error")?;
    fcntl(&ear, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))
        .map_err(std::io::Error::from)
        .context("cannot keep standard error")?;
    let dup_failed = "cannot redirect the standard streams";
    dup2_stdin(&stdin).map_err(std::io::Error::from).context(dup_failed)?;
    dup2_stdout(&output).map_err(std::io::Error::from).context(dup_failed)?;
    dup2_stderr(&output).map_err(std::io::Error::from).context(dup_failed)?;
    reset_signals().context("cannot reset the signals")?;
    // Not execvp(3): that would hand a file of an unknown format to a shell.
    let words = run.argv.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<CString>, _>>()?;
    let Err(error) = execv(&words[0], &words);
    let _ = dup2_stderr(&ear);
    Err(std::io::Error::from(error)).with_context(|| format!("cannot execute '{program}'"))
}

/// The manager blocks the signals that it reads, and a shell or nohup may have had some ignored: both would be
/// inherited, and a harness that cannot be told to end would have to be killed.
fn reset_signals() -> nix::Result<()> {
    for one in Signal::iterator().filter(|one| !matches!(one, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default action replaces no handler that anything here relies on.
        unsafe { signal(one, SigHandler::SigDfl) }?;
    }
    SigSet::empty().thread_set_mask()
}
