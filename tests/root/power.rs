//! Power losses: the power goes after each fsync of each process of the succession. The image of the file system, copied
//! while it is mounted, has what had been handed to the disk by then and no more; mounted, it must be a state of
//! orbh-spool(5), and one verb brings the session back.

use super::{Mount, ext4_image, or_skip};
use crate::crash::judge;
use crate::crash::scene::{Last, MANAGERS, RECOVERY, Scene, VERBS, only_session};
use crate::crash::sweep::{Tally, record, tracing};
use crate::crash::trace::{Calls, Fate, Point, Traced};
use crate::harness::{World, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Runs a scene on a file system of its own, cuts the power when one fsync is done, and recovers what is there then.
/// Whether that fsync was reached.
fn cut(scene: &Scene, at: &Point) -> Result<bool, String> {
    let (dir, image) = ext4_image()?;
    let mount = Mount::image(&image)?;
    let world = World::under(mount.path());
    world.watched_agent("witness");
    // What the world itself consists of, the profile and its program, is not what the power loss is about.
    super::run(std::process::Command::new("sync").arg("--file-system").arg(mount.path()))?;
    let session = (scene.prepare)(&world);
    let traces = tempfile::tempdir().unwrap();
    let tracing = tracing(scene, &session, Calls::Changing);
    let mut traced = Traced::start((scene.command)(&session), traces.path(), &tracing, Some((at, Fate::DeathAfter)));
    let reached = traced.reaches(|traced| (scene.done)(&session, traced));
    let copy = dir.path().join("copy");
    std::fs::copy(&image, &copy).unwrap();
    drop(traced);
    // Nothing of before the power loss lives after it.
    wait_for("everything to be dead", || {
        let left = world.processes();
        for pid in &left {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        left.is_empty().then_some(())
    });
    mount.reboot_with(&copy);
    after(&world, scene)?;
    Ok(reached)
}

fn after(world: &World, scene: &Scene) -> Result<(), String> {
    let Some(session) = only_session(world).filter(|session| session.exists("session.json")) else {
        // A launch that never told its id: another one succeeds.
        world.orbh(["launch", "command/witness", "again"]).run().ok();
        return if scene.name == "launch" { Ok(()) } else { Err("the session is gone".to_owned()) };
    };
    judge::at_any_time(&session)?;
    judge::shown(&session)?;
    if session.exists("returns/0001.json") || session.exists("runs/0001/kill.json") {
        // Over, or to be ended; in any case a new run can be begun.
        session.world.orbh(["resume", &session.id]).run();
    }
    let resumed = session.world.orbh(["resume", &session.id]).run();
    if resumed.code != Some(0) && !resumed.stderr.contains("already") {
        return Err(format!("resume: {resumed:?}"));
    }
    judge::arrives(&session, Last::Works)?;
    judge::usable(&session)
}

fn sweep(scene: &Scene) -> Tally {
    let (points, _) = record(scene, Calls::Changing);
    let points: Vec<Point> = points.into_iter().filter(|point| point.name == "fsync").collect();
    let mut tally = Tally { points: points.len(), ..Tally::default() };
    for point in &points {
        let cut = std::panic::catch_unwind(|| cut(scene, point));
        match cut.unwrap_or_else(|panic| Err(crate::crash::sweep::words(panic.as_ref()))) {
            Ok(true) => tally.fired += 1,
            Ok(false) => tally.missed.push(point.to_string()),
            Err(wrong) => tally.violations.push(format!("{}: the power goes after {point}: {wrong}", scene.name)),
        }
    }
    tally
}

/// R23: whenever the power goes, what is on disk is a state of the table, and one verb recovers it.
#[test]
#[ignore = "needs the superuser: a step of its own"]
fn root_a_power_loss_after_any_fsync_is_recovered() {
    or_skip!(ext4_image().and_then(|(_dir, image)| Mount::image(&image).map(drop)));
    let scenes = VERBS.iter().chain(&RECOVERY).chain(&MANAGERS).filter(|scene| scene.stimulus.is_none());
    let mut all = Tally::default();
    for scene in scenes {
        let tally = sweep(scene);
        tally.tell(scene.name);
        all.add(tally);
    }
    all.holds("power losses");
}
