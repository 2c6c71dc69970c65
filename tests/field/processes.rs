//! What others lost to processes, locks and files: numbers in other hands, locks of the dead, files that were torn or
//! cleared away, and programs that were said to run and did not.

use crate::harness::{Outcome, Session, World, difference, kill_dead, outcome, signal, wait_for};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use shared::ground::process::{Proc, environment_has};
use std::process::Child;

/// A process that has nothing to do with any session, and must outlive the test.
pub(super) struct Stranger(Child);

impl Stranger {
    pub(super) fn new(world: &World) -> Stranger {
        Stranger(world.program("sleep").env_remove("ORBH_ROOT").sleeping())
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    #[track_caller]
    pub(super) fn lives(&mut self, what: &str) {
        assert!(self.0.try_wait().unwrap().is_none(), "a stranger was stopped: {what}");
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The living processes of a session's runs.
pub(super) fn context(session: &Session) -> Vec<i32> {
    let mark = [format!("ORBH_SESSION_ID={}", session.id)];
    session.world.processes().into_iter().filter(|pid| environment_has(*pid, &mark)).collect()
}

/// Asserts that a session has this one living process, and no other. Whoever is just executing another program has no
/// environment for a moment.
#[track_caller]
pub(super) fn alone(session: &Session, pid: i32) {
    wait_for("one context", || (context(session) == [pid]).then_some(()));
}

/// Kills the manager and the run's process, as a crash of the machine's memory would: nobody writes an end.
pub(super) fn crash(session: &Session, run: &str) {
    session.kill_manager();
    kill_dead(session.pid(run));
}

/// Seen: a stale pid file was believed, and a reused pid killed a stranger. Rule: liveness is a held flock; a pid is
/// signalled only after its start time matched, through a descriptor of exactly that process.
#[test]
fn a_number_in_other_hands_is_neither_believed_nor_signalled() {
    let world = World::new();
    world.idle_agent();
    let mut stranger = Stranger::new(&world);
    let start = Proc::of(stranger.pid()).unwrap().start;
    let boot = shared::ground::process::boot_id();
    let taken: [(&str, Value); 4] = [
        ("an older start", json!({"pid": stranger.pid(), "start": start - 1, "boot_id": boot})),
        ("a later start", json!({"pid": stranger.pid(), "start": start + 1, "boot_id": boot})),
        ("no start", json!({"pid": stranger.pid(), "start": 0, "boot_id": boot})),
        ("another boot", json!({"pid": stranger.pid(), "start": start, "boot_id": "an-earlier-boot"})),
    ];
    for (what, numbers) in &taken {
        for verb in ["kill", "resume", "handoff"] {
            let session = world.launch("command/idle", "do nothing");
            let accepted = (verb == "handoff").then(|| session.accept_without_manager("0001", &[]));
            if let Some((_, waiting)) = &accepted {
                kill_dead(waiting.id().cast_signed());
            }
            crash(&session, "0001");
            let mut record = session.fact("runs/0001/pid").unwrap();
            record.as_object_mut().unwrap().extend(numbers.as_object().unwrap().clone());
            session.write_fact("runs/0001/pid", &record);
            let holder = json!({"pid": stranger.pid(), "start": start, "kind": "headless", "verbs": ["compact"]});
            session.write_fact("scratch/manager.lock", &holder);
            session.write_fact("scratch/compaction.lock", &holder);
            let inspection = session.inspect();
            assert!(inspection["manager"].is_null(), "{what}: {inspection}");
            assert_eq!(inspection["state"], "lost", "{what}: {inspection}");
            match verb {
                "kill" => drop(world.orbh(["kill", &session.id]).run()),
                _ => {
                    world.orbh(["resume", &session.id]).run().ok();
                    assert_eq!(session.runs(), ["0001", "0002"], "{what} {verb}");
                    let kind = if verb == "handoff" { "compact" } else { "resume" };
                    assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], kind, "{what}");
                    world.orbh(["kill", &session.id]).run().ok();
                }
            }
            stranger.lives(&format!("{what}, {verb}"));
            if let Some((_, waiting)) = accepted {
                outcome(waiting);
            }
        }
    }
}

/// Seen: a lock that a killed process left blocked everybody. Rule: kernel locks only, so that nothing is left of a dead
/// holder; every wait is bounded, and names a holder that lives and does not let go.
#[test]
fn a_lock_ends_with_its_holder_and_every_wait_for_it_is_bounded() {
    let world = World::new();
    world.idle_agent();
    let hold = |session: &Session, lock: &str| {
        let path = session.path(&format!("scratch/{lock}"));
        let holder = world
            .program("flock")
            .env_remove("ORBH_ROOT")
            .args(["--no-fork", path.to_str().unwrap(), "sleep"])
            .sleeping();
        let held = || shared::ground::lease::probe(&path).unwrap().held().then_some(());
        wait_for("the lock to be held", held);
        (holder, path)
    };
    let sessions = [world.launch("command/idle", "one"), world.launch("command/idle", "two")];
    let holders: Vec<_> = sessions.iter().map(|session| hold(session, "compaction.lock")).collect();
    // One of them says who it is, as every holder of ours does; the other one's file still names a dead one.
    let named = Proc::of(holders[0].0.id().cast_signed()).unwrap();
    let says = json!({"pid": named.pid, "start": named.start, "kind": "compact handoff"});
    std::fs::write(&holders[0].1, says.to_string()).unwrap();
    std::fs::write(&holders[1].1, json!({"pid": i32::MAX, "start": 1, "kind": "compact handoff"}).to_string()).unwrap();
    signal(named.pid, Signal::SIGSTOP);
    let waiting: Vec<Child> =
        sessions.iter().map(|session| session.verb("0001", ["compact", "start"]).spawn()).collect();
    // Nobody who only looks waits.
    for session in &sessions {
        assert_eq!(session.state(), "working");
        assert!(world.orbh(["page", &session.id]).run().ok().contains("COMPACTION   idle"));
    }
    let told: Vec<Outcome> = waiting.into_iter().map(outcome).collect();
    for (told, who) in told
        .into_iter()
        .zip([format!("pid {} (compact handoff) holds it", named.pid), "an unknown process holds it".to_owned()])
    {
        told.fails(75, &[&who]);
    }
    for ((mut holder, _), session) in holders.into_iter().zip(&sessions) {
        holder.kill().unwrap();
        holder.wait().unwrap();
        session.verb("0001", ["compact", "start"]).run().exits(0);
        session.compact("0001", "0002");
    }
    // The manager's: who was killed left nothing behind, and a holder that is no manager is in nobody's way for ever.
    let session = &sessions[0];
    crash(session, "0002");
    let (mut holder, _) = hold(session, "manager.lock");
    world.orbh(["resume", &session.id]).run().exits(1).says("already");
    holder.kill().unwrap();
    holder.wait().unwrap();
    world.orbh(["resume", &session.id]).run().ok();
    alone(session, session.pid("0003"));
}

/// Seen: a lock file was replaced under its holder, and two held "the" lock. Rule: who takes a lease compares inodes, and
/// whatever becomes of the files, there are never two contexts and every run has one successor.
#[test]
fn two_do_not_work_because_a_lock_file_was_replaced() {
    for (lock, way) in [
        ("manager.lock", "rm"),
        ("manager.lock", "mv"),
        ("manager.lock", "replace"),
        ("compaction.lock", "rm"),
        ("compaction.lock", "replace"),
    ] {
        let world = World::new();
        let session = world.idle_session();
        let live = session.pid("0001");
        session.verb("0001", ["compact", "start"]).run().exits(0);
        let path = session.path(&format!("scratch/{lock}"));
        match way {
            "rm" => std::fs::remove_file(&path).unwrap(),
            "mv" => std::fs::rename(&path, path.with_extension("old")).unwrap(),
            _ => {
                std::fs::write(path.with_extension("new"), "{}").unwrap();
                std::fs::rename(path.with_extension("new"), &path).unwrap();
            }
        }
        // Who believes that the manager is gone puts another one beside it.
        let recoveries: Vec<Child> = (0..3).map(|_| world.orbh(["resume", &session.id]).spawn()).collect();
        for recovery in recoveries {
            let told = outcome(recovery);
            assert!(matches!(told.code, Some(0 | 1 | 74 | 75)), "{told:?}");
        }
        alone(&session, live);
        session.compact("0001", "0002");
        session.verb("0002", ["compact", "finish"]).run().ok();
        session.compact("0002", "0003");
        assert_eq!(session.runs(), ["0001", "0002", "0003"], "{lock} {way}");
        alone(&session, session.pid("0003"));
        assert!(session.managed());
        world.orbh(["kill", &session.id]).run().ok();
        assert_eq!(context(&session), Vec::<i32>::new());
    }
}

/// Seen: what was thirty days old was deleted in silence. Rule: nothing is deleted by age, whatever is done beside it.
#[test]
fn nothing_is_deleted_by_age() {
    let world = World::new();
    world.idle_agent();
    let states = ["working", "finished", "killed", "failed-unreturned", "lost"];
    let sessions: Vec<Session> = states.iter().map(|state| world.launch("command/idle", state)).collect();
    for session in &sessions {
        session.compact("0001", "0002");
    }
    sessions[1].return_and_exit("0002");
    world.orbh(["kill", &sessions[2].id]).run().ok();
    kill_dead(sessions[3].pid("0002"));
    crash(&sessions[4], "0002");
    for (session, state) in sessions.iter().zip(states) {
        session.wait_state(state);
        // Litter of a writer that died, and what the agent keeps for itself.
        for name in ["scratch/.tmp-1-1-1", "scratch/notes.txt", "runs/.tmp-9-9-9", "keys/old"] {
            std::fs::write(session.path(name), "kept").unwrap();
        }
        let mut born = session.fact("session.json").unwrap();
        born["created_at"] = json!("2020-01-01T00:00:00+00:00");
        session.write_fact("session.json", &born);
    }
    let everything = world.program("find").args([
        world.root().to_str().unwrap(),
        "-exec",
        "touch",
        "-h",
        "-d",
        "2020-01-01",
        "{}",
        "+",
    ]);
    everything.run().exits(0);
    let before: Vec<_> = sessions.iter().map(Session::fingerprint).collect();
    world.orbh(["list", "--all"]).run().exits(0);
    for session in &sessions {
        for args in [
            vec!["page", &session.id],
            vec!["inspect", &session.id],
            vec!["log", &session.id],
            vec!["context", &session.id],
        ] {
            world.orbh(&args).run().exits(0);
        }
    }
    let other = world.launch("command/idle", "a new one");
    other.compact("0001", "0002");
    let settled = |session: &Session| sessions[0].id != session.id;
    for (session, before) in sessions.iter().zip(&before).filter(|(session, _)| settled(session)) {
        assert_eq!(difference(before, &session.fingerprint()), Vec::<String>::new());
    }
    // What works on adds, and takes nothing of the old away.
    sessions[0].verb("0002", ["compact", "finish"]).run().ok();
    sessions[0].compact("0002", "0003");
    world.orbh(["resume", &sessions[1].id, "more"]).run().ok();
    for (session, before) in sessions.iter().zip(&before) {
        let now = session.fingerprint();
        let gone: Vec<&String> = before.keys().filter(|path| !now.contains_key(*path)).collect();
        let expected: &[&str] = if session.id == sessions[0].id { &["scratch/compacting.json"] } else { &[] };
        assert!(gone.iter().all(|path| expected.contains(&path.as_str())), "{gone:?}");
    }
}

/// Seen: lines of JSON torn or fused after a crash. Rule: a fact appears whole or not at all; an append ends a torn line
/// first, so that a crash spoils its own line only; litter of a dead writer is nobody's fact.
#[test]
fn a_torn_line_spoils_itself_only() {
    let world = World::new();
    world.idle_agent();
    let session = world.launch("command/idle", "do nothing");
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.compact("0002", "0003");
    let line = session.text("scratch/compactions.ndjson").unwrap();
    let log = session.text("log/events.ndjson").unwrap();
    let last = log.lines().next_back().unwrap();
    let tears = ["", "{", &line[..line.len() / 2], &line[..line.len() - 2], line.trim_end(), "\u{0}\u{0}\u{0}", "{}{}"];
    for tear in tears {
        std::fs::write(session.path("scratch/compactions.ndjson"), format!("{line}{tear}")).unwrap();
        let torn_event = if tear.is_empty() { "" } else { &last[..last.len() / 2] };
        std::fs::write(session.path("log/events.ndjson"), format!("{log}{torn_event}")).unwrap();
        let hold = session.text("scratch/compacting.json").unwrap();
        let finished = session.verb("0003", ["compact", "finish"]).run();
        assert_eq!(finished.code, Some(0), "{tear:?}: {finished:?}");
        // The whole line of before, what was torn on a line of its own, and the new one.
        let text = session.text("scratch/compactions.ndjson").unwrap();
        let torn = usize::from(!tear.is_empty());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2 + torn, line.trim_end()), "{tear:?}: {text}");
        let newest: Value = serde_json::from_str(lines[1 + torn]).unwrap();
        assert_eq!((&newest["closed"], &newest["run"]), (&json!("0002"), &json!("0003")), "{tear:?}: {text}");
        let count = session.inspect()["compaction"]["count"].as_u64().unwrap();
        assert_eq!(count, if tear == line.trim_end() { 3 } else { 2 }, "{tear:?}: {text}");
        let shown = world.orbh(["log", &session.id, "--json"]).run().exits(0).stdout;
        assert!(shown.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{shown}");
        assert!(shown.lines().last().unwrap().contains("finished"), "{tear:?}: {shown}");
        // Once more, for the next tear.
        std::fs::write(session.path("scratch/compacting.json"), hold).unwrap();
    }

    // Litter of writers that were killed before they renamed, whole and half, in every directory.
    session.verb("0003", ["compact", "finish"]).run().ok();
    let whole = session.text("runs/0003/run.json").unwrap();
    for dir in ["", "scratch/", "runs/", "runs/0003/", "keys/", "returns/", "links/", "log/"] {
        std::fs::write(session.path(&format!("{dir}.tmp-1-1-1")), &whole).unwrap();
        std::fs::write(session.path(&format!("{dir}.tmp-1-1-2")), &whole[..20]).unwrap();
    }
    let inspection = session.inspect();
    assert_eq!((&inspection["state"], &inspection["damage"]), (&json!("working"), &json!([])));
    session.compact("0003", "0004");
    assert_eq!(session.runs().iter().filter(|name| !name.starts_with('.')).count(), 4);
}
