//! Lock files that are replaced under their holders, and scratch/ that is removed under a live session.

use super::wrong::usable;
use crate::harness::{Session, World, alive, can_trace, kill_dead, outcome, signal, wait_for};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::signal::Signal;
use std::path::Path;

/// The managers that live in this world.
fn managers(world: &World) -> Vec<i32> {
    let manages =
        |pid: &i32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("orbh-relaunch"));
    world.processes().into_iter().filter(manages).collect()
}

/// A way to take a file away from under its holder.
type Replacing = (&'static str, fn(&Path));

/// How a lock file can be replaced.
const REPLACED: [Replacing; 3] = [
    ("unlinked", |path| std::fs::remove_file(path).unwrap()),
    ("unlinked and made again", |path| {
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, "").unwrap();
    }),
    ("renamed over", |path| {
        let new = path.with_extension("new");
        std::fs::write(&new, "").unwrap();
        std::fs::rename(new, path).unwrap();
    }),
];

fn events(session: &Session, event: &str) -> usize {
    session.text("log/events.ndjson").unwrap_or_default().matches(&format!("\"{event}\"")).count()
}

#[test]
fn a_manager_that_loses_its_lease_says_so_and_takes_it_again() {
    let world = World::new();
    let session = world.idle_session();
    let manager = session.manager_pid();
    for (index, (how, replace)) in REPLACED.into_iter().enumerate() {
        replace(&session.path("scratch/manager.lock"));
        wait_for(how, || (events(&session, "lease-taken-again") == index + 1).then_some(()));
        assert!(session.managed(), "{how}");
        assert_eq!(session.manager_pid(), manager, "{how}");
        usable(&session, "0001", how);
    }
    session.compact("0001", "0002");
    assert_eq!(managers(&world), [manager]);
}

#[test]
fn a_manager_whose_lease_somebody_else_took_leaves_the_session_to_that_one() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    let first = session.stop_manager();
    std::fs::remove_file(session.path("scratch/manager.lock")).unwrap();
    assert!(world.orbh(["resume", &session.id]).run().ok().contains("was alive"));
    let second = session.manager_pid();
    assert_ne!(first, second);
    signal(first, Signal::SIGCONT);
    wait_for("the first one to leave", || (!alive(first)).then_some(()));
    assert_eq!(events(&session, "manager-left"), 1);
    assert_eq!(managers(&world), [second]);
    assert!(alive(harness));
    session.compact("0001", "0002");
    assert_eq!((session.runs().len(), managers(&world)), (2, vec![second]));
}

/// The same while a handoff is accepted and waits: the context has one successor.
#[test]
fn a_handoff_whose_manager_loses_its_lease_has_one_successor() {
    let world = World::new();
    let session = world.idle_session();
    let harness = session.pid("0001");
    let (first, verb) = session.accept_without_manager("0001", &[]);
    std::fs::remove_file(session.path("scratch/manager.lock")).unwrap();
    // The verb that waits finds nobody there, and puts another one in the place.
    session.wait_relaunched("0002");
    assert!(!alive(harness));
    signal(first, Signal::SIGCONT);
    wait_for("the first one to leave", || (!alive(first)).then_some(()));
    outcome(verb).accepted();
    assert_eq!((session.runs(), managers(&world).len()), (vec!["0001".to_owned(), "0002".to_owned()], 1));
    assert!(alive(session.pid("0002")));
    session.verb("0002", ["compact", "finish"]).run().ok();
}

/// One who holds the claim finds out before it commits.
#[test]
fn a_verb_that_loses_the_claim_commits_nothing() {
    let world = World::new();
    if !can_trace() {
        return;
    }
    let session = world.idle_session();
    for (how, replace) in REPLACED {
        session.verb("0001", ["compact", "start"]).run().exits(0);
        let before = session.fingerprint();
        let verb = session.verb("0001", ["compact", "abort"]).bare();
        // It has just taken the claim when it writes its name into the file.
        let mut strace = world.program("strace").bare_args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=ftruncate"]);
        strace =
            strace.bare_args(["-e", "inject=ftruncate:delay_enter=1500000:when=1"]).bare_args([verb.get_program()]);
        strace = strace.bare_args(verb.get_args());
        for (name, value) in verb.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?))) {
            strace = strace.env(name, value);
        }
        let aborting = strace.spawn();
        let claim = session.path("scratch/compaction.lock");
        wait_for("the claim to be held", || {
            let held = shared::ground::lease::probe(&claim).unwrap().held();
            held.then_some(())
        });
        replace(&claim);
        outcome(aborting).fails(75, &["claim", "was replaced", "hint: try again"]);
        assert_eq!(session.fingerprint(), before, "{how}");
        session.verb("0001", ["compact", "abort"]).run().ok();
    }
}

