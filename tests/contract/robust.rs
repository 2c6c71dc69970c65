//! Whatever the bytes and whatever the file: a verdict, soon, and never a panic.

use super::{Desk, GOOD, codes, skipped_as_root, well_formed, with, with_files};
use proptest::prelude::*;
use shared::ground::fault::Finding;
use shared::verbs::contract::{Draft, MARKER, MAX_BYTES, Verdict, read_draft, validate};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

/// R18
#[test]
fn bytes_that_are_not_text_are_found_by_offset_and_line() {
    let desk = Desk::new();
    let judge = |bytes: &[u8]| validate(&Draft { path: Path::new("/h.md"), bytes, window: None });
    let mut bad = desk.fill(GOOD).into_bytes();
    bad.splice(36..36, [0xff, 0xfe]);
    let verdict = judge(&bad);
    assert_eq!((codes(&verdict), verdict.findings[0].line), (vec!["handoff-not-utf8"], Some(5)));
    assert!(verdict.findings[0].message.contains("0xff at offset 36 "));
    let nul = desk.fill(&with("### Constraints", "a\0b"));
    let verdict = judge(nul.as_bytes());
    assert_eq!((codes(&verdict), verdict.findings[0].line), (vec!["handoff-nul"], Some(9)));
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(GOOD.bytes().flat_map(|byte| [byte, 0])).collect();
    assert_eq!(codes(&judge(&wide)), ["handoff-not-utf8"]);
    assert_eq!(codes(&judge(GOOD.replace('\n', "\r").as_bytes())), ["handoff-line-ends"]);
    assert_eq!(codes(&judge(b" \n\t\n")), ["handoff-empty"]);
    assert_eq!(codes(&judge(b"")), ["handoff-empty"]);
    assert_eq!(codes(&judge(&vec![b'x'; 10_000_000])), ["handoff-too-large"]);
}

/// What is quoted cannot forge a line of the report, and has an end.
#[test]
fn quoted_text_is_escaped_and_cut() {
    let desk = Desk::new();
    let verdict = desk.judge(&with(MARKER, &format!("\u{1b}[2J\u{200b}\r{}", "x".repeat(500))));
    let message = &verdict.findings[0].message;
    assert!(message.contains("'\\u{1b}[2J\\u{200b}\\rxx") && message.contains("x…'"), "{message}");
    assert!(message.chars().count() < 250);
}

/// A draft that is wrong everywhere does not fill the rest of the context.
#[test]
fn a_flood_of_findings_is_cut() {
    let verdict = Desk::new().judge(&with_files(&"x\n".repeat(400)));
    assert_eq!(verdict.findings.len(), 101);
    assert_eq!(verdict.findings[100].code, "handoff-more");
    assert!(verdict.findings[100].message.starts_with("700 more findings, from line 67 on"));
}

