//! `orbh page`: one's own and an observer's.

mod news;

use crate::harness::{Session, World};
use shared::face::page::LIMIT;

/// Only a run's own Page makes it a context; an observer's and a mere look do not.
#[test]
fn an_observer_leaves_no_trace() {
    let world = World::new();
    let session = world.idle_session();
    let before = listing(&session);
    world.orbh(["page", &session.id]).run().ok();
    world.orbh(["page", &session.id[..8], "--json"]).run().ok();
    session.verb("0001", ["page", "--no-mutate"]).run().ok();
    session.verb("0001", ["page", &session.id]).run().ok();
    assert!(!session.exists("scratch/awake-0001"));
    assert_eq!(listing(&session), before);
    session.verb("0001", ["page"]).run().ok();
    assert!(session.exists("scratch/awake-0001"));
}

fn listing(session: &Session) -> Vec<(String, std::time::SystemTime)> {
    let entries = walkdir::WalkDir::new(session.path("")).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.map(|entry| (entry.path().display().to_string(), entry.metadata().unwrap().modified().unwrap())).collect()
}

/// R35: what is open stands on the Page with the command that collects it.
#[test]
fn a_page_shows_the_live_state_and_what_is_open() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["session", "register", "My title", "more"]).run().ok();
    let child = session.verb("0001", ["launch", "command/idle", "go", "--title", "The child"]).run().ok();
    let page = session.verb("0001", ["page"]).run().ok();
    for part in [
        &format!("SESSION      {}  My title\n", session.id),
        "STATE        working, run 0001 (launch, ",
        "CONTEXT      unknown / 200000\n",
        "COMPACTION   idle; none completed yet\n",
        &format!("SPOOL        {}\n", session.path("").display().to_string().trim_end_matches('/')),
        &format!(
            "- session {}: launched by this session, working: The child; collect with `orbh result {}`\n",
            child.trim(),
            child.trim()
        ),
        "NOTICES\n- none\n",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    let out = session.verb("0001", ["page", "--json"]).run();
    assert!(out.stdout.starts_with(r#"{"v":1,"session":"#), "{}", out.stdout);
    assert_eq!(out.json()["obligations"][0]["id"], child.trim());
    session.verb("0001", ["compact", "start"]).run().exits(0);
    assert!(world.orbh(["page", &session.id]).run().ok().contains("[Compacting...] My title\n"));
}

/// A straggler gets no Page of the context that took its place, in either form.
#[test]
fn a_run_that_is_over_gets_a_refusal_and_no_page() {
    let world = World::new();
    let session = world.idle_session();
    session.compact("0001", "0002");
    session.verb("0001", ["page"]).run().fails(1, &["run 0001 of session", "run 0002 is the current one"]);
    let json = session.verb("0001", ["page", "--json"]).run().exits(1).json();
    assert_eq!(json["refused"][0]["code"], "run-over");
    assert!(!session.exists("scratch/awake-0002"));
}

#[test]
fn a_page_is_short_and_says_what_it_left_out() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    let huge = "x".repeat(100_000);
    let parent = world.fake_session("00000000-0000-4000-8000-000000000000", &huge, me);
    for number in 1..=100 {
        let child = world.fake_session(&format!("00000000-0000-4000-8000-{number:012}"), &huge, me);
        std::os::unix::fs::symlink(child.path(""), parent.path(&format!("links/child-{}", child.id))).unwrap();
    }
    let page = world.orbh(["page", &parent.id]).run().ok();
    assert!(page.len() <= LIMIT, "{}", page.len());
    let listed = page.lines().filter(|line| line.starts_with("- session ")).count();
    assert!(page.contains(&format!("… and {} more: orbh page --json\n", 100 - listed)), "{page}");
    assert!(page.contains("\nNOTICES\n"), "{page}");
    let json = world.orbh(["page", &parent.id, "--json"]).run().json();
    assert_eq!(json["obligations"].as_array().unwrap().len(), 100);
}

/// Whatever a title holds, it stays on its line and is no control sequence on anybody's terminal.
#[test]
fn a_title_can_forge_nothing() {
    let world = World::new();
    let me = std::process::id().cast_signed();
    let evil = "a\nCONTEXT      1 / 2 (50%)\r\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}txet\u{2066}\u{200b}\u{9b}31m\u{7f}\u{61c}\u{e0041}end\t!";
    let parent = world.fake_session("00000000-0000-4000-8000-000000000000", evil, me);
    let child = world.fake_session("00000000-0000-4000-8000-000000000001", evil, me);
    std::os::unix::fs::symlink(child.path(""), parent.path(&format!("links/child-{}", child.id))).unwrap();
    std::fs::write(parent.path("keys/other"), evil).unwrap();
    std::fs::write(parent.path("keys/description"), evil).unwrap();
    std::fs::write(parent.path("log/events.ndjson"), format!("{evil}\n")).unwrap();
    let keys = ["session", "get", "--session", &parent.id];
    for args in [
        &["page", &parent.id][..],
        &["list"],
        &["list", "--tree"],
        &["inspect", &parent.id],
        &["log", &parent.id],
        &keys,
    ] {
        let out = world.orbh(args).run().exits(0).stdout;
        let told = out.lines().filter(|line| line.starts_with("CONTEXT ")).count();
        assert_eq!(told, usize::from(args[0] == "page"), "{out}");
        let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}\u{61c}\u{e0041}".contains(c);
        assert!(!out.contains(bad), "{args:?}: {:?}", out.chars().filter(|c| bad(*c)).collect::<String>());
    }
}
