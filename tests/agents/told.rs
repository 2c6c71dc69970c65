//! Real agents hear of what comes for them while they work: claude by the end of a background task, codex by its next
//! poll; and both are advised to compact, once, from their live transcripts.

use super::{Agent, Stage, claude, codex, story, wait_alive};
use crate::harness::model::{Api, Script, Step, Turn};
use crate::harness::{Session, wait_for};
use serde_json::json;

const TEXT: &str = "the parser moved to src/syntax";
const ADVICE: &str = "the context is at 80 percent or more";
/// A command that ends when the test says so.
const WAIT: &str = "until test -e go; do sleep 0.05; done; echo gone on";

/// The step that arms a pager where the harness keeps it while the model goes on.
fn arm(turn: &Turn) -> Step {
    let command = format!("{} page arm", env!("CARGO_BIN_EXE_orbh"));
    match turn.api {
        Api::Anthropic => {
            Step::tool("Bash", json!({"command": command, "description": "wait for mail", "run_in_background": true}))
        }
        Api::Responses => Step::tool("exec_command", json!({"cmd": command, "yield_time_ms": 250})),
    }
}

/// What the model does when it was told that the pager has ended (claude), or to see whether it has (codex).
fn hear(turn: &Turn) -> Step {
    match turn.api {
        Api::Anthropic => {
            let told = turn.notices.last().expect("no word of the end of a task");
            assert!(told.contains("<status>completed</status>"), "{told}");
            let file = between(told, "<output-file>", "</output-file>");
            Step::tool("Read", json!({"file_path": file}))
        }
        Api::Responses => {
            let session = turn.tool_outputs.iter().rev().find_map(|output| running(output)).expect("a running command");
            Step::tool("write_stdin", json!({"session_id": session, "chars": "", "yield_time_ms": 30_000}))
        }
    }
}

/// The number under which codex keeps a command that has not ended.
fn running(output: &str) -> Option<u64> {
    let digits = output.split_once("running with session ID ")?.1;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let rest = text.split_once(begin).unwrap_or_else(|| panic!("no {begin} in: {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end} in: {text}")).0
}

/// Waits until a pager waits, and the model has had the end of the tool call that armed it. False, having said so, when
/// no command can run here.
#[track_caller]
fn wait_armed(session: &Session, stage: &Stage, turns: usize) -> bool {
    let armed = || session.pager()["pager"] == "armed" && session.pager()["watch"].is_string();
    let asked = || stage.model.conversations().first().is_some_and(|one| one.turns.len() >= turns);
    wait_alive("an armed pager", session, stage, || armed() && asked())
}

/// The names of the messages that were consumed: in cur/, with the flag S.
fn consumed(session: &Session) -> usize {
    let entries = std::fs::read_dir(session.path("inbox/cur")).unwrap();
    let seen = |name: &str| name.rsplit_once(":2,").is_some_and(|(_, flags)| flags.contains('S'));
    entries.filter(|entry| seen(entry.as_ref().unwrap().file_name().to_str().unwrap())).count()
}

/// One thing after the other, for the first conversation.
pub(super) fn acts(acts: Vec<Act>) -> Script {
    Script::new(move |turn: &Turn| acts.get(turn.index).map_or_else(|| Step::say("done"), |act| act(turn)))
}

pub(super) type Act = Box<dyn Fn(&Turn) -> Step + Send + Sync>;

/// A verb by its path.
pub(super) fn verb(words: &'static str) -> Act {
    Box::new(move |_| Step::shell(format!("{} {words}", env!("CARGO_BIN_EXE_orbh"))))
}

/// Ends the turn of the session with what the last tool wrote.
pub(super) fn returns() -> Act {
    Box::new(|turn| {
        let orbh = env!("CARGO_BIN_EXE_orbh");
        Step::shell(format!("{orbh} session return - <<'EOF'\n{}\nEOF", turn.last_tool_output()))
    })
}

/// R6 R8 R12: the model arms a pager and waits for it, or works on. A message is in the next turn, or in the next answer
/// of a tool; the pager shows it once, and the session's own Page consumes it.
fn is_told_of_a_message(agent: &Agent, works_on: bool) {
    let claude = agent.runtime == "claude";
    let mut steps: Vec<Act> = vec![Box::new(arm)];
    if works_on {
        steps.push(Box::new(|_| Step::shell(WAIT)));
    } else if claude {
        steps.push(Box::new(|_| Step::say("I wait.")));
    }
    steps.extend([Box::new(hear) as Act, verb("page"), returns()]);
    let stage = Stage::new(acts(steps));
    if !stage.profile("under-test", agent) {
        return;
    }
    let session = stage.launch(&format!("{}/under-test", agent.runtime));
    if !wait_armed(&session, &stage, 2) {
        return;
    }
    assert_eq!(stage.heard(TEXT), None);
    let id = stage.world.orbh(["message", "send", &session.id, TEXT]).run().ok();
    wait_for("the pager to tell", || (session.announced("0001").len() == 1).then_some(()));
    std::fs::write(stage.world.work().join("go"), "").unwrap();
    assert_eq!(session.wait_end("0001"), "returned", "{}", story(&session, &stage));

    assert!(stage.heard(TEXT).is_some());
    let result = session.text("returns/0001.md").unwrap();
    assert!(result.contains(TEXT) && result.contains("shown before"), "{result}");
    assert_eq!(consumed(&session), 1, "{id}");
    // The line by which it was told, and that by which it was consumed.
    assert_eq!(session.announced("0001").len(), 2, "{:?}", session.announced("0001"));
    let conversations = stage.model.conversations();
    assert_eq!(conversations.len(), 1);
    assert!(conversations[0].first_prompt().contains(&format!("`{} page arm`", env!("CARGO_BIN_EXE_orbh"))));
    // Of the one pager, and of nothing else.
    assert_eq!(conversations[0].turns.last().unwrap().0.notices.len(), usize::from(claude));
    assert_eq!(session.pager()["pager"], "unarmed");
}

