//! Real agents send mail with what their adapter lets them do: Claude Code whose permissions are asked for, and Codex in
//! its sandbox, against a model that the test plays.

use crate::agents::{Agent, Stage, claude, codex, story};
use crate::harness::model::{Script, Step, Turn};

/// A session that no manager keeps, to be sent to.
const OTHER: &str = "00000000-0000-4000-8000-000000000000";

/// Sends to another session, puts a question to it, sends to itself, reads its Page, and returns.
fn sends_mail(agent: &Agent, way: &str) {
    let orbh = env!("CARGO_BIN_EXE_orbh");
    let own = |turn: &Turn| {
        let after = turn.first_prompt.split("of the orbh session ").nth(1).expect("the id of the session");
        after[..36].to_owned()
    };
    let script = Script::new(move |turn: &Turn| match turn.index {
        0 => Step::shell(format!("{orbh} message send {OTHER} 'from the agent' --json")),
        1 => Step::shell(format!("{orbh} message request {OTHER} 'may I?' --deferred --json")),
        2 => Step::shell(format!("{orbh} message send {} 'to myself'", own(turn))),
        3 => Step::shell(format!("{orbh} page")),
        4 => Step::shell(format!("{orbh} session return 'the mail is sent'")),
        _ => Step::say("done"),
    });
    let stage = Stage::new(script);
    if !stage.profile("under-test", agent) {
        return;
    }
    let other = stage.world.fake_session(OTHER, "the other", std::process::id().cast_signed());
    let session = stage.launch(&format!("{}/under-test", agent.runtime));
    assert_eq!(session.wait_end("0001"), "returned", "{}", story(&session, &stage));
    crate::harness::wait_for("the manager to leave", || (!session.managed()).then_some(()));
    let outputs = stage.model.conversations()[0].turns.last().unwrap().0.tool_outputs.clone();
    if ["bwrap: ", "error building bubblewrap"].iter().any(|start| outputs[0].starts_with(start)) {
        println!("skipped: the sandbox of codex cannot be made here: {}", outputs[0]);
        return;
    }
    let ways = outputs[..2].iter().filter(|output| output.contains(&format!("\"way\":\"{way}\""))).count();
    assert_eq!(ways, 2, "{outputs:#?}");
    let mail = other.mail(&[]);
    let subjects: Vec<&str> = mail.iter().map(|line| line["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["from the agent", "may I?"]);
    assert!(mail.iter().all(|line| line["session"] == session.id.as_str()), "{mail:?}");
    // Consumed by its own Page, which moved it.
    assert!(outputs[3].contains("to myself"), "{outputs:#?}");
    assert_eq!(session.mail(&[])[0]["state"], "shown");
    assert_eq!(std::fs::read_dir(session.path("outbox")).unwrap().count(), 0);
}

#[test]
fn claude_that_has_to_ask_sends_mail_without_asking() {
    sends_mail(&claude("asked"), "inbox");
}

#[test]
fn codex_in_its_sandbox_sends_mail_by_way_of_the_outbox() {
    sends_mail(&codex("sandboxed"), "outbox");
}
