//! `orbh launch`: what a new session is born with, and what it is refused for.

use crate::harness::{Session, World, wait_for};
use serde_json::json;
use std::collections::BTreeSet;

/// An agent that writes down what it was given, returns, and goes.
fn reporter(world: &World) {
    world.agent("report", "env >$HOME/env; pwd >$HOME/pwd; cat >$HOME/prompt; echo out; echo err >&2\norbh session return 'all reported'\n");
}

fn finished(session: &Session) {
    wait_for("the session to be finished", || {
        (session.state() == "finished" && session.exists("runs/0001/end.json")).then_some(())
    });
}

#[test]
fn what_was_said_at_launch_is_in_the_spool() {
    let world = World::new();
    reporter(&world);
    let args = ["launch", "command/report", "-", "--title", "A title", "--description", "and more", "--json"];
    let out = world.orbh(args).stdin("the duty\nin two lines\n").run().exits(0);
    let launched = out.json();
    assert!(out.stdout.starts_with(r#"{"v":1,"#), "{}", out.stdout);
    let session = Session::new(&world, launched["session"].as_str().unwrap());
    assert_eq!(launched["run"], "0001");
    assert_eq!(launched["target"], "command/report");
    assert_eq!(launched["spool"], json!(session.path("").to_str().unwrap().trim_end_matches('/')));
    assert_eq!(session.text("prompt.md").unwrap(), "the duty\nin two lines\n");
    assert_eq!(session.text("keys/title").unwrap(), "A title\n");
    assert_eq!(session.text("keys/description").unwrap(), "and more\n");
    finished(&session);
    let prompt = std::fs::read_to_string(world.home().join("prompt")).unwrap();
    assert!(prompt.contains("the duty\nin two lines\n"), "{prompt}");
    assert_eq!(session.text("runs/0001/output").unwrap().lines().take(2).collect::<Vec<_>>(), ["out", "err"]);
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "all reported\n");
}

#[test]
fn the_duty_can_come_from_a_file() {
    let world = World::new();
    world.idle_agent();
    let file = world.path().join("duty");
    std::fs::write(&file, "from a file").unwrap();
    let id = world.orbh(["launch", "command/idle", "--file", file.to_str().unwrap()]).run().ok();
    assert_eq!(Session::new(&world, id.trim()).text("prompt.md").unwrap(), "from a file");
}

#[test]
fn a_run_works_where_it_was_launched_or_where_it_was_told() {
    let world = World::new();
    reporter(&world);
    std::fs::create_dir(world.work().join("below")).unwrap();
    for (args, expected) in [(vec![], world.work()), (vec!["--cwd", "below"], world.work().join("below"))] {
        let args = [vec!["launch", "command/report", "go"], args].concat();
        let id = world.orbh(args).run().ok();
        let session = Session::new(&world, id.trim());
        finished(&session);
        let pwd = std::fs::read_to_string(world.home().join("pwd")).unwrap();
        assert_eq!(pwd.trim_end(), std::fs::canonicalize(&expected).unwrap().to_str().unwrap());
        assert_eq!(session.fact("session.json").unwrap()["cwd"], pwd.trim_end());
    }
}

/// Nothing is made, not even the root, by a launch that is refused.
#[test]
fn a_refused_launch_leaves_nothing_behind() {
    let world = World::new();
    world.idle_agent();
    std::fs::write(world.work().join("file"), "").unwrap();
    std::fs::write(world.work().join("latin1"), b"caf\xe9").unwrap();
    let cases: [(&[&str], i32, &str); 15] = [
        (&[], 2, "the duty of the session is missing"),
        (&["command/idle"], 2, "the duty of the session is missing"),
        (&["command/idle", ""], 2, "the duty of the session is empty"),
        (&["command/idle", " \n"], 2, "the duty of the session is empty"),
        (&["command/idle", "one", "--file", "file"], 2, "given twice"),
        (&["command/idle", "--file", "missing"], 74, "cannot read 'missing': No such file"),
        (&["command/idle", "--file", "latin1"], 2, "'latin1' is not UTF-8 at byte 3"),
        (&["command/idle", "go", "--cwd", "missing"], 74, "No such file or directory"),
        (&["command/idle", "go", "--cwd", "file"], 2, "is not a directory"),
        (&["command/idle", "go", "--account", "me"], 1, "has no accounts"),
        (&["command/idle", "go", "--continues", "00000000"], 66, "no session '00000000'"),
        (&["command/idel", "go"], 1, "near names: command/idle"),
        (&["nothing/idle", "go"], 1, "there is no runtime 'nothing'"),
        (&["com mand/idle", "go"], 2, "is not a target"),
        (&["go"], 1, "no target was given, and there is no file 'default-targets'"),
    ];
    for (args, code, says) in cases {
        let out = world.orbh([&["launch"], args].concat()).run().fails(code, &[says]);
        assert!(
            out.stderr.contains("hint: ") || code == 74 || says.contains("UTF-8") || says.contains("directory"),
            "{}",
            out.stderr
        );
        assert!(!world.root().exists(), "{args:?}");
    }
    world.orbh(["launch", "a", "b", "c"]).run().exits(2);
    let refused = world.orbh(["launch", "command/idel", "go", "--json"]).run().exits(1);
    assert!(refused.stdout.starts_with(r#"{"v":1,"refused":[{"code":"target-unknown","#), "{}", refused.stdout);
    assert_eq!(refused.json()["context_ends"], false);
    assert!(!world.root().exists());
}

#[test]
fn without_a_target_the_first_default_that_is_available_is_taken() {
    let world = World::new();
    world.idle_agent();
    world.profile("gone", &json!({"command": ["/nonexistent/agent"], "class": "full"}));
    let defaults = world.config().join("default-targets");
    std::fs::write(&defaults, "command/unheard-of\ncommand/gone\ncommand/idle\n").unwrap();
    let id = world.orbh(["launch", "go"]).run().ok();
    let session = Session::new(&world, id.trim());
    assert_eq!(session.fact("target.json").unwrap()["target"], "command/idle");
    std::fs::write(&defaults, "command/gone\n").unwrap();
    let out = world
        .orbh(["launch", "go"])
        .run()
        .fails(1, &["no target of 'default-targets' is available", "/nonexistent/agent"]);
    assert!(out.stderr.contains("hint: there is: command/idle"), "{}", out.stderr);
}

#[test]
fn a_damaged_profile_is_named_and_unknown_keys_are_ignored() {
    let world = World::new();
    let broken: [(&str, &str); 7] = [
        ("{", "cannot be understood"),
        ("[]", "cannot be understood"),
        (r#"{"command": "sleep", "class": "full"}"#, "cannot be understood"),
        (r#"{"command": ["sleep"], "class": "almighty"}"#, "cannot be understood"),
        (r#"{"command": ["sleep"]}"#, "states no class"),
        (r#"{"class": "full"}"#, "names no program"),
        (r#"{"class": "full", "command": ["./sleep"]}"#, "is a relative path"),
    ];
    world.profile("p", &json!(null));
    let path = world.config().join("profiles/command/p.json");
    for (text, says) in broken {
        std::fs::write(&path, text).unwrap();
        world.orbh(["launch", "command/p", "go"]).run().fails(1, &[says, "profiles/command/p.json", "hint: "]);
    }
    std::fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    world.orbh(["launch", "command/p", "go"]).run().fails(1, &["is not a regular file", "profiles/command/p.json"]);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, r#"{"command": ["sleep", "100000"], "class": "full", "colour": "red"}"#).unwrap();
    world.launch("command/p", "go");
}

/// R38: the new session is told whose work it continues.
#[test]
fn a_session_that_continues_another_is_linked_to_it_and_told_so() {
    let world = World::new();
    let before = world.idle_session();
    let id = world.orbh(["launch", "command/idle", "go on", "--continues", &before.id[..8]]).run().ok();
    let session = Session::new(&world, id.trim());
    assert_eq!(session.fact("session.json").unwrap()["continues"], before.id);
    let link = std::fs::canonicalize(session.path("links/continues")).unwrap();
    assert_eq!(link, std::fs::canonicalize(before.path("")).unwrap());
    assert!(session.text("runs/0001/prompt.md").unwrap().contains(&before.id));
}

#[test]
fn twenty_at_once_are_twenty_sessions() {
    let world = World::new();
    world.agent("quick", "exit 0\n");
    let launched: Vec<_> = (0..20).map(|_| world.orbh(["launch", "command/quick", "go"]).spawn()).collect();
    let ids: BTreeSet<String> = launched
        .into_iter()
        .map(|child| crate::harness::Outcome::from(child.wait_with_output().unwrap()).exits(0).stdout)
        .collect();
    assert_eq!(ids.len(), 20);
    assert_eq!(std::fs::read_dir(world.root().join("sessions")).unwrap().count(), 20);
}

/// What the agent of a run launches is a child of its session, and is told so in neither environment nor class.
#[test]
fn a_run_launches_children_of_its_session() {
    let world = World::new();
    reporter(&world);
    let parent = world.idle_session();
    let out = parent
        .verb("0001", ["launch", "command/report", "go"])
        .env("ORBH_PROMPT_FILE", "/outer")
        .env("ORBH_CONTEXT_FILE", "/outer")
        .run();
    let child = Session::new(&world, out.ok().trim());
    finished(&child);
    let born = child.fact("session.json").unwrap();
    assert_eq!((&born["parent"], &born["root"], &born["depth"]), (&json!(parent.id), &json!(parent.id), &json!(1)));
    for (link, to) in [
        (child.path("links/parent"), parent.path("")),
        (parent.path(&format!("links/child-{}", child.id)), child.path("")),
    ] {
        assert_eq!(std::fs::canonicalize(link).unwrap(), std::fs::canonicalize(to).unwrap());
    }
    let env = std::fs::read_to_string(world.home().join("env")).unwrap();
    let value =
        |name: &str| env.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).unwrap_or_default().to_owned();
    assert_eq!(value("ORBH_SESSION_ID"), child.id);
    assert_eq!(value("ORBH_RUN"), "0001");
    assert_eq!(value("ORBH_NONCE"), child.fact("runs/0001/pid").unwrap()["nonce"]);
    assert_eq!(value("ORBH_PROMPT_FILE"), child.path("runs/0001/prompt.md").to_str().unwrap());
    assert_eq!(value("ORBH_CONTEXT_FILE"), child.path("scratch/context-0001.json").to_str().unwrap());
}

#[test]
fn launches_below_launches_end_at_the_cap() {
    let world = World::new();
    let parent = world.idle_session();
    let id = parent.verb("0001", ["launch", "command/idle", "go"]).env("ORBH_DISPATCH_DEPTH_CAP", "1").run().ok();
    let child = Session::new(&world, id.trim());
    let deeper = child.verb("0001", ["launch", "command/idle", "go"]);
    deeper.env("ORBH_DISPATCH_DEPTH_CAP", "1").run().fails(1, &["1 launches below the first one, and 1 is the limit"]);
}

#[test]
fn no_run_launches_a_higher_class_and_a_sandboxed_one_launches_nothing() {
    let world = World::new();
    world.idle_agent();
    for class in ["asked", "sandboxed"] {
        world.profile(class, &json!({"command": ["sleep", "100000"], "class": class}));
        let session = world.launch(&format!("command/{class}"), "go");
        for target in ["command/idle", &format!("command/{class}")] {
            let out = session.verb("0001", ["launch", target, "go"]).run();
            out.fails(1, &[&format!("a run of class '{class}' cannot launch a session"), "hint: "]);
        }
    }
    assert_eq!(std::fs::read_dir(world.root().join("sessions")).unwrap().count(), 2);
}

/// Somebody who only borrowed the variables, and a run that is over, launch nothing.
#[test]
fn only_a_run_itself_launches_in_its_name() {
    let world = World::new();
    let session = world.idle_session();
    session
        .verb("0001", ["launch", "command/idle", "go"])
        .env("ORBH_NONCE", "wrong")
        .run()
        .fails(1, &["ORBH_NONCE is not that of run 0001"]);
    session.verb("0001", ["session", "return", "done"]).run().exits(0);
    session.verb("0001", ["launch", "command/idle", "go"]).run().fails(1, &["run 0001 of session", "is over"]);
    assert_eq!(std::fs::read_dir(world.root().join("sessions")).unwrap().count(), 1);
}

/// What is secret in an environment reaches the harness, and no file.
#[test]
fn the_environment_reaches_the_harness_and_only_its_names_the_spool() {
    let world = World::new();
    reporter(&world);
    let secret = "hunter2-5f0c1b7e";
    let out = world.orbh(["launch", "command/report", "go"]).env("MY_TOKEN", secret).env("PATH", "/usr/bin:/bin").run();
    let session = Session::new(&world, out.ok().trim());
    finished(&session);
    let env = std::fs::read_to_string(world.home().join("env")).unwrap();
    assert!(env.contains(&format!("MY_TOKEN={secret}")));
    let path = env.lines().find_map(|line| line.strip_prefix("PATH=")).unwrap();
    assert!(std::env::split_paths(path).any(|dir| dir == crate::harness::bin_dir()), "{path}");
    let names = session.fact("runs/0001/run.json").unwrap()["environment"].clone();
    for name in ["MY_TOKEN", "PATH", "ORBH_NONCE", "ORBH_SESSION_ID"] {
        assert!(names.as_array().unwrap().contains(&json!(name)), "{name} in {names}");
    }
    let grep = world.program("grep").bare_args(["-r", secret, world.root().to_str().unwrap()]).run();
    assert_eq!((grep.code, grep.stdout.as_str()), (Some(1), ""));
}

#[test]
fn whatever_the_umask_a_spool_is_private() {
    use std::os::unix::fs::PermissionsExt;
    for umask in ["000", "777"] {
        let world = World::new();
        world.agent("quick", "exec sleep 100000\n");
        let id = world.shell(&format!("umask {umask} && $ORBH launch command/quick go --title T")).run().ok();
        let session = Session::new(&world, id.trim());
        let nonce = session.fact("runs/0001/pid").unwrap()["nonce"].as_str().unwrap().to_owned();
        let inside = format!("umask {umask}; export ORBH_SESSION_ID={} ORBH_RUN=0001 ORBH_NONCE={nonce}; ", session.id);
        world.shell(&(inside.clone() + "$ORBH session set k v && $ORBH compact start")).run().exits(0);
        session.write_good_handoff("0001");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(session.handoff("0001"), private).unwrap();
        world.shell(&(inside + "$ORBH compact handoff")).run().exits(75);
        session.pid("0002");
        for entry in walkdir::WalkDir::new(world.root()) {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(metadata) = entry.metadata() else { continue };
            let mode = metadata.permissions().mode() & 0o7777;
            let accepted = name == "accepted-0001.md" || name == "handoff-0001.md";
            let expected: &[u32] = match () {
                () if metadata.is_symlink() => continue,
                () if metadata.is_dir() => &[0o700],
                () if accepted => &[0o400, 0o600],
                () => &[0o600],
            };
            assert!(expected.contains(&mode), "umask {umask}: {} has mode {mode:o}", entry.path().display());
        }
        let accepted = std::fs::metadata(session.path("scratch/accepted-0001.md")).unwrap();
        assert_eq!(accepted.permissions().mode() & 0o7777, 0o400);
    }
}
