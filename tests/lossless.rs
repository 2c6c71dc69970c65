//! Nothing that is sent to a session is lost: eight writers, by every way there is, while its agent reads, its pager is
//! armed, fires and is killed, and its context is replaced twice. In CI some hundreds, for the night ten thousand.

use crate::harness::{Session, World, alive, signal, wait_for};
use nix::sys::signal::Signal;
use shared::spool::facts::{Addressee, Request};
use shared::spool::id::MessageId;
use shared::spool::root::Root;
use shared::spool::session::Spool;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many write at the same time.
const WRITERS: usize = 8;

/// How it goes.
struct Plan {
    total: usize,
    /// ORBH_WATCH of the pagers.
    watch: &'static str,
    /// Stops the first pager and floods its queue.
    overflow: bool,
}

/// What the agent has been shown, on Pages that were completely written.
#[derive(Default)]
struct Shown {
    /// How often each token stood on a Page of the agent's own.
    own: HashMap<String, usize>,
    /// How often each stood on one that a pager printed.
    paged: HashMap<String, usize>,
    pagers: usize,
    killed: usize,
    fired: usize,
}

fn token(writer: usize, number: usize) -> String {
    format!("token-{writer}-{number}-end")
}

/// Counts the tokens of a text, each once.
fn count(text: &str, tokens: &mut HashMap<String, usize>) {
    let found = text.match_indices("token-").filter_map(|(at, _)| {
        let rest = &text[at..];
        rest.find("-end").map(|end| rest[..end + 4].to_owned())
    });
    let mut on_this: Vec<String> = found.collect();
    on_this.sort();
    on_this.dedup();
    for token in on_this {
        *tokens.entry(token).or_default() += 1;
    }
}

fn spool(session: &Session) -> Spool {
    Root::open(&session.world.root()).unwrap().session(&session.id.parse().unwrap()).unwrap()
}

/// Questions of the session that wait for their answers.
fn ask(session: &Session, count: usize) -> Vec<MessageId> {
    let spool = spool(session);
    let ask = |_| {
        let at = shared::ground::clock::At::now();
        let request = Request { id: MessageId::question(), to: Addressee::Human, blocking: false, run: None, at };
        shared::spool::asked::put(&spool, &request, "Which?\n").unwrap();
        request.id
    };
    (0..count).map(ask).collect()
}

/// One writer: mostly `message send`, and each way else that there is.
fn write(session: &Session, writer: usize, plan: &Plan, questions: &[MessageId]) {
    let mut questions = questions.iter();
    for number in 0..plan.total / WRITERS {
        let token = token(writer, number);
        match number % 10 {
            3 => by_hand(session, writer, number, &token),
            6 => deliver_by_mblaze(session, &token),
            9 => {
                let question = questions.next().unwrap();
                session.world.orbh(["respond", &session.id, question.as_str(), &token]).run().exits(0);
            }
            _ => {
                session.world.orbh(["message", "send", &session.id, &token]).run().exits(0);
            }
        }
    }
}

/// As a script does it that knows nothing of us: written in tmp/, moved into new/.
fn by_hand(session: &Session, writer: usize, number: usize, token: &str) {
    let name = format!("1700000000.w{writer}n{number}.hand");
    let tmp = session.path("inbox/tmp").join(&name);
    std::fs::write(&tmp, format!("From: a script\nSubject: {token}\n\n{token}\n")).unwrap();
    std::fs::rename(&tmp, session.path("inbox/new").join(&name)).unwrap();
}

