//! The scenes: each is a process of the succession, the state in which it begins, and where its session must come to.

use super::trace::{Calls, Fate, Traced, Tracing};
use crate::harness::{Cmd, Session, World, bin_dir, kill_dead, signal, wait_for};
use nix::sys::signal::Signal;
use std::process::Child;

/// Where a session must be in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// A run works under a manager.
    Works,
    /// Its newest run has ended so, and nothing lives.
    Ended(&'static str),
}

/// A process of the succession, in a state of its session.
pub struct Scene {
    pub name: &'static str,
    /// Brings a session of the world to where the process begins.
    pub prepare: for<'w> fn(&'w World) -> Session<'w>,
    /// The process.
    pub command: fn(&Session) -> Cmd,
    /// With its forks.
    pub follow: bool,
    /// What it is to react to, once it is up, and the verb that waits for that.
    pub stimulus: Option<fn(&Session) -> Option<Child>>,
    /// Whether the process has done its part; never true of one that ends by itself.
    pub done: fn(&Session, &Traced) -> bool,
    /// A verb, which must not have changed anything when it fails before this.
    pub verb: bool,
    /// Whether what it is for has become true.
    pub committed: fn(&Session) -> bool,
    /// What may have changed although it was not committed.
    pub residue: &'static [&'static str],
    /// The one verb that is given afterwards, or what the process's own agent or person does: gives it again.
    pub recover: fn(&Session),
    /// Where the session is then.
    pub last: Last,
    /// Whether run 0001 must have been replaced then.
    pub compacted: bool,
    /// Whether what is sent before and after it must be on a Page in the end; false of what shows and sends itself.
    pub mail: bool,
}

fn never(_: &Session, _: &Traced) -> bool {
    false
}

/// A manager has its run, and the run's agent has begun.
pub(super) fn keeps(session: &Session, traced: &Traced) -> bool {
    traced.is_up() && session.world.started().last() == session.runs().last()
}

pub(super) fn live(world: &World) -> Session<'_> {
    world.witnessed_session()
}

pub(super) fn unmanaged(world: &World) -> Session<'_> {
    let session = live(world);
    session.kill_manager();
    wait_for("the lease to be free", || (!session.managed()).then_some(()));
    session
}

pub(super) fn drafted(world: &World) -> Session<'_> {
    let session = live(world);
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session
}

fn drafted_unmanaged(world: &World) -> Session<'_> {
    let session = drafted(world);
    session.kill_manager();
    session
}

/// Accepted while the manager is stopped, then manager and verb are killed: nobody is there to carry it out.
fn accepted(world: &World) -> Session<'_> {
    let session = live(world);
    let (manager, mut verb) = session.accept_without_manager("0001", &[]);
    let accepted = std::io::BufReader::new(verb.stdout.take().unwrap());
    assert!(std::io::BufRead::lines(accepted).any(|line| line.unwrap().contains("accepted")));
    verb.kill().unwrap();
    verb.wait().unwrap();
    kill_dead(manager);
    session
}

fn successor(world: &World) -> Session<'_> {
    let session = live(world);
    session.compact("0001", "0002");
    wait_for("the successor to come up", || (world.started().len() == 2).then_some(()));
    session
}

fn killed(world: &World) -> Session<'_> {
    let session = live(world);
    world.orbh(["kill", &session.id]).run().ok();
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    session
}

/// The successor is created, and its manager died before it could start it.
fn created(world: &World) -> Session<'_> {
    let session = accepted(world);
    let tracing = Tracing { calls: Calls::Changing, spool: session.path(""), follow: false };
    let at = super::spawn_of_the_shim();
    let dir = world.path().join("prepare");
    let mut traced = Traced::start(relaunch(&session), &dir, &tracing, Some((at, Fate::DeathBefore)));
    traced.finish(|_| false);
    assert!(session.exists("runs/0002/run.json") && !session.exists("runs/0002/pid"));
    session
}

