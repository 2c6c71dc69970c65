//! The scenes of what is sent to a session and shown to it: whatever dies or fails, each message, answer and question is
//! there whole or not at all, and is on a Page that was completely written before it counts as shown.

use super::scene::{PLAIN, Scene, drafted, keeps, live, outside, relaunch, resume, unmanaged, verb};
use crate::harness::{Cmd, Session, World, bin_dir, wait_for};
use shared::ground::clock::At;
use shared::spool::asked::{self, Standing};
use shared::spool::facts::{Addressee, Request};
use shared::spool::id::{MessageId, SessionId};
use shared::spool::inbox::Inbox;
use shared::spool::letter::{self, Sender};
use shared::spool::outbox::{self, Order};
use shared::spool::root::Root;
use shared::spool::session::Spool;

/// What the message, the question and the answer say.
const MESSAGE: &str = "the text of a message";
const QUESTION: &str = "which of the two";
const ANSWER: &str = "the left one";

/// The messages of an inbox, with their place.
fn messages(session: &Session) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for place in ["inbox/new", "inbox/cur"] {
        // Of a Maildir that somebody began to make, some may be missing.
        for entry in std::fs::read_dir(session.path(place)).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !name.starts_with('.') {
                found.push((format!("{place}/{name}"), session.text(&format!("{place}/{name}")).unwrap()));
            }
        }
    }
    found
}

fn spool(session: &Session) -> Spool {
    Root::open(&session.world.root()).unwrap().session(&session.id.parse().unwrap()).unwrap()
}

/// What is sent before and after the process of a scene that is not about mail.
pub const MEANWHILE: [&str; 2] = ["sent before it", "sent after it"];

/// Sends a message.
pub fn deliver(session: &Session, text: &str) {
    let spool = spool(session);
    let (id, at) = (MessageId::message(), At::now());
    let from = Sender::User("somebody".to_owned());
    let draft = letter::Draft { id: &id, at, from: &from, to: spool.id(), subject: None, in_reply_to: None, text };
    Inbox::of(&spool).deliver(&id, at, &letter::compose(&draft)).unwrap();
}

/// A question to a person, whose id this is.
const QID: &str = "q0123abcde";

fn ask(session: &Session) {
    let id: MessageId = QID.parse().unwrap();
    let request = Request { id, to: Addressee::Human, blocking: false, run: None, at: At::now() };
    asked::put(&spool(session), &request, QUESTION).unwrap();
}

/// A session with a message and an answer that wait for it.
fn waiting(world: &World) -> Session<'_> {
    let session = live(world);
    deliver(&session, MESSAGE);
    ask(&session);
    asked::answer(&spool(&session), &QID.parse().unwrap(), ANSWER).unwrap();
    session
}

fn waiting_and_held(world: &World) -> Session<'_> {
    let session = drafted(world);
    deliver(&session, MESSAGE);
    session
}

/// A session that others write to, of which nothing runs.
pub const OTHER: &str = "ffffffff-0000-4000-8000-00000000000f";

fn other<'w>(session: &Session<'w>) -> Session<'w> {
    Session::new(session.world, OTHER)
}

fn beside_another(world: &World) -> Session<'_> {
    let session = live(world);
    world.fake_session(OTHER, "another", std::process::id().cast_signed());
    session
}

/// A message and an answer for another session lie in the outbox, and no manager is there.
fn with_orders(world: &World) -> Session<'_> {
    let session = unmanaged(world);
    let other = world.fake_session(OTHER, "another", std::process::id().cast_signed());
    let (me, id): (SessionId, MessageId) = (session.id.parse().unwrap(), QID.parse().unwrap());
    let request = Request { id: id.clone(), to: Addressee::Session(me), blocking: false, run: None, at: At::now() };
    asked::put(&spool(&other), &request, QUESTION).unwrap();
    let (to, at): (SessionId, At) = (OTHER.parse().unwrap(), At::now());
    let message = Order::Message {
        id: MessageId::message(),
        to: to.clone(),
        at,
        subject: None,
        in_reply_to: None,
        text: MESSAGE.to_owned(),
    };
    outbox::put(&spool(&session), &message).unwrap();
    outbox::put(&spool(&session), &Order::Answer { id, to, at, text: ANSWER.to_owned() }).unwrap();
    session
}

