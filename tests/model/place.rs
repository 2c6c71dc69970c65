//! A CLI with homes of its own, in a clean environment, and how it ended.

use crate::harness::model::{Model, in_path};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// However slow the machine is: a CLI that has not ended by then does not end.
pub const DEADLINE: Duration = Duration::from_secs(120);
const CLAUDE_MODEL: &str = "claude-sonnet-4-5";
/// The native session id that is given to claude.
pub const NATIVE: &str = "5f2b1c9e-0a41-4a53-9c3b-1d2e3f405162";

/// Homes, a directory to work in, one that is granted and one that is not.
pub struct Place {
    dir: tempfile::TempDir,
}

/// How a CLI ended.
pub struct End {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl End {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.stdout
    }
}

impl Place {
    pub fn new() -> Place {
        let place = Place { dir: tempfile::Builder::new().prefix("orbh-test-").tempdir().unwrap() };
        for name in ["home", "claude", "codex", "work", "granted", "foreign", "bin"] {
            std::fs::create_dir(place.path(name)).unwrap();
        }
        for name in ["orbh", "flint"] {
            let path = place.path("bin").join(name);
            std::fs::write(&path, "#!/bin/sh\necho \"ran $*\"\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// A CLI in a clean environment. Its prompt comes from a file on standard input.
    pub fn command(&self, program: &Path) -> Command {
        let node = in_path("node").and_then(|path| Some(path.parent()?.display().to_string())).unwrap_or_default();
        let path = format!("{}:{node}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display());
        std::fs::write(self.path("prompt"), "the prompt\n").unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs([("PATH", path.as_str()), ("SHELL", "/bin/bash"), ("LC_ALL", "C.UTF-8")])
            .env("HOME", self.path("home"))
            .env("ORBH_SESSION_ID", "orbh-of-this-test")
            .stdin(std::fs::File::open(self.path("prompt")).unwrap())
            .stdout(std::fs::File::create(self.path("stdout")).unwrap())
            .stderr(std::fs::File::create(self.path("stderr")).unwrap())
            .current_dir(self.path("work"));
        command
    }

    pub fn claude(&self, program: &Path, model: &Model) -> Command {
        let mut command = self.command(program);
        command
            .env("CLAUDE_CONFIG_DIR", self.path("claude"))
            .env("ANTHROPIC_BASE_URL", model.anthropic_url())
            .env("ANTHROPIC_API_KEY", "no-key-of-anybody")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_AUTO_COMPACT", "1")
            // Without it, it refuses to skip permissions as root.
            .env("IS_SANDBOX", "1")
            .args(["-p", "--model", CLAUDE_MODEL, "--session-id", NATIVE]);
        command
    }

    pub fn codex(&self, program: &Path, model: &Model) -> Command {
        std::fs::write(self.path("codex/config.toml"), model.codex_config("scripted")).unwrap();
        let mut command = self.command(program);
        command.env("CODEX_HOME", self.path("codex")).env("MOCK_API_KEY", "no-key-of-anybody").args([
            "exec",
            "--json",
            "--skip-git-repo-check",
            "-c",
            "allow_login_shell=false",
        ]);
        command
    }

    pub fn cli(&self, name: &str, program: &Path, model: &Model) -> Command {
        if name == "claude" { self.claude(program, model) } else { self.codex(program, model) }
    }

    /// The flags of the class `full`.
    pub fn unasked(&self, name: &str) -> &'static [&'static str] {
        if name == "claude" {
            &["--dangerously-skip-permissions"]
        } else {
            &["--dangerously-bypass-approvals-and-sandbox", "-"]
        }
    }

    #[track_caller]
    pub fn run(&self, mut command: Command) -> End {
        self.wait(command.spawn().unwrap())
    }

    #[track_caller]
    pub fn wait(&self, mut child: Child) -> End {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > DEADLINE {
                child.kill().unwrap();
                panic!("the CLI does not end: {}", std::fs::read_to_string(self.path("stdout")).unwrap());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = |name| String::from_utf8_lossy(&std::fs::read(self.path(name)).unwrap()).into_owned();
        End { code: status.code(), signal: status.signal(), stdout: text("stdout"), stderr: text("stderr") }
    }

    /// The lines of every transcript below a home.
    pub fn transcript(&self, home: &str) -> Vec<Value> {
        let mut dirs = vec![self.path(home).join(if home == "claude" { "projects" } else { "sessions" })];
        let mut lines = Vec::new();
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                } else if path.extension().is_some_and(|ext| ext == "jsonl") {
                    let text = std::fs::read_to_string(path).unwrap();
                    lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
                }
            }
        }
        lines
    }
}