/// A session without a run: `launch` died before it could start the manager.
fn born(world: &World) -> Session<'_> {
    world.watched_agent("witness");
    let dir = world.path().join("prepare");
    let tracing = Tracing { calls: Calls::Changing, spool: world.root(), follow: false };
    let at = super::spawn_of_the_manager();
    let command = launch(world);
    Traced::start(command, &dir, &tracing, Some((at, Fate::DeathBefore))).finish(|_| false);
    only_session(world).unwrap()
}

pub fn launch(world: &World) -> Cmd {
    world.program(bin_dir().join("orbh-launch")).bare_args(["command/witness", "do nothing"])
}

/// The session of a world, when one is there.
pub fn only_session(world: &World) -> Option<Session<'_>> {
    // But for one that others write to.
    let entries = std::fs::read_dir(world.root().join("sessions")).ok()?;
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.find(|name| !name.starts_with('.') && name != super::mail::OTHER).map(|id| Session::new(world, &id))
}

/// A verb of the calling run, without the dispatcher between.
pub(super) fn verb(session: &Session, run: &str, words: &[&str]) -> Cmd {
    let record = session.wait_fact(&format!("runs/{run}/pid"));
    let program = session.world.program(bin_dir().join(format!("orbh-{}", words[0])));
    let program = program.bare_args(&words[1..]).env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", run);
    program.env("ORBH_NONCE", record["nonce"].as_str().unwrap())
}

/// A verb from outside.
pub(super) fn outside(session: &Session, name: &str, words: &[&str]) -> Cmd {
    session.world.program(bin_dir().join(format!("orbh-{name}"))).bare_args([session.id.as_str()]).bare_args(words)
}

pub(super) fn relaunch(session: &Session) -> Cmd {
    outside(session, "relaunch", &[])
}

fn shim(session: &Session) -> Cmd {
    let program = session.world.program(bin_dir().join("orbh-shim"));
    let dir = session.path("runs/0002");
    let set = [("ORBH_SESSION_ID", session.id.as_str()), ("ORBH_RUN", "0002"), ("ORBH_NONCE", "the-nonce-of-a-test")];
    let program = set.into_iter().fold(program, |program, (name, value)| program.env(name, value));
    program.env("ORBH_PROMPT_FILE", dir.join("prompt.md")).bare_args([dir])
}

/// `orbh resume`: whatever state it is in, one verb brings it back. It may find that nothing need be done, or that what the
/// killed one had started is quicker.
pub(super) fn resume(session: &Session) {
    let out = session.world.orbh(["resume", &session.id]).run();
    let quicker = out.code == Some(75) && out.stderr.contains("has got a manager meanwhile");
    let already = out.code == Some(1) && out.stderr.contains("already");
    assert!(out.code == Some(0) || already || quicker, "{out:?}");
}

/// Gives a verb of run 0001 again, as its agent would; it has worked, or says that it had before.
fn again(session: &Session, run: &str, words: &[&str], codes: &[i32]) {
    let out = verb(session, run, words).run();
    assert!(out.code.is_some_and(|code| codes.contains(&code)), "{words:?} again: {out:?}");
}

fn hand_off_again(session: &Session) {
    // Killed with its context, or told that it is over: the handoff before it was accepted.
    let out = verb(session, "0001", &["compact", "handoff"]).run();
    let over = out.code == Some(1) && out.stderr.contains("is over");
    assert!(over || matches!(out.code, Some(75) | None), "handoff again: {out:?}");
    // Whoever had accepted it may have died with the manager that was to carry it out.
    wait_for("a manager", || {
        if !session.managed() {
            session.world.orbh(["resume", &session.id]).run();
        }
        session.managed().then_some(())
    });
}

fn kill_again(session: &Session) {
    let out = session.world.orbh(["kill", &session.id]).run();
    assert!(out.code == Some(0) || out.stderr.contains("is over already (killed)"), "kill again: {out:?}");
}

