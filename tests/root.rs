//! What only the superuser can show: a power loss on a real file system, a full one, and somebody else's root.
//!
//! A step of its own (.ci/run), because root passes every permission check that the other tests are about:
//! `cargo test --locked -- --ignored root_`. Where a mount is not to be had, a test says `skipped:` and why.

mod disk;
mod foreign;
mod power;

use crate::harness::{is_root, wait_for};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system, unmounted when dropped. Declare it before the world that lives on it.
struct Mount {
    dir: tempfile::TempDir,
}

impl Mount {
    /// Mounts with these arguments of mount(8); the reason, when the machine does not let us.
    fn new<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<Mount, String> {
        if !is_root() {
            return Err("not the superuser".to_owned());
        }
        let mount = Mount { dir: tempfile::tempdir().unwrap() };
        run(Command::new("mount").args(arguments).arg(mount.path()))?;
        Ok(mount)
    }

    /// A small file system in memory.
    fn tmpfs() -> Result<Mount, String> {
        Mount::new(["-t", "tmpfs", "-o", "size=1m,mode=0755", "tmpfs"])
    }

    /// The file system in an image, with a journal.
    fn image(image: &Path) -> Result<Mount, String> {
        Mount::new(["-t".as_ref(), "ext4".as_ref(), "-o".as_ref(), "loop".as_ref(), image.as_os_str()])
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Puts the file system of another image in its place.
    fn reboot_with(&self, image: &Path) {
        self.unmount();
        run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(self.path())).unwrap();
    }

    /// A killed process holds its files for a few milliseconds longer than it can be seen.
    fn unmount(&self) {
        wait_for("the file system not to be busy", || run(Command::new("umount").arg(self.path())).ok());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        match std::thread::panicking() {
            // Busy or not, it goes from here; a second panic would hide the first.
            true => drop(run(Command::new("umount").arg("--lazy").arg(self.path()))),
            false => self.unmount(),
        }
    }
}

/// An image with an empty journaled ext4, in a directory that goes with it.
fn ext4_image() -> Result<(tempfile::TempDir, PathBuf), String> {
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
    run(Command::new("mkfs.ext4").args(["-q", "-F", "-O", "has_journal"]).arg(&image))?;
    Ok((dir, image))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Unwraps what a test needs, or says that it is skipped and why.
macro_rules! or_skip {
    ($needed:expr) => {
        match $needed {
            Ok(value) => value,
            Err(why) => {
                println!("skipped: {why}");
                return;
            }
        }
    };
}
use or_skip;
