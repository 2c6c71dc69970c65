//! Many pagers of one user: more than there are inotify instances.

use super::subjects;
use crate::harness::{Session, World, wait_for};
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

/// Arms a pager in each session, and waits until all wait; the wake paths, and how many have each.
fn arm_all(sessions: &[Session], start: impl Fn(&Session) -> Command) -> (Vec<Child>, BTreeMap<String, usize>) {
    let begin = |session: &Session| {
        let page = std::fs::File::create(session.path("scratch/page.txt")).unwrap();
        let mut command = start(session);
        command.stdin(Stdio::null()).stdout(page).stderr(Stdio::null()).spawn().unwrap()
    };
    let pagers: Vec<Child> = sessions.iter().map(begin).collect();
    let mut paths = BTreeMap::new();
    for session in sessions {
        let path = wait_for("a pager to say how it is woken", || {
            let text = session.text("scratch/pager.lock")?;
            serde_json::from_str::<serde_json::Value>(&text).ok()?["watch"].as_str().map(str::to_owned)
        });
        *paths.entry(path).or_insert(0) += 1;
    }
    let status = sessions.last().unwrap().pager();
    assert_eq!(status["pager"], "armed");
    assert!(paths.contains_key(status["watch"].as_str().unwrap()));
    (pagers, paths)
}

/// Sends a message to each, and waits until each has told it.
fn all_hear(sessions: &[Session], pagers: Vec<Child>) {
    for session in sessions {
        session.deliver("1.m.x", &session.id);
    }
    for (session, mut pager) in sessions.iter().zip(pagers) {
        let status = wait_for("a pager to end", || pager.try_wait().unwrap());
        let page = session.text("scratch/page.txt").unwrap();
        assert!(status.success() && subjects(&page) == [session.id.as_str()], "{status}: {page}");
    }
}

fn arm(session: &Session) -> Command {
    session.arm_cmd("0001").bare()
}

/// With fewer instances of inotify than pagers the others take dnotify, and none loses its event.
#[test]
fn more_pagers_than_inotify_instances_lose_no_event() {
    let set = "echo 8 >/proc/sys/user/max_inotify_instances";
    if !Command::new("unshare").args(["-Ur", "sh", "-c", set]).output().is_ok_and(|tried| tried.status.success()) {
        return println!("skipped: no user namespace with its own limits");
    }
    let world = World::fast();
    let sessions: Vec<_> = (1..=24).map(|number| world.quick_session(number)).collect();
    // All in one namespace, whose limit they share.
    let mut line = format!("{set}\n");
    for session in &sessions {
        let variables = format!("ORBH_SESSION_ID={} ORBH_RUN=0001 ORBH_NONCE=fake", session.id);
        let page = session.path("scratch/page.txt").display().to_string();
        line += &format!("env {variables} $ORBH page arm >{page} &\n");
    }
    line += "wait";
    let cmd = world.program("unshare").args(["-Ur", "sh", "-c", &line]).env("ORBH", env!("CARGO_BIN_EXE_orbh"));
    let mut all = cmd.bare().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut paths = BTreeMap::new();
    for session in &sessions {
        let path = wait_for("a pager to say how it is woken", || session.pager()["watch"].as_str().map(str::to_owned));
        *paths.entry(path).or_insert(0) += 1;
    }
    assert!(paths["inotify"] <= 8 && paths["dnotify"] >= 16 && paths.len() == 2, "{paths:?}");
    for session in &sessions {
        session.deliver("1.m.x", &session.id);
    }
    wait_for("all pagers to end", || all.try_wait().unwrap());
    for session in &sessions {
        assert_eq!(subjects(&session.text("scratch/page.txt").unwrap()), [session.id.as_str()]);
    }
}

/// A thousand under one uid with the limits of the machine: none loses an event.
#[test]
#[ignore = "a thousand processes: cargo test -- --ignored heavy_"]
fn heavy_a_thousand_pagers_of_one_user_lose_no_event() {
    let world = World::fast();
    let sessions: Vec<_> = (1..=1000).map(|number| world.quick_session(number)).collect();
    let (pagers, paths) = arm_all(&sessions, arm);
    let memory = |pager: &Child| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pager.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap_or_default().to_owned();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default()
    };
    let private: u64 = pagers.iter().map(memory).sum();
    println!("woken by {paths:?}; {private} KiB of memory of their own");
    assert!(!paths.contains_key("polling"), "{paths:?}");
    all_hear(&sessions, pagers);
}
