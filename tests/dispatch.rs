//! `orbh` and `flint`: the dispatchers.

use crate::harness::{Cmd, Outcome, World};
use std::ffi::OsStr;

fn flint<S: AsRef<OsStr>>(world: &World, args: impl IntoIterator<Item = S>) -> Cmd {
    world.program(env!("CARGO_BIN_EXE_flint")).bare_args(args)
}

#[test]
fn an_unknown_verb_is_answered_with_the_nearest_one() {
    let world = World::new();
    for (word, hint) in [
        ("compct", "orbh compact"),
        ("lsit", "orbh list"),
        ("Launch", "orbh launch"),
        ("frobnicate", "'orbh' alone lists them"),
        ("", "'orbh' alone"),
        ("../orbh/x", "'orbh' alone"),
        ("l\u{1b}[1m", "'orbh' alone"),
    ] {
        let out = world.orbh([word]).run().fails(127, &["orbh: there is no verb '", "hint: ", hint]);
        assert!(!out.stderr.contains('\u{1b}'));
    }
    world.orbh(["--frobnicate"]).run().fails(2, &["there is no option '--frobnicate'", "hint: "]);
    world.orbh(["-x", "list"]).run().exits(2);
}

#[test]
fn alone_it_lists_the_verbs_in_groups() {
    let world = World::new();
    let alone = world.orbh([""; 0]).run().ok();
    for word in ["help", "--help", "-h"] {
        assert_eq!(world.orbh([word]).run().ok(), alone);
    }
    for verb in shared::face::catalogue::VERBS {
        assert_eq!(
            alone.contains(&format!("\n  {:<9} {}\n", verb.name, verb.about)),
            verb.name != "shim",
            "{}",
            verb.name
        );
        assert!(crate::harness::bin_dir().join(format!("orbh-{}", verb.name)).is_file(), "{}", verb.name);
    }
    let version = format!("orbh {}\n", env!("CARGO_PKG_VERSION"));
    for option in ["--version", "-V"] {
        assert_eq!(world.orbh([option]).run().ok(), version);
    }
}

#[test]
fn help_is_there_for_each_verb_and_for_nothing_else() {
    let world = World::new();
    for verb in shared::face::catalogue::VERBS {
        let help = world.orbh([verb.name, "--help"]).run().ok();
        assert!(help.starts_with(verb.about), "{}: {help}", verb.name);
        let version = world.orbh([verb.name, "--version"]).run().ok();
        assert_eq!(version, format!("orbh-{} {}\n", verb.name, env!("CARGO_PKG_VERSION")));
        world.orbh(["help", verb.name]).run().exits(0);
        world.orbh([verb.name, "--frobnicate"]).run().exits(2).says("--frobnicate");
    }
    world.orbh(["help", "frobnicate"]).run().fails(66, &["there is no page 'frobnicate'", "hint: "]);
}

/// Every command works with `flint orbh` in front: the same output, exit status and input.
#[test]
fn flint_orbh_is_orbh() {
    let world = World::new();
    let session = world.idle_session();
    let cases: [&[&str]; 12] = [
        &[],
        &["--version"],
        &["frobnicate"],
        &["help", "frobnicate"],
        &["context", &session.id, "--json"],
        &["context", "00000000"],
        &["result", &session.id],
        &["compact", "status", &session.id, "--json"],
        &["compact", "handoff"],
        &["session", "get", "title", "--session", &session.id],
        &["launch", "command/idle", "--", "", "--frobnicate"],
        &["list", "--state", "killed"],
    ];
    let comparable = |out: Outcome| (out.code, out.stdout, out.stderr);
    for args in cases {
        let with = flint(&world, [&["orbh"], args].concat()).run();
        assert_eq!(comparable(with), comparable(world.orbh(args).run()), "{args:?}");
    }
    let set = ["orbh", "session", "set", "k", "-", "--session", &session.id];
    flint(&world, set).stdin("through flint").run().ok();
    assert_eq!(session.text("keys/k").unwrap(), "through flint\n");
}

#[test]
fn flint_knows_orbh_and_nothing_else() {
    let world = World::new();
    let out = flint(&world, [""; 0]).run().exits(2).says("usage: flint orbh VERB");
    assert_eq!(out.stdout, "");
    flint(&world, ["list"]).run().exits(2).says("flint: 'list' is not 'orbh'").says("usage: flint orbh VERB");
    assert!(flint(&world, ["--help"]).run().ok().starts_with("usage: flint orbh VERB"));
    assert_eq!(flint(&world, ["--version"]).run().ok(), format!("flint {}\n", env!("CARGO_PKG_VERSION")));
}

/// The reader of a list may have seen enough: a quiet end, as of any filter. A full disk is said.
#[test]
fn what_nobody_reads_ends_quietly_and_what_does_not_fit_is_said() {
    use std::os::unix::process::ExitStatusExt;
    let world = World::new();
    for args in [&[][..], &["--version"], &["help", "handoff"]] {
        let status = world.orbh(args).run_unread();
        assert_eq!(status.signal(), Some(nix::libc::SIGPIPE), "{args:?}: {status:?}");
        world.orbh(args).run_into("/dev/full").fails(74, &["cannot write to standard output: No space left on device"]);
    }
}
