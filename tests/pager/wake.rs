//! Whatever delivers, and however the kernel reports it: it arrives.

use super::{Armed, subjects};
use crate::harness::{World, wait_for};
use std::path::Path;
use std::process::Command;

/// The queue of inotify holds 16,384 events; what is lost of it costs no message.
#[test]
fn twenty_thousand_messages_while_a_pager_is_stopped_are_told() {
    for backend in ["inotify", "dnotify"] {
        let world = World::fast();
        let session = world.quick_session(1);
        let armed = Armed::start(&session, session.arm_cmd("0001").env("ORBH_WATCH", backend));
        armed.stop();
        std::fs::create_dir_all(session.path("inbox/new")).unwrap();
        for number in 0..20_000 {
            std::fs::write(session.path(&format!("inbox/new/{number}.m.x")), "Subject: one of many\n\nx\n").unwrap();
        }
        armed.go_on();
        let page = armed.page();
        assert!(page.contains("one of many") && page.contains(" more: run 'orbh page' again"), "{page}");
        // What it did not show it did not announce.
        assert_eq!(session.announced("0001").len(), subjects(&page).len());
        let json = session.arm_cmd("0001").args(["--json"]).run().exits(0).json();
        assert_eq!(json["messages"].as_array().unwrap().len(), 20_000);
        assert_eq!(session.pager()["announced"], 20_000);
    }
}

/// Neither inotify nor dnotify: it looks once a second, and says so.
#[test]
fn by_polling_nothing_is_lost_either() {
    let world = World::fast();
    let session = world.quick_session(1);
    for backend in ["polling", "dnotify", "inotify"] {
        let armed = Armed::start(&session, session.arm_cmd("0001").env("ORBH_WATCH", backend));
        assert_eq!(session.pager()["watch"], backend);
        session.deliver(&format!("1.{backend}.x"), backend);
        assert_eq!(subjects(&armed.page())[0], backend);
    }
}

/// A directory of the inbox, or all of it, is removed and made again, as a tool that packs Maildirs may do.
#[test]
fn an_inbox_that_is_made_anew_is_heard() {
    let world = World::new();
    let session = world.quick_session(1);
    for backend in ["inotify", "dnotify"] {
        for gone in ["inbox", "inbox/new"] {
            std::fs::create_dir_all(session.path("inbox/new")).unwrap();
            let armed = Armed::start(&session, session.arm_cmd("0001").env("ORBH_WATCH", backend));
            std::fs::remove_dir_all(session.path(gone)).unwrap();
            let name = format!("1.{backend}{}.x", gone.len());
            session.deliver(&name, &name);
            assert_eq!(subjects(&armed.page()), [name]);
        }
    }
}

/// A program in PATH.
fn installed(program: &str) -> bool {
    let found = ["/usr/bin", "/usr/local/bin", "/bin"].iter().any(|dir| Path::new(dir).join(program).exists());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Mail tools and plain mv(1) deliver as well as our own verbs.
#[test]
fn any_program_that_delivers_to_a_maildir_reaches_it() {
    let world = World::new();
    let session = world.quick_session(1);
    for dir in ["tmp", "new", "cur"] {
        std::fs::create_dir_all(session.path(&format!("inbox/{dir}"))).unwrap();
    }
    let inbox = session.path("inbox").display().to_string();
    let message = "printf 'From: ada@example.org\\nSubject: by %s\\n\\nThe text.\\n'";
    let mv = format!("{message} mv > {inbox}/tmp/m && mv {inbox}/tmp/m {inbox}/new/1.m.x");
    let mdeliver = format!("{message} mdeliver | mdeliver {inbox}");
    let across = format!("{message} cp > \"$HOME/m\" && cp \"$HOME/m\" {inbox}/new/3.m.x");
    for (program, line) in [("mv", mv), ("mdeliver", mdeliver), ("cp", across)] {
        if !installed(program) {
            continue;
        }
        // A file that is written in new/ is there before its text is.
        let armed = Armed::start(&session, session.verb("0001", ["page", "arm"]));
        world.shell(&line).run().ok();
        assert_eq!(subjects(&armed.page())[0], format!("by {program}"));
    }
}

/// With no inotify instance left for its user it takes dnotify, and says so.
#[test]
fn at_the_limit_of_inotify_instances_a_pager_takes_dnotify() {
    let world = World::new();
    let session = world.quick_session(1);
    let set = "echo 0 >/proc/sys/user/max_inotify_instances";
    if !Command::new("unshare").args(["-Ur", "sh", "-c", set]).output().is_ok_and(|tried| tried.status.success()) {
        return println!("skipped: no user namespace with its own limits");
    }
    let line = format!("{set} && exec $ORBH page arm");
    let cmd = world.program("unshare").args(["-Ur", "sh", "-c", &line]).env("ORBH", env!("CARGO_BIN_EXE_orbh"));
    let cmd = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").env("ORBH_NONCE", "fake");
    let armed = Armed::start(&session, cmd);
    assert_eq!(session.pager()["watch"], "dnotify");
    session.deliver("1.one.x", "at the limit");
    assert_eq!(subjects(&armed.page()), ["at the limit"]);
    wait_for("its lease to be free", || (session.pager()["pager"] == "unarmed").then_some(()));
}
