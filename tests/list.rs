//! `orbh list`: all sessions of a root.

use crate::harness::{World, private_dir};

#[test]
fn an_empty_root_is_said_to_be_empty() {
    let world = World::new();
    for args in [vec!["list"], vec!["list", "--all"]] {
        let out = world.orbh(args).run().exits(0).says("no sessions in").says("hint: orbh launch");
        assert_eq!(out.stdout, "");
    }
    assert_eq!(world.orbh(["list", "--json"]).run().ok(), "");
    assert!(!world.root().exists(), "a reader made the root");
}

#[test]
fn what_is_over_is_left_out_and_counted() {
    let world = World::new();
    let killed = world.idle_session();
    world.orbh(["kill", &killed.id]).run().ok();
    let works = world.launch("command/idle", "go");
    let out = world.orbh(["list"]).run().exits(0);
    assert!(out.stdout.contains(&works.id[..8]) && !out.stdout.contains(&killed.id[..8]), "{}", out.stdout);
    assert_eq!(out.stderr, "1 not shown; --all shows all\n");
    let all = world.orbh(["list", "--all"]).run().ok();
    assert!(all.starts_with("ID "), "{all}");
    assert!(all.find(&killed.id[..8]) < all.find(&works.id[..8]), "the newest is last: {all}");
    for (state, id) in [("killed", &killed.id), ("working", &works.id)] {
        let out = world.orbh(["list", "--state", state, "--json"]).run().ok();
        let lines: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 1);
        assert_eq!((&lines[0]["session"], &lines[0]["state"]), (&id.as_str().into(), &state.into()));
        assert!(out.starts_with(r#"{"v":1,"session":"#), "{out}");
    }
    assert_eq!(world.orbh(["list", "--all", "--json"]).run().ok().lines().count(), 2);
    assert_eq!(world.orbh(["list", "--all", "--runtime", "command", "--json"]).run().ok().lines().count(), 2);
    assert_eq!(world.orbh(["list", "--all", "--runtime", "claude"]).run().exits(0).says("2 not shown").stdout, "");
    world.orbh(["list", "--state", "asleep"]).run().exits(2).says("possible values: working");
}

#[test]
fn a_tree_shows_each_below_the_one_that_launched_it() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    let id = |n: u32| format!("{n}0000000-0000-4000-8000-000000000000");
    for (number, parent) in
        [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(9)), (5, Some(6)), (6, Some(5)), (7, Some(7))]
    {
        let session = world.fake_session(&id(number), "t", me);
        let mut born = session.fact("session.json").unwrap();
        if let Some(parent) = parent {
            born["parent"] = id(parent).into();
        }
        session.write_fact("session.json", &born);
    }
    let tree = world.orbh(["list", "--tree"]).run().exits(0).stdout;
    let indented: Vec<(usize, &str)> = tree
        .lines()
        .skip(1)
        .map(|line| (line.len() - line.trim_start().len(), line.trim_start().get(..1).unwrap()))
        .collect();
    // Parents that are not there, that are in a circle, or that a session is itself, hide nobody.
    assert_eq!(indented, [(0, "1"), (2, "2"), (4, "3"), (0, "4"), (0, "7"), (0, "5"), (0, "6")]);
    // In JSON the same order, each naming its parent.
    let json = world.orbh(["list", "--tree", "--json"]).run().exits(0).stdout;
    let order: Vec<String> = json.lines().map(|line| line.split('"').nth(5).unwrap()[..1].to_owned()).collect();
    assert_eq!(order.concat(), indented.iter().map(|(_, id)| *id).collect::<String>());
    assert_ne!(world.orbh(["list", "--json"]).run().exits(0).stdout, json);
}

/// One that is damaged hides neither itself nor its neighbours.
#[test]
fn what_cannot_be_read_is_unknown_and_hides_nobody() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    let id = |n: u32| format!("{n}0000000-0000-4000-8000-000000000000");
    let path = |number: u32, below: &str| world.fake_session(&id(number), "t", me).path(below);
    let good = world.fake_session(&id(1), "good", me);
    std::fs::write(path(2, "session.json"), "{").unwrap();
    std::fs::write(path(3, "runs/0001/run.json"), "").unwrap();
    std::fs::remove_dir_all(path(4, "runs")).unwrap();
    private_dir(&world.root().join("sessions").join(id(5)));
    std::fs::write(world.root().join("sessions").join(id(6)), "a file").unwrap();
    std::os::unix::fs::symlink(good.path(""), world.root().join("sessions").join(id(7))).unwrap();
    let directory = path(8, "runs/0001/run.json");
    std::fs::remove_file(&directory).unwrap();
    std::fs::create_dir(&directory).unwrap();
    let open = path(9, "");
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    for foreign in ["README", ".git", ".tmp-1-1-1", "UPPER", "10000000-0000-4000-8000-00000000000"] {
        std::fs::write(world.root().join("sessions").join(foreign), "").unwrap();
    }
    let out = world.orbh(["list"]).run().exits(0);
    let states: Vec<&str> = out.stdout.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(out.stdout.lines().count(), 10, "{}", out.stdout);
    assert_eq!(states.iter().filter(|state| **state == "unknown").count(), 8, "{}", out.stdout);
    for number in 2..=9 {
        assert!(out.stderr.contains(&id(number)), "{number}: {}", out.stderr);
    }
    assert_eq!(world.orbh(["list", "--json", "--state", "working"]).run().exits(0).stdout.lines().count(), 1);
}

#[test]
fn a_session_that_is_removed_meanwhile_is_no_failure() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    let id = |n: u32| format!("{n:08}-0000-4000-8000-000000000000");
    let good = world.fake_session(&id(0), "good", me);
    let sessions: Vec<_> = (1..100).map(|number| world.fake_session(&id(number), "t", me)).collect();
    let listing: Vec<_> = (0..4).map(|_| world.orbh(["list", "--json"]).spawn()).collect();
    for session in sessions {
        std::fs::remove_dir_all(session.path("")).unwrap();
    }
    for child in listing {
        let out = crate::harness::Outcome::from(child.wait_with_output().unwrap()).exits(0);
        assert!(out.stdout.contains(&good.id) && !out.stderr.contains("panicked"), "{out:?}");
    }
    assert_eq!(world.orbh(["list", "--json"]).run().ok().lines().count(), 1);
}
