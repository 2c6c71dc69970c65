//! What must hold of a session whatever has died, and where it must be after one recovery verb (orbh-spool(5)).

use super::scene::{Last, Scene};
use crate::harness::{Session, alive, wait_for};
use serde_json::Value;

/// A fact, or that it cannot be read.
fn fact(session: &Session, below: &str) -> Result<Option<Value>, String> {
    let Some(text) = session.text(below) else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| format!("{below} is damaged: {error}: {text:?}"))
}

/// The recorded process of a run, if it lives. A number may have been given to another process since.
fn living(session: &Session, run: &str) -> Result<Option<i32>, String> {
    let Some(record) = fact(session, &format!("runs/{run}/pid"))? else { return Ok(None) };
    let (pid, start) = (record["pid"].as_i64().unwrap_or(0), record["start"].as_u64().unwrap_or(0));
    let pid = i32::try_from(pid).unwrap();
    let same = shared::ground::process::Proc::of(pid).is_some_and(|proc| proc.start == start);
    Ok((pid > 0 && same && alive(pid)).then_some(pid))
}

fn compacted(session: &Session, run: &str) -> Result<bool, String> {
    Ok(fact(session, &format!("runs/{run}/end.json"))?.is_some_and(|end| end["reason"] == "compacted"))
}

/// What holds at every moment: the violations, if there are any.
pub fn at_any_time(session: &Session) -> Result<(), String> {
    session.world.one_at_a_time()?;
    if !session.exists("runs") {
        return Ok(());
    }
    let runs = session.runs();
    let numbers: Vec<String> = (1..=runs.len()).map(|number| format!("{number:04}")).collect();
    if runs != numbers {
        return Err(format!("not the numbers of runs: {runs:?}"));
    }
    let mut live = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let Some(record) = fact(session, &format!("runs/{run}/run.json"))? else {
            if at + 1 < runs.len() {
                return Err(format!("run {run} has no run.json, and is not the newest"));
            }
            continue;
        };
        let end = fact(session, &format!("runs/{run}/end.json"))?;
        let lives = living(session, run)?.is_some();
        if lives {
            live.push(run.clone());
        }
        if lives && end.is_some() {
            return Err(format!("run {run} has ended, and lives"));
        }
        if record["kind"] == "compact" {
            let closed = record["closes"].as_str().unwrap_or_default().to_owned();
            if !compacted(session, &closed)? {
                return Err(format!("run {run} replaces run {closed}, which has not ended"));
            }
        }
        if compacted(session, run)? {
            let good = session.good_handoff(&format!("run {run}"));
            for name in [format!("scratch/accepted-{run}.md"), format!("scratch/handoff-{run}.md")] {
                if session.text(&name).as_deref() != Some(good.as_str()) {
                    return Err(format!("run {run} has ended by compaction, and {name} is not what was accepted"));
                }
            }
        }
    }
    if live.len() > 1 {
        return Err(format!("two contexts live: {live:?}"));
    }
    Ok(())
}

/// Readers show the session, whatever state it is in.
pub fn shown(session: &Session) -> Result<(), String> {
    for verb in [&["inspect", session.id.as_str(), "--json"][..], &["list", "--all"]] {
        let out = session.world.orbh(verb).run();
        if out.code != Some(0) || out.stderr.contains("panicked") {
            return Err(format!("{verb:?}: {out:?}"));
        }
    }
    Ok(())
}

/// Waits until the session is where it must be.
pub fn arrives(session: &Session, last: Last) -> Result<(), String> {
    wait_for("the session to be where it must be", || {
        let newest = newest(session)?;
        let end = fact(session, &format!("runs/{newest}/end.json")).ok()?;
        let there = match last {
            Last::Works => {
                let up = session.world.started().last() == Some(&newest);
                end.is_none() && up && living(session, &newest).ok()?.is_some() && session.managed()
            }
            Last::Ended(reason) => end.is_some_and(|end| end["reason"] == reason),
        };
        (there && !session.exists("scratch/relaunch.json")).then_some(())
    });
    at_any_time(session)
}

fn newest(session: &Session) -> Option<String> {
    session.runs().pop().filter(|run| session.exists(&format!("runs/{run}/run.json")))
}

/// Where a scene must come to, after one recovery verb.
pub fn in_the_end(session: &Session, scene: &Scene, sent: &[&str]) -> Result<(), String> {
    arrives(session, scene.last)?;
    let replaces = |run: &&String| {
        let record = fact(session, &format!("runs/{run}/run.json"));
        record.is_ok_and(|record| record.is_some_and(|record| record["closes"] == "0001"))
    };
    let started = session.world.started();
    let successors: Vec<&String> = started.iter().filter(replaces).collect();
    // A successor that died at once, by what was done to its shim, is tried again from the handoff.
    let fits = match (scene.compacted, compacted(session, "0001")?) {
        (true, true) => successors.len() == 1 || (scene.name == "the shim" && successors.len() == 2),
        (true, false) => false,
        // Called off, when the old context had ended already: another run continues it.
        (false, _) => successors.is_empty(),
    };
    if !fits {
        return Err(format!("the successors of run 0001 are {successors:?} of {started:?}"));
    }
    nothing_is_lost(session, scene.last, sent)?;
    match scene.last {
        Last::Works => usable(session),
        Last::Ended(_) => shown(session),
    }
}

/// What was sent to the session is on the Page of its newest run, or waits for one.
fn nothing_is_lost(session: &Session, last: Last, sent: &[&str]) -> Result<(), String> {
    let page = match last {
        Last::Works => session.verb(&newest(session).unwrap(), ["page"]).run(),
        Last::Ended(_) => session.world.orbh(["page", &session.id]).run(),
    };
    match sent.iter().find(|text| !page.stdout.contains(*text)) {
        None if page.code == Some(0) => Ok(()),
        _ => Err(format!("{sent:?} were sent, and the Page is {page:?}")),
    }
}

/// The session goes on: its agent can finish what was begun, and begin anew.
pub fn usable(session: &Session) -> Result<(), String> {
    let run = &newest(session).unwrap();
    let finish = session.verb(run, ["compact", "finish"]).run();
    if !matches!(finish.code, Some(0 | 1)) {
        return Err(format!("finish: {finish:?}"));
    }
    let start = session.verb(run, ["compact", "start"]).run();
    match start.code {
        Some(0) => Ok(()),
        _ => Err(format!("after finish ({finish:?}) start: {start:?}")),
    }
}