/// As a run that has returned ends by itself.
fn end_harness(session: &Session) {
    if crate::harness::alive(session.pid("0001")) {
        signal(session.pid("0001"), Signal::SIGTERM);
    }
}

fn ended(session: &Session, run: &str) -> bool {
    session.exists(&format!("runs/{run}/end.json"))
}

/// What all scenes have in common: a verb that ends by itself, and a session that works at last.
pub(super) const PLAIN: Scene = Scene {
    name: "",
    prepare: live,
    command: relaunch,
    follow: false,
    stimulus: None,
    done: never,
    verb: false,
    committed: |_| false,
    residue: &[],
    recover: resume,
    last: Last::Works,
    compacted: false,
    mail: true,
};

/// `relaunch --cancel` of a handoff that was accepted.
const CANCEL: Scene = Scene {
    prepare: accepted,
    command: |session| outside(session, "relaunch", &["--cancel"]),
    verb: true,
    committed: |session| !session.exists("scratch/relaunch.json"),
    recover: |session| {
        let out = outside(session, "relaunch", &["--cancel"]).run();
        assert!(out.code == Some(0) || out.stderr.contains("no relaunch pending"), "{out:?}");
        resume(session);
    },
    ..PLAIN
};

/// `kill`.
const KILL: Scene = Scene {
    command: |session| outside(session, "kill", &[]),
    verb: true,
    committed: |session| session.exists("runs/0001/kill.json"),
    recover: kill_again,
    last: Last::Ended("killed"),
    ..PLAIN
};

/// The verbs of an agent.
pub const VERBS: [Scene; 6] = [
    Scene {
        name: "compact start",
        command: |session| verb(session, "0001", &["compact", "start"]),
        verb: true,
        committed: |session| session.exists("scratch/compacting.json"),
        recover: |session| again(session, "0001", &["compact", "start"], &[0]),
        ..PLAIN
    },
    Scene {
        name: "compact handoff",
        prepare: drafted,
        command: |session| verb(session, "0001", &["compact", "handoff"]),
        verb: true,
        committed: |session| session.exists("scratch/relaunch.json") || session.runs().len() > 1,
        recover: hand_off_again,
        compacted: true,
        ..PLAIN
    },
    Scene {
        name: "compact handoff, without a manager",
        prepare: drafted_unmanaged,
        command: |session| verb(session, "0001", &["compact", "handoff"]),
        verb: true,
        committed: |session| session.exists("scratch/relaunch.json") || session.runs().len() > 1,
        recover: hand_off_again,
        compacted: true,
        ..PLAIN
    },
    Scene {
        name: "compact abort",
        prepare: drafted,
        command: |session| verb(session, "0001", &["compact", "abort"]),
        verb: true,
        committed: |session| !session.exists("scratch/compacting.json"),
        recover: |session| again(session, "0001", &["compact", "abort"], &[0]),
        ..PLAIN
    },
    Scene {
        name: "compact finish",
        prepare: successor,
        command: |session| verb(session, "0002", &["compact", "finish"]),
        verb: true,
        committed: |session| !session.exists("scratch/compacting.json"),
        residue: &["scratch/compactions.ndjson"],
        recover: |session| {
            again(session, "0002", &["compact", "finish"], &[0, 1]);
            assert!(!session.exists("scratch/compacting.json"), "a hold after finish");
            assert_eq!(session.text("scratch/compactions.ndjson").unwrap().matches("closed").count(), 1);
        },
        compacted: true,
        ..PLAIN
    },
    Scene {
        name: "session return",
        prepare: drafted,
        command: |session| verb(session, "0001", &["session", "return", "the result"]),
        verb: true,
        committed: |session| session.exists("returns/0001.json"),
        residue: &["scratch/compacting.json", "returns/0001.md"],
        recover: |session| {
            again(session, "0001", &["session", "return", "the result"], &[0, 1]);
            assert_eq!(session.text("returns/0001.md").unwrap(), "the result");
            end_harness(session);
        },
        last: Last::Ended("returned"),
        ..PLAIN
    },
];

