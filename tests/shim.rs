//! What a harness starts with.

use crate::harness::{World, wait_for};

fn status_of(pid: i32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
}

/// A harness that cannot be told to end would have to be killed, and would lose its work.
#[test]
fn a_harness_starts_with_no_signal_blocked_or_ignored() {
    let world = World::new();
    world.idle_agent();
    // As nohup and a shell's background jobs do, and as a careless parent might.
    let script = "trap '' HUP INT QUIT TERM CHLD PIPE; exec orbh launch command/idle 'do nothing'";
    let mut launch = world.program("/bin/sh").bare();
    let out = launch.args(["-c", script]).output().unwrap();
    let session = crate::harness::Session::new(&world, String::from_utf8(out.stdout).unwrap().trim());
    let pid = session.pid("0001");
    assert_eq!(status_of(pid, "SigBlk"), 0);
    // The two real-time signals that the C library keeps for itself are nobody's business.
    assert_eq!(status_of(pid, "SigIgn") & 0x7fff_ffff, 0);
}

/// A pipe that was inherited by accident would keep its reader waiting as long as the session lives.
#[test]
fn neither_manager_nor_harness_keeps_what_the_launcher_had_open() {
    let world = World::new();
    world.idle_agent();
    let script = "exec 7>&1; orbh launch command/idle 'do nothing'";
    // The end of the output is the end of the last one who holds the pipe.
    let out = world.program("/bin/sh").bare().args(["-c", script]).output().unwrap();
    let session = crate::harness::Session::new(&world, String::from_utf8(out.stdout).unwrap().trim());
    let open = |pid: i32| std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    // The shell of the agent has its script open until it has become what it runs.
    let pid = session.pid("0001");
    wait_for("the harness to have its three streams alone", || (open(pid) == 3).then_some(()));
}

/// The harness lives in a session and process group of its own, its manager in another.
#[test]
fn manager_and_harness_live_in_sessions_of_their_own() {
    let world = World::new();
    let session = world.idle_session();
    let sid = |pid: i32| nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid))).unwrap().as_raw();
    let (harness, manager) = (session.pid("0001"), session.manager_pid());
    assert_eq!(sid(harness), harness);
    assert_ne!(sid(manager), harness);
    assert_ne!(sid(manager), sid(std::process::id().cast_signed()));
}

/// A program is what the profile says that it is: nothing hands a file of an unknown format to a shell.
#[test]
fn a_file_of_no_known_format_is_not_run_by_a_shell() {
    let world = World::new();
    let path = world.script("formless", "touch $HOME/ran\n");
    world.profile("formless", &serde_json::json!({"command": [path], "class": "full"}));
    world.orbh(["launch", "command/formless", "go"]).run().exits(74).says("Exec format error");
    assert!(!world.home().join("ran").exists());
}
