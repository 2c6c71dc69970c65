//! The outer form: the marker, the sections, code fences.

use super::{Desk, GOOD, codes, refused, with, with_owed};
use shared::verbs::contract::MARKER;

/// R31
#[test]
fn a_marker_that_is_not_line_one_is_shown_where_it_is() {
    refused(&[
        (format!("\n{GOOD}"), "handoff-marker", 2, "line 1 is blank and the marker stands on line 2"),
        (format!("Here it is:\n{GOOD}"), "handoff-marker", 2, "line 1 is 'Here it is:'"),
        (format!("\n\n\n{GOOD}"), "handoff-marker", 4, "stands on line 4"),
    ]);
}

/// R31
#[test]
fn a_marker_inside_a_fence_is_named_as_such() {
    let fenced = GOOD.replace("~~~", "~~~~");
    refused(&[
        (format!("```markdown\n{GOOD}```\n"), "handoff-marker", 2, "inside a code fence"),
        (format!("~~~\n{fenced}~~~"), "handoff-marker", 2, "inside a code fence"),
        (format!("```\n{}\n```", with_owed("- none")), "handoff-marker", 2, "inside a code fence"),
    ]);
}

/// R31
#[test]
fn a_marker_that_is_misspelt_is_quoted() {
    let table: Vec<_> = [
        "COMPACTION_ARTEFACT_V1",
        "compaction_artifact_v1",
        "# COMPACTION_ARTIFACT_V1",
        "COMPACTION_ARTIFACT_V2",
        "COMPACTION ARTIFACT V1",
        "**COMPACTION_ARTIFACT_V1**",
        " COMPACTION_ARTIFACT_V1",
        "COMPACTION_ARTIFACT_V1:",
        "\u{feff}\u{feff}COMPACTION_ARTIFACT_V1",
        "Handoff",
    ]
    .iter()
    .map(|found| (with(MARKER, found), "handoff-marker", 1, "exactly COMPACTION_ARTIFACT_V1 is expected on line 1"))
    .collect();
    refused(&table);
}

/// R31
#[test]
fn a_missing_marker_is_a_finding_on_line_one() {
    refused(&[
        (with("COMPACTION_ARTIFACT_V1\n", ""), "handoff-marker", 1, "line 1 is blank"),
        (with("COMPACTION_ARTIFACT_V1\n\n", ""), "handoff-marker", 1, "line 1 is '## SUMMARY'"),
    ]);
    let verdict = Desk::new().judge(&with("COMPACTION_ARTIFACT_V1\n\n## SUMMARY", "## Summary"));
    assert_eq!(codes(&verdict), ["handoff-marker", "handoff-heading"]);
}

/// R31
#[test]
fn a_heading_that_is_nearly_right_is_shown_beside_the_right_one() {
    let cases = [
        ("## SUMMARY", 3, vec!["## Summary", "##SUMMARY", "# SUMMARY", "### SUMMARY", "## SUMMERY", "## SUMMARY:"]),
        (
            "## SUMMARY",
            3,
            vec![" ## SUMMARY", "    ## SUMMARY", "##  SUMMARY", "##\tSUMMARY", "## SUMMARY ##", "SUMMARY"],
        ),
        ("## SUMMARY", 3, vec!["**Summary**", "## **SUMMARY**", "## 1. SUMMARY", "Summary:", "## UMMARY", "##Sumary"]),
        ("## FILES\n\n@", 15, vec!["### FILES\n\n@", "## Files\n\n@", "## FILE\n\n@", "##FILES\n\n@", "## FILSE\n\n@"]),
        ("## OPEN O", 20, vec!["## OPEN  O", "## Open O", "# OPEN O", "## O", "## OPEN_O", "##OPEN O"]),
        ("OBLIGATIONS", 20, vec!["OBLIGATION", "OBLIGATIONS:", "OBLIGATONS", "Obligations"]),
    ];
    for (old, line, news) in cases {
        for new in news {
            refused(&[(with(old, new), "handoff-heading", line, "is expected: ")]);
        }
    }
}

/// R31
#[test]
fn the_difference_of_a_heading_is_put_in_words() {
    let why = [
        ("## Summary", "the name is in upper case"),
        ("##SUMMARY", "a blank follows the '##'"),
        ("# SUMMARY", "of level 2"),
        ("## SUMMARY:", "no colon"),
        ("  ## SUMMARY", "in the first column"),
        ("## SUMMERY", "spelt otherwise"),
        ("##  SUMMARY", "exactly one blank"),
    ];
    refused(&why.map(|(new, why)| (with("## SUMMARY", new), "handoff-heading", 3, why)));
}