/// The verbs that others give: recovery, and kill.
pub const RECOVERY: [Scene; 9] = [
    Scene {
        name: "launch",
        prepare: |world| {
            world.watched_agent("witness");
            Session::new(world, "none")
        },
        command: |session| launch(session.world),
        recover: |session| {
            let world = session.world;
            match only_session(world).filter(|session| session.exists("session.json")) {
                Some(session) => resume(&session),
                None => drop(launch(world).run().ok()),
            }
        },
        ..PLAIN
    },
    Scene {
        name: "resume of a run that lives",
        prepare: unmanaged,
        command: |session| outside(session, "relaunch", &["--background", "--resume"]),
        follow: true,
        ..PLAIN
    },
    Scene {
        name: "resume",
        prepare: accepted,
        command: |session| outside(session, "resume", &[]),
        compacted: true,
        ..PLAIN
    },
    Scene {
        name: "resume --into",
        prepare: killed,
        command: |session| outside(session, "resume", &["--into", "command/witness"]),
        ..PLAIN
    },
    Scene { name: "relaunch --cancel", ..CANCEL },
    Scene {
        name: "relaunch --cancel of a successor without a process",
        prepare: created,
        residue: &["runs/0002/pid", "runs/0002/end.json"],
        ..CANCEL
    },
    Scene { name: "kill", prepare: drafted, ..KILL },
    Scene { name: "kill, without a manager", prepare: drafted_unmanaged, ..KILL },
    Scene { name: "kill of an accepted handoff", prepare: accepted, ..KILL },
];

/// The manager, and the shim by which it starts a run.
pub const MANAGERS: [Scene; 8] = [
    Scene { name: "the manager in a succession", prepare: accepted, done: keeps, compacted: true, ..PLAIN },
    Scene {
        name: "the manager of a relaunch --into",
        prepare: accepted,
        command: |session| outside(session, "relaunch", &["--into", "command/witness"]),
        done: keeps,
        compacted: true,
        ..PLAIN
    },
    Scene { name: "the manager of the first run", prepare: born, done: keeps, ..PLAIN },
    Scene {
        name: "the manager in the background, resuming",
        prepare: killed,
        command: |session| outside(session, "relaunch", &["--background", "--resume"]),
        follow: true,
        done: |session, _| session.world.started().len() > 1,
        ..PLAIN
    },
    Scene {
        name: "the manager that is told to kill",
        prepare: unmanaged,
        stimulus: Some(|session| Some(session.world.orbh(["kill", &session.id]).spawn())),
        recover: kill_again,
        last: Last::Ended("killed"),
        ..PLAIN
    },
    Scene {
        name: "the manager of a run that returns",
        prepare: unmanaged,
        stimulus: Some(|session| {
            session.verb("0001", ["session", "return", "the result"]).run().ok();
            end_harness(session);
            None
        }),
        recover: |session| {
            if !ended(session, "0001") {
                again(session, "0001", &["session", "return", "the result"], &[0, 1]);
                end_harness(session);
                // What has ended is resumed into a new run: here the end itself is what is wanted.
                let mut manager = relaunch(session).spawn();
                session.wait_end("0001");
                manager.wait().unwrap();
            }
        },
        last: Last::Ended("returned"),
        ..PLAIN
    },
    Scene {
        name: "the manager of a run that dies",
        prepare: unmanaged,
        stimulus: Some(|session| {
            kill_dead(session.pid("0001"));
            None
        }),
        ..PLAIN
    },
    Scene {
        name: "the shim",
        prepare: created,
        command: shim,
        done: |session, _| session.world.started().len() > 1,
        compacted: true,
        ..PLAIN
    },
];
