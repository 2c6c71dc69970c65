//! What stands in the sections: the account, the files, the obligations.

use super::{Desk, GOOD, codes, refused, skipped_as_root, with_files, with_owed, with_summary};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

/// R32
#[test]
fn an_empty_summary_is_refused() {
    refused(&[
        (with_summary(""), "handoff-summary-empty", 3, "is empty"),
        (with_summary("### Identity\n\n# Mission"), "handoff-summary-empty", 3, "headings and no text"),
    ]);
}

/// R32
#[test]
fn a_placeholder_is_no_summary() {
    let table: Vec<_> = [
        "TODO",
        "TBD.",
        "FIXME",
        "...",
        "…",
        "---",
        "current",
        "n/a",
        "N/A",
        "placeholder",
        "fill in",
        "Fill this in later",
        "[your summary here]",
        "<summary>",
        "<who you are,\nand why>",
        "{{ SUMMARY }}",
        "Lorem ipsum",
        "- TODO\n- TBD",
        "Identity: TODO\nMission: <mission>",
        "To be written",
    ]
    .iter()
    .map(|text| (with_summary(text), "handoff-summary-placeholder", 5, "nothing but"))
    .collect();
    refused(&table);
}

/// R32
#[test]
fn a_short_but_real_summary_is_accepted_with_a_warning() {
    let desk = Desk::new();
    for text in ["I review TODO comments in <lib.rs>.", "Vec<String>", "```\nlet x = 1;\n```", "完了しました。"]
    {
        let verdict = desk.judge(&with_summary(text));
        assert_eq!(verdict.findings, []);
        assert_eq!(verdict.warnings[0].code, "handoff-summary-short");
    }
}

/// R33
#[test]
fn no_file_at_all_is_refused() {
    refused(&[(with_files(""), "handoff-files-empty", 15, "at least one file")]);
}

/// R33
#[test]
fn a_file_line_in_another_form_gets_its_own_message() {
    refused(
        &[
            (with_files("- @/a.rs :: x"), "handoff-file-bullet", 17, "'- @/a.rs :: x' starts with a bullet"),
            (with_files("* @/a.rs :: x"), "handoff-file-bullet", 17, "bullet"),
            (with_files("1. @/a.rs :: x"), "handoff-file-bullet", 17, "bullet"),
            (with_files("  @/a.rs :: x"), "handoff-file-indented", 17, "indented"),
            (with_files("\"@/b c.rs\" :: x"), "handoff-file-quoted", 17, "in quotes"),
            (with_files("`@/a.rs` :: x"), "handoff-file-quoted", 17, "in quotes"),
            (with_files("~/a.rs :: x"), "handoff-file-home", 17, "'~/a.rs'"),
            (with_files("$HOME/a.rs :: x"), "handoff-file-home", 17, "'$HOME/a.rs'"),
            (with_files("src/a.rs :: x"), "handoff-file-relative", 17, "'src/a.rs' is not absolute"),
            (with_files("@/a.rs: x"), "handoff-file-separator", 17, "': '"),
            (with_files("@/a.rs : x"), "handoff-file-separator", 17, "' : '"),
            (with_files("@/a.rs - x"), "handoff-file-separator", 17, "' - '"),
            (with_files("@/a.rs::x"), "handoff-file-separator", 17, "without a blank on each side"),
            (with_files("@/a.rs:: x"), "handoff-file-separator", 17, "without a blank on each side"),
            (with_files("@/a.rs"), "handoff-file-separator", 17, "no ' :: '"),
            (with_files("@/a.rs ::"), "handoff-file-reason", 17, "no reason"),
            (with_files("@/a.rs :: "), "handoff-file-reason", 17, "no reason"),
            (with_files("@/a.rs :: TODO"), "handoff-file-reason", 17, "no reason"),
            (with_files("### Sources\n@/a.rs :: x"), "handoff-file-form", 17, "is a heading"),
            (with_files("```\n@/a.rs :: x\n```"), "handoff-files-fence", 17, "opens a code fence"),
            (with_files("@/a.rs  :: x"), "handoff-file-missing", 17, "with a blank at its end"),
            (with_files("@/a.rs:12-40 :: x"), "handoff-file-missing", 17, "but there is '@/a.rs'"),
            (with_files("@/nothing :: x"), "handoff-file-missing", 17, "no file '@/nothing'"),
            (with_files("@/a.rs/x :: x"), "handoff-file-missing", 17, "no file"),
            (with_files("@/dir :: x"), "handoff-file-directory", 17, "is a directory"),
            (with_files("/dev/null :: x"), "handoff-file-special", 17, "is a device"),
        ][..],
    );
}

/// R33
#[test]
fn a_path_may_have_dots_and_lead_over_links() {
    let desk = Desk::new();
    symlink("a.rs", desk.path("link")).unwrap();
    symlink("gone", desk.path("dangling")).unwrap();
    assert_eq!(desk.accepted(&with_files("@/dir/../a.rs :: x\n\n@/link :: the summary")).files.len(), 2);
    let verdict = desk.judge(&with_files("@/dangling :: x"));
    assert!(verdict.findings[0].message.ends_with("is a symbolic link to nothing"));
}

