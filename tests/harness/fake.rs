//! What costs nothing: spools that no manager ever kept, written by hand, and programs that stand for a harness's CLI.

use super::{Session, World};
use serde_json::{Value, json};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// See [`World::stand_in`].
const STAND_IN: &str = r#"#!/bin/sh
echo "{\"type\":\"thread.started\",\"thread_id\":\"$(cat /proc/sys/kernel/random/uuid)\"}"
exec sleep 100000
"#;

/// Makes a directory that only its owner can use, and those above it.
pub fn private_dir(path: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
}

impl World {
    /// A session with one run that works, as far as its files tell; `pid` is the process of that run.
    pub fn fake_session(&self, id: &str, title: &str, pid: i32) -> Session<'_> {
        let session = Session::new(self, id);
        for dir in ["keys", "runs/0001", "returns", "links", "log", "scratch"] {
            private_dir(&session.path(dir));
        }
        let at = "2026-01-01T00:00:00.000+00:00";
        let start = shared::ground::process::Proc::of(pid).map_or(0, |proc| proc.start);
        session.write_fact(
            "session.json",
            &json!({
                "v": 1, "id": id, "created_at": at, "cwd": self.work(), "mode": "headless", "root": id, "depth": 0,
                "class": "full",
            }),
        );
        session.write_fact("target.json", &json!({"v": 1, "target": "command/idle"}));
        session.write_fact(
            "runs/0001/run.json",
            &json!({
                "v": 1, "target": "command/idle", "class": "full", "kind": "launch", "context": "0001",
                "context_window": 200_000, "argv": ["/bin/true"], "stdin": "prompt", "cwd": self.work(),
                "environment": [], "host": "here", "boot_id": shared::ground::process::boot_id(), "started_at": at,
            }),
        );
        session.write_fact("runs/0001/pid", &json!({"v": 1, "pid": pid, "start": start, "nonce": "fake"}));
        std::fs::write(session.path("prompt.md"), "do nothing").unwrap();
        std::fs::write(session.path("keys/title"), title).unwrap();
        session
    }

    /// Writes the profile RUNTIME/NAME, of class full, of a program that stands for the CLI of that runtime: it tells its
    /// thread as codex does, and stays. Its transcript is the test's to write ([`Session::transcript`]). `more` are
    /// further keys of the profile.
    pub fn stand_in(&self, runtime: &str, name: &str, more: &Value) {
        let mut profile = json!({"command": [self.script("stand-in", STAND_IN)], "class": "full"});
        profile.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.profile_of(runtime, name, &profile);
    }
}

impl Session<'_> {
    /// Writes a file of the spool as a JSON object.
    pub fn write_fact(&self, below: &str, value: &Value) {
        std::fs::write(self.path(below), value.to_string()).unwrap();
    }

    /// Where the CLI of a run, of claude or codex, would keep its transcript; the directory is there.
    #[track_caller]
    pub fn transcript(&self, run: &str) -> PathBuf {
        let native = self.wait_fact(&format!("runs/{run}/native.json"))["id"].as_str().unwrap().to_owned();
        let claude =
            self.fact(&format!("runs/{run}/run.json")).unwrap()["target"].as_str().unwrap().starts_with("claude/");
        let (dir, name) = match claude {
            true => (".claude/projects/here", format!("{native}.jsonl")),
            false => (".codex/sessions/2026/11/30", format!("rollout-2026-11-30T18-42-09-{native}.jsonl")),
        };
        let dir = self.world.home().join(dir);
        std::fs::create_dir_all(&dir).unwrap();
        dir.join(name)
    }

    /// Writes the occupancy that the harness of a run would report.
    pub fn report_context(&self, run: &str, report: &str) {
        let path = self.path(&format!("scratch/context-{run}.json"));
        let temporary = path.with_extension("new");
        std::fs::write(&temporary, report).unwrap();
        std::fs::rename(temporary, path).unwrap();
    }
}
