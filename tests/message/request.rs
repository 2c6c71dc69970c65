//! A question from one session to another: its record, its message, and the wait for the answer.

use super::{pair, sent};
use crate::harness::{Session, World, outcome, wait_for};
use serde_json::Value;
use std::process::Child;

/// Starts a request, and waits until it is put; the id of the question.
#[track_caller]
fn ask<'w>(one: &Session<'w>, two: &Session<'w>, options: &[&str]) -> (Child, String) {
    let known = two.mail(&["--all"]).len();
    let child = one.verb("0001", [&["message", "request", &two.id, "which way?"], options].concat()).spawn();
    let put = || two.mail(&["--all"]).get(known).map(|line| line["id"].as_str().unwrap().to_owned());
    (child, wait_for("the question", put))
}

/// Answers as a person does with an editor.
fn answer(asker: &Session, id: &str, text: &str) {
    std::fs::write(asker.path(&format!("asked/{id}/answer.md")), text).unwrap();
}

#[test]
fn a_request_waits_for_its_answer_and_prints_it() {
    let world = World::new();
    let (one, two) = pair(&world);
    let (child, id) = ask(&one, &two, &[]);
    let request = one.fact(&format!("asked/{id}/request.json")).unwrap();
    assert_eq!((&request["to"], &request["blocking"]), (&two.id.as_str().into(), &true.into()));
    assert_eq!((&request["id"], &request["run"]), (&id.as_str().into(), &"0001".into()));
    assert_eq!(one.text(&format!("asked/{id}/question.md")).unwrap(), "which way?");
    let page = two.verb("0001", ["page"]).run().ok();
    for part in [format!("- question {id} from "), format!("answer it: orbh respond {} {id} TEXT\n", one.id)] {
        assert!(page.contains(&part), "no {part:?} in {page}");
    }
    assert_eq!(one.sent_to(&two), [format!("{id} shown cur")]);
    answer(&one, &id, "to the left");
    let out = outcome(child).exits(0).says(&format!("put {id} to session {}", two.id));
    assert_eq!(out.stdout, "to the left\n");
    // It was printed, so it is consumed.
    assert!(one.exists(&format!("asked/{id}/seen")));
    assert!(!one.verb("0001", ["page"]).run().ok().contains(&id));
}

#[test]
fn a_deferred_request_does_not_wait_and_its_answer_is_on_the_page() {
    let world = World::new();
    let (one, two) = pair(&world);
    let id = sent(one.verb("0001", ["message", "request", &two.id, "which way?", "--deferred"]).run());
    assert!(id.starts_with('q'), "{id}");
    assert_eq!(one.fact(&format!("asked/{id}/request.json")).unwrap()["blocking"], false);
    let page = one.verb("0001", ["page"]).run().ok();
    assert!(page.contains(&format!("- asked {id}: ")), "{page}");
    answer(&one, &id, "to the right");
    let page = one.verb("0001", ["page"]).run().ok();
    assert!(
        page.contains(&format!("- answer {id} of session {}", two.id)) && page.contains("| to the right"),
        "{page}"
    );
    assert!(one.exists(&format!("asked/{id}/seen")));
}

#[test]
fn a_wait_that_ends_early_leaves_the_question_open() {
    let world = World::new();
    let (one, two) = pair(&world);
    let (child, id) = ask(&one, &two, &["--timeout", "0"]);
    let out = outcome(child).exits(75);
    assert!(out.stdout.is_empty(), "{out:?}");
    out.says("it stays open").says(&format!("orbh session answer {id}"));
    assert!(one.verb("0001", ["page"]).run().ok().contains(&format!("- asked {id}: ")));
    // Killed in its wait as well.
    let (mut child, id) = ask(&one, &two, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    answer(&one, &id, "late");
    assert!(one.verb("0001", ["page"]).run().ok().contains("| late"));
}

#[test]
fn a_request_that_is_called_off_ends_with_a_refusal() {
    let world = World::new();
    let (one, two) = pair(&world);
    let (child, id) = ask(&one, &two, &["--json"]);
    std::fs::write(one.path(&format!("asked/{id}/cancelled")), "").unwrap();
    let out = outcome(child).exits(1);
    assert_eq!(out.json()["refused"][0]["code"], "cancelled");
    // Whoever answers it now answers nobody.
    answer(&one, &id, "too late");
    assert!(!one.verb("0001", ["page"]).run().ok().contains("too late"));
}

/// During a hold nothing is consumed: the answer that was printed is on the successor's Page again.
#[test]
fn an_answer_that_comes_during_a_hold_is_on_the_page_of_the_successor() {
    let world = World::new();
    let (one, two) = pair(&world);
    let (child, id) = ask(&one, &two, &["--json"]);
    one.verb("0001", ["compact", "start"]).run().exits(0);
    answer(&one, &id, "in between");
    let out = outcome(child).exits(0);
    assert_eq!(out.json()["answer"], "in between");
    assert!(!one.exists(&format!("asked/{id}/seen")));
    let page = one.verb("0001", ["page"]).run().ok();
    assert!(page.contains("(shown before)") && page.contains("in between"), "{page}");
}

#[test]
fn a_request_is_for_runs_and_for_others() {
    let world = World::new();
    let (one, two) = pair(&world);
    world.orbh(["message", "request", &two.id, "?"]).run().fails(2, &["inside a run", "hint: "]);
    let out = one.verb("0001", ["message", "request", &one.id, "why?", "--json"]).run().exits(1);
    assert_eq!(out.json()["refused"][0]["code"], "asks-itself");
    one.verb("0001", ["message", "request", &two.id, " "]).run().fails(1, &["the message is empty"]);
    one.verb("0001", ["message", "request", &two.id, "a", "--deferred", "--timeout", "1"]).run().exits(2);
    assert_eq!(std::fs::read_dir(one.path("asked")).unwrap().count(), 0);
    assert_eq!(two.mail(&[]).len(), 0);
    // A message is no answer to a question: it would hide it.
    let id = sent(one.verb("0001", ["message", "request", &two.id, "really?", "--deferred"]).run());
    let out = two.verb("0001", ["message", "send", "--reply-to", &id, "yes", "--json"]).run().exits(1);
    let refused = &out.json()["refused"][0];
    assert_eq!(refused["code"], "is-a-question");
    assert_eq!(refused["fix"], format!("orbh respond {} {id} TEXT", one.id));
    assert_eq!(two.letter(&id)["respond"], Value::from(format!("orbh respond {} {id} TEXT", one.id)));
    assert_eq!(two.state_of(&id), "new");
}
