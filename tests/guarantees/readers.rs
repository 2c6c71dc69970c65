//! G13, by every system call that a reader makes.

use crate::harness::{Cmd, Session, World, can_trace, kill_dead, wait_for};
use std::path::Path;

/// System calls that change something outside of the process, or may.
const CALLS: &str = "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,\
                     symlinkat,unlink,unlinkat,rmdir,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,fchmodat2,chown,\
                     fchown,lchown,fchownat,utimensat,utimes,futimesat,setxattr,lsetxattr,fsetxattr,removexattr,\
                     lremovexattr,fremovexattr,write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice,\
                     ioctl,fsync,fdatasync,sync,syncfs,flock,fcntl,kill,tkill,tgkill,rt_sigqueueinfo,pidfd_send_signal,\
                     fork,vfork,clone,clone3,socket,connect,bind,sendto,sendmsg,mount,inotify_add_watch";

/// Whether a reader may make this call.
fn allowed(call: &str) -> bool {
    let name = call.split('(').next().unwrap_or_default();
    match name {
        "open" | "openat" | "openat2" => {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
            !writes.iter().any(|flag| call.contains(flag)) || call.contains("\"/dev/null\"")
        }
        "write" | "writev" => {
            call.contains("(1, ") || call.contains("(2, ") || call.contains("(1<") || call.contains("(2<")
        }
        // One momentary shared probe of a lease.
        "flock" => call.contains("LOCK_SH") || call.contains("LOCK_UN"),
        "fcntl" => ["F_GETF", "F_DUPFD", "F_SETFD"].iter().any(|name| call.contains(name)),
        "ioctl" => call.contains("TCGETS") || call.contains("TIOCGWINSZ"),
        _ => false,
    }
}

/// Runs a reader under strace; the calls that it may not make.
fn trace(world: &World, reader: &Cmd, calls: &Path) -> Vec<String> {
    let command = reader.as_command();
    let mut strace = world.program("strace").bare_args(["-f", "-qq", "-s", "64", "-o"]).bare_args([calls]);
    let wanted = CALLS.replace([' ', '\n'], "").split(',').map(|name| format!("?{name}")).collect::<Vec<_>>().join(",");
    strace = strace.bare_args(["-e", &format!("trace={wanted}"), "-e", "signal=none"]);
    strace = strace.bare_args([command.get_program()]).bare_args(command.get_args());
    for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?))) {
        strace = strace.env(name, value);
    }
    let out = strace.run();
    assert!(out.code.is_some_and(|code| [0, 1, 65, 75].contains(&code)), "{out:?}");
    let text = std::fs::read_to_string(calls).unwrap();
    assert!(text.contains("openat"), "nothing was traced: {text}");
    let calls = text.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim_start()));
    // What strace says itself: a call that another thread interrupted is there once more, whole.
    calls.filter(|call| !call.starts_with(['+', '-', '<'])).filter(|call| !allowed(call)).map(str::to_owned).collect()
}

/// Every reader in every state: not one call that changes anything, and not one that starts anything.
#[test]
fn g13_readers_write_nothing() {
    let world = World::new();
    if !can_trace() {
        return;
    }
    let open = world.idle_session();
    let launch = || world.launch("command/idle", "do nothing");
    let (held, relaunching, damaged, over) = (launch(), launch(), launch(), launch());
    held.verb("0001", ["compact", "start"]).run().exits(0);
    held.write_good_handoff("0001");
    let (manager, mut verb) = relaunching.accept_without_manager("0001", &[]);
    verb.kill().unwrap();
    verb.wait().unwrap();
    kill_dead(manager);
    over.compact("0001", "0002");
    over.return_and_exit("0002");
    for fact in ["runs/0001/run.json", "scratch/compacting.json", "keys/title"] {
        std::fs::write(damaged.path(fact), "{\"v\": 1").unwrap();
    }
    std::fs::remove_file(damaged.path("scratch/manager.lock")).unwrap();
    wait_for("the manager to wait", || damaged.text("log/events.ndjson")?.contains("manager-waits").then_some(()));
    let calls = world.path().join("calls");
    let mut complaints = Vec::new();
    for (state, session) in
        [("open", &open), ("held", &held), ("relaunching", &relaunching), ("damaged", &damaged), ("over", &over)]
    {
        for reader in readers(session) {
            let what = format!("{state}: {:?}", reader.as_command().get_args().collect::<Vec<_>>());
            complaints.extend(trace(&world, &reader, &calls).into_iter().map(|call| format!("{what}: {call}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn readers(session: &Session) -> Vec<Cmd> {
    let id = session.id.as_str();
    let outside: [&[&str]; 16] = [
        &["list"],
        &["list", "--all", "--json"],
        &["inspect", id],
        &["inspect", id, "--json"],
        &["page", id],
        &["page", id, "--json"],
        &["context", id],
        &["compact", "status", id],
        &["compact", "status", id, "--json"],
        &["log", id],
        &["message", "list", id],
        &["pager", "status", id],
        &["session", "answer", "--session", id],
        &["result", id],
        &["session", "get", "--session", id],
        &["session", "get", "--session", id, "--json"],
    ];
    let inside: [&[&str]; 4] =
        [&["page", "--no-mutate"], &["context"], &["compact", "status"], &["compact", "handoff", "--check"]];
    let mut readers: Vec<Cmd> = outside.iter().map(|args| session.world.orbh(*args)).collect();
    readers.extend(inside.iter().map(|args| session.verb("0001", *args)));
    readers
}
