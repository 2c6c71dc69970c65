//! `orbh pager`: what wakes a pager and what does not, what it tells and how often, and the stream of what happens.

mod burst;
mod ends;
mod full;
mod held;
mod killed;
mod many;
mod print;
mod quiet;
mod stream;
mod told;
mod wake;

use crate::harness::{Cmd, Outcome, Session, World, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::process::Child;

/// A pager that waits.
pub struct Armed {
    child: Child,
}

impl Armed {
    /// Starts one with this command, and waits until it has told how it is woken: then it is about to look.
    #[track_caller]
    pub fn start(session: &Session, cmd: Cmd) -> Armed {
        let child = cmd.spawn();
        let pid = i64::from(child.id());
        let said = || serde_json::from_str::<Value>(&session.text("scratch/pager.lock")?).ok();
        wait_for("the pager to be armed", || said().filter(|said| said["pid"] == pid && said["watch"].is_string()));
        Armed { child }
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// The Page that it ends with.
    #[track_caller]
    pub fn page(self) -> String {
        self.end().ok()
    }

    #[track_caller]
    pub fn end(mut self) -> Outcome {
        wait_for("the end of the pager", || self.child.try_wait().unwrap());
        outcome(self.child)
    }

    /// It has not ended.
    #[track_caller]
    pub fn waits(&mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "it has ended");
    }

    /// Stops it, and waits until it is stopped.
    #[track_caller]
    pub fn stop(&self) {
        signal(self.pid(), Signal::SIGSTOP);
        let state = || shared::ground::process::stat(self.pid()).map(|stat| stat.state);
        wait_for("the pager to be stopped", || (state() == Some('T')).then_some(()));
    }

    pub fn go_on(&self) {
        signal(self.pid(), Signal::SIGCONT);
    }
}

impl Session<'_> {
    /// `page arm` of a run, that does not wait for a burst to end, not started.
    pub fn arm_cmd(&self, run: &str) -> Cmd {
        self.verb(run, ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0")
    }

    /// Arms a pager for a run.
    #[track_caller]
    pub fn arm(&self, run: &str) -> Armed {
        Armed::start(self, self.arm_cmd(run))
    }

    /// Delivers a message as any program may: written aside, then moved into new/.
    pub fn deliver(&self, name: &str, subject: &str) {
        let aside = self.path(&format!("scratch/{name}"));
        std::fs::write(&aside, format!("From: Ada <ada@example.org>\nSubject: {subject}\n\nThe text.\n")).unwrap();
        std::fs::create_dir_all(self.path("inbox/new")).unwrap();
        std::fs::rename(aside, self.path(&format!("inbox/new/{name}"))).unwrap();
    }

    /// `pager status --json`.
    #[track_caller]
    pub fn pager(&self) -> Value {
        self.world.orbh(["pager", "status", &self.id, "--json"]).run().json()
    }

    /// What the current run was told of.
    pub fn announced(&self, run: &str) -> Vec<String> {
        let text = self.text(&format!("scratch/announced-{run}")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Puts a question to a person, as its files have it.
    pub fn ask(&self, id: &str, text: &str) {
        std::fs::create_dir_all(self.path(&format!("asked/{id}"))).unwrap();
        std::fs::write(self.path(&format!("asked/{id}/question.md")), text).unwrap();
        let request = serde_json::json!({
            "v": 1, "id": id, "to": "human", "blocking": false, "at": "2026-01-01T00:00:00.000+00:00",
        });
        self.write_fact(&format!("asked/{id}/request.json"), &request);
    }
}

impl World {
    /// A session that costs no process: its run is that of the test.
    pub fn quick_session(&self, number: u32) -> Session<'_> {
        let me = std::process::id().cast_signed();
        self.fake_session(&format!("00000000-0000-4000-8000-{number:012}"), "quick", me)
    }
}

/// The subjects on a Page, in their order.
#[track_caller]
fn subjects(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with("- message ")).map(|line| line.rsplit(": ").next().unwrap()).collect()
}
