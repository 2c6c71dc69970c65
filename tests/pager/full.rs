//! The advice to compact: once a context, from whatever the harness writes.

use super::Armed;
use crate::harness::{Session, World};
use crate::transcript::{answer, count, lines};
use serde_json::{Value, json};
use std::io::Write;

/// A harness of this test, and what it tells of a context of so many tokens.
struct Teller {
    target: &'static str,
    record: Option<fn(u64) -> Value>,
}

const TELLERS: [Teller; 3] = [
    Teller { target: "command/one", record: None },
    Teller { target: "claude/one", record: Some(answer) },
    Teller { target: "codex/one", record: Some(count) },
];

impl Teller {
    fn launch<'w>(&self, world: &'w World) -> Session<'w> {
        let (runtime, _) = self.target.split_once('/').unwrap();
        world.stand_in(runtime, "one", &json!({"context_window": 200_000}));
        world.launch(self.target, "do nothing")
    }

    fn tell(&self, session: &Session, run: &str, used: u64) {
        match self.record {
            Some(record) => write(session, run, &[record(used)]),
            None => session.report_context(run, &json!({"used": used}).to_string()),
        }
    }
}

/// Appends records to the transcript of a run, which may not be there yet.
fn write(session: &Session, run: &str, records: &[Value]) {
    let file = std::fs::OpenOptions::new().append(true).create(true).open(session.transcript(run));
    file.unwrap().write_all(lines(records).as_bytes()).unwrap();
}

#[track_caller]
fn advises(page: &str) {
    assert!(page.contains("the context is at 80 percent or more"), "{page}");
}

/// R8: an armed pager fires an advisory when occupancy reaches 80 percent: exactly once a context, whichever run asks
/// again, and once more in the next one.
#[test]
fn the_advisory_comes_once_a_context() {
    for teller in TELLERS {
        let world = World::new();
        let session = teller.launch(&world);
        for (run, next) in [("0001", "0002"), ("0002", "0003")] {
            // Armed before anything is known; what is not enough is not told.
            let mut armed = session.arm(run);
            teller.tell(&session, run, 100_000);
            teller.tell(&session, run, 159_999);
            armed.waits();
            teller.tell(&session, run, 160_000);
            advises(&armed.page());
            assert!(session.exists(&format!("scratch/advised-{run}")), "{}", teller.target);
            // However full it gets: what ends this one is a message.
            let mut armed = session.arm(run);
            teller.tell(&session, run, 180_000);
            assert_eq!(session.pager()["pending"], json!([]));
            armed.waits();
            session.deliver(&format!("1.{run}.x"), "a message");
            let page = armed.page();
            assert!(page.contains("a message"), "{page}");
            session.verb(run, ["page"]).run().ok();
            session.compact(run, next);
            session.verb(next, ["compact", "finish"]).run().ok();
        }
    }
}

/// It is pending as everything else is: seen by status, told after a hold, and shown by the own Page first, it is over.
#[test]
fn an_advisory_is_held_and_is_over_once_the_own_page_has_shown_it() {
    let world = World::new();
    let teller = &TELLERS[0];
    let session = teller.launch(&world);
    session.verb("0001", ["compact", "start"]).run().exits(0);
    let mut armed = session.arm("0001");
    teller.tell(&session, "0001", 170_000);
    armed.waits();
    session.verb("0001", ["compact", "abort"]).run().exits(0);
    advises(&armed.page());
    std::fs::remove_file(session.path("scratch/advised-0001")).unwrap();
    assert_eq!(session.pager()["pending"], json!([{"kind": "advisory", "id": null, "announced": false}]));
    advises(&session.verb("0001", ["page"]).run().ok());
    assert_eq!(session.pager()["pending"], json!([]));
    let mut armed = session.arm("0001");
    armed.waits();
    session.deliver("1.one.x", "a message");
    armed.page();
}

/// A harness that writes without a pause does not keep the pager busy, advised or not, and a message is told at once.
#[test]
fn a_transcript_that_is_written_all_the_time_does_not_keep_the_pager_busy() {
    for used in [1_000, 170_000] {
        let world = World::new();
        let teller = &TELLERS[1];
        let session = teller.launch(&world);
        teller.tell(&session, "0001", used);
        if used > 160_000 {
            advises(&session.arm("0001").page());
        }
        let armed = Armed::start(&session, session.arm_cmd("0001").args(["--max-wait", "600"]));
        let path = session.transcript("0001");
        let record = lines(&[answer(used)]);
        let switches = || -> u64 {
            let status = std::fs::read_to_string(format!("/proc/{}/status", armed.pid())).unwrap();
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
            line.rsplit('\t').next().unwrap().parse().unwrap()
        };
        let before = switches();
        let begin = std::time::Instant::now();
        let mut written = 0;
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        while begin.elapsed().as_secs() < 4 || written < 1000 {
            file.write_all(record.as_bytes()).unwrap();
            written += 1;
            std::thread::yield_now();
        }
        let looks = switches() - before;
        assert!(looks < written / 10, "{looks} wakes for {written} writes");
        session.deliver("1.one.x", "at once");
        assert!(armed.page().contains("at once"));
    }
}