fn outbox_is_empty(session: &Session) -> bool {
    std::fs::read_dir(session.path("outbox")).unwrap().next().is_none()
}

/// Both are where they belong, each once.
fn delivered(session: &Session) {
    resume(session);
    wait_for("the outbox to be empty", || outbox_is_empty(session).then_some(()));
    let other = other(session);
    let messages = messages(&other);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].1.ends_with(&format!("\n\n{MESSAGE}\n")), "{messages:?}");
    assert_eq!(other.text(&format!("asked/{QID}/answer.md")).unwrap(), ANSWER);
    assert!(self::messages(session).iter().all(|(_, text)| !text.contains("not delivered")));
}

/// Asked once or twice, and each question is either in the other inbox, under its id, or can be brought there.
fn requested(session: &Session) {
    verb(session, "0001", &["message", "request", OTHER, QUESTION, "--deferred"]).run().exits(0);
    let (questions, damage) = asked::all(&spool(session), |standing| standing == Standing::Open).unwrap();
    assert!(damage.is_empty() && (1..=2).contains(&questions.len()), "{questions:?}, {damage:?}");
    for question in questions {
        verb(session, "0001", &["session", "answer", question.id.as_str(), "--timeout", "0"]).run().exits(75);
        let there = messages(&other(session)).iter().filter(|(path, _)| path.contains(question.id.as_str())).count();
        assert_eq!(there, 1, "{question:?}");
    }
}

fn asking(world: &World) -> Session<'_> {
    let session = live(world);
    ask(&session);
    session
}

/// A verb from outside, without the dispatcher between.
fn program(session: &Session, name: &str, words: &[&str]) -> Cmd {
    session.world.program(bin_dir().join(format!("orbh-{name}"))).bare_args(words)
}

/// What the scene's process has printed.
fn printed(session: &Session) -> String {
    std::fs::read_to_string(session.world.path().join("traced/stdout")).unwrap_or_default()
}

fn pending(session: &Session, what: &str) -> bool {
    match what {
        MESSAGE => messages(session).iter().any(|(path, _)| path.contains("/new/") || !path.ends_with('S')),
        _ => !session.exists(&format!("asked/{QID}/seen")),
    }
}

/// What is not pending any more was printed whole; what still is, is on the next Page.
fn nothing_is_lost(session: &Session) {
    let first = printed(session);
    for what in [MESSAGE, ANSWER] {
        assert!(pending(session, what) || (first.contains(what) && first.ends_with('\n')), "{what:?} is lost: {first}");
    }
    let before = [MESSAGE, ANSWER].map(|what| pending(session, what));
    let page = verb(session, "0001", &["page"]).run().exits(0).stdout;
    for (what, pending_before) in [MESSAGE, ANSWER].into_iter().zip(before) {
        assert_eq!(page.contains(what), pending_before, "{what:?} on {page}");
        assert!(!pending(session, what), "{what:?} was shown, and is pending");
    }
}

fn announced(session: &Session) -> bool {
    session.text("scratch/announced-0001").is_some_and(|text| text.contains("message/"))
}

/// What the pager has announced it has printed; and the session's own Page shows it, whatever became of the pager.
fn nothing_is_only_announced(session: &Session) {
    let first = printed(session);
    assert!(!announced(session) || first.contains(MESSAGE), "announced, and not printed: {first}");
    if !announced(session) {
        let again = verb(session, "0001", &["pager", "arm", "--max-wait", "20"]).run().exits(0).stdout;
        assert!(again.contains(MESSAGE), "{again}");
    }
    assert!(pending(session, MESSAGE) && pending(session, ANSWER), "consumed by a pager");
    let page = verb(session, "0001", &["page"]).run().exits(0).stdout;
    assert!(page.contains(MESSAGE) && page.contains(ANSWER), "{page}");
}

