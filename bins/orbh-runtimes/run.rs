//! `orbh runtimes`: which harnesses there are.

use crate::args::Args;
use anyhow::Result;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use shared::face::output::{print, print_json};
use shared::face::text::{clean, columns, cut};
use shared::harness::Runtime;
use shared::harness::profile::find_program;
use shared::verbs::environment::Environment;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that has not told its version by then will not.
const BOUND: Duration = Duration::from_secs(10);
/// No version is longer.
const LONGEST: usize = 4096;

#[derive(Serialize)]
struct Line {
    runtime: &'static str,
    installed: bool,
    program: Option<String>,
    version: Option<String>,
    install: Option<&'static str>,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let lines: Vec<Line> = Runtime::ALL.into_iter().map(|runtime| line(runtime, environment)).collect();
    if args.json {
        for line in &lines {
            print_json(line)?;
        }
        return Ok(0);
    }
    let mut rows = vec![["RUNTIME", "VERSION", "PROGRAM"].map(str::to_owned).to_vec()];
    rows.extend(lines.into_iter().map(|line| {
        let version = match (line.installed, line.version) {
            (true, Some(version)) => cut(&clean(&version), 40),
            (true, None) if line.program.is_none() => "-".to_owned(),
            (true, None) => "unknown".to_owned(),
            (false, _) => "not installed".to_owned(),
        };
        let how = || {
            line.install.map_or_else(|| "whatever its profile names".to_owned(), |install| format!("hint: {install}"))
        };
        vec![line.runtime.to_owned(), version, line.program.unwrap_or_else(how)]
    }));
    print(&columns(&rows))?;
    Ok(0)
}

fn line(runtime: Runtime, environment: &Environment) -> Line {
    let Some(name) = runtime.program() else {
        return Line { runtime: runtime.name(), installed: true, program: None, version: None, install: None };
    };
    let program = find_program(name, environment.search()).ok();
    let version = program.as_deref().and_then(version);
    Line { runtime: runtime.name(), installed: program.is_some(), program, version, install: runtime.install() }
}

/// The first line that `PROGRAM --version` prints; `None` when it prints nothing, fails, or takes too long.
fn version(program: &str) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begin = Instant::now();
    let mut said = Vec::new();
    if let Some(stdout) = &mut child.stdout {
        let mut buffer = [0; 1024];
        while said.len() < LONGEST {
            let left = BOUND.saturating_sub(begin.elapsed());
            let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::POLLIN)];
            if left.is_zero()
                || poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO)).unwrap_or(0) == 0
            {
                break;
            }
            match stdout.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => said.extend_from_slice(&buffer[..count]),
            }
        }
    }
    // It has said what it will say; one that hangs is not waited for.
    let _ = child.kill();
    let _ = child.wait();
    let text = String::from_utf8_lossy(&said);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
