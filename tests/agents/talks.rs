//! Real agents talk: they send, answer what another session asks, and ask a person, with no more than their class gives.

use super::told::{Act, acts, returns, verb};
use super::{Agent, Stage, claude, codex, story, wait_alive};
use crate::harness::Session;
use crate::harness::model::{Step, Turn};

/// Another session, so that a script can name it before there is a world.
const OTHER: &str = "00000000-0000-4000-8000-000000000002";
const SEND: &str = "message send 00000000-0000-4000-8000-000000000002 'begun: the line' --json";

/// The command by which the Page says that the question is answered, with the answer.
fn responds(answer: &'static str) -> Act {
    Box::new(move |turn: &Turn| {
        let page = turn.last_tool_output();
        let line = page.lines().find_map(|line| line.trim().strip_prefix("answer it: "));
        let command = line.unwrap_or_else(|| panic!("no question on: {page}")).replace("TEXT", answer);
        Step::shell(command)
    })
}

/// What a run of the other session is taken for; ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The answer in a question's record, once it is there.
fn answer(session: &Session, id: &str) -> Option<String> {
    session.text(&format!("asked/{id}/answer.md"))
}

/// R6 R14: a message, an answer and a question, through whatever keeps the run in.
fn talks(agent: &Agent, way: &str) {
    let steps = vec![
        verb(SEND),
        // It ends with the Page, once the question of the other session has come.
        verb("page arm"),
        responds("blue"),
        verb("page"),
        verb("session ask 'May I go on?'"),
        returns(),
    ];
    let stage = Stage::new(acts(steps));
    if !stage.profile("under-test", agent) {
        return;
    }
    // Of a process of its own: below the run of another session nobody is a person.
    let process = Process(stage.world.program("sleep").sleeping());
    let other = stage.world.fake_session(OTHER, "the other", process.0.id().cast_signed());
    let session = stage.launch(&format!("{}/under-test", agent.runtime));
    let letters = || stage.world.orbh(["message", "list", OTHER, "--json"]).run().stdout;
    if !wait_alive("the message", &session, &stage, || letters().contains("begun: the line")) {
        return;
    }
    let letter: serde_json::Value = serde_json::from_str(letters().trim()).unwrap();
    assert_eq!(letter["session"], session.id, "{letter}");
    let request = ["message", "request", &session.id, "Which colour?", "--deferred", "--json"];
    let question = other.verb("0001", request).run().exits(0).json()["id"].as_str().unwrap().to_owned();
    wait_alive("the answer", &session, &stage, || answer(&other, &question).is_some());
    assert_eq!(answer(&other, &question).unwrap().trim(), "blue");
    wait_alive("the question to a person", &session, &stage, || session.state() == "needs-input");
    stage.world.orbh(["respond", &session.id, "Yes, go on."]).run().ok();
    assert_eq!(session.wait_end("0001"), "returned", "{}", story(&session, &stage));
    let result = session.text("returns/0001.md").unwrap();
    assert!(result.contains("Yes, go on."), "{result}");
    // Each of its ways out is taken, and nothing waits for another one.
    let outputs = stage.model.conversations()[0].turns.last().unwrap().0.tool_outputs.clone();
    assert!(outputs[0].contains(&format!(r#""way":"{way}""#)), "{outputs:#?}");
    assert_eq!(outputs[2].contains("the manager of this session delivers it"), way == "outbox", "{outputs:#?}");
    let orders = std::fs::read_dir(session.path("outbox")).map_or(0, Iterator::count);
    assert_eq!(orders, 0);
    // The answered question is on no Page any more.
    assert!(!outputs[3].contains("answer it:"), "{}", outputs[3]);
}

#[test]
fn claude_with_permissions_bypassed_sends_answers_and_asks() {
    talks(&claude("full"), "inbox");
}

#[test]
fn claude_with_permissions_asked_sends_answers_and_asks_without_a_prompt() {
    talks(&claude("asked"), "inbox");
}

#[test]
fn codex_with_permissions_bypassed_sends_answers_and_asks() {
    talks(&codex("full"), "inbox");
}

#[test]
fn codex_sends_and_answers_out_of_its_sandbox_by_its_manager() {
    talks(&codex("sandboxed"), "outbox");
}
