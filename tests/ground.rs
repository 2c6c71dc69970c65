//! The ground: durable facts, leases, and the stopping of processes, each against other processes.

use crate::harness::{World, alive, private_dir, wait_for};
use shared::ground::dir::{Dir, Written, read};
use shared::ground::lease::{Holder, PROBE_BOUND, Taken, probe, take};
use shared::ground::process::{Proc, environment_has};
use shared::ground::stop::stop;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn place(world: &World) -> PathBuf {
    let path = world.path().join("place");
    private_dir(&path);
    path
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn of_eight_who_create_a_fact_one_wins_and_all_learn_it() {
    let world = World::new();
    let path = place(&world);
    for round in 0..20 {
        let name = format!("fact-{round}");
        let create = |racer: usize| Dir::open(&path).unwrap().create(&name, racer.to_string().as_bytes()).unwrap();
        let written: Vec<Written> = std::thread::scope(|scope| {
            let racing: Vec<_> = (0..8).map(|racer| scope.spawn(move || create(racer))).collect();
            racing.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let winners: Vec<usize> = (0..8).filter(|racer| written[*racer] == Written::Now).collect();
        assert_eq!(winners.len(), 1, "{written:?}");
        assert_eq!(std::fs::read_to_string(path.join(&name)).unwrap(), winners[0].to_string());
    }
    assert_eq!(names(&path).len(), 20, "temporary files were left");
}

#[test]
fn a_reader_sees_the_old_value_or_the_new_one() {
    let world = World::new();
    let path = place(&world);
    let value = |letter: u8| vec![letter; 100_000];
    let dir = Dir::open(&path).unwrap();
    dir.replace("value", &value(b'a')).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let seen = read(&path.join("value")).unwrap().expect("it was not there for a moment");
                    assert!(seen.len() == 100_000 && seen.iter().all(|byte| *byte == seen[0]), "a mixture was seen");
                }
            });
        }
        for round in 0..50 {
            dir.replace("value", &value(b'a' + round % 26)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let mode = std::fs::metadata(path.join("value")).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode, names(&path)), (0o600, vec!["value".to_owned()]));
}

#[test]
fn lines_of_eight_appenders_are_all_there_and_whole() {
    let world = World::new();
    let path = place(&world);
    std::fs::write(path.join("lines"), "a line\ntorn").unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let dir = Dir::open(path).unwrap();
                for number in 0..50 {
                    dir.append_line("lines", &format!("{writer}-{number}-{}", "x".repeat(300)), false).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(path.join("lines")).unwrap();
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(&lines[..2], ["a line", "torn"]);
    assert!(lines[2..].iter().all(|line| line.ends_with(&"x".repeat(300))));
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 402);
}

/// A symlink in the place of the directory or of a file leads no writer elsewhere, a lease included.
#[test]
fn nothing_is_written_through_a_symlink() {
    let world = World::new();
    let path = place(&world);
    let elsewhere = world.path().join("elsewhere");
    private_dir(&elsewhere);
    let link = path.join("link");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    assert!(Dir::open(&link).is_err());
    assert!(take(&link.join("a.lock"), &Holder::me("test"), PROBE_BOUND).is_err());
    std::os::unix::fs::symlink(elsewhere.join("file"), path.join("file")).unwrap();
    let dir = Dir::open(&path).unwrap();
    assert!(dir.append_line("file", "text", false).is_err());
    assert!(take(&path.join("file"), &Holder::me("test"), PROBE_BOUND).is_err());
    dir.replace("file", b"text").unwrap();
    assert_eq!(names(&elsewhere), [""; 0]);
}

/// A manager as a process of its own: it holds the lease, and its harness lives on without it.
#[test]
fn a_lease_is_free_when_its_holder_is_killed_although_its_children_live() {
    let world = World::new();
    let session = world.idle_session();
    let path = session.path("scratch/manager.lock");
    let harness = session.pid("0001");
    assert!(probe(&path).unwrap().held());
    assert!(
        matches!(take(&path, &Holder::me("test"), PROBE_BOUND).unwrap(), Taken::Owned(Some(holder)) if holder.pid == session.manager_pid())
    );
    let manager = nix::unistd::Pid::from_raw(session.manager_pid());
    nix::sys::signal::kill(manager, nix::sys::signal::Signal::SIGKILL).unwrap();
    wait_for("the lease to be free", || (!probe(&path).unwrap().held()).then_some(()));
    assert!(alive(harness));
    assert!(matches!(take(&path, &Holder::me("test"), PROBE_BOUND).unwrap(), Taken::Ours(_)));
}

