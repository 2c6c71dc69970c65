//! What is promised of messages, questions and answers.

use crate::harness::{Session, World, wait_for};

fn send(session: &Session, text: &str) {
    session.world.orbh(["message", "send", &session.id, "-"]).stdin(text).run().exits(0);
}

fn asks(session: &Session) -> String {
    let asked = session.verb("0001", ["session", "ask", "--deferred", "Which one?"]).run().exits(0);
    asked.stdout.trim().to_owned()
}

fn pending(session: &Session) -> usize {
    std::fs::read_dir(session.path("inbox/new")).unwrap().count()
}

/// G19: whole or not at all, whoever looks while they are written; and one of several answers counts.
#[test]
fn g19_what_is_sent_is_whole_and_one_answer_counts() {
    let world = World::fast();
    let session = world.idle_session();
    let text = format!("{}\nthe end", "x".repeat(300_000));
    let id = asks(&session);
    let (sent, looks) = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..5).for_each(|_| send(&session, &text)))).collect();
        let mut looks = 0;
        while senders.iter().any(|sender| !sender.is_finished()) {
            for entry in std::fs::read_dir(session.path("inbox/new")).unwrap() {
                let message = std::fs::read_to_string(entry.unwrap().path()).unwrap();
                assert!(message.trim_end().ends_with("the end"), "a torn message of {} bytes", message.len());
                looks += 1;
            }
        }
        (pending(&session), looks)
    });
    assert_eq!(sent, 20);
    assert!(looks > 0);
    let won: Vec<String> = std::thread::scope(|scope| {
        let answer = |number: usize| {
            let (world, session, id) = (&world, &session, &id);
            scope.spawn(move || {
                let text = format!("answer {number}");
                (world.orbh(["respond", &session.id, id, &text]).run().code == Some(0)).then_some(text)
            })
        };
        let racers: Vec<_> = (0..8).map(answer).collect();
        racers.into_iter().filter_map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(session.text(&format!("asked/{id}/answer.md")).unwrap(), won[0]);
    session.verb("0001", ["session", "cancel", &id]).run().exits(1);
}

/// G20: only one's own Page consumes, only what it has shown, and only once it was written.
#[test]
fn g20_nothing_is_consumed_that_was_not_shown() {
    let world = World::new();
    let session = world.idle_session();
    send(&session, "Not to be lost.");
    // An observer, a pager, a Page that cannot be written, a list, and a hold.
    world.orbh(["page", &session.id]).run().ok();
    session.verb("0001", ["page", "arm", "--max-wait", "0"]).run().exits(0);
    session.verb("0001", ["page"]).run_into("/dev/full").exits(74);
    world.orbh(["message", "list", &session.id]).run().ok();
    session.verb("0001", ["compact", "start"]).run().exits(0);
    assert!(session.verb("0001", ["page"]).run().ok().contains("Not to be lost."));
    assert_eq!(pending(&session), 1);
    session.write_good_handoff("0001");
    session.verb("0001", ["compact", "handoff"]).run().accepted();
    session.wait_relaunched("0002");
    // A straggler of the context that was replaced.
    let straggler = session.verb("0001", ["page"]).run().exits(1);
    assert!(!straggler.stdout.contains("Not to be lost."));
    session.verb("0002", ["compact", "finish"]).run().exits(0);
    assert_eq!(pending(&session), 1);
    assert!(session.verb("0002", ["page"]).run().ok().contains("Not to be lost."));
    assert_eq!(pending(&session), 0);
}

/// G21: a pager tells of what is pending, also of what came before it was armed, and of each event once.
#[test]
fn g21_a_pager_tells_of_each_event_once() {
    let world = World::new();
    let session = world.idle_session();
    send(&session, "The first one.");
    let told = session.verb("0001", ["page", "arm"]).run().exits(0).stdout;
    assert!(told.contains("The first one.") && !told.contains("shown before"), "{told}");
    let armed = session.verb("0001", ["page", "arm"]).spawn();
    let status = || world.orbh(["pager", "status", &session.id, "--json"]).run().json();
    wait_for("the pager", || (status()["pager"] == "armed").then_some(()));
    assert_eq!(status()["announced"], 1);
    send(&session, "The second one.");
    let out = crate::harness::outcome(armed).exits(0).stdout;
    let (second, first) = (out.find("The second one.").unwrap(), out.find("(shown before): The first one.").unwrap());
    assert!(second < first, "{out}");
}