/// Sent once or, given again after a failure that said nothing, twice; whole each time.
fn sent(session: &Session) {
    verb(session, "0001", &["message", "send", &session.id, MESSAGE]).run().exits(0);
    let messages = messages(session);
    assert!((1..=2).contains(&messages.len()), "{messages:?}");
    assert!(messages.iter().all(|(_, text)| text.ends_with(&format!("\n\n{MESSAGE}\n"))), "{messages:?}");
}

/// Asked once or twice; each question has its text.
fn asked_again(session: &Session) {
    verb(session, "0001", &["session", "ask", "--deferred", QUESTION]).run().exits(0);
    let (questions, damage) = asked::all(&spool(session), |_| true).unwrap();
    assert!(damage.is_empty() && (1..=2).contains(&questions.len()), "{questions:?}, {damage:?}");
    assert!(questions.iter().all(|question| question.text(1000).unwrap() == QUESTION));
}

fn answered(session: &Session) {
    let out = outside(session, "respond", &[QID, ANSWER]).run();
    assert!(out.code == Some(0) || out.stderr.contains("answered already"), "{out:?}");
    assert_eq!(session.text(&format!("asked/{QID}/answer.md")).unwrap(), ANSWER);
    let page = verb(session, "0001", &["page"]).run().exits(0).stdout;
    assert!(page.contains(ANSWER), "{page}");
}

/// The verbs of mail.
pub const MAIL: [Scene; 8] = [
    Scene {
        name: "message send",
        command: |session| program(session, "message", &["send", &session.id, MESSAGE]),
        verb: true,
        committed: |session| !messages(session).is_empty(),
        recover: sent,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "page",
        prepare: waiting,
        command: |session| verb(session, "0001", &["page"]),
        verb: true,
        committed: |session| !pending(session, MESSAGE),
        // One that cannot be marked keeps none of the others from it.
        residue: &["asked/q0123abcde/seen"],
        recover: nothing_is_lost,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "page, during a hold",
        prepare: waiting_and_held,
        command: |session| verb(session, "0001", &["page"]),
        verb: true,
        committed: announced,
        residue: &["scratch/announced-0001"],
        recover: |session| {
            assert!(pending(session, MESSAGE), "consumed during a hold");
            let page = verb(session, "0001", &["page"]).run().exits(0).stdout;
            assert!(page.contains(MESSAGE), "{page}");
            assert!(pending(session, MESSAGE), "consumed during a hold");
        },
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "page arm",
        prepare: waiting,
        command: |session| verb(session, "0001", &["pager", "arm"]).env("ORBH_PAGER_SETTLE_MS", "0"),
        verb: true,
        committed: announced,
        residue: &["scratch/announced-0001"],
        recover: nothing_is_only_announced,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "session ask",
        command: |session| verb(session, "0001", &["session", "ask", "--deferred", QUESTION]),
        verb: true,
        committed: |session| !asked::all(&spool(session), |_| true).unwrap().0.is_empty(),
        recover: asked_again,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "respond",
        prepare: asking,
        command: |session| outside(session, "respond", &[QID, ANSWER]),
        verb: true,
        committed: |session| session.exists(&format!("asked/{QID}/answer.md")),
        recover: answered,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "message request",
        prepare: beside_another,
        command: |session| verb(session, "0001", &["message", "request", OTHER, QUESTION, "--deferred"]),
        verb: true,
        committed: |session| !asked::all(&spool(session), |_| true).unwrap().0.is_empty(),
        recover: requested,
        mail: false,
        ..PLAIN
    },
    Scene {
        name: "the manager that delivers",
        prepare: with_orders,
        command: relaunch,
        done: |session, traced| keeps(session, traced) && outbox_is_empty(session),
        recover: delivered,
        mail: false,
        ..PLAIN
    },
];