/// Time grows with the size of a draft and no faster: where it grew with the square, these would take minutes.
#[test]
fn a_draft_made_to_be_slow_is_not() {
    let desk = Desk::new();
    let begun = Instant::now();
    for line in
        ["```a\n", "##FILEX\n", "<\n", "- \n", "a :: b\n", "~~~\n## FILES\n", "\n", "## FILES\n", "#\n", "/ :: x\n"]
    {
        let many = line.repeat(64 * 1024 / line.len());
        desk.judge(&format!("{MARKER}\n{many}"));
        desk.judge(&format!("{MARKER}\n## SUMMARY\n{many}"));
        desk.judge(&format!("{MARKER}\n## SUMMARY\nx\n## FILES\n{many}"));
        desk.judge(&format!("{MARKER}\n## SUMMARY\nx\n## FILES\n## OPEN OBLIGATIONS\n{many}"));
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// The one finding of `read_draft`.
fn unread(path: &Path) -> Finding {
    let finding = read_draft(path).unwrap_err();
    assert_eq!(finding.path.as_deref(), Some(path));
    well_formed(&finding);
    finding
}

/// R17
#[test]
fn what_is_not_a_readable_file_is_refused_by_its_kind() {
    let desk = Desk::new();
    let draft = desk.path("handoff-0001.md");
    assert_eq!(unread(&draft).code, "handoff-missing");
    assert_eq!(unread(&desk.path("a.rs/h.md")).code, "handoff-missing");
    assert_eq!(unread(&desk.path("dir")).code, "handoff-directory");
    fs::write(&draft, "").unwrap();
    assert_eq!(unread(&draft).code, "handoff-empty");
    symlink("a.rs", desk.path("link")).unwrap();
    assert_eq!(unread(&desk.path("link")).code, "handoff-symlink");
    symlink("loop", desk.path("loop")).unwrap();
    assert_eq!(unread(&desk.path("loop")).code, "handoff-symlink");
    assert_eq!(unread(&desk.path("loop/h.md")).code, "handoff-read-error");
    assert_eq!(unread(Path::new("/dev/zero")).code, "handoff-special");
    assert_eq!(read_draft(&desk.path("a.rs")).unwrap(), b"1234");
}

/// R17
#[test]
fn a_fifo_or_socket_as_handoff_is_refused_without_waiting_for_it() {
    let desk = Desk::new();
    nix::unistd::mkfifo(&desk.path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(desk.path("socket")).unwrap();
    let begun = Instant::now();
    assert!(unread(&desk.path("fifo")).message.ends_with("is a FIFO, not a regular file"));
    assert!(unread(&desk.path("socket")).message.ends_with("is a socket, not a regular file"));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// R18
#[test]
fn a_handoff_that_is_too_large_is_refused_unread() {
    let desk = Desk::new();
    let draft = desk.path("h.md");
    let file = fs::File::create(&draft).unwrap();
    file.set_len(MAX_BYTES).unwrap();
    assert_eq!(read_draft(&draft).unwrap().len() as u64, MAX_BYTES);
    for size in [MAX_BYTES + 1, 10_000_000, 1 << 40] {
        file.set_len(size).unwrap();
        let finding = unread(&draft);
        assert_eq!(finding.code, "handoff-too-large");
        assert!(finding.message.contains(&format!("has {size} bytes")));
    }
}

/// R17
#[test]
fn a_handoff_without_permission_is_refused_as_unreadable() {
    let desk = Desk::new();
    fs::set_permissions(desk.path("a.rs"), fs::Permissions::from_mode(0o200)).unwrap();
    if skipped_as_root("a_handoff_without_permission_is_refused_as_unreadable") {
        return;
    }
    assert_eq!(unread(&desk.path("a.rs")).code, "handoff-unreadable");
}

/// What holds of every verdict, whatever the draft.
fn sound(verdict: &Verdict) -> Result<(), TestCaseError> {
    prop_assert_eq!(verdict.handoff.is_some(), verdict.findings.is_empty());
    for finding in verdict.findings.iter().chain(&verdict.warnings) {
        well_formed(finding);
        prop_assert!(finding.line.is_some_and(|line| line > 0), "no line: {:?}", finding);
    }
    Ok(())
}

/// What an agent might put in place of a line, or a piece of one.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        prop::sample::select(vec![
            "## FILES",
            "## SUMMARY",
            "## OPEN OBLIGATIONS",
            "### FILES",
            "##FILES",
            "## X",
            "##",
            "```",
            "~~~",
            "````x",
            "- none",
            "none",
            "- ",
            "-",
            "* x",
            "TODO",
            "/etc/passwd :: x",
            "/ :: x",
            " :: ",
            "::",
            "~/x",
            MARKER,
            "<",
            ">",
            "\u{feff}",
            "\r",
            "\t",
            "    ## FILES",
            "/x:1 :: y",
            "\0",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "[#`~ :/<>a-zA-Z_-]{0,24}",
    ]
}

proptest! {
    /// R18
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 1..2000), window in any::<Option<u64>>()) {
        sound(&validate(&Draft { path: Path::new("/h.md"), bytes: &bytes, window }))?;
    }

    /// R18
    #[test]
    fn arbitrary_lines_never_panic(lines in prop::collection::vec(piece(), 1..60), marked in any::<bool>()) {
        let text = format!("{}{}", if marked { "COMPACTION_ARTIFACT_V1\n" } else { "" }, lines.join("\n"));
        let path = Path::new("/h.md");
        sound(&validate(&Draft { path, bytes: format!("{text}\nx").as_bytes(), window: Some(1) }))?;
    }

    /// R18
    #[test]
    fn a_changed_line_is_accepted_or_refused_with_a_line(at in 0_usize..24, change in 0..4, piece in piece()) {
        let desk = Desk::new();
        let mut lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
        match change {
            0 => lines[at] = piece,
            1 => lines.insert(at, piece),
            2 => lines[at].insert_str(0, &piece),
            _ => lines[at].push_str(&piece),
        }
        sound(&desk.judge(&lines.join("\n")))?;
    }

    /// R18
    #[test]
    fn a_handoff_that_was_cut_off_is_accepted_or_refused_with_a_line(at in 1..GOOD.len()) {
        let desk = Desk::new();
        sound(&desk.judge(GOOD.get(..at).unwrap_or(GOOD)))?;
    }
}

/// R18
#[test]
fn every_line_is_needed_or_free_when_removed_doubled_or_swapped() {
    let desk = Desk::new();
    let lines: Vec<&str> = GOOD.lines().collect();
    for at in 0..lines.len() {
        let mut removed = lines.clone();
        removed.remove(at);
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at]);
        let mut swapped = lines.clone();
        swapped.swap(at, (at + 1) % lines.len());
        for mutant in [removed, doubled, swapped] {
            sound(&desk.judge(&mutant.join("\n"))).unwrap();
        }
    }
}
