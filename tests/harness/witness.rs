//! An agent that bears witness: the kernel, by a lock that lives as long as the agent does, says whether two contexts of
//! a session ever lived at one time, and a file keeps which runs came up.

use super::{Session, World};
use std::path::{Path, PathBuf};

/// Holds its lock as long as it lives: what it executes at last inherits the descriptor.
const WITNESS: &str = "exec 9>>context.lock\n\
    flock -n 9 || echo \"$ORBH_RUN\" >>two-live\n\
    echo \"$ORBH_RUN\" >>started\n\
    exec sleep 100000\n";

/// A directory in memory from which programs can be executed, where there is one: fsync costs next to nothing there.
fn memory() -> Option<PathBuf> {
    let place = Path::new("/dev/shm");
    let probe = tempfile::Builder::new().prefix("orbh-probe-").tempfile_in(place).ok()?.into_temp_path();
    std::fs::write(&probe, "#!/bin/sh\n").ok()?;
    std::fs::set_permissions(&probe, std::os::unix::fs::PermissionsExt::from_mode(0o700)).ok()?;
    std::process::Command::new(&probe).status().ok()?.success().then(|| place.to_owned())
}

impl World {
    /// A world in memory, if that can be had.
    pub fn fast() -> World {
        static PLACE: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
        World::under(PLACE.get_or_init(memory).as_deref().unwrap_or(&std::env::temp_dir()))
    }

    /// The profile command/witness, whose agent does nothing but bear witness.
    pub fn witness_agent(&self) {
        // Not written twice: somebody may have made it durable, or execute it.
        if !self.path().join("agent-witness").exists() {
            self.agent("witness", WITNESS);
        }
    }

    /// A session of the witness, whose first run is up.
    #[track_caller]
    pub fn witnessed_session(&self) -> Session<'_> {
        self.witness_agent();
        let session = self.launch("command/witness", "do nothing");
        super::wait_for("the first run to come up", || (!self.started().is_empty()).then_some(()));
        session
    }

    /// The runs that came up, in their order.
    pub fn started(&self) -> Vec<String> {
        self.lines("started")
    }

    /// The runs that came up while another context still lived.
    pub fn two_live(&self) -> Vec<String> {
        self.lines("two-live")
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.work().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
