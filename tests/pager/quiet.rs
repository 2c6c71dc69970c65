//! Waiting costs nothing.

use crate::harness::{World, can_trace, wait_for};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

/// An armed pager makes no system call in ten idle seconds where the kernel reports changes, whatever the runtime.
#[test]
fn an_idle_pager_makes_no_system_call() {
    if !can_trace() {
        return;
    }
    let world = World::new();
    let mut pagers = Vec::new();
    for (number, backend) in [(1, "inotify"), (2, "dnotify"), (3, "")] {
        let session = world.quick_session(number);
        let armed = super::Armed::start(&session, session.arm_cmd("0001").env("ORBH_WATCH", backend));
        // It has looked at everything, and sleeps until it expires: its second look, a second after the first, is over.
        let status = || std::fs::read_to_string(format!("/proc/{}/wchan", armed.pid())).unwrap_or_default();
        let begin = std::time::Instant::now();
        wait_for("two looks", || (begin.elapsed() > Duration::from_secs(3)).then_some(status()));
        let calls = world.path().join(format!("calls-{number}"));
        let pid = armed.pid().to_string();
        let mut strace = world.program("strace").args(["-f", "-p", &pid, "-o"]).args([&calls]).bare();
        let mut strace = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(strace.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("attached"), "{said}");
        pagers.push((session, armed, strace, calls, backend));
    }
    std::thread::sleep(Duration::from_secs(10));
    for (session, armed, mut strace, calls, backend) in pagers {
        crate::harness::signal(strace.id().cast_signed(), nix::sys::signal::Signal::SIGINT);
        strace.wait().unwrap();
        let calls = std::fs::read_to_string(calls).unwrap();
        // What each thread was in when it was attached to has no result.
        assert_eq!(calls.lines().filter(|line| line.contains(" = ")).count(), 0, "{backend}: {calls}");
        assert!(calls.lines().count() >= 3, "{backend}: {calls}");
        session.deliver("1.one.x", "awake");
        assert!(armed.page().contains("awake"));
    }
}

/// Looking at a session, with every verb that only looks, does not wake its pager.
#[test]
fn who_only_looks_does_not_wake_it() {
    let world = World::new();
    let session = world.quick_session(1);
    session.deliver("1.one.x", "told before");
    session.arm("0001").page();
    let armed = session.arm("0001");
    let switches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", armed.pid())).unwrap();
        status.lines().find(|line| line.starts_with("voluntary")).unwrap().to_owned()
    };
    let mut last = String::new();
    let mut same = 0;
    wait_for("the pager to be quiet", || {
        let now = switches();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        // Longer than it ever waits for a second look.
        (same > 400).then_some(())
    });
    let before = switches();
    for _ in 0..5 {
        for args in [&["page"][..], &["pager", "status"], &["inspect"], &["context"], &["list"], &["log"]] {
            let id = [session.id.as_str()];
            let id = if args == ["list"] { &[][..] } else { &id[..] };
            world.orbh(args.iter().chain(id)).run().exits(0);
        }
    }
    assert_eq!(switches(), before);
    crate::harness::signal(armed.pid(), nix::sys::signal::Signal::SIGTERM);
}
