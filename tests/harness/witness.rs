//! An agent that bears witness: the kernel, by a lock that lives as long as the agent does, says whether two contexts of
//! a session ever lived at one time, and a file keeps which runs came up.

use super::{Session, World, wait_for};

/// Holds its lock as long as it lives: what it executes at last inherits the descriptor.
const WITNESS: &str = "exec 9>>alone\n\
    flock -n 9 || echo \"$ORBH_RUN\" >>two-live\n\
    echo \"$ORBH_RUN\" >>started\n\
    exec sleep 100000\n";

/// Whether strace(1) is there and may trace: what needs it is passed over otherwise, with a word about it.
pub fn can_trace() -> bool {
    static CAN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *CAN.get_or_init(|| {
        let mut strace = std::process::Command::new("strace");
        let output = strace.args(["-o", "/dev/null", "-e", "trace=close", "true"]).output();
        let can = output.is_ok_and(|output| output.status.success());
        if !can {
            println!("skipped: strace is not installed, or may not trace");
        }
        can
    })
}

impl World {
    /// An agent that does nothing, and lets the kernel watch that it is alone.
    pub fn watched_agent(&self, name: &str) {
        // Not written twice: somebody may have made it durable, or execute it.
        if !self.path().join(format!("agent-{name}")).exists() {
            self.agent(name, WITNESS);
        }
    }

    /// A session of command/witness, a watched agent, whose first run is up.
    #[track_caller]
    pub fn witnessed_session(&self) -> Session<'_> {
        self.watched_agent("witness");
        let session = self.launch("command/witness", "do nothing");
        wait_for("the first run to come up", || (!self.started().is_empty()).then_some(()));
        session
    }

    /// The runs of watched agents that came up, in their order.
    pub fn started(&self) -> Vec<String> {
        self.lines("started")
    }

    /// What the agents themselves saw: another one alive, or a run that was started twice.
    pub fn one_at_a_time(&self) -> Result<(), String> {
        let beside = self.lines("two-live");
        if !beside.is_empty() {
            return Err(format!("two contexts lived at one time: runs {beside:?} came up beside another"));
        }
        let started = self.started();
        let once: std::collections::BTreeSet<&String> = started.iter().collect();
        match once.len() == started.len() {
            true => Ok(()),
            false => Err(format!("a run was started twice: {started:?}")),
        }
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.work().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