/// R31
#[test]
fn sections_in_another_order_are_refused() {
    let swapped = format!("{MARKER}\n## FILES\n@/a.rs :: x\n## SUMMARY\nI am here.\n## OPEN OBLIGATIONS\n- none\n");
    let last = format!("{MARKER}\n## SUMMARY\nI am here.\n## OPEN OBLIGATIONS\n- none\n## FILES\n@/a.rs :: x\n");
    refused(&[
        (swapped, "handoff-section-order", 2, "'## FILES' on line 2 stands before '## SUMMARY' on line 4"),
        (last, "handoff-section-order", 4, "'## OPEN OBLIGATIONS' on line 4 stands before '## FILES' on line 6"),
    ]);
}

/// R31
#[test]
fn a_section_that_stands_twice_is_refused() {
    refused(&[
        (format!("{GOOD}## OPEN OBLIGATIONS\n"), "handoff-section-twice", 25, "it stood on line 20 already"),
        (with("### Constraints", "## SUMMARY"), "handoff-section-twice", 9, "it stood on line 3 already"),
    ]);
}

/// R31
#[test]
fn a_section_that_is_missing_is_named_with_its_place() {
    let (rest, _) = GOOD.split_once("## OPEN").unwrap();
    refused(&[(rest.to_owned(), "handoff-section-missing", 19, "'## OPEN OBLIGATIONS' is missing")]);
    let verdict = Desk::new().judge(&format!("{MARKER}\n## SUMMARY\nI am here.\n## OPEN OBLIGATIONS\n- none\n"));
    assert_eq!(codes(&verdict), ["handoff-section-missing"]);
    assert_eq!(verdict.findings[0].line, Some(4));
    assert!(verdict.findings[0].message.contains("before '## OPEN OBLIGATIONS' on line 4"));
    let verdict = Desk::new().judge(&format!("{MARKER}\n"));
    assert_eq!(codes(&verdict), ["handoff-section-missing"; 3]);
}

/// R31
#[test]
fn a_further_section_is_refused_with_the_advice_to_go_deeper() {
    let desk = Desk::new();
    for (text, line) in [
        (with("### Constraints", "## Constraints"), 9),
        (with("### Constraints", "  ## Constraints"), 9),
        (with("### Constraints", "##"), 9),
        (with("### Constraints", "## Files"), 9),
        (with("@/b c.rs :: the", "## Mine\nnotes, not files: the"), 18),
        (format!("{GOOD}\n## NOTES\n* whatever\n"), 26),
        (with("\n## SUMMARY", "\n## Preface\nwords\n\n## SUMMARY"), 3),
    ] {
        let verdict = desk.judge(&text);
        assert_eq!(codes(&verdict), ["handoff-extra-section"], "{text}");
        assert_eq!(verdict.findings[0].line, Some(line));
        assert!(verdict.findings[0].fix.contains("use ### or deeper"));
    }
}

/// R31
#[test]
fn text_before_the_first_section_is_refused() {
    refused(&[
        (with("\n## SUMMARY", "Dear successor,\n\n## SUMMARY"), "handoff-stray", 2, "'Dear successor,'"),
        (with("\n## SUMMARY", "a\nb\n## SUMMARY"), "handoff-stray", 2, "'a' (and 1 more lines)"),
        (with("\n## SUMMARY", "# Title\n## SUMMARY"), "handoff-stray", 2, "'# Title'"),
    ]);
}

/// R31
#[test]
fn a_fence_that_swallows_a_section_is_named_with_the_line_that_opened_it() {
    let open = with("## FILES\n~~~\n", "x\n");
    refused(&[(open, "handoff-fence", 11, "is never closed and swallows '## FILES' on line 14")]);
    let late = with("## FILES\n~~~\n", "x\n").replace("- Ada", "~~~\n- Ada");
    refused(&[(late, "handoff-fence", 11, "is closed only on line 23 and swallows '## FILES' on line 14")]);
    let around = with("## FILES\n\n@", "```\n## FILES\n\n@").replace("\n\n## OPEN", "\n```\n\n## OPEN");
    refused(&[(around.replace("~~~text\n## FILES\n~~~\n", ""), "handoff-fence", 12, "'```' opened on line 12")]);
}

/// R32
#[test]
fn fences_follow_commonmark() {
    let desk = Desk::new();
    for fence in [
        "````\n## X\n```\n## Y\n````",
        "   ~~~ info ~ `\n## X\n~~~~~",
        "```\n## X\n~~~\n```",
        "```\n## X\n``` not the end\n```",
        "`` ` ``\n``` not a fence `\n### X",
        "    ```\n### X",
    ] {
        desk.accepted(&with("### Constraints", fence));
    }
    let verdict = desk.judge(&with("### Constraints", "``` a`b\n## X\n```\n```"));
    assert_eq!(codes(&verdict), ["handoff-extra-section"]);
}