/// What the prompt tells claude to do when it can only wait: each heartbeat of the pager begins a turn.
#[test]
fn claude_that_only_waits_is_woken_by_each_heartbeat() {
    let beat = |turn: &Turn| -> Step {
        let command = format!("{} page arm --max-wait 1", env!("CARGO_BIN_EXE_orbh"));
        assert_eq!(turn.notices.len(), turn.index / 2);
        Step::tool("Bash", json!({"command": command, "description": "wait", "run_in_background": true}))
    };
    let mut steps: Vec<Act> = Vec::new();
    for _ in 0..3 {
        steps.extend([Box::new(beat) as Act, Box::new(|_| Step::say("I wait."))]);
    }
    steps.push(verb("session return 'waited'"));
    let stage = Stage::new(acts(steps));
    if !stage.profile("under-test", &claude("full")) {
        return;
    }
    let session = stage.launch("claude/under-test");
    assert_eq!(session.wait_end("0001"), "returned", "{}", story(&session, &stage));
    // Two answers of the model for each, the return, and what it says after that.
    assert_eq!(stage.model.conversations()[0].turns.len(), 8);
}

/// R14: the advisory, once a context, from the transcript that the harness writes: the pager tells it, and the next pager
/// tells the message that comes later, and that alone.
fn is_advised_once(agent: &Agent, little: u64, much: u64) {
    let shell = |command: String| -> Act { Box::new(move |_| Step::shell(command.clone()).context(much)) };
    let first: Act = Box::new(move |turn| arm(turn).context(little));
    // Codex writes down how full the context is when the tools of an answer have ended.
    let filled = shell("echo full".to_owned());
    let heard: Act = Box::new(move |turn| hear(turn).context(much));
    // Armed again in the foreground, it keeps the tool until something new comes.
    let again = shell(format!("{} page arm", env!("CARGO_BIN_EXE_orbh")));
    let steps = vec![first, filled, shell(WAIT.to_owned()), heard, again, returns()];
    let stage = Stage::new(acts(steps));
    if !stage.profile("under-test", agent) {
        return;
    }
    let session = stage.launch(&format!("{}/under-test", agent.runtime));
    let advised = || session.exists("scratch/advised-0001");
    if !wait_alive("the advisory", &session, &stage, advised) {
        return;
    }
    wait_for("the pager to leave", || (session.pager()["pager"] == "unarmed").then_some(()));
    assert_eq!(stage.heard(ADVICE), None);
    std::fs::write(stage.world.work().join("go"), "").unwrap();
    wait_armed(&session, &stage, 5);
    assert!(stage.heard(ADVICE).is_some(), "{}", story(&session, &stage));
    stage.world.orbh(["message", "send", &session.id, TEXT]).run().ok();
    assert_eq!(session.wait_end("0001"), "returned", "{}", story(&session, &stage));
    // What ended the second one was the message: without it, it was still waiting.
    let result = session.text("returns/0001.md").unwrap();
    assert!(result.contains(TEXT), "{result}");
    let first = stage.model.conversations()[0].turns[4].0.last_tool_output().to_owned();
    assert!(first.contains(ADVICE) && !first.contains(TEXT), "{first}");
}

#[test]
fn claude_is_advised_once_from_its_live_transcript() {
    is_advised_once(&claude("full"), 100_000, 163_000);
}

#[test]
fn codex_is_advised_once_from_its_live_transcript() {
    is_advised_once(&codex("sandboxed"), 100_000, 210_000);
}

#[test]
fn claude_that_waits_is_told_of_a_message_by_a_turn_of_its_own() {
    is_told_of_a_message(&claude("full"), false);
}

#[test]
fn claude_that_works_is_told_of_a_message_within_its_turn() {
    is_told_of_a_message(&claude("asked"), true);
}

#[test]
fn codex_finds_a_message_by_its_next_poll() {
    is_told_of_a_message(&codex("full"), false);
}

#[test]
fn codex_in_its_sandbox_finds_a_message_that_came_while_it_worked() {
    is_told_of_a_message(&codex("sandboxed"), true);
}
