//! G18, by the order of system calls: what a verb has said is on disk before it has said it.

use crate::harness::{Cmd, Session, World, can_trace};

/// The system calls of a verb that change names or contents, or make them durable, or print, in their order.
fn calls(session: &Session, verb: &Cmd) -> Vec<String> {
    let world = session.world;
    let (path, command) = (world.path().join("calls"), verb.as_command());
    let mut strace = world.program("strace").bare_args(["-f", "-qq", "-y", "-s", "32", "-o"]).bare_args([&path]);
    let wanted = "trace=?link,linkat,?rename,?renameat,renameat2,?unlink,unlinkat,fsync,write,?mkdir,mkdirat";
    strace = strace.bare_args(["-e", wanted, "-e", "signal=none"]);
    strace = strace.bare_args([command.get_program()]).bare_args(command.get_args());
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?))) {
        strace = strace.env(name, value);
    }
    strace.run();
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim_start().to_owned())).collect()
}

/// Asserts that every change of a name is followed by an fsync of a directory, and every content of a fact was synced,
/// before the verb prints.
#[track_caller]
fn durable_before_it_speaks(what: &str, calls: &[String]) {
    let spoke = calls.iter().position(|call| call.starts_with("write(1<")).expect("it says something");
    let changes = |call: &String| {
        let names = ["link", "rename", "unlink", "mkdir"].iter().any(|name| call.starts_with(name));
        // What only informs: the second name of a fact's file, the log, and the name of a holder in a lease.
        let temporary = call.starts_with("unlink") && call.contains("\".tmp-");
        let appends = call.starts_with("write(") && call.contains("/compactions.ndjson");
        (names && !temporary && call.ends_with(" = 0")) || appends
    };
    let before = &calls[..spoke];
    let last = before.iter().rposition(changes).unwrap_or_else(|| panic!("{what} changed nothing: {calls:#?}"));
    let synced = before[last..].iter().any(|call| call.starts_with("fsync(") && call.ends_with(" = 0"));
    assert!(synced, "{what} speaks before it is on disk: {before:#?}");
    let written = before.iter().enumerate().filter(|(_, call)| call.starts_with("write(") && call.contains("/.tmp-"));
    for (index, write) in written {
        let file = write.split(['<', '>']).nth(1).unwrap();
        let rest = &before[index..];
        let fsync = rest.iter().position(|call| call.starts_with("fsync(") && call.contains(file));
        let named = rest.iter().position(|call| call.starts_with("link") || call.starts_with("rename"));
        assert!(fsync.is_some() && fsync < named, "{what}: {write} is named before it is synced: {before:#?}");
    }
}

#[test]
fn g18_what_is_said_is_on_disk() {
    let world = World::new();
    if !can_trace() {
        return;
    }
    let session = world.idle_session();
    let check = |run: &str, args: &[&str]| {
        let calls = calls(&session, &session.verb(run, args));
        durable_before_it_speaks(&format!("{args:?}"), &calls);
    };
    check("0001", &["session", "register", "t", "d"]);
    check("0001", &["session", "set", "k", "v"]);
    check("0001", &["session", "unset", "k"]);
    check("0001", &["message", "send", &session.id, "a message"]);
    let id = session.verb("0001", ["session", "ask", "--deferred", "which one?"]).run().exits(0).stdout;
    check("0001", &["session", "cancel", id.trim()]);
    check("0001", &["compact", "start"]);
    check("0001", &["compact", "abort"]);
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    check("0001", &["compact", "handoff"]);
    session.wait_relaunched("0002");
    check("0002", &["compact", "finish"]);
    check("0002", &["session", "ask", "--deferred", "which one?"]);
    check("0002", &["session", "return", "done"]);
}

/// Whoever retired an intent, or took it back, may have died before its fsync; a power loss would bring it back to a run
/// that was killed. So kill makes scratch/ durable although it finds none there.
#[test]
fn a_kill_makes_durable_that_there_is_no_intent() {
    let world = World::new();
    if !can_trace() {
        return;
    }
    let session = world.idle_session();
    let calls = calls(&session, &world.orbh(["kill", &session.id]));
    let ordered = calls.iter().position(|call| call.contains("\"kill.json\"")).expect("it writes the order");
    let synced = calls[ordered..].iter().any(|call| call.starts_with("fsync(") && call.contains("/scratch>"));
    assert!(synced, "nothing tells that no intent comes back: {calls:#?}");
}
