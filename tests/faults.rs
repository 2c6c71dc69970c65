//! Full disks, read-only roots, and outputs that take nothing: said, and nothing lost.

use crate::harness::{Cmd, Outcome, Session, World, alive, is_root};
use std::os::unix::fs::PermissionsExt;

/// The readers, for a session.
fn readers<'s>(session: &'s Session) -> Vec<Vec<&'s str>> {
    let id = session.id.as_str();
    vec![
        vec!["page", id],
        vec!["page", id, "--json"],
        vec!["context", id],
        vec!["context", id, "--json"],
        vec!["context", id, "--watch"],
        vec!["compact", "status", id],
        vec!["inspect", id],
        vec!["inspect", id, "--json"],
        vec!["log", id],
        vec!["log", id, "--json"],
        vec!["log", id, "-f"],
        vec!["list"],
        vec!["list", "--json"],
        vec!["session", "get", "--session", id],
        vec!["session", "get", "k", "--session", id],
    ]
}

#[test]
fn a_reader_whose_output_is_full_says_so_and_one_without_a_reader_goes() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::new();
    let session = world.idle_session();
    std::fs::write(session.path("keys/k"), "v").unwrap();
    for args in readers(&session) {
        world
            .orbh(&args)
            .run_into("/dev/full")
            .fails(74, &["cannot write to standard output: No space left on device"]);
        let status = world.orbh(&args).run_unread();
        assert_eq!(status.signal(), Some(nix::libc::SIGPIPE), "{args:?}: {status:?}");
    }
    session.verb("0001", ["page"]).run_into("/dev/full").exits(74);
    assert!(!session.exists("scratch/awake-0001"), "a Page that was not printed counts as read");
}

/// Who did what was asked, and cannot say so, says that it cannot; it is done all the same.
#[test]
fn a_full_output_undoes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run_into("/dev/full").exits(74);
    assert_eq!(session.phase(), "drafting");
    session.verb("0001", ["compact", "abort"]).run_into("/dev/full").exits(74);
    assert_eq!(session.phase(), "idle");
    session.verb("0001", ["session", "return", "kept"]).run_into("/dev/full").exits(74);
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "kept\n");
}

/// `handoff`, given by a shell that has set its limits.
fn limited(session: &Session, limit: &str) -> Cmd {
    let nonce = session.fact("runs/0001/pid").unwrap()["nonce"].as_str().unwrap().to_owned();
    let line = format!("trap '' XFSZ; exec prlimit --fsize={limit} $ORBH compact handoff");
    session.world.shell(&line).env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").env("ORBH_NONCE", nonce)
}

#[track_caller]
fn as_before(session: &Session, out: &Outcome, draft: &str) {
    assert_eq!(out.stderr.lines().last(), Some("Your context will NOT end."), "{out:?}");
    assert_eq!(out.stdout, "");
    assert_eq!(session.text("scratch/handoff-0001.md").unwrap(), draft);
    for name in ["relaunch.json", "accepted-0001.md"] {
        assert!(!session.exists(&format!("scratch/{name}")), "{name}");
    }
    let scratch = std::fs::read_dir(session.path("scratch")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!scratch.into_iter().any(|name| name.to_string_lossy().starts_with(".tmp-")), "a temporary file was left");
    assert!(alive(session.pid("0001")));
    assert_eq!(session.phase(), "drafting");
}

/// A short write before the commit is a refusal: the draft is as it was, nothing is accepted, the context lives.
#[test]
fn a_handoff_that_cannot_be_written_changes_nothing() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let draft = session.good_handoff("a full disk") + "\n";
    std::fs::write(session.handoff("0001"), &draft).unwrap();
    for limit in ["0", "1", "100", "512"] {
        let out = limited(&session, limit).run().exits(74).says("File too large");
        as_before(&session, &out, &draft);
    }
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

