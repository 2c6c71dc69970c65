//! The handoff contract: what is accepted, what is forgiven, and that every refusal says where and what.
//!
//! Each near miss is a draft that an agent could well have written; its test names the code, the line and some
//! words of the message.

#![allow(clippy::unwrap_used)]

mod content;
mod form;
mod robust;

use shared::ground::fault::Finding;
use shared::verbs::contract::{CONTRACT, Draft, Handoff, MARKER, Verdict, sample, validate};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The page that specifies what is tested here.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/man/orbh-handoff.5"));

/// Stands in a table for a directory with `a.rs` (4 bytes), `b c.rs` (6 bytes) and the directory `dir`.
const HOME: &str = "@";

/// A handoff that keeps the contract, with blanks in a path, and a fence. Lines matter: the tests count them.
const GOOD: &str = "\
COMPACTION_ARTIFACT_V1

## SUMMARY

I am the reviewer of lantern, and Ada gave me the mission to review the retry code before Friday. I promised her
a report in the evening. We decided to keep the old index, because a migration takes 40 minutes. Phase: two of
three modules are read. ### is fine in here, and so is

### Constraints

~~~text
## FILES
~~~

## FILES

@/a.rs :: the module that is not read yet
@/b c.rs :: the findings so far, see a :: b

## OPEN OBLIGATIONS

- Subagent c771 reads module three: orbh wait c771
  It was started on Monday.
- Ada's request r17, \"what about 2.4?\": orbh message 11d2
";

/// A draft beside the files that it names.
struct Desk {
    dir: TempDir,
}

impl Desk {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("a.rs"), "1234").unwrap();
        fs::write(dir.path().join("b c.rs"), "123456").unwrap();
        fs::create_dir(dir.path().join("dir")).unwrap();
        Desk { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn fill(&self, text: &str) -> String {
        text.replace(HOME, self.dir.path().to_str().unwrap())
    }

    fn judge(&self, text: &str) -> Verdict {
        self.judge_in(text, None)
    }

    fn judge_in(&self, text: &str, window: Option<u64>) -> Verdict {
        let path = self.path("handoff-0001.md");
        validate(&Draft { path: &path, bytes: self.fill(text).as_bytes(), window })
    }

    fn accepted(&self, text: &str) -> Handoff {
        let verdict = self.judge(text);
        assert_eq!(verdict.findings, [], "{text}");
        verdict.handoff.expect("no findings, so there is a handoff")
    }
}

/// `GOOD` with `old` replaced, which must stand there.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old:?} is not in the good handoff");
    GOOD.replacen(old, new, 1)
}

/// `GOOD` with the lines below the heading of FILES replaced; the first of `lines` is line 17.
fn with_files(lines: &str) -> String {
    let (before, rest) = GOOD.split_once("@/a.rs").unwrap();
    let (_, after) = rest.split_once("\n\n## OPEN").unwrap();
    format!("{before}{lines}\n\n## OPEN{after}")
}

/// `GOOD` with the lines below the heading of OPEN OBLIGATIONS replaced; the first of `lines` is line 22.
fn with_owed(lines: &str) -> String {
    let (before, _) = GOOD.split_once("- Subagent").unwrap();
    format!("{before}{lines}\n")
}

/// `GOOD` with the text of SUMMARY replaced; the first of `lines` is line 5.
fn with_summary(lines: &str) -> String {
    let (_, after) = GOOD.split_once("~~~\n\n## FILES").unwrap();
    format!("{MARKER}\n\n## SUMMARY\n\n{lines}\n\n## FILES{after}")
}

/// Each draft is refused with exactly one finding: this code, this line, these words in its message.
fn refused(table: &[(String, &str, usize, &str)]) {
    let desk = Desk::new();
    for (text, code, line, words) in table {
        let verdict = desk.judge(text);
        assert!(verdict.handoff.is_none(), "accepted: {text}");
        let [finding] = verdict.findings.as_slice() else {
            panic!("not one finding but {:#?} in {text}", verdict.findings)
        };
        assert_eq!((finding.code, finding.line), (*code, Some(*line)), "{finding:#?} in {text}");
        assert!(finding.message.contains(&desk.fill(words)), "no {words:?} in {:?}", finding.message);
        well_formed(finding);
    }
}

/// What every finding keeps to.
fn well_formed(finding: &Finding) {
    assert!(finding.code.starts_with("handoff-"), "{finding:?}");
    assert!(finding.path.is_some() && !finding.message.is_empty() && !finding.fix.is_empty(), "{finding:?}");
    let shown = |text: &str| !text.chars().any(char::is_control);
    assert!(shown(&finding.message) && shown(&finding.fix), "{finding:?}");
}

/// The codes of the findings, in their order.
fn codes(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.code).collect()
}

/// Root reads everything; says so, once.
fn skipped_as_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if root {
        println!("{test}: skipped, because root can read every file");
    }
    root
}

/// R31, R32, R33, R34
#[test]
fn a_good_handoff_is_accepted_and_taken_apart() {
    let desk = Desk::new();
    let handoff = desk.accepted(GOOD);
    assert!(handoff.summary.starts_with("I am the reviewer") && handoff.summary.ends_with("## FILES\n~~~"));
    let files: Vec<_> = handoff.files.iter().map(|file| (file.path.clone(), file.line, file.bytes)).collect();
    assert_eq!(files, [(desk.path("a.rs"), 17, 4), (desk.path("b c.rs"), 18, 6)]);
    assert_eq!(handoff.files[1].reason, "the findings so far, see a :: b");
    assert_eq!(handoff.obligations.len(), 2);
    assert!(handoff.obligations[0].ends_with("orbh wait c771\n  It was started on Monday."));
    assert!(desk.judge(GOOD).warnings.is_empty());
}

