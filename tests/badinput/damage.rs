//! Damaged files, foreign files, files of a later version.

use super::{World, alive, facts, json, last_line, symlink};

/// Who cannot say which run is the current one does nothing, names the file, and hides no neighbour.
#[test]
fn a_damaged_newest_run_stops_every_verb_and_is_named() {
    let world = World::new();
    let session = world.idle_session();
    let neighbour = world.launch("command/idle", "go");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let good = session.text("runs/0001/run.json").unwrap();
    for (text, reason) in [
        (good.replacen("command/idle", "nonsense", 1), "'nonsense' is not a target"),
        (good[..40].to_owned(), "damaged at byte"),
        (String::new(), "damaged at byte 0: EOF"),
        (good.replacen("\"v\": 1", "\"v\": 2", 1), "version 2 of the spool format, and this orbh reads up to 1"),
    ] {
        std::fs::write(session.path("runs/0001/run.json"), text).unwrap();
        let before = facts(&session);
        let path = session.path("runs/0001/run.json").display().to_string();
        for args in [
            &["compact", "start"][..],
            &["compact", "handoff"],
            &["compact", "handoff", "--check"],
            &["compact", "abort"],
            &["compact", "finish"],
            &["session", "return", "x"],
            &["session", "set", "k", "v"],
            &["context"],
            &["launch", "command/idle", "x"],
        ] {
            let out = session.verb("0001", args).run().fails(65, &[&path, reason]);
            if args.get(1) == Some(&"handoff") {
                assert_eq!(last_line(&out), "Your context will NOT end.");
            }
        }
        for args in [&["kill", &session.id][..], &["resume", &session.id]] {
            let out = world.orbh(args).run();
            assert!([Some(65), Some(1)].contains(&out.code), "{out:?}");
        }
        let list = world.orbh(["list"]).run().exits(0).says(&path);
        let state = |id: &str| {
            list.stdout
                .lines()
                .find(|line| line.starts_with(&id[..8]))
                .unwrap()
                .split_whitespace()
                .nth(1)
                .unwrap()
                .to_owned()
        };
        assert_eq!((state(&session.id).as_str(), state(&neighbour.id).as_str()), ("unknown", "working"));
        assert!(world.orbh(["inspect", &session.id]).run().exits(65).stdout.contains(reason));
        let page = world.orbh(["page", &session.id]).run().exits(0).stdout;
        assert!(page.contains("STATE        unknown") && page.contains(reason), "{page}");
        assert_eq!(facts(&session), before);
        assert!(alive(session.pid("0001")) && alive(session.manager_pid()));
    }
    // Mended by hand, it goes on.
    std::fs::write(session.path("runs/0001/run.json"), good).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

#[test]
fn other_damaged_facts_are_named_by_the_verbs_that_need_them() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    for (name, verbs) in [
        (
            "scratch/compacting.json",
            &[
                &["compact", "start"][..],
                &["compact", "handoff"],
                &["compact", "abort"],
                &["compact", "finish"],
                &["session", "return", "x"],
            ][..],
        ),
        ("target.json", &[&["compact", "handoff"]]),
        (
            "session.json",
            &[&["compact", "start"], &["compact", "handoff"], &["session", "return", "x"], &["session", "get"]],
        ),
    ] {
        let good = session.text(name).unwrap();
        for (text, reason) in [
            ("{\"v\": 1, ", "damaged at byte 9"),
            ("[]", "damaged at byte"),
            (r#"{"v": 2}"#, "version 2"),
            (r#"{"v": 1}"#, "missing field"),
        ] {
            std::fs::write(session.path(name), text).unwrap();
            for args in verbs.iter().filter(|args| args[1] != "get") {
                session.verb("0001", *args).run().fails(65, &[name, reason]);
            }
            assert!(
                session.world.orbh(["inspect", &session.id]).run().exits(65).stdout.contains(reason),
                "{name}: {text}"
            );
            world.orbh(["list"]).run().exits(0).says(name);
        }
        std::fs::remove_file(session.path(name)).unwrap();
        nix::unistd::mkfifo(&session.path(name), nix::sys::stat::Mode::S_IRWXU).unwrap();
        session.verb("0001", ["compact", "handoff"]).run().fails(65, &[name, "is not a regular file"]);
        std::fs::remove_file(session.path(name)).unwrap();
        std::fs::write(session.path(name), good).unwrap();
    }
    assert!(alive(session.pid("0001")));
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

/// An intent that cannot be read may be an accepted handoff: nobody passes it by, and nobody ends a context for it.
#[test]
fn a_damaged_intent_ends_no_context_and_stops_every_verb() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    std::fs::write(session.path("scratch/relaunch.json"), "{").unwrap();
    for args in [&["compact", "start"][..], &["compact", "handoff"], &["compact", "abort"], &["session", "return", "x"]]
    {
        session.verb("0001", args).run().fails(65, &["scratch/relaunch.json': damaged at byte 1"]);
    }
    assert!(alive(session.pid("0001")));
    assert!(world.orbh(["inspect", &session.id]).run().exits(65).stdout.contains("relaunch.json"));
    std::fs::remove_file(session.path("scratch/relaunch.json")).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

#[test]
fn what_is_not_known_is_ignored() {
    let world = World::new();
    let session = world.idle_session();
    for name in ["session.json", "target.json", "runs/0001/run.json", "runs/0001/pid"] {
        let mut fact = session.fact(name).unwrap();
        fact["of_a_later_release"] = json!({"a": [1, 2]});
        session.write_fact(name, &fact);
    }
    for name in ["runs/1", "runs/notes", "runs/.tmp-1-1-0", "runs/00001"] {
        std::fs::create_dir(session.path(name)).unwrap();
        std::fs::write(session.path(name).join("run.json"), "{").unwrap();
    }
    std::fs::write(session.path("runs/README"), "").unwrap();
    std::fs::write(session.path("scratch/notes.md"), "the agent's own").unwrap();
    std::fs::write(world.root().join("sessions/README"), "").unwrap();
    std::fs::write(world.root().join("README"), "").unwrap();
    session.compact("0001", "0002");
    session.verb("0002", ["compact", "finish"]).run().ok();
    assert_eq!(session.inspect()["runs"], 2);
    assert_eq!(world.orbh(["list", "--json"]).run().ok().lines().count(), 1);
    assert_eq!(session.text("scratch/notes.md").unwrap(), "the agent's own");
}

/// A symlink in the spool leads no verb out of it.
#[test]
fn a_scratch_that_leads_elsewhere_is_refused_and_nothing_is_written_there() {
    let world = World::new();
    let session = world.fake_session("11111111-1111-4111-8111-111111111111", "t", std::process::id().cast_signed());
    let elsewhere = world.path().join("elsewhere");
    crate::harness::private_dir(&elsewhere);
    std::fs::remove_dir(session.path("scratch")).unwrap();
    symlink(&elsewhere, session.path("scratch")).unwrap();
    for args in
        [&["compact", "start"][..], &["compact", "handoff"], &["session", "set", "k", "v"], &["session", "return", "x"]]
    {
        session.verb("0001", args).run().fails(65, &["scratch", "symbolic link"]);
    }
    for args in [&["kill", &session.id], &["relaunch", &session.id]] {
        world.orbh(args).run().fails(65, &["symbolic link"]);
    }
    // What can be read is shown all the same.
    let inspected = world.orbh(["inspect", &session.id]).run().exits(65).stdout;
    assert!(inspected.contains("symbolic link") && inspected.contains("state        unknown"), "{inspected}");
    let page = world.orbh(["page", &session.id]).run().ok();
    assert!(page.contains("symbolic link") && page.contains("STATE        unknown"), "{page}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(world.orbh(["list"]).run().exits(0).stdout.contains("unknown"));
}

/// A manager does not leave its session because of a file that somebody has to mend, nor busies itself with it.
#[test]
fn a_manager_waits_until_damage_is_mended() {
    let world = World::new();
    world.agent("waits", "while [ ! -e $HOME/go ]; do sleep 0.05; done; exit 7\n");
    let session = world.launch("command/waits", "go");
    let (good, manager) = (session.text("runs/0001/run.json").unwrap(), session.manager_pid());
    std::fs::write(world.path().join("bad"), "{").unwrap();
    std::fs::rename(world.path().join("bad"), session.path("runs/0001/run.json")).unwrap();
    let noticed = || session.text("log/events.ndjson").filter(|log| log.contains("manager-waits"));
    crate::harness::wait_for("the manager to notice", noticed);
    std::fs::write(world.home().join("go"), "").unwrap();
    let harness = session.pid("0001");
    crate::harness::wait_for("the harness to exit", || (!alive(harness)).then_some(()));
    assert!(alive(manager) && !session.exists("runs/0001/end.json"));
    world.orbh(["resume", &session.id]).run().fails(65, &["runs/0001/run.json"]);
    // By rename, as an administrator should: half a file would be another damage.
    std::fs::write(world.path().join("good"), good).unwrap();
    std::fs::rename(world.path().join("good"), session.path("runs/0001/run.json")).unwrap();
    assert_eq!(session.wait_end("0001"), "exited");
    assert_eq!(session.fact("runs/0001/end.json").unwrap()["code"], 7);
    crate::harness::wait_for("the manager to leave", || (!alive(manager)).then_some(()));
    assert_eq!(noticed().unwrap().matches("manager-waits").count(), 1);
}