/// The whole of it on a file system of 64 KiB, whose last free page is wanted first for the accepted bytes, then for
/// the intent.
#[test]
fn a_full_file_system_changes_nothing() {
    let world = World::new();
    world.idle_agent();
    let script = r#"
        set -u
        mkdir -m 700 $ORBH_ROOT && mount -t tmpfs -o size=64k,mode=700 none $ORBH_ROOT || exit 99
        id=$($ORBH launch command/idle go) || exit 98
        spool=$ORBH_ROOT/sessions/$id scratch=$ORBH_ROOT/sessions/$id/scratch
        export ORBH_SESSION_ID=$id ORBH_RUN=0001 ORBH_NONCE=$(sed -n 's/.*"nonce": "\(.*\)".*/\1/p' $spool/runs/0001/pid)
        $ORBH compact start >/dev/null || exit 97
        draft="$(printf 'COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\n%s\n\n## FILES\n\n%s :: the duty\n\n## OPEN OBLIGATIONS\n\n- none\n' \
            "$(yes 'I am the agent, and my duty is to do nothing at all, for ever.' | head -20)" $spool/prompt.md)"
        printf '%s\n' "$draft" >$scratch/handoff-0001.md
        cat /dev/zero >$spool/full 2>/dev/null
        size=$(stat -c %s $spool/full)
        for free in 0 1; do
            truncate -s $((size - 4096 * free)) $spool/full
            $ORBH compact handoff >/tmp/orbh-out.$$ 2>&1; echo "free $free: exit $?"; tail -1 /tmp/orbh-out.$$; rm /tmp/orbh-out.$$
            [ "$(cat $scratch/handoff-0001.md)" = "$draft" ] && echo "draft kept"
            ls -A $scratch | grep -E 'relaunch|accepted|tmp-'
            kill -0 $(sed -n 's/.*"pid": \(.*\),/\1/p' $spool/runs/0001/pid) && echo "alive"
        done
        rm $spool/full
        $ORBH compact handoff >/dev/null 2>&1; echo "then: exit $?"
    "#;
    let Some(cmd) = world.mounting_shell(script) else { return };
    let out = cmd.run().exits(0);
    let each = |free| format!("free {free}: exit 74\nYour context will NOT end.\ndraft kept\nalive\n");
    assert_eq!(out.stdout, each(0) + &each(1) + "then: exit 75\n", "{}", out.stderr);
}

#[test]
fn a_read_only_root_is_said_and_nothing_changes() {
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    session.write_good_handoff("0001");
    let nonce = session.fact("runs/0001/pid").unwrap()["nonce"].as_str().unwrap().to_owned();
    let script = r#"
        mount --bind $ORBH_ROOT $ORBH_ROOT && mount -o remount,ro,bind $ORBH_ROOT || exit 99
        for verb in 'compact start' 'compact handoff' 'compact abort' 'session set k v' 'session return x' 'launch command/idle go'; do
            $ORBH $verb >$HOME/out 2>$HOME/err; echo "$verb: exit $?, $(grep -c 'Read-only file system' $HOME/err), $(tail -1 $HOME/err)"
        done
        $ORBH page --no-mutate >/dev/null; echo "page: exit $?"
        env -u ORBH_SESSION_ID -u ORBH_RUN $ORBH launch command/idle go >$HOME/out 2>$HOME/err; echo "launch: exit $?, $(grep -c 'Read-only' $HOME/err)"
        $ORBH list >/dev/null; echo "list: exit $?"
    "#;
    let Some(cmd) = world.mounting_shell(script) else { return };
    let out = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").env("ORBH_NONCE", nonce).run().exits(0);
    for line in out.stdout.lines() {
        let good = match line.split(':').next().unwrap() {
            "page" | "list" => line.ends_with(": exit 0"),
            "compact handoff" => line.ends_with(": exit 74, 1, Your context will NOT end."),
            _ => line.contains(": exit 74, 1"),
        };
        assert!(good, "{line}\nall: {}{}", out.stdout, out.stderr);
    }
    assert_eq!(out.stdout.lines().count(), 9);
    assert_eq!(session.phase(), "drafting");
    assert!(alive(session.pid("0001")));
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}

/// The same by permissions, which bind everybody but root.
#[test]
fn directories_that_cannot_be_written_are_said_and_nothing_changes() {
    if is_root() {
        eprintln!("skipped: root passes every permission check");
        return;
    }
    let world = World::new();
    let session = world.idle_session();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let draft = session.good_handoff("permissions");
    std::fs::write(session.handoff("0001"), &draft).unwrap();
    let set = |below: &str, mode| {
        std::fs::set_permissions(session.path(below), std::fs::Permissions::from_mode(mode)).unwrap()
    };
    set("scratch", 0o500);
    let out = session.verb("0001", ["compact", "handoff"]).run().exits(74).says("Permission denied");
    as_before(&session, &out, &draft);
    set("scratch", 0o700);
    set("keys", 0o500);
    session.verb("0001", ["session", "set", "k", "v"]).run().fails(74, &["keys", "Permission denied"]);
    set("keys", 0o700);
    let sessions = world.root().join("sessions");
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o500)).unwrap();
    world.orbh(["launch", "command/idle", "go"]).run().fails(74, &["sessions", "Permission denied"]);
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o700)).unwrap();
    session.verb("0001", ["compact", "handoff"]).run().exits(75);
    session.pid("0002");
}