/// Moved away and put back, as an administrator may do by mistake: nobody leaves for that, neither before nor after the
/// manager has made another one.
#[test]
fn a_lease_that_is_put_back_is_still_held() {
    let world = World::new();
    let session = world.idle_session();
    let manager = session.manager_pid();
    let (scratch, aside) = (session.path("scratch"), world.path().join("aside"));
    let sleeps = || {
        let status = std::fs::read_to_string(format!("/proc/{manager}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<u64>().unwrap()
    };
    for (run, next, made_again) in [("0001", "0002", false), ("0002", "0003", true), ("0003", "0004", false)] {
        let before = sleeps();
        std::fs::rename(&scratch, &aside).unwrap();
        wait_for("the manager to have looked", || {
            let made = scratch.join("manager.lock").exists();
            // It looks twenty times, and sleeps in between.
            (made || (!made_again && sleeps() > before + 8)).then_some(())
        });
        let flags = if scratch.exists() { RenameFlags::RENAME_EXCHANGE } else { RenameFlags::empty() };
        renameat2(AT_FDCWD, &aside, AT_FDCWD, &scratch, flags).unwrap();
        usable(&session, run, "put back");
        let _ = std::fs::remove_dir_all(&aside);
        session.compact(run, next);
        session.verb(next, ["compact", "finish"]).run().ok();
        assert_eq!((managers(&world), events(&session, "manager-left")), (vec![manager], 0));
    }
}

fn empty(session: &Session) {
    for entry in std::fs::read_dir(session.path("scratch")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

fn remove(session: &Session) {
    std::fs::remove_dir_all(session.path("scratch")).unwrap();
}

/// How scratch/ can be lost: `rm -rf scratch/*`, and `rm -rf scratch`.
const LOST: [fn(&Session); 2] = [empty, remove];

#[test]
fn a_session_whose_scratch_is_removed_goes_on() {
    for lose in LOST {
        let world = World::new();
        let session = world.idle_session();
        let (harness, manager) = (session.pid("0001"), session.manager_pid());
        lose(&session);
        wait_for("the manager to have its lease again", || session.managed().then_some(()));
        assert!(alive(harness));
        assert_eq!(session.manager_pid(), manager);
        usable(&session, "0001", "idle");
        session.verb("0001", ["compact", "start"]).run().exits(0);
        session.write_good_handoff("0001");
        lose(&session);
        wait_for("the manager to have its lease again", || session.managed().then_some(()));
        usable(&session, "0001", "holding");
        assert_eq!(session.phase(), "idle");
        session.compact("0001", "0002");
        // What the successor has to finish is gone with the rest, and it says so.
        lose(&session);
        wait_for("the manager to have its lease again", || session.managed().then_some(()));
        session.verb("0002", ["compact", "finish"]).run().fails(1, &["no compaction to finish"]);
        session.compact("0002", "0003");
        assert_eq!(session.runs().len(), 3);
    }
}

/// An accepted handoff that is removed before its context has ended is called off: the context that wrote it goes on.
#[test]
fn a_handoff_that_is_removed_after_its_acceptance_ends_nothing() {
    for lose in LOST {
        let world = World::new();
        let session = world.idle_session();
        let harness = session.pid("0001");
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        lose(&session);
        signal(manager, Signal::SIGCONT);
        let out = outcome(verb).exits(75);
        assert_eq!(out.stdout.lines().last(), Some("called off; your context goes on"));
        wait_for("a manager", || session.managed().then_some(()));
        assert!(alive(harness));
        usable(&session, "0001", "accepted");
        session.compact("0001", "0002");
        wait_for("one manager", || (managers(&world).len() == 1).then_some(()));
        assert_eq!(session.runs().len(), 2);
    }
}

#[test]
fn a_session_without_manager_and_scratch_is_recovered_by_one_verb() {
    for lose in LOST {
        for verb in ["resume", "kill"] {
            let world = World::new();
            let session = world.idle_session();
            let harness = session.pid("0001");
            session.kill_manager();
            lose(&session);
            world.orbh(["list"]).run().exits(0);
            world.orbh([verb, &session.id]).run().ok();
            assert_eq!(alive(harness), verb == "resume");
            if verb == "kill" {
                assert_eq!(session.state(), "killed");
                world.orbh(["resume", &session.id]).run().ok();
            }
            let run = session.runs().pop().unwrap();
            usable(&session, &run, verb);
        }
    }
}

/// Between two contexts nothing is left of the handoff but the end that it brought; the duty is taken up again.
#[test]
fn a_session_whose_handoff_is_removed_between_two_contexts_is_resumed() {
    for lose in LOST {
        let world = World::new();
        world.agent("first", "exec sleep 100000\n");
        let session = world.launch("command/first", "the duty");
        let (manager, verb) = session.accept_without_manager("0001", &[]);
        // Its successor cannot be created: the manager waits between the two.
        session.take_temporary_names(manager);
        signal(manager, Signal::SIGCONT);
        assert_eq!(session.wait_end("0001"), "compacted");
        wait_for("the manager to wait", || (events(&session, "manager-waits") > 0).then_some(()));
        kill_dead(manager);
        outcome(verb).accepted();
        lose(&session);
        assert_eq!(session.state(), "failed-unreturned");
        world.orbh(["resume", &session.id]).run().ok();
        let run = session.runs().pop().unwrap();
        usable(&session, &run, "between");
        let prompt = session.text(&format!("runs/{run}/prompt.md")).unwrap();
        assert!(prompt.contains("the duty") && !prompt.contains("handoff-0001.md"), "{prompt}");
        session.compact(&run, &format!("{:04}", run.parse::<u32>().unwrap() + 1));
    }
}