fn deliver_by_mblaze(session: &Session, token: &str) {
    let mut command = Command::new("mdeliver");
    command.arg(session.path("inbox")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("mdeliver of mblaze");
    let text = format!("From: mblaze <m@example.org>\nSubject: {token}\n\n{token}\n");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The agent: arms its pager, reads its Page, and twice hands off.
fn read(session: &Session, plan: &Plan, writing: &AtomicUsize) -> (Shown, String) {
    let (mut shown, mut run) = (Shown::default(), "0001".to_owned());
    let mut done = 0;
    for round in 0.. {
        let over = writing.load(Ordering::SeqCst) == 0;
        arm(session, &run, plan, round, over, &mut shown);
        done += own_page(session, &run, round, &mut shown);
        let due = [plan.total / 3, plan.total * 2 / 3].iter().filter(|due| over || done >= **due).count();
        while run.parse::<usize>().unwrap() <= due {
            run = hand_off(session, &run, round, &mut shown);
        }
        if over && pending(session) == 0 {
            return (shown, run);
        }
    }
    unreachable!()
}

fn pending(session: &Session) -> usize {
    shared::verbs::events::pending(&spool(session)).unwrap().len()
}

/// Arms a pager; some are killed at a moment that nobody chose, one is stopped while its queue overflows.
fn arm(session: &Session, run: &str, plan: &Plan, round: usize, over: bool, shown: &mut Shown) {
    let pager = session.verb(run, ["pager", "arm", "--max-wait", if over { "0" } else { "5" }]);
    let pager = pager.env("ORBH_PAGER_SETTLE_MS", "5").env("ORBH_WATCH", plan.watch);
    let child = pager.spawn();
    shown.pagers += 1;
    let pid = child.id().cast_signed();
    if plan.overflow && round == 0 {
        wait_for("the pager to be armed", || session.text("scratch/pager.lock").filter(|text| !text.is_empty()));
        signal(pid, Signal::SIGSTOP);
        for number in 0..20_000 {
            let noise = session.path("inbox/new").join(format!(".noise-{number}"));
            std::fs::write(&noise, "").unwrap();
            std::fs::remove_file(&noise).unwrap();
        }
        signal(pid, Signal::SIGCONT);
    }
    if round % 3 == 1 && (round == 1 || !over) {
        // Between nothing and twenty milliseconds: before it is armed, while it waits, and while it prints.
        std::thread::sleep(Duration::from_micros((round as u64 / 3 * 7919) % 20_000));
        if alive(pid) {
            signal(pid, Signal::SIGKILL);
            shown.killed += 1;
        }
    }
    let out = child.wait_with_output().unwrap();
    if out.status.code() == Some(0) {
        shown.fired += 1;
        count(&String::from_utf8(out.stdout).unwrap(), &mut shown.paged);
    } else {
        assert!(out.status.code().is_none(), "{:?}: {}", out.status, String::from_utf8_lossy(&out.stderr));
    }
}

/// Reads the Page; says how many tokens stood there for the first time.
fn own_page(session: &Session, run: &str, round: usize, shown: &mut Shown) -> usize {
    let args: &[&str] = if round % 16 == 15 { &["page", "--json"] } else { &["page"] };
    let before = shown.own.len();
    count(&session.verb(run, args).run().ok(), &mut shown.own);
    shown.own.len() - before
}

fn hand_off(session: &Session, run: &str, round: usize, shown: &mut Shown) -> String {
    let next = format!("{:04}", run.parse::<usize>().unwrap() + 1);
    session.verb(run, ["compact", "start"]).run().exits(0);
    // During the hold a Page shows, and consumes nothing.
    own_page(session, run, round, shown);
    let obligations: String = open_obligations(session);
    let handoff = session.good_handoff(&format!("run {run}")).replace("- none\n", &obligations);
    std::fs::write(session.handoff(run), handoff).unwrap();
    session.verb(run, ["compact", "handoff"]).run().accepted();
    session.pid(&next);
    wait_for("the intent to be carried out", || (!session.exists("scratch/relaunch.json")).then_some(()));
    own_page(session, &next, round, shown);
    session.verb(&next, ["compact", "finish"]).run().exits(0);
    next
}

fn open_obligations(session: &Session) -> String {
    let open = shared::verbs::obligations::open(&spool(session));
    shared::verbs::obligations::section(&open.obligations)
}

fn lossless(world: &World, plan: &Plan) {
    let session = world.idle_session();
    let each = plan.total / WRITERS / 10;
    let questions = ask(&session, each * WRITERS);
    let writing = AtomicUsize::new(WRITERS);
    let (shown, run) = std::thread::scope(|scope| {
        for (writer, questions) in questions.chunks(each.max(1)).enumerate().take(WRITERS) {
            let (session, writing) = (&session, &writing);
            scope.spawn(move || {
                write(session, writer, plan, questions);
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        read(&session, plan, &writing)
    });
    let lost: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..plan.total / WRITERS).map(move |number| token(writer, number)))
        .filter(|token| !shown.own.contains_key(token))
        .collect();
    let again = shown.own.values().filter(|times| **times > 1).count();
    println!(
        "{} sent ({}), {} on Pages, {again} more than once, {} on pagers' Pages; {} pagers, {} fired, {} killed; run {run}",
        plan.total,
        plan.watch,
        shown.own.len(),
        shown.paged.len(),
        shown.pagers,
        shown.fired,
        shown.killed
    );
    assert!(lost.is_empty(), "{} were lost: {:?}", lost.len(), &lost[..lost.len().min(20)]);
    assert_eq!(run, "0003", "it was to compact twice");
    assert!(shown.fired > 0 && shown.killed > 0);
}

fn some(watch: &'static str) -> Plan {
    Plan { total: 400, watch, overflow: false }
}

#[test]
fn nothing_is_lost_with_inotify() {
    lossless(&World::fast(), &some("inotify"));
}

#[test]
fn nothing_is_lost_with_dnotify() {
    lossless(&World::fast(), &some("dnotify"));
}

#[test]
fn nothing_is_lost_with_polling() {
    lossless(&World::fast(), &some("polling"));
}

#[test]
fn nothing_is_lost_when_the_queue_overflows() {
    lossless(&World::fast(), &Plan { overflow: true, ..some("inotify") });
}

#[test]
#[ignore = "minutes: for the night"]
fn night_lossless() {
    for watch in ["inotify", "dnotify", "polling"] {
        for overflow in [false, watch == "inotify"] {
            lossless(&World::new(), &Plan { total: 10_000, watch, overflow });
        }
        lossless(&World::under(Path::new("/dev/shm")), &Plan { total: 10_000, watch, overflow: false });
    }
}