#[test]
fn a_lease_whose_file_was_replaced_is_taken_anew() {
    let world = World::new();
    let path = place(&world).join("a.lock");
    let Taken::Ours(old) = take(&path, &Holder::me("old"), PROBE_BOUND).unwrap() else { panic!("it was free") };
    std::fs::rename(&path, path.with_extension("aside")).unwrap();
    let Taken::Ours(new) = take(&path, &Holder::me("new"), PROBE_BOUND).unwrap() else { panic!("it was free") };
    assert!(
        matches!(take(&path, &Holder::me("third"), PROBE_BOUND).unwrap(), Taken::Owned(Some(holder)) if holder.kind == "new")
    );
    drop(old);
    assert!(probe(&path).unwrap().held());
    drop(new);
    // Another test may be between fork and exec, with our descriptors.
    wait_for("the lease to be free", || (!probe(&path).unwrap().held()).then_some(()));
}

/// A swapper of the file never makes two holders of one inode at the path.
#[test]
fn two_never_hold_the_file_that_stands_there() {
    let world = World::new();
    let dir = place(&world);
    let path = dir.join("a.lock");
    let done = AtomicBool::new(false);
    let holders = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    if let Taken::Ours(_lease) = take(&path, &Holder::me("test"), Duration::from_secs(20)).unwrap() {
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                        holders.fetch_sub(1, Ordering::SeqCst);
                    }
                }
                done.store(true, Ordering::Relaxed);
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert!(probe(&path).is_ok());
            }
        });
    });
    assert_eq!(names(&dir), ["a.lock"]);
}

#[test]
fn readers_that_probe_in_a_loop_keep_no_taker_away() {
    let world = World::new();
    let path = place(&world).join("a.lock");
    drop(take(&path, &Holder::me("test"), PROBE_BOUND).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = probe(&path).unwrap();
            }
        });
        let taken = (0..100)
            .filter(|_| matches!(take(&path, &Holder::me("test"), Duration::from_secs(10)).unwrap(), Taken::Ours(_)));
        assert_eq!(taken.count(), 100);
        done.store(true, Ordering::Relaxed);
    });
}

/// A mark in an environment is seen in each moment, also in the middle of execve(2), however long the environment is.
#[test]
fn an_environment_is_read_whole_while_its_process_executes_itself() {
    let world = World::new();
    let script = world.script("restless", "#!/bin/sh\nexec \"$0\"\n");
    let mut command = Command::new(script);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("MARK", "set").stdin(Stdio::null());
    for number in 0..20 {
        command.env(format!("VARIABLE_{number}"), "x".repeat(40));
    }
    let mut child = command.spawn().unwrap();
    let pid = child.id().cast_signed();
    let marks: Vec<String> = std::iter::once("MARK=set".to_owned())
        .chain((0..20).map(|number| format!("VARIABLE_{number}={}", "x".repeat(40))))
        .collect();
    let missed = (0..50_000).filter(|_| !environment_has(pid, &marks)).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(missed, 0);
}

fn start(script: &str) -> Child {
    Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

fn says(child: &mut Child) -> String {
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    line.trim().to_owned()
}

fn proc_of(child: &Child) -> Proc {
    Proc::of(child.id().cast_signed()).unwrap()
}

#[test]
fn what_ignores_term_or_is_stopped_dies_and_a_stranger_lives() {
    let mut deaf = start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
    let mut obeys = start("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done");
    let mut stranger = start("echo ready; exec sleep 100000");
    let mut stopped = start("echo ready; kill -STOP $$; exec sleep 100000");
    for child in [&mut deaf, &mut obeys, &mut stranger, &mut stopped] {
        assert_eq!(says(child), "ready");
    }
    wait_for("it to stop", || {
        shared::ground::process::stat(stopped.id().cast_signed()).filter(|stat| stat.state == 'T')
    });
    let targets = [proc_of(&deaf), proc_of(&obeys), proc_of(&stopped)];
    // The number of the stranger with another start time: one that had it before.
    let gone = Proc { start: proc_of(&stranger).start + 1, ..proc_of(&stranger) };
    let mut list = targets.to_vec();
    list.push(gone);
    stop(|| list.iter().copied().filter(|process| process.alive()).collect(), Duration::from_millis(300)).unwrap();
    assert!(targets.into_iter().all(|process| !process.alive()));
    assert_eq!(obeys.wait().unwrap().code(), Some(7), "it had no time to obey");
    assert!(proc_of(&stranger).alive());
    stranger.kill().unwrap();
    for mut child in [deaf, stopped, stranger] {
        child.wait().unwrap();
    }
}

/// One that is named once stays on the list, and one with a reused number is not hit through it.
#[test]
fn a_number_in_other_hands_is_not_signalled() {
    let mut stranger = start("echo ready; exec sleep 100000");
    says(&mut stranger);
    let before = Proc { start: proc_of(&stranger).start - 1, ..proc_of(&stranger) };
    let mut named = false;
    stop(|| if std::mem::replace(&mut named, true) { vec![] } else { vec![before] }, Duration::ZERO).unwrap();
    assert!(proc_of(&stranger).alive());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}
