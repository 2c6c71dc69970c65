//! The sweeps: each point of a scene meets its fate in a session of its own, is recovered from, and is judged.

use super::judge;
use super::mail::{MEANWHILE, deliver};
use super::scene::{Scene, only_session};
use super::trace::{Calls, Fate, Point, Strayed, Traced, Tracing};
use crate::harness::{Fingerprint, Outcome, Session, World, difference, fingerprint, wait_for};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// At once: most of a point is waiting.
const WORKERS: usize = 4;
/// A point that is not reached is tried so often: what a process does between its waits may come in another order.
const TRIES: usize = 5;
/// So often a scene is recorded.
const RECORDINGS: usize = 3;

/// What a sweep has counted.
#[derive(Debug, Default)]
pub struct Tally {
    /// What was to be met.
    pub points: usize,
    /// What was.
    pub fired: usize,
    /// What has not come about, and why.
    pub violations: Vec<String>,
    /// Points that were not reached.
    pub missed: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// What took longest of it.
    pub slowest: Option<(f64, String)>,
}

impl Tally {
    /// One line of figures, and a line for all that is wrong.
    pub fn tell(&self, name: &str) {
        let Tally { points, fired, violations, missed, seconds, slowest } = self;
        println!("{name}: {points} points, {fired} fired, {} violations, {seconds:.1} s", violations.len());
        if let Some((took, point)) = slowest {
            println!("    the slowest, {took:.1} s: {point}");
        }
        missed.iter().for_each(|point| println!("    not reached: {point}"));
        violations.iter().for_each(|violation| println!("    VIOLATION: {violation}"));
    }

    /// Fails unless every point was met, and nothing was violated.
    #[track_caller]
    pub fn holds(&self, name: &str) {
        self.tell(name);
        assert!(self.points > 0, "{name}: nothing was listed");
        assert_eq!(self.violations, Vec::<String>::new(), "{name}");
        assert_eq!(self.fired, self.points, "{name}: not all points were reached: {:?}", self.missed);
    }

    pub fn add(&mut self, other: Tally) {
        self.points += other.points;
        self.fired += other.fired;
        self.violations.extend(other.violations);
        self.missed.extend(other.missed);
        self.seconds += other.seconds;
    }
}

/// How a scene's process is traced.
pub fn tracing(scene: &Scene, session: &Session, calls: Calls) -> Tracing {
    Tracing { calls, spool: session.world.root().join("sessions").join(&session.id), follow: scene.follow }
}

/// What a scene's process calls whenever nothing meets it, and how it ends then. What it does only sometimes, as it is
/// sooner or later than another, is no point.
pub fn record(scene: &Scene, calls: Calls) -> (Vec<Point>, Option<i32>) {
    let (mut points, code) = record_once(scene, calls);
    for _ in 1..if calls == Calls::All { 1 } else { RECORDINGS } {
        let (again, _) = record_once(scene, calls);
        points.retain(|point| again.iter().any(|other| (&other.name, other.count) == (&point.name, point.count)));
    }
    (points, code)
}

fn record_once(scene: &Scene, calls: Calls) -> (Vec<Point>, Option<i32>) {
    let world = World::fast();
    let session = (scene.prepare)(&world);
    let dir = world.path().join("traced");
    let mut traced = Traced::start((scene.command)(&session), &dir, &tracing(scene, &session, calls), None);
    let mut waiting = None;
    if let Some(stimulus) = scene.stimulus {
        up(&mut traced);
        waiting = stimulus(&session);
    }
    let ended = traced.finish(|traced| (scene.done)(&session, traced));
    waiting.map(crate::harness::outcome);
    (traced.points(), ended.and_then(|outcome| outcome.code))
}

/// Waits until a manager keeps the session's run; or has come to its end before.
fn up(traced: &mut Traced) {
    wait_for("the manager to be up", || (traced.is_up() || traced.met() || traced.ended().is_some()).then_some(()));
}

/// Lets every point meet each of these fates.
pub fn sweep(scene: &Scene, calls: Calls, fates: impl Fn(usize, &Point) -> Vec<Fate>) -> Tally {
    let (points, code) = record(scene, calls);
    let cases: Vec<(&Point, Fate)> = points
        .iter()
        .enumerate()
        .flat_map(|(at, point)| fates(at, point).into_iter().map(move |fate| (point, fate)))
        .collect();
    let begin = std::time::Instant::now();
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally { points: cases.len(), ..Tally::default() });
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((point, fate)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let label = format!("{}: {fate} {point}", scene.name);
                    let began = std::time::Instant::now();
                    let (met, wrong) = one(scene, calls, point, *fate, code);
                    let took = began.elapsed().as_secs_f64();
                    let mut tally = tally.lock().unwrap();
                    tally.fired += usize::from(met);
                    if tally.slowest.as_ref().is_none_or(|(before, _)| *before < took) {
                        tally.slowest = Some((took, label.clone()));
                    }
                    if !met {
                        tally.missed.push(label.clone());
                    }
                    tally.violations.extend(wrong.map(|wrong| format!("{label}: {wrong}")));
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.seconds = begin.elapsed().as_secs_f64();
    tally
}

/// Whether the point was met, and what was wrong then.
fn one(scene: &Scene, calls: Calls, point: &Point, fate: Fate, code: Option<i32>) -> (bool, Option<String>) {
    let mut outcome = (false, None);
    let tries = if calls == Calls::All { 1 } else { TRIES };
    for _ in 0..tries {
        let tried = catch_unwind(AssertUnwindSafe(|| case(scene, calls, point, fate, code)));
        outcome = tried.unwrap_or_else(|panic| (true, Some(words(panic.as_ref()))));
        if outcome.0 {
            break;
        }
    }
    outcome
}

/// What a panic said.
pub fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic".to_owned())
}

