//! What users of comparable tools lost work to, from public reports: at handoffs, by a wrong occupancy, with processes,
//! locks and files. Each is a scenario on the real binaries that stages the kind, in several variants. A test's name is
//! the rule that keeps orbh free of it; its comment says what was seen. [`SEEN`] lists all of them.
//!
//! Of later work, so that nothing of it can be staged yet:
//! - *Attaching resized other views, garbled the screen, left mouse modes on.* There are no panes and no views. The last
//!   active view will set the size, an attach will repaint, a detach will reset the modes.
//! - Of *a person attached in the gap*: `attach`. Whatever else can begin a context in the gap is staged.
//! - Of *the pane alive taken for the agent alive*: the pane. What else lives around a harness is staged.
//! - Of *the restarter had died*: `attach` and `sweep`. The waiting `handoff`, `resume` and `relaunch` are staged.
//! - Of *a fresh context still got the old context's warning*: the pager. The advice on the Page is staged.
//! - Of *silent deletion after thirty days*: the forgetting that is explicit, dry first, and never of a session that lives.

mod alive;
mod carried;
mod fresh;
mod handoff;
mod occupancy;
mod processes;

use std::collections::BTreeSet;

/// What was seen, and the test that stages it.
const SEEN: [(&str, &str); 30] = [
    ("the handoff killed its own process tree", "handoff::who_relaunches_lives_outside_of_what_it_ends"),
    (
        "what else strikes the context after the acceptance",
        "handoff::what_strikes_the_context_does_not_strike_who_relaunches",
    ),
    (
        "the restarter had died, the agent idle for ever",
        "handoff::a_dead_restarter_is_replaced_by_whoever_recovers_and_readers_say_so",
    ),
    ("the restart resumed the old conversation", "handoff::a_fresh_context_never_gets_the_old_conversation"),
    ("attached in the gap, an empty prompt", "handoff::nobody_gets_an_empty_context_in_the_gap"),
    (
        "flags ignored, success with nothing stored",
        "carried::a_flag_that_cannot_be_honoured_is_an_error_and_success_is_on_disk",
    ),
    ("old mail acted on before the handoff", "carried::the_prompt_orders_what_a_successor_does"),
    ("a shared handoff, placeholders copied on", "carried::a_handoff_belongs_to_its_session_and_run"),
    ("the old context's warning in a fresh one", "fresh::an_advice_belongs_to_the_context_that_is_full"),
    ("compaction failed, the context was full", "fresh::a_context_that_is_full_can_still_be_replaced"),
    ("compacting for ever", "fresh::every_phase_has_an_age_a_reason_and_a_deadline"),
    ("compaction loops", "fresh::several_successions_within_minutes_are_reported"),
    (
        "the window refilled by what the handoff lists",
        "fresh::the_weight_of_files_is_told_against_the_window_of_the_successor",
    ),
    (
        "stale, or 0 %, after compaction",
        "occupancy::right_after_a_compaction_occupancy_is_unknown_and_never_the_old_number_or_0",
    ),
    (
        "the same, when the harness compacts by itself",
        "occupancy::after_a_native_compaction_occupancy_is_what_is_left_or_unknown",
    ),
    ("a million measured against 200,000", "occupancy::the_maximum_is_told_by_somebody_or_there_is_no_percentage"),
    ("the tokens of subagents counted", "occupancy::the_tokens_of_subagents_do_not_count"),
    ("stale after compaction, with the real ones", "occupancy::a_real_successor_is_unknown_until_it_is_answered"),
    ("a subagent counted, a real one", "occupancy::a_real_subagent_does_not_count"),
    ("a stale pid file, a reused pid", "processes::a_number_in_other_hands_is_neither_believed_nor_signalled"),
    ("a lock left by SIGKILL", "processes::a_lock_ends_with_its_holder_and_every_wait_for_it_is_bounded"),
    ("a lock file replaced under its holder", "processes::two_do_not_work_because_a_lock_file_was_replaced"),
    ("silent deletion after thirty days", "processes::nothing_is_deleted_by_age"),
    ("torn or fused lines", "processes::a_torn_line_spoils_itself_only"),
    ("a restart storm, two agents", "alive::a_storm_of_recoveries_starts_one_agent"),
    ("orphans survive, strangers are killed", "alive::the_recorded_tree_is_stopped_and_never_a_name"),
    (
        "started, exit 0, and no session",
        "alive::success_is_a_run_that_came_up_and_the_words_of_one_that_did_not_are_shown",
    ),
    ("the same, of our own programs", "alive::a_manager_or_shim_that_does_not_do_its_work_is_no_success"),
    ("inotify overflow, a limit, a dead watcher", "alive::a_manager_hears_of_a_handoff_by_whatever_means_there_are"),
    ("the pane alive, not the agent", "alive::what_lives_around_a_dead_harness_does_not_make_it_alive"),
];

/// Every row has its scenario, every scenario its row, and each says what was seen, or that it is of the same kind.
#[test]
fn whatever_was_seen_elsewhere_has_its_scenario() {
    let files = [
        ("alive", include_str!("field/alive.rs")),
        ("carried", include_str!("field/carried.rs")),
        ("fresh", include_str!("field/fresh.rs")),
        ("handoff", include_str!("field/handoff.rs")),
        ("occupancy", include_str!("field/occupancy.rs")),
        ("processes", include_str!("field/processes.rs")),
    ];
    let mut staged = BTreeSet::new();
    for (file, text) in files {
        let mut comment = String::new();
        let mut test = false;
        for line in text.lines() {
            match line.strip_prefix("fn ").and_then(|rest| rest.split_once('(')) {
                Some((name, _)) if test => {
                    let says = comment.starts_with("/// Seen: ") && comment.contains("Rule: ");
                    assert!(says || comment.starts_with("/// The same kind"), "{file}::{name}: {comment}");
                    staged.insert(format!("{file}::{name}"));
                }
                _ if line.starts_with("///") => comment += line,
                _ if line == "#[test]" => test = true,
                _ => (comment, test) = (String::new(), false),
            }
        }
    }
    let rows: BTreeSet<String> = SEEN.iter().map(|(_, test)| (*test).to_owned()).collect();
    assert_eq!(rows.len(), SEEN.len());
    assert_eq!(staged, rows);
}
