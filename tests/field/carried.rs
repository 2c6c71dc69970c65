//! What others carried over a handoff that should not have been: flags that came to nothing, orders in a wrong order, and
//! the handoff of somebody else.

use crate::harness::{Session, World, alive, difference, outcome, signal};
use nix::sys::signal::Signal;
use serde_json::json;

/// Seen: flags that were accepted and then ignored, and success printed with nothing stored. Rule: a flag that cannot be
/// honoured is an error that changes nothing, and success names what was written and where.
#[test]
fn a_flag_that_cannot_be_honoured_is_an_error_and_success_is_on_disk() {
    let world = World::new();
    let session = world.idle_session();
    world.agent("other", "exec sleep 100000\n");
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let id = session.id.as_str();
    let of_run: [(&[&str], i32); 11] = [
        (&["compact", "handoff", "--account", "mine"], 2),
        (&["compact", "handoff", "--into", "command"], 2),
        (&["compact", "handoff", "--into", "command/nobody"], 1),
        (&["compact", "handoff", "--into", "nobody/other"], 1),
        (&["compact", "handoff", "--into", "command/other", "--account", "mine"], 1),
        (&["compact", "handoff", "--into", "claude/sonnet", "--account", "nobody"], 1),
        (&["compact", "handoff", "--force"], 2),
        (&["compact", "handoff", id], 1),
        (&["compact", "abort", "--into", "command/other"], 2),
        (&["session", "return", "done", "--await"], 2),
        (&["session", "return", "  \n"], 1),
    ];
    let from_outside: [(&[&str], i32); 16] = [
        (&["launch", "command/idle", "go", "--account", "nobody"], 1),
        (&["launch", "command/nobody", "go"], 1),
        (&["launch", "command/idle", "go", "--cwd", "/nowhere"], 74),
        (&["launch", "command/idle", "go", "--continues", "11111111"], 66),
        (&["launch", "command/idle", "go", "--file", "/dev/null"], 2),
        (&["launch", "command/idle", "go", "--interactive"], 2),
        (&["resume", id, "--account", "nobody"], 2),
        (&["resume", id, "--into", "command/nobody"], 1),
        (&["relaunch", id, "--account", "nobody"], 2),
        (&["relaunch", id, "--into", "command/other"], 1),
        (&["relaunch", id, "--cancel", "--into", "command/other"], 2),
        (&["kill", id, "--now"], 2),
        (&["list", "--state", "sleeping"], 2),
        (&["list", "--runtime", "nobody"], 2),
        (&["context", id, "--max", "5"], 2),
        (&["session", "set", "--session", id, "../up", "x"], 2),
    ];
    let everything = || {
        let all = std::fs::read_dir(world.root().join("sessions")).unwrap();
        (session.fingerprint(), all.count())
    };
    let before = everything();
    let of_run = of_run.map(|(args, code)| (args, code, session.verb("0001", args)));
    let from_outside = from_outside.map(|(args, code)| (args, code, world.orbh(args)));
    for (args, code, cmd) in of_run.into_iter().chain(from_outside) {
        let refused = cmd.run();
        assert_eq!(refused.code, Some(code), "{args:?}: {refused:?}");
        assert!(refused.stdout.is_empty() && !refused.stderr.is_empty(), "{args:?}: {refused:?}");
        if args.starts_with(&["compact", "handoff"]) {
            refused.not_ended();
        }
        let after = everything();
        assert_eq!((difference(&before.0, &after.0), before.1), (Vec::<String>::new(), after.1), "{args:?}");
    }

    // What says that it was done has done it, and says what.
    let title = session.verb("0001", ["session", "set", "title", "a name"]).run().ok();
    assert!(title.contains("title") && session.text("keys/title").unwrap() == "a name\n", "{title}");
    let (manager, verb) = session.accept_without_manager("0001", &["--into", "command/other"]);
    assert_eq!(session.fact("scratch/relaunch.json").unwrap()["target"], "command/other");
    assert!(session.exists("scratch/accepted-0001.md"));
    signal(manager, Signal::SIGCONT);
    session.wait_relaunched("0002");
    let told = outcome(verb).accepted().stdout;
    let path = session.handoff("0001").display().to_string();
    assert!(told.is_empty() || (told.contains(&path) && told.contains("on command/other")), "{told}");
    assert!(std::fs::read_to_string(&path).unwrap().contains("This is the account of run 0001."));
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["target"], "command/other");
    let finished = session.verb("0002", ["compact", "finish"]).run().ok();
    assert!(finished.contains("0001") && finished.contains("0002"), "{finished}");
    assert_eq!(session.text("scratch/compactions.ndjson").unwrap().lines().count(), 1);
    let returned = session.verb("0002", ["session", "return", "all of it"]).run().ok();
    assert!(returned.contains("0002") && returned.contains(id), "{returned}");
    assert_eq!(world.orbh(["result", id]).run().ok(), "all of it\n");
    let launched = world.orbh(["launch", "command/other", "go", "--json"]).run().json();
    assert!(std::path::Path::new(launched["spool"].as_str().unwrap()).join("session.json").exists());
    // What cannot be printed is stored all the same.
    let full = session.verb("0002", ["compact", "status"]).run_into("/dev/full");
    assert_eq!(full.code, Some(74), "{full:?}");
}

