//! Spools that no manager ever kept, written by hand: many of them cost nothing.

use super::{Session, World};
use serde_json::{Value, json};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes a directory that only its owner can use, and those above it.
pub fn private_dir(path: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
}

impl World {
    /// An agent that does nothing, and lets the kernel watch that it is alone: each run appends its number to `started`
    /// in the work directory, and to `two-live`, if the process of another run still lives.
    pub fn watched_agent(&self, name: &str) {
        let alone = "exec 9>>alone\nflock -n 9 || echo \"$ORBH_RUN\" >>two-live\necho \"$ORBH_RUN\" >>started\n";
        self.agent(name, &format!("{alone}exec sleep 100000\n"));
    }

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
}

impl Session<'_> {
    /// Writes a file of the spool as a JSON object.
    pub fn write_fact(&self, below: &str, value: &Value) {
        std::fs::write(self.path(below), value.to_string()).unwrap();
    }

    /// Writes the occupancy that the harness of a run would report.
    pub fn report_context(&self, run: &str, report: &str) {
        let path = self.path(&format!("scratch/context-{run}.json"));
        let temporary = path.with_extension("new");
        std::fs::write(&temporary, report).unwrap();
        std::fs::rename(temporary, path).unwrap();
    }
}
