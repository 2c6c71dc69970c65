//! The verbs of a compaction, one by one: what each does, refuses, and leaves as it was.

use crate::harness::{Session, World, alive, changes, difference, outcome, signal};
use nix::sys::signal::Signal;

/// The title of a session as `orbh list` and its Page show it, and whether it has the mark.
#[track_caller]
fn marked(session: &Session) -> bool {
    let list = session.world.orbh(["list", "--all"]).run().ok();
    let page = session.world.orbh(["page", &session.id]).run().ok();
    let mark = "[Compacting...] the title";
    let title = page.lines().next().unwrap();
    assert!(list.contains("the title") && title.contains("the title"));
    assert_eq!(list.contains(mark), title.contains(mark), "list: {list}\npage: {page}");
    assert_eq!(session.inspect()["compacting"].as_bool(), Some(list.contains(mark)));
    list.contains(mark)
}

fn titled_session(world: &World) -> Session<'_> {
    let session = world.idle_session();
    session.verb("0001", ["session", "register", "the title", "a description"]).run().ok();
    session
}

/// R10: start prints where to write, first and last, the contract, the obligations and the Page.
#[test]
fn start_prints_the_path_first_and_last_and_what_the_handoff_needs() {
    let world = World::new();
    let session = titled_session(&world);
    let out = session.verb("0001", ["compact", "start"]).run().ok();
    let path = session.handoff("0001").display().to_string();
    let lines: Vec<&str> = out.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines[1].trim(), path);
    assert_eq!(lines.last().unwrap().trim(), path);
    for part in ["COMPACTION_ARTIFACT_V1", "## SUMMARY", "## FILES", "## OPEN OBLIGATIONS", "- none"] {
        assert!(out.contains(part), "no '{part}' in: {out}");
    }
    for part in [&format!("SESSION      {}", session.id), "CONTEXT ", "[Compacting...] the title"] {
        assert!(out.contains(part), "no '{part}' in: {out}");
    }
    let json = session.verb("0001", ["compact", "start", "--json"]).run().exits(0).json();
    assert_eq!(json["path"], path);
    assert_eq!(json["run"], "0001");
    assert!(json["contract"].as_str().unwrap().contains("COMPACTION_ARTIFACT_V1"));
    assert_eq!(json["page"]["session"], session.id);
    assert_eq!(json["obligations"], serde_json::json!([]));
}

/// R11 R12: the one thing that start leaves is the hold; given again and again it changes nothing at all.
#[test]
fn start_leaves_the_hold_alone_and_can_be_given_again() {
    let world = World::new();
    let session = titled_session(&world);
    let before = session.fingerprint();
    session.verb("0001", ["compact", "start"]).run().ok();
    let held = session.fingerprint();
    assert_eq!(difference(&before, &held), ["scratch/compacting.json"]);
    let log = session.events();
    for _ in 0..5 {
        session.verb("0001", ["compact", "start"]).run().ok();
    }
    assert_eq!(difference(&held, &session.fingerprint()), Vec::<String>::new());
    assert_eq!(session.events(), log);
    assert!(alive(session.pid("0001")));
    // A draft that was begun is left as it is.
    std::fs::write(session.handoff("0001"), "begun").unwrap();
    session.verb("0001", ["compact", "start"]).run().ok();
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), "begun");
}

/// R12 R13 R24 R25: the mark is on every title from start until the successor's finish, and no longer.
#[test]
fn the_mark_is_shown_from_start_to_finish() {
    let world = World::new();
    let session = titled_session(&world);
    assert!(!marked(&session));
    session.verb("0001", ["compact", "start"]).run().ok();
    assert!(marked(&session));
    assert_eq!(session.phase(), "drafting");
    session.compact("0001", "0002");
    assert!(marked(&session));
    assert_eq!(session.phase(), "bootstrapping");
    let finished = session.verb("0002", ["compact", "finish", "--json"]).run().exits(0).json();
    assert_eq!((&finished["closed"], &finished["run"]), (&"0001".into(), &"0002".into()));
    assert_eq!((&finished["count"], &finished["session"]), (&1.into(), &session.id.as_str().into()));
    assert!(!marked(&session));
    let status = world.orbh(["compact", "status", &session.id, "--json"]).run().exits(0).json();
    assert_eq!((&status["phase"], &status["count"]), (&"idle".into(), &1.into()));
    assert_eq!(session.text("scratch/compactions.ndjson").unwrap().lines().count(), 1);
    // And again, as often as the session needs it.
    session.compact("0002", "0003");
    assert!(marked(&session));
    session.verb("0003", ["compact", "finish"]).run().ok();
    assert_eq!(session.text("scratch/compactions.ndjson").unwrap().lines().count(), 2);
}