/// Seen: the successor acted on old mail before it had read the handoff. Rule: the prompt orders it, whatever the harness:
/// the duty, the handoff; the Page is read first, and what is on it is acted upon after `finish`.
#[test]
fn the_prompt_orders_what_a_successor_does() {
    let world = World::new();
    for runtime in ["command", "claude", "codex"] {
        world.stand_in(runtime, "one", &json!({}));
        let session = world.launch(&format!("{runtime}/one"), "the duty itself");
        let ordered = |run: &str, handoff: &str, mail: Option<&str>| {
            let prompt = session.text(&format!("runs/{run}/prompt.md")).unwrap();
            let orbh = env!("CARGO_BIN_EXE_orbh");
            let (page, finish) = (format!("1. `{orbh} page`"), format!("4. `{orbh} compact finish`"));
            let path = session.handoff(handoff).display().to_string();
            let steps = [
                "the duty itself",
                &path,
                &page,
                "act on it after step 4",
                "2. Read the handoff",
                "3. Read every file that its FILES section lists, before you act",
                &finish,
                "5. Go on with your duty, beginning with OPEN OBLIGATIONS",
            ];
            let at: Vec<usize> = steps
                .iter()
                .chain(&mail)
                .map(|step| prompt.rfind(step).unwrap_or_else(|| panic!("no {step:?} in {prompt}")))
                .collect();
            assert!(at.is_sorted(), "{at:?} in {prompt}");
            // Until then, the Page says it again to who looks.
            let page = session.verb(run, ["page"]).run().ok();
            let notice = page.find("read the handoff and every file that it lists, then run 'orbh compact finish'");
            assert!(notice.is_some_and(|at| at > page.find("NOTICES").unwrap()), "{page}");
        };
        session.compact("0001", "0002");
        // One that dies before it began is replaced, and what a person adds then comes last.
        world.orbh(["kill", &session.id]).run().ok();
        world.orbh(["resume", &session.id, "old mail: do this at once"]).run().ok();
        assert_eq!(session.fact("runs/0003/run.json").unwrap()["kind"], "compact");
        ordered("0003", "0001", Some("old mail: do this at once"));
        session.verb("0003", ["compact", "finish"]).run().ok();
        session.compact("0003", "0004");
        ordered("0004", "0003", None);
        let prompt = session.text("runs/0004/prompt.md").unwrap();
        assert!(!prompt.contains("old mail") && !prompt.contains("handoff-0001"), "{prompt}");
        world.orbh(["kill", &session.id]).run().ok();
    }
}

/// Seen: two sessions overwrote one shared handoff, and placeholders such as `current` were copied on for many cycles.
/// Rule: a path for each session and run; the validator knows its run, and reads nothing that other runs wrote.
#[test]
fn a_handoff_belongs_to_its_session_and_run() {
    let world = World::new();
    world.idle_agent();
    let sessions: Vec<Session> = (0..4).map(|_| world.launch("command/idle", "do nothing")).collect();
    // In one working directory, at the same time.
    let mut paths: Vec<String> = Vec::new();
    for session in &sessions {
        let begun = session.verb("0001", ["compact", "start", "--json"]).run().exits(0).json();
        paths.push(begun["path"].as_str().unwrap().to_owned());
        assert_eq!(paths.last().unwrap(), session.handoff("0001").to_str().unwrap());
        std::fs::write(session.handoff("0001"), session.good_handoff(&format!("session {}", session.id))).unwrap();
    }
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), sessions.len());
    let verbs: Vec<_> = sessions.iter().map(|session| session.verb("0001", ["compact", "handoff"]).spawn()).collect();
    for (session, verb) in sessions.iter().zip(verbs) {
        session.wait_relaunched("0002");
        outcome(verb).accepted();
        let kept = std::fs::read_to_string(session.handoff("0001")).unwrap();
        assert!(kept.contains(&format!("This is the account of session {}.", session.id)), "{kept}");
        session.verb("0002", ["compact", "finish"]).run().ok();
    }

    // The next cycle of one of them.
    let session = &sessions[0];
    session.verb("0002", ["compact", "start"]).run().exits(0);
    let mine = session.handoff("0002");
    let good = session.good_handoff("run 0002");
    let refused = |what: &str, says: &str| {
        session.verb("0002", ["compact", "handoff"]).run().exits(1).says(says).not_ended();
        assert!(alive(session.pid("0002")), "{what}");
        let _ = std::fs::remove_file(&mine);
    };
    // At a shared or a made-up place.
    for name in ["handoff-current.md", "handoff.md", "handoff-latest.md", "handoff-2.md", "handoff-0003.md"] {
        let elsewhere = session.path(&format!("scratch/{name}"));
        std::fs::write(&elsewhere, &good).unwrap();
        refused(name, mine.to_str().unwrap());
        // Copied to where it belongs it is this run's own.
        std::fs::copy(&elsewhere, &mine).unwrap();
        session.verb("0002", ["compact", "handoff", "--check"]).run().exits(0);
        std::fs::remove_file(&mine).unwrap();
        std::fs::remove_file(elsewhere).unwrap();
    }
    let shared = world.work().join("handoff-current.md");
    std::fs::write(&shared, &good).unwrap();
    refused("the working directory", "there is no handoff");
    std::os::unix::fs::symlink(&shared, &mine).unwrap();
    refused("a symlink to a shared one", "symbolic link");
    // What another run, or another session, wrote.
    std::fs::copy(session.handoff("0001"), &mine).unwrap();
    refused("a copy of the one before", "belongs to another run");
    std::fs::write(&mine, std::fs::read_to_string(session.handoff("0001")).unwrap() + "\n\n").unwrap();
    refused("a copy with blank lines", "belongs to another run");
    // What was never filled in.
    let account = good.lines().find(|line| line.starts_with("This is the account")).unwrap().to_owned();
    for placeholder in ["current", "TODO", "see above", "same as before", "unchanged", "<summary>", "..."] {
        std::fs::write(&mine, good.replace(&account, placeholder)).unwrap();
        refused(placeholder, "the summary says nothing but");
    }
    std::fs::write(&mine, &good).unwrap();
    session.verb("0002", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0003");
}
