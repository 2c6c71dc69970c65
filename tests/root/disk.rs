//! The disk: what was accepted is on it when the power goes, and when it is full nothing is accepted.

use super::{Mount, ext4_image, or_skip};
use crate::harness::{Outcome, Session, World, alive, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

/// R23: an accepted handoff is on disk, whole, at the moment at which it is called accepted: the power goes before the
/// manager has done anything, and after the reboot the next manager carries it out.
///
/// The image is copied while it is mounted: the copy has what the file system had handed to its disk, no more.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_an_accepted_handoff_survives_a_power_loss() {
    let (dir, image) = or_skip!(ext4_image());
    let mount = or_skip!(Mount::image(&image));
    let world = World::under(mount.path());
    let session = world.idle_session();
    session.pid("0001");
    // What the world itself consists of, the profile and its program, is not what the power loss is about.
    super::run(std::process::Command::new("sync").arg("--file-system").arg(mount.path())).unwrap();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let written = session.text("scratch/handoff-0001.md").unwrap();
    // Stopped, and not dead: it keeps its lease, and nothing is done for it.
    let manager = Pid::from_raw(session.manager_pid());
    kill(manager, Signal::SIGSTOP).unwrap();
    let mut handoff = session.verb("0001", ["compact", "handoff"]).spawn();
    let mut lines = BufReader::new(handoff.stdout.take().unwrap()).lines();
    wait_for("the handoff to be accepted", || {
        lines.next().map(Result::unwrap).filter(|line| line.contains("accepted"))
    });

    assert_eq!(session.phase(), "relaunching");

    let copy = dir.path().join("copy");
    std::fs::copy(&image, &copy).unwrap();
    // Nothing of before the power loss lives after it.
    for pid in world.processes() {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    handoff.wait().unwrap();
    mount.reboot_with(&copy);

    assert_eq!(session.text("scratch/accepted-0001.md").unwrap(), written);
    assert_eq!(session.fact("scratch/relaunch.json").unwrap()["closing"], "0001");
    assert!(!session.exists("runs/0001/end.json"));
    // Readers say how to go on.
    let status = world.orbh(["compact", "status", &session.id]).run().ok();
    assert!(status.contains("manager is gone") && status.contains("orbh relaunch"), "{status}");

    let mut next = world.orbh(["relaunch", &session.id]).spawn();
    assert!(alive(session.pid("0002")));
    wait_for("the intent to be carried out", || (!session.exists("scratch/relaunch.json")).then_some(()));
    assert_eq!(session.fact("runs/0001/end.json").unwrap()["reason"], "compacted");
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), written);
    let _ = next.kill();
    next.wait().unwrap();
}

/// A launched session is on disk when its id is printed: the power goes then, and nothing of it is missing or torn.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_a_launched_session_survives_a_power_loss() {
    let (dir, image) = or_skip!(ext4_image());
    let mount = or_skip!(Mount::image(&image));
    let world = World::under(mount.path());
    let session = world.idle_session();
    let copy = dir.path().join("copy");
    std::fs::copy(&image, &copy).unwrap();

    let after = or_skip!(Mount::image(&copy));
    let root = after.path().join(world.root().strip_prefix(mount.path()).unwrap());
    let spool = root.join("sessions").join(&session.id);
    for fact in
        ["session.json", "target.json", "prompt.md", "runs/0001/run.json", "runs/0001/prompt.md", "runs/0001/pid"]
    {
        let now = std::fs::read_to_string(session.path(fact)).unwrap();
        let then = std::fs::read_to_string(spool.join(fact)).unwrap_or_else(|error| panic!("{fact}: {error}"));
        assert_eq!(then, now, "{fact}");
    }
    let seen = world.orbh(["inspect", &session.id, "--json"]).env("ORBH_ROOT", &root).run().exits(0).json();
    assert_eq!(seen["session"], session.id.as_str());
}

/// R22 R23: on a full disk a handoff refuses, the context lives, and when there is space again it is accepted.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_a_full_tmpfs_refuses_a_handoff() {
    let mount = or_skip!(Mount::tmpfs());
    a_full_disk_refuses_a_handoff(mount.path());
}

/// R22 R23: the same on a disk with a journal.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_a_full_ext4_refuses_a_handoff() {
    let (_dir, image) = or_skip!(ext4_image());
    let mount = or_skip!(Mount::image(&image));
    a_full_disk_refuses_a_handoff(mount.path());
}

fn a_full_disk_refuses_a_handoff(disk: &Path) {
    let world = World::under(disk);
    let session = world.idle_session();
    let context = session.pid("0001");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let written = session.text("scratch/handoff-0001.md").unwrap();
    let filler = disk.join("filler");
    fill(&filler);

    let refused = session.verb("0001", ["compact", "handoff"]).run().exits(74);
    assert!(refused.stderr.contains("No space left on device"), "{}", refused.stderr);
    ends_with_the_promise(&refused);
    assert!(alive(context));
    assert!(!session.exists("scratch/relaunch.json"));
    assert!(!session.exists("scratch/accepted-0001.md"));
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), written);
    assert_eq!(temporary_files(&session), Vec::<String>::new());
    assert_eq!(session.phase(), "drafting");

    std::fs::remove_file(&filler).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
    assert!(!alive(context));
}

#[track_caller]
fn ends_with_the_promise(refused: &Outcome) {
    assert_eq!(refused.stderr.lines().last(), Some("Your context will NOT end."), "{}", refused.stderr);
}

/// What was left half written in scratch/.
fn temporary_files(session: &Session) -> Vec<String> {
    let names = std::fs::read_dir(session.path("scratch")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".tmp-")).collect()
}

/// Writes until nothing more fits, not even a byte.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [64 << 10, 4 << 10, 1] {
        let piece = vec![b'x'; size];
        // Synced, because a delayed allocation is refused only then.
        while file.write_all(&piece).and_then(|()| if size > 1 { Ok(()) } else { file.sync_all() }).is_ok() {}
    }
}