/// R31
#[test]
fn a_byte_order_mark_crlf_and_trailing_blanks_are_forgiven() {
    let desk = Desk::new();
    let plain = desk.accepted(GOOD);
    let forms = [
        format!("\u{feff}{GOOD}"),
        GOOD.replace('\n', "\r\n"),
        GOOD.replace('\n', " \t \n"),
        format!("\u{feff}{}", GOOD.replace('\n', " \t\r\n")),
        GOOD.trim_end().to_owned(),
    ];
    for form in forms {
        assert_eq!(desk.accepted(&form), plain, "{form:?}");
    }
}

/// R34
#[test]
fn none_alone_means_no_obligations() {
    let desk = Desk::new();
    assert!(desk.accepted(&with_owed("- none")).obligations.is_empty());
    assert!(desk.accepted(&with_owed("\n- none\n\n")).obligations.is_empty());
}

/// R34
#[test]
fn obligations_may_go_on_over_lines_and_be_grouped() {
    let desk = Desk::new();
    let text = "### Requests\n\n- one\n  - and this\n\n  further\nlazily\n```\n- not an item\n```\n### Jobs\n- two\n- [ ] three";
    let owed = desk.accepted(&with_owed(text)).obligations;
    assert_eq!(owed, ["one\n  - and this\n\n  further\nlazily\n```\n- not an item\n```", "two", "[ ] three"]);
    assert_eq!(desk.accepted(&with_owed("- none of the reviewers answered: orbh wait c771")).obligations.len(), 1);
}

/// R32
#[test]
fn the_sample_of_the_contract_is_refused_as_a_placeholder() {
    let desk = Desk::new();
    let verdict = desk.judge(sample());
    let expected = [
        ("handoff-summary-placeholder", 5),
        ("handoff-file-reason", 10),
        ("handoff-file-missing", 10),
        ("handoff-obligation-placeholder", 14),
    ];
    let found: Vec<_> = verdict.findings.iter().map(|f| (f.code, f.line.unwrap())).collect();
    assert_eq!(found, expected);
}

/// R32
#[test]
fn sample_text_that_was_left_in_an_account_is_refused() {
    let left = sample().lines().nth(5).unwrap();
    refused(&[(with_summary(&format!("I am real.\n{left}")), "handoff-summary-placeholder", 6, "sample text")]);
}

/// R10
#[test]
fn the_contract_fits_a_screen_and_ends_with_the_sample() {
    assert!(CONTRACT.lines().count() < 60, "{} lines", CONTRACT.lines().count());
    assert!(CONTRACT.lines().all(|line| line.len() <= 100 && !line.ends_with(' ')));
    assert!(CONTRACT.ends_with(sample()) && sample().starts_with(MARKER) && CONTRACT.ends_with('\n'));
}

/// R31, R32, R33, R34
#[test]
fn the_example_of_the_page_is_valid() {
    let desk = Desk::new();
    let (_, after) = PAGE.split_once(".SH EXAMPLE\n.EX\n").unwrap();
    let (text, _) = after.split_once(".EE\n").unwrap();
    let text = text.replace("\\-", "-");
    assert!(!text.contains('\\') && text.lines().all(|line| !line.starts_with(['.', '\''])));
    for name in ["CHANGELOG.md", "release.txt"] {
        fs::write(desk.path(name), "x").unwrap();
    }
    let text = text.replace("/home/ada/lantern/doc/", "@/").replace("/home/ada/lantern/", "@/");
    let handoff = desk.accepted(&text);
    assert_eq!((handoff.files.len(), handoff.obligations.len()), (2, 4));
    assert!(desk.judge(&text).warnings.is_empty());
}

/// The page lists every code that the validator can give, and no other.
#[test]
fn the_page_lists_every_code() {
    let mut source = std::collections::BTreeSet::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("shared/verbs/contract");
    for entry in fs::read_dir(dir).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in text.split("\"handoff-").skip(1) {
            source.insert(format!("handoff-{}", part.split('"').next().unwrap()));
        }
    }
    let page: Vec<String> = PAGE
        .lines()
        .filter_map(|line| {
            line.strip_prefix(".B handoff\\-").map(|rest| format!("handoff-{}", rest.replace("\\-", "-")))
        })
        .collect();
    assert_eq!(page.iter().cloned().collect::<std::collections::BTreeSet<_>>(), source);
    assert_eq!(page.len(), source.len(), "a code is listed twice");
}

/// R18
#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let desk = Desk::new();
    let text = "compaction_artifact_v1\nhello\n## Summary\nTODO\n## FILES\n- `~/x` : y\n@/none :: y\n\
        ## NOTES\nx\n## OPEN OBLIGATIONS\n- none\n- x\n";
    let verdict = desk.judge(text);
    let expected = [
        "handoff-marker",
        "handoff-stray",
        "handoff-heading",
        "handoff-summary-placeholder",
        "handoff-file-bullet",
        "handoff-file-separator",
        "handoff-file-quoted",
        "handoff-file-home",
        "handoff-file-missing",
        "handoff-extra-section",
        "handoff-none-mixed",
    ];
    assert_eq!(codes(&verdict), expected);
    verdict.findings.iter().for_each(well_formed);
}
