//! A session of a world, as a test sees it: its files, its state, and the verbs that its agent could give.

use super::{Cmd, World, wait_for};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A session.
pub struct Session<'w> {
    pub world: &'w World,
    pub id: String,
}

impl<'w> Session<'w> {
    pub fn new(world: &'w World, id: &str) -> Self {
        Session { world, id: id.to_owned() }
    }

    /// A path in the spool.
    pub fn path(&self, below: &str) -> PathBuf {
        self.world.root().join("sessions").join(&self.id).join(below)
    }

    /// A file of the spool as text; `None` when it is not there, or is one that nobody could read to its end.
    pub fn text(&self, below: &str) -> Option<String> {
        let path = self.path(below);
        path.metadata().is_ok_and(|found| found.is_file()).then(|| std::fs::read_to_string(path).ok()).flatten()
    }

    /// A fact of the spool; `None` when it is not there.
    pub fn fact(&self, below: &str) -> Option<Value> {
        self.text(below).map(|text| serde_json::from_str(&text).unwrap())
    }

    pub fn exists(&self, below: &str) -> bool {
        self.path(below).symlink_metadata().is_ok()
    }

    /// Waits for a fact of the spool.
    #[track_caller]
    pub fn wait_fact(&self, below: &str) -> Value {
        wait_for(below, || self.fact(below))
    }

    /// Waits for the end of a run, and returns its reason.
    #[track_caller]
    pub fn wait_end(&self, run: &str) -> String {
        self.wait_fact(&format!("runs/{run}/end.json"))["reason"].as_str().unwrap().to_owned()
    }

    /// The recorded process of a run.
    #[track_caller]
    pub fn pid(&self, run: &str) -> i32 {
        let record = self.wait_fact(&format!("runs/{run}/pid"));
        i32::try_from(record["pid"].as_i64().unwrap()).unwrap()
    }

    /// The process that keeps the session, as its lease says.
    #[track_caller]
    pub fn manager_pid(&self) -> i32 {
        // What a lease says is written in place, once it is held.
        let said = || serde_json::from_str::<Value>(&self.text("scratch/manager.lock")?).ok()?["pid"].as_i64();
        i32::try_from(wait_for("the manager's lease", said)).unwrap()
    }

    /// `orbh inspect ID --json`.
    #[track_caller]
    pub fn inspect(&self) -> Value {
        self.world.orbh(["inspect", &self.id, "--json"]).run().json()
    }

    #[track_caller]
    pub fn state(&self) -> String {
        self.inspect()["state"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn phase(&self) -> String {
        self.inspect()["compaction"]["phase"].as_str().unwrap().to_owned()
    }

    /// A verb with the environment that the run's own processes have.
    #[track_caller]
    pub fn verb<S: AsRef<OsStr>>(&self, run: &str, args: impl IntoIterator<Item = S>) -> Cmd {
        self.verb_as(run, &self.nonce(run), args)
    }

    /// The nonce of a run.
    #[track_caller]
    pub fn nonce(&self, run: &str) -> String {
        self.wait_fact(&format!("runs/{run}/pid"))["nonce"].as_str().unwrap().to_owned()
    }

    /// The same verb, for a test that has taken the file away which has the nonce.
    pub fn verb_as<S: AsRef<OsStr>>(&self, run: &str, nonce: &str, args: impl IntoIterator<Item = S>) -> Cmd {
        let cmd = self.world.orbh(args).env("ORBH_SESSION_ID", &self.id);
        cmd.env("ORBH_RUN", run).env("ORBH_NONCE", nonce)
    }

    /// The path of the handoff of a run.
    pub fn handoff(&self, run: &str) -> PathBuf {
        self.path(&format!("scratch/handoff-{run}.md"))
    }

    /// Writes a good handoff for a run.
    pub fn write_good_handoff(&self, run: &str) {
        std::fs::write(self.handoff(run), self.good_handoff(&format!("run {run}"))).unwrap();
    }

    /// A handoff that passes; `about` makes it differ from others.
    pub fn good_handoff(&self, about: &str) -> String {
        let summary = "I am the agent of this session, and my duty is to do nothing. ".repeat(5);
        format!(
            "COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\nThis is the account of {about}. {summary}\n\n## FILES\n\n{} :: the duty\n\n\
             ## OPEN OBLIGATIONS\n\n- none\n",
            self.path("prompt.md").display()
        )
    }

    /// Lives through `start`, a good handoff, and its acceptance; returns when the successor has its process.
    #[track_caller]
    pub fn compact(&self, run: &str, successor: &str) {
        self.verb(run, ["compact", "start"]).run().exits(0);
        self.write_good_handoff(run);
        self.verb(run, ["compact", "handoff"]).run().accepted();
        self.pid(successor);
        wait_for("the intent to be carried out", || (!self.exists("scratch/relaunch.json")).then_some(()));
    }
}
