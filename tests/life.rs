//! The whole life of a session, through the real binaries.

use crate::harness::{World, alive, wait_for};

/// R1 R2 R38: one session, two runs, and the second one is told the duty, then where the handoff is.
#[test]
fn a_session_outlives_its_context() {
    let world = World::new();
    let session = world.idle_session();
    let first = session.pid("0001");
    session.compact("0001", "0002");
    assert!(!alive(first));
    assert_eq!(session.fact("runs/0001/end.json").unwrap()["reason"], "compacted");
    let prompt = session.text("runs/0002/prompt.md").unwrap();
    let duty = prompt.find("do nothing").unwrap();
    let handoff = prompt.find(&session.handoff("0001").display().to_string()).unwrap();
    assert!(duty < handoff);
    assert_eq!(session.phase(), "bootstrapping");
    session.verb("0002", ["compact", "finish"]).run().ok();
    session.verb("0002", ["session", "return", "done"]).run().ok();
    wait_for("the session to be finished", || (session.state() == "finished").then_some(()));
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "done\n");
}

/// An agent that lives through a compaction by itself: a handoff that is refused, one that is accepted, and a
/// successor that finishes and returns. It keeps what it was given and what it was told in its work directory.
const WHOLE_LIFE: &str = r#"
cat >stdin-$ORBH_RUN
case $ORBH_RUN in
0001)
    orbh session register 'a life' 'lived by a script'
    handoff=$(orbh compact start | sed -n '3s/^ *//p')
    echo "$handoff" >handoff.path
    echo 'nothing that would pass' >"$handoff"
    orbh compact handoff >refused.out 2>refused.err
    echo $? >refused.status
    {
        printf 'COMPACTION_ARTIFACT_V1\n\n## SUMMARY\n\n'
        for i in 1 2 3 4 5 6; do echo "Part $i of the account of a script whose duty is to be replaced and to return."; done
        printf '\n## FILES\n\n%s :: the duty\n\n' "$ORBH_ROOT/sessions/$ORBH_SESSION_ID/prompt.md"
        printf '## OPEN OBLIGATIONS\n\n- none\n'
    } >"$handoff"
    orbh compact handoff >accepted.out 2>accepted.err
    echo survived >survived
    ;;
*)
    orbh page >page.out
    orbh compact finish >finish.out
    echo 'the result of a whole life' | orbh session return -
    ;;
esac
"#;

/// R1 R2 R3 R4 R16 R22 R24 R29 R30 R38 R39: the whole life, lived by an agent alone.
#[test]
fn an_agent_lives_through_a_compaction_by_itself() {
    let world = World::new();
    world.agent("life", WHOLE_LIFE);
    let session = world.launch("command/life", "be replaced, and return");
    session.wait_state("finished");
    let told = |name: &str| std::fs::read_to_string(world.work().join(name)).unwrap();
    // One session, two runs.
    assert_eq!(session.runs(), ["0001", "0002"]);
    assert_eq!(std::fs::read_dir(world.root().join("sessions")).unwrap().count(), 1);
    assert_eq!(session.wait_end("0001"), "compacted");
    assert_eq!(session.wait_end("0002"), "returned");
    assert_eq!(session.fact("runs/0002/run.json").unwrap()["kind"], "compact");
    // The path that start prints is the one that was accepted, named for the run; it holds the accepted bytes.
    assert_eq!(told("handoff.path").trim(), session.handoff("0001").display().to_string());
    assert_eq!(session.text("scratch/handoff-0001.md"), session.text("scratch/accepted-0001.md"));
    // What was given on standard input: exactly the prompt of the run; the duty, then the handoff.
    for run in ["0001", "0002"] {
        assert_eq!(told(&format!("stdin-{run}")), session.text(&format!("runs/{run}/prompt.md")).unwrap());
    }
    let prompt = told("stdin-0002");
    let at = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("no '{text}' in: {prompt}"));
    let path = told("handoff.path");
    let steps = ["be replaced, and return", path.trim(), "orbh page`", "FILES", "compact finish"];
    let handoff = at(steps[1]);
    assert!(at(steps[0]) < handoff);
    for step in &steps[2..] {
        assert!(prompt[handoff..].contains(step), "no '{step}' after the handoff in: {prompt}");
    }
    assert!(!told("stdin-0001").contains("handoff-0001.md"));
    // The refusal left the agent alive, the acceptance did not.
    assert_eq!(told("refused.status"), "1\n");
    assert_eq!(told("refused.err").lines().last(), Some("Your context will NOT end."));
    assert!(!world.work().join("survived").exists());
    // The verb may be stopped with its context before it has said a word, but it says no other one.
    assert_eq!(told("accepted.err"), "");
    assert!(told("page.out").contains("bootstrapping"));
    assert_eq!(world.orbh(["result", &session.id]).run().ok(), "the result of a whole life\n");
    assert!(!session.exists("scratch/compacting.json"));
    assert!(!session.exists("scratch/relaunch.json"));
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    assert_eq!(world.processes(), Vec::<i32>::new());
}

/// The log tells what happened, in the order in which it did.
#[test]
fn the_log_tells_the_life_in_order() {
    let world = World::new();
    world.agent("life", WHOLE_LIFE);
    let session = world.launch("command/life", "be replaced, and return");
    session.wait_state("finished");
    session.wait_end("0002");
    wait_for("the manager to leave", || (!session.managed()).then_some(()));
    let mut events = session.events();
    // The manager notes these while the agent is at work already, so their place is not certain.
    events.retain(|event| !event.starts_with("run-started") && !event.starts_with("relaunched"));
    let expected = [
        "launched",
        "run-created 0001",
        "compaction-started 0001",
        "handoff-refused 0001",
        "handoff-accepted 0001",
        "context-ending 0001",
        "run-ended 0001",
        "run-created 0002",
        "compaction-finished 0002",
        "returned 0002",
        "run-ended 0002",
    ];
    assert_eq!(events, expected);
}
