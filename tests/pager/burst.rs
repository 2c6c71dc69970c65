//! Bursts: one Page for what comes together, by count and order.

use super::{Armed, subjects};
use crate::harness::{World, alive, wait_for};

fn settling(session: &crate::harness::Session, ms: u32) -> Armed {
    Armed::start(session, session.verb("0001", ["page", "arm"]).env("ORBH_PAGER_SETTLE_MS", ms.to_string()))
}

/// What comes one after the other is one Page; nothing of it is left for the next one.
#[test]
fn a_burst_is_one_page() {
    let world = World::new();
    let session = world.quick_session(1);
    let armed = settling(&session, 1500);
    for number in 0..8 {
        session.deliver(&format!("{number}.b.x"), &format!("part {number}"));
    }
    let page = armed.page();
    assert_eq!(subjects(&page), (0..8).map(|number| format!("part {number}")).collect::<Vec<_>>());
    assert_eq!(session.pager()["announced"], 8);
}

/// A burst that does not end is told all the same, after ten times as long.
#[test]
fn a_burst_without_an_end_is_told() {
    let world = World::new();
    let session = world.quick_session(1);
    let armed = settling(&session, 100);
    let mut number = 0;
    wait_for("a Page although messages come and come", || {
        session.deliver(&format!("{number:04}.b.x"), &format!("part {number}"));
        number += 1;
        (!alive(armed.pid())).then_some(())
    });
    let page = armed.page();
    let told = subjects(&page);
    // More than one: it has waited for the end. The test goes on to send meanwhile, so not all of them.
    assert!(told.len() > 1 && told[0] == "part 0", "{page}");
    assert!(session.pager()["announced"].as_u64().unwrap() < number);
}