fn case(scene: &Scene, calls: Calls, point: &Point, fate: Fate, code: Option<i32>) -> (bool, Option<String>) {
    let world = World::fast();
    let session = (scene.prepare)(&world);
    let mut sent = Vec::new();
    if scene.mail && session.exists("session.json") {
        deliver(&session, MEANWHILE[0]);
        sent.push(MEANWHILE[0]);
    }
    let before = quiet_fingerprint(&session);
    let dir = world.path().join("traced");
    let mut traced =
        Traced::start((scene.command)(&session), &dir, &tracing(scene, &session, calls), Some((point, fate)));
    let mut waiting = None;
    if let Some(stimulus) = scene.stimulus {
        up(&mut traced);
        if !traced.met() || matches!(fate, Fate::Error(_)) {
            waiting = stimulus(&session);
        }
    }
    let outcome = traced.finish(|traced| (scene.done)(&session, traced));
    let strayed = traced.strayed();
    if !traced.met() || strayed == Strayed::Wholly {
        return (false, None);
    }
    // What it was called before it began.
    let session = only_session(&world).unwrap_or(session);
    let outcome = outcome.filter(|_| strayed == Strayed::No);
    let judged = || {
        judge_error(scene, &session, fate, outcome.as_ref(), code, &before, point)?;
        judge::at_any_time(&session)?;
        if session.exists("session.json") {
            judge::shown(&session)?;
        }
        if scene.mail && session.exists("session.json") {
            deliver(&session, MEANWHILE[1]);
            sent.push(MEANWHILE[1]);
        }
        (scene.recover)(&session);
        judge::in_the_end(&only_session(&world).unwrap_or(Session::new(&world, &session.id)), scene, &sent)
    };
    let wrong = catch_unwind(AssertUnwindSafe(judged)).unwrap_or_else(|panic| Err(words(panic.as_ref())));
    waiting.map(crate::harness::outcome);
    let wrong = wrong.map_err(|wrong| format!("{wrong}\n        it said: {outcome:?}\n        {}", state(&world)));
    (true, wrong.err())
}

/// The spool but for what no verb decides by, and for the fact that a run has given a verb.
fn quiet_fingerprint(session: &Session) -> Fingerprint {
    fingerprint(&session.path(""), |path| {
        path.starts_with("log/") || path.ends_with(".lock") || path.contains("awake-")
    })
}

/// A verb that failed says so and what; and before it was committed, it has changed nothing.
fn judge_error(
    scene: &Scene,
    session: &Session,
    fate: Fate,
    outcome: Option<&Outcome>,
    code: Option<i32>,
    before: &Fingerprint,
    point: &Point,
) -> Result<(), String> {
    let (Fate::Error(error), Some(outcome)) = (fate, outcome) else { return Ok(()) };
    if outcome.stderr.contains("panicked") {
        return Err("it panicked".to_owned());
    }
    // A manager that was met after its run was up goes on, and ends as its session does; the shim says how far it came.
    let expected =
        outcome.code == code || outcome.code == Some(74) || (!scene.verb && matches!(outcome.code, Some(0 | 4)));
    if !expected {
        return Err(format!("it exits with {:?}, and not with 74 or {code:?}", outcome.code));
    }
    let committed = (scene.committed)(session);
    if outcome.code == Some(74) && outcome.code != code {
        let told = outcome.stderr.lines().any(|line| line.starts_with("orbh"));
        let why = outcome.stderr.to_lowercase();
        if !told || !why.contains("cannot") || !reasons(error).iter().any(|one| why.contains(one)) {
            return Err("it does not say what failed, and why".to_owned());
        }
        if scene.name.starts_with("compact handoff") {
            let says = outcome.stderr.lines().last() == Some(crate::harness::NOT_ENDED);
            if says == committed {
                return Err(format!("it says that the context {} end", if says { "will not" } else { "will" }));
            }
        }
        if scene.verb && !committed {
            let changed: Vec<String> = difference(before, &quiet_fingerprint(session))
                .into_iter()
                .filter(|path| !scene.residue.contains(&path.as_str()))
                .filter(|path| !(point.name.starts_with("unlink") && path.contains(".tmp-")))
                .collect();
            if !changed.is_empty() {
                return Err(format!("it has failed, and has changed {changed:?}"));
            }
        }
    }
    Ok(())
}

/// How an error is told, in small letters: by the C library, or by nix.
fn reasons(error: &str) -> &'static [&'static str] {
    match error {
        "ENOSPC" => &["no space left on device"],
        "EDQUOT" => &["quota exceeded"],
        "EIO" => &["input/output error", "i/o error"],
        "EACCES" => &["permission denied"],
        "EINTR" => &["interrupted system call"],
        "EMFILE" => &["too many open files"],
        other => panic!("{other} is told in no way that is known here"),
    }
}

/// What there is, for people.
fn state(world: &World) -> String {
    let Some(session) = only_session(world) else { return "no session".to_owned() };
    let facts = ["run.json", "pid", "end.json", "kill.json"];
    let runs = if session.exists("runs") { session.runs() } else { Vec::new() };
    let lines = runs.iter().map(|run| {
        let there = facts.iter().filter(|fact| session.exists(&format!("runs/{run}/{fact}")));
        let reason = session.text(&format!("runs/{run}/end.json")).unwrap_or_default().replace('\n', "");
        format!("run {run}: {} {reason}", there.copied().collect::<Vec<_>>().join(" "))
    });
    let log = session.text("log/events.ndjson").unwrap_or_default();
    let log: Vec<&str> = log.lines().rev().take(8).collect();
    format!(
        "started {:?}; {}\n        {}",
        world.started(),
        lines.collect::<Vec<_>>().join("; "),
        log.join("\n        ")
    )
}