/// R25: a successor that returns without finish leaves the mark up, for everybody to see.
#[test]
fn a_successor_that_never_finishes_leaves_the_mark() {
    let world = World::new();
    let session = titled_session(&world);
    session.compact("0001", "0002");
    session.return_and_exit("0002");
    assert!(marked(&session));
    assert_eq!(session.phase(), "failed");
}

/// R26: abort, between start and handoff, releases the hold; without one it has nothing to do.
#[test]
fn abort_releases_the_hold() {
    let world = World::new();
    let session = titled_session(&world);
    let out = session.verb("0001", ["compact", "abort"]).run().ok();
    assert!(out.contains("no compaction"), "{out}");
    session.verb("0001", ["compact", "start"]).run().ok();
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "abort"]).run().ok();
    assert!(!marked(&session));
    assert_eq!(session.phase(), "idle");
    session.verb("0001", ["compact", "handoff"]).run().exits(1).says("has not begun a compaction").not_ended();
    let again = session.verb("0001", ["compact", "abort", "--json"]).run().exits(0).json();
    assert_eq!(again["aborted"], false);
    session.compact("0001", "0002");
}

/// R27: ending the turn with a return releases the hold of one's own.
#[test]
fn return_releases_the_hold() {
    let world = World::new();
    let session = titled_session(&world);
    session.verb("0001", ["compact", "start"]).run().ok();
    assert!(marked(&session));
    session.verb("0001", ["session", "return", "instead of a handoff"]).run().ok();
    assert!(!marked(&session));
    assert!(!session.exists("scratch/compacting.json"));
}

/// R18 R22: a handoff without start is refused, however good the file.
#[test]
fn a_handoff_without_start_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["page"]).run().ok();
    session.write_good_handoff("0001");
    let before = session.fingerprint();
    session.verb("0001", ["compact", "handoff"]).run().exits(1).says("run 'orbh compact start'").not_ended();
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert!(alive(session.pid("0001")));
}

/// R21 R22: once a handoff is accepted, no other verb of the context gets in its way; and an agent that gives the verb
/// again is not told that it lives.
#[test]
fn an_accepted_handoff_owns_the_session() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    let before = session.fingerprint();
    for args in [vec!["compact", "start"], vec!["compact", "abort"], vec!["session", "return", "too late"]] {
        let refused = session.verb("0001", &args).run().exits(1).says("the handoff of this run was accepted");
        assert!(!refused.stderr.contains("NOT end"), "{}", refused.stderr);
    }
    session.verb("0001", ["compact", "finish"]).run().exits(1).says("its handoff was accepted: do nothing more");
    let checked = session.verb("0001", ["compact", "handoff", "--check"]).run().exits(75);
    assert!(checked.stdout.starts_with("accepted already"), "{}", checked.stdout);
    let checked = session.verb("0001", ["compact", "handoff", "--check", "--json"]).run().exits(75).json();
    assert_eq!((&checked["accepted"], &checked["context_ends"]), (&true.into(), &true.into()));
    let mut again = session.verb("0001", ["compact", "handoff"]).spawn();
    let mut said = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(again.stdout.as_mut().unwrap()), &mut said).unwrap();
    assert!(said.starts_with("accepted already"), "{said}");
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert!(alive(session.pid("0001")));
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    let told = outcome(verb).accepted();
    assert!(told.stdout.contains("accepted"), "{}", told.stdout);
    let again = outcome(again);
    assert!(!again.stderr.contains("NOT end") && again.code != Some(1), "{again:?}");
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), session.good_handoff("run 0001"));
}

/// What is handed off is what was validated: a write that comes after acceptance changes nothing.
#[test]
fn a_late_write_does_not_change_an_accepted_handoff() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    std::fs::write(session.handoff("0001"), "too late").unwrap();
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), session.good_handoff("run 0001"));
    outcome(verb).accepted();
}

/// R22: whatever is wrong, also with the command line, also under --json: the last line says that the context goes on,
/// and it does.
#[test]
fn every_refused_handoff_ends_with_the_same_line() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    let before = session.fingerprint();
    let cases: [(&[&str], i32); 9] = [
        (&["compact", "handoff"], 1),
        (&["compact", "handoff", "--check"], 1),
        (&["compact", "handoff", "--into", "command/nowhere"], 1),
        (&["compact", "handoff", "--into", "no-target"], 2),
        (&["compact", "handoff", "--account", "somebody"], 2),
        (&["compact", "handoff", "--unknown"], 2),
        (&["compact", "handoff", "--into"], 2),
        (&["compact", "--check", "handoff"], 2),
        (&["compact", "handoff", &session.id], 1),
    ];
    for (args, code) in cases {
        session.verb("0001", args).run().exits(code).not_ended();
        let json = session.verb("0001", args.iter().copied().chain(["--json"])).run().exits(code).not_ended();
        // What clap says of a command line is text for people; all else is an object on standard output.
        if !json.stdout.is_empty() {
            assert_eq!(json.json()["context_ends"], false);
        }
        session.flint("0001", args).run().exits(code).not_ended();
    }
    world.orbh(["compact", "handoff"]).run().exits(2).not_ended();
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
    assert!(alive(session.pid("0001")));
}