/// R33
#[test]
fn a_fifo_among_the_files_is_refused_without_waiting_for_it() {
    let desk = Desk::new();
    nix::unistd::mkfifo(&desk.path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let begun = Instant::now();
    let verdict = desk.judge(&with_files("@/fifo :: x"));
    assert_eq!(codes(&verdict), ["handoff-file-special"]);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// R33
#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let desk = Desk::new();
    fs::set_permissions(desk.path("a.rs"), fs::Permissions::from_mode(0o000)).unwrap();
    if skipped_as_root("a_file_that_cannot_be_read_is_refused") {
        return;
    }
    let verdict = desk.judge(GOOD);
    assert_eq!(codes(&verdict), ["handoff-file-unreadable"]);
    assert_eq!(verdict.findings[0].line, Some(17));
}

/// R33
#[test]
fn a_file_named_twice_is_a_warning_and_counts_once() {
    let desk = Desk::new();
    let verdict = desk.judge(&with_files("@/a.rs :: x\n@/b c.rs :: y\n@//a.rs :: z"));
    assert_eq!(verdict.findings, []);
    let [warning] = verdict.warnings.as_slice() else { panic!("{:?}", verdict.warnings) };
    assert_eq!((warning.code, warning.line), ("handoff-file-twice", Some(19)));
    assert!(warning.message.ends_with("is named on line 19 and already on line 17"));
    assert_eq!(verdict.files_line(), "FILES: 2 files, 10 bytes, about 3 tokens");
}

/// R33
#[test]
fn files_are_weighed_against_the_window() {
    let desk = Desk::new();
    let file = fs::File::create(desk.path("a.rs")).unwrap();
    file.set_len(43_104).unwrap();
    let line = |window| desk.judge_in(GOOD, window).files_line();
    assert_eq!(line(Some(200_000)), "FILES: 2 files, 42.1 KiB, about 10,800 tokens (5% of the window)");
    assert_eq!(line(None), "FILES: 2 files, 42.1 KiB, about 10,800 tokens");
    assert_eq!(line(Some(0)), "FILES: 2 files, 42.1 KiB, about 10,800 tokens");
    assert_eq!(line(Some(10_000_000)), "FILES: 2 files, 42.1 KiB, about 10,800 tokens (less than 1% of the window)");
    // 43,110 bytes are 10,778 tokens: half of 21,556 and not more.
    for (window, warned) in [(21_556, false), (21_555, true), (1, true)] {
        let verdict = desk.judge_in(GOOD, Some(window));
        assert!(verdict.handoff.is_some());
        let found: Vec<_> = verdict.warnings.iter().map(|warning| (warning.code, warning.line)).collect();
        assert_eq!(found, [("handoff-files-large", Some(15))][..usize::from(warned)], "{window}");
    }
    // Sparse: a tebibyte that takes no room.
    if file.set_len(1 << 40).is_ok() {
        assert!(line(Some(200_000)).starts_with("FILES: 2 files, 1.0 TiB, about 275,000,000,000 tokens (13743"));
    }
}

/// R34
#[test]
fn no_obligations_at_all_has_to_be_said() {
    refused(&[
        (with_owed(""), "handoff-obligations-empty", 20, "is empty"),
        (with_owed("### Requests\n"), "handoff-obligations-empty", 20, "is empty"),
    ]);
}

/// R34
#[test]
fn none_in_other_words_is_shown_beside_the_right_one() {
    for text in [
        "none",
        "None",
        "None.",
        "- None",
        "- NONE",
        "* none",
        "-none",
        "n/a",
        "- n/a",
        "N/A",
        "- none.",
        "-  none",
        " - none",
        "- none (all collected)",
        "- none - done",
        "- nothing",
        "No open obligations.",
        "- `none`",
        "1. none",
    ] {
        refused(&[(with_owed(text), "handoff-none-form", 22, "exactly '- none' is expected")]);
    }
}

/// R34
#[test]
fn none_beside_others_is_refused() {
    refused(&[
        (with_owed("- none\n- orbh wait c771"), "handoff-none-mixed", 22, "does not stand alone"),
        (with_owed("- orbh wait c771\n\n- none"), "handoff-none-mixed", 24, "does not stand alone"),
        (with_owed("- none\nbut think of Ada"), "handoff-none-mixed", 22, "does not stand alone"),
        (with_owed("### Jobs\n- none"), "handoff-none-mixed", 23, "does not stand alone"),
    ]);
}

/// R34
#[test]
fn a_line_that_may_be_an_obligation_is_not_overlooked() {
    refused(&[
        (with_owed("orbh wait c771"), "handoff-obligation-form", 22, "'orbh wait c771' belongs to no obligation"),
        (with_owed("These are open:\n\n- orbh wait c771"), "handoff-obligation-form", 22, "'These are open:'"),
        (with_owed("* orbh wait c771\n  more"), "handoff-obligation-form", 22, "starts with '- '"),
        (with_owed("- one\n* orbh wait c771"), "handoff-obligation-form", 23, "starts with '- '"),
        (with_owed("1. orbh wait c771"), "handoff-obligation-form", 22, "starts with '- '"),
        (with_owed("-orbh wait c771"), "handoff-obligation-form", 22, "starts with '- '"),
        (with_owed("  - orbh wait c771"), "handoff-obligation-form", 22, "in the first column"),
        (with_owed("- one\n-"), "handoff-obligation-form", 23, "an obligation is empty"),
        (with_owed("```\n- orbh wait c771\n```"), "handoff-obligation-form", 22, "'```'"),
    ]);
}

/// R34
#[test]
fn a_placeholder_is_no_obligation() {
    for text in ["- TODO", "- ...", "- <id>: <command>", "- TBD later", "- [ ]"] {
        refused(&[(with_owed(text), "handoff-obligation-placeholder", 22, "is a placeholder")]);
    }
}
