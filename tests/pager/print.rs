//! What could not be printed was told to nobody.

use super::subjects;
use crate::harness::World;
use std::os::unix::process::ExitStatusExt;

/// Standard output full, without a reader, or closed: nothing is announced, nothing is consumed, and it comes again.
#[test]
fn what_could_not_be_printed_is_neither_announced_nor_consumed() {
    let world = World::new();
    let session = world.quick_session(1);
    session.deliver("1.one.x", "to be told");
    let untold = || {
        assert_eq!(session.announced("0001"), Vec::<String>::new());
        assert!(session.exists("inbox/new/1.one.x"));
    };
    for json in [&[][..], &["--json"]] {
        let arm = || session.arm_cmd("0001").args(json);
        let page = || session.verb("0001", ["page"]).args(json);
        for cmd in [arm(), page()] {
            let full = cmd.run_into("/dev/full").exits(74);
            assert!(full.stderr.contains("No space left on device"), "{}", full.stderr);
            untold();
        }
        for cmd in [arm(), page()] {
            assert_eq!(cmd.run_unread().signal(), Some(nix::libc::SIGPIPE));
            untold();
        }
        // Closed, the runtime puts /dev/null in its place, and so does that of each dispatcher before it.
        for verb in ["page arm", "pager arm", "page"] {
            for dispatcher in ["orbh", "flint orbh", "orbh-page", "orbh-pager"] {
                let line = match (dispatcher, verb) {
                    ("orbh-page", "page arm") => "orbh-page arm".to_owned(),
                    ("orbh-page", "page") => "orbh-page".to_owned(),
                    ("orbh-pager", "pager arm") => "orbh-pager arm".to_owned(),
                    ("orbh-page" | "orbh-pager", _) => continue,
                    _ => format!("{dispatcher} {verb}"),
                };
                let cmd = world.shell(&format!("exec {line} {} >&-", json.join(" "))).env("ORBH_PAGER_SETTLE_MS", "0");
                let cmd = cmd.env("ORBH_SESSION_ID", &session.id).env("ORBH_RUN", "0001").env("ORBH_NONCE", "fake");
                let closed = cmd.run().exits(74);
                assert!(closed.stderr.contains("cannot write to standard output"), "{}", closed.stderr);
                untold();
            }
        }
    }
    assert_eq!(subjects(&session.arm("0001").page()), ["to be told"]);
}