/// R4: --check does every check and leaves no trace: no file, no log line, not even a changed time.
#[test]
fn check_leaves_no_trace() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    for (handoff, code) in [("rubbish".to_owned(), 1), (session.good_handoff("run 0001"), 0)] {
        std::fs::write(session.handoff("0001"), handoff).unwrap();
        let before = changes(&session.path(""));
        let checked = session.verb("0001", ["compact", "handoff", "--check"]).run().exits(code);
        let json = session.verb("0001", ["compact", "handoff", "--check", "--json"]).run().exits(code);
        assert_eq!(json.json()["context_ends"], false);
        assert_eq!(before, changes(&session.path("")));
        if code == 1 {
            checked.not_ended();
        }
    }
    assert!(alive(session.pid("0001")));
    assert_eq!(session.phase(), "drafting");
}

/// R24: only the successor finishes, and once.
#[test]
fn finish_is_for_the_successor_and_once() {
    let world = World::new();
    let session = world.idle_session();
    let finish = |run| session.verb(run, ["compact", "finish"]).run();
    finish("0001").exits(1).says("no compaction to finish");
    session.verb("0001", ["compact", "start"]).run().ok();
    finish("0001").exits(1).says("finishing it is for its successor");
    session.compact("0001", "0002");
    let bootstrapping = session.fingerprint();
    session.write_good_handoff("0002");
    session.verb("0002", ["compact", "start"]).run().exits(1).says("was never finished");
    session.verb("0002", ["compact", "handoff"]).run().exits(1).says("was never finished").not_ended();
    session.verb("0002", ["compact", "abort"]).run().exits(1).says("it can only be finished");
    let changed = difference(&bootstrapping, &session.fingerprint());
    assert_eq!(changed, ["scratch/awake-0002", "scratch/handoff-0002.md"]);
    finish("0002").ok();
    let finished = session.fingerprint();
    finish("0002").exits(1).says("finished this compaction already");
    assert_eq!(difference(&finished, &session.fingerprint()), Vec::<String>::new());
}

/// R24: a manager that dies just before it drops the intent does not stand in the successor's way: `finish` drops it, and
/// until then every verb says so.
#[test]
fn finish_drops_an_intent_that_its_manager_left() {
    let world = World::new();
    let session = world.idle_session();
    let (manager, verb) = session.accept_without_manager("0001", &[]);
    let intent = session.text("scratch/relaunch.json").unwrap();
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    outcome(verb).accepted();
    session.stop_manager();
    std::fs::write(session.path("scratch/relaunch.json"), intent).unwrap();
    for args in
        [&["session", "return", "done"][..], &["compact", "start"], &["compact", "handoff"], &["compact", "abort"]]
    {
        let refused = session.verb("0002", args).run().exits(1).says("run 'orbh compact finish' first");
        assert!(!refused.stderr.contains("do nothing more"), "{}", refused.stderr);
    }
    session.verb("0002", ["compact", "finish"]).run().ok();
    assert!(!session.exists("scratch/relaunch.json"));
    session.verb("0002", ["session", "return", "done"]).run().ok();
}

/// R24: a run that does not continue the handoff cannot finish its compaction.
#[test]
fn finish_by_a_run_without_the_handoff_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().ok();
    world.orbh(["kill", &session.id]).run().exits(0);
    world.orbh(["resume", &session.id]).run().ok();
    session.verb("0002", ["compact", "finish"]).run().exits(1).says("does not continue the handoff of run 0001");
    // The hold of the dead context is over by itself, so a new one can begin.
    assert_eq!(session.phase(), "idle");
    session.compact("0002", "0003");
    session.verb("0003", ["compact", "finish"]).run().ok();
}

/// R5: nobody compacts a session from outside, not even with half of its environment.
#[test]
fn a_compaction_from_outside_is_refused() {
    let world = World::new();
    let session = world.idle_session();
    let before = session.fingerprint();
    for verb in ["start", "handoff", "finish", "abort"] {
        world.orbh(["compact", verb]).run().exits(2).says("works inside a run of a session only");
        world.orbh(["compact", verb, &session.id]).run().exits(1).says("ask that session to compact itself");
        let forged = world.orbh(["compact", verb]).env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001");
        forged.env("ORBH_NONCE", "guessed").run().exits(1).says("only the session itself can do this; ask it");
    }
    assert_eq!(difference(&before, &session.fingerprint()), Vec::<String>::new());
}
