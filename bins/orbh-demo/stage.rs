//! Where the demonstration plays: a temporary directory with a root, a configuration, and a very short book.

use anyhow::{Context, Result};
use shared::ground::fault::{Fault, Kind};
use shared::verbs::environment::{Environment, RUN_VARIABLES};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const AGENT: &str = include_str!("agent.sh");

const BOOK: [(&str, &str); 3] = [
    ("one.txt", "A session is a directory. What happens in it are files, and whoever can read files can read it.\n"),
    ("two.txt", "A context is what a model holds in mind. It fills up, and then it ends.\n"),
    (
        "three.txt",
        "Between the two stands a handoff. It is written by the one who knows, and read by the one who does not yet.\n",
    ),
];

const DUTY: &str = "Count the words of each chapter in book/, and say which chapter is the longest.";

/// The directory, and how programs of orbh are started in it.
pub struct Stage<'a> {
    environment: &'a Environment,
    dir: PathBuf,
    pace: f64,
}

impl<'a> Stage<'a> {
    /// Makes the directory, the agent, its profile, and the book.
    pub fn build(environment: &'a Environment, pace: f64) -> Result<Stage<'a>> {
        if !(0.0..=60.0).contains(&pace) {
            let message = format!("the pace {pace} is not between 0 and 60 seconds");
            return Err(Fault::new(Kind::Usage, message).into());
        }
        let temporary = environment.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let name = uuid::Uuid::new_v4().simple().to_string();
        let dir = environment.absolute(&temporary).join(format!("orbh-demo-{}", &name[..8]));
        let stage = Stage { environment, dir, pace };
        let profiles = stage.config().join("profiles/command");
        for path in [&stage.dir, &stage.work().join("book"), &profiles] {
            let mut builder = std::fs::DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(path)
                .with_context(|| format!("cannot make '{}'", path.display()))?;
        }
        for (chapter, text) in BOOK {
            write(&stage.work().join("book").join(chapter), text)?;
        }
        let agent = stage.dir.join("agent.sh");
        write(&agent, AGENT)?;
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o700))
            .with_context(|| format!("cannot make '{}' executable", agent.display()))?;
        let profile = serde_json::json!({"command": [agent], "class": "full", "context_window": 200_000});
        write(&profiles.join("demo.json"), &format!("{profile}\n"))?;
        Ok(stage)
    }

    /// The root of the demonstration.
    pub fn root(&self) -> PathBuf {
        self.dir.join("root")
    }

    /// Where the agent works.
    pub fn work(&self) -> PathBuf {
        self.dir.join("work")
    }

    /// Where everything is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The spool of a session.
    pub fn spool(&self, session: &str) -> PathBuf {
        self.root().join("sessions").join(session)
    }

    fn config(&self) -> PathBuf {
        self.dir.join("config")
    }

    /// `orbh ARGS` on this stage.
    pub fn orbh(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.environment.program("orbh"));
        for name in RUN_VARIABLES {
            command.env_remove(name);
        }
        command.args(args).env("ORBH_ROOT", self.root()).env("ORBH_CONFIG", self.config());
        command.env("DEMO_PACE", self.pace.to_string()).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// What `orbh ARGS` answers on standard output.
    pub fn answer(&self, args: &[&str]) -> Result<String> {
        let output = self.orbh(args).stderr(Stdio::inherit()).output().context("cannot start 'orbh'")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Launches the session, and returns its id.
    pub fn launch(&self) -> Result<String> {
        let id = self.answer(&["launch", "command/demo", DUTY])?.trim().to_owned();
        if id.is_empty() {
            return Err(Fault::new(Kind::System, "the session of the demonstration could not be launched").into());
        }
        Ok(id)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write '{}'", path.display()))
}
