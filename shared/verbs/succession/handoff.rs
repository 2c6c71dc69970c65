//! `compact handoff`: everything is checked while the agent can still mend it; then one fact, relaunch.json, makes it
//! so. Before that fact every failure leaves the context as it was; after it, no failure is reported as a refusal.

use super::owed::{self, Since};
use super::{finished_before, intent, owned};
use crate::ground::clock::At;
use crate::ground::dir::{self, Dir, Written, read};
use crate::ground::fact;
use crate::ground::fault::{Fault, Finding, Kind, Refusal};
use crate::ground::lease::{self, Probe};
use crate::ground::watch::Watch;
use crate::harness::{Runtime, missing_variables, occupancy};
use crate::spool::facts::{Class, End, InForce, Intent, Mode, Run, RunKind, Session};
use crate::spool::id::{RunNumber, Target};
use crate::spool::layout;
use crate::spool::log;
use crate::spool::session::Spool;
use crate::spool::snapshot::{Found, RunFacts, Snapshot};
use crate::verbs::caller::Caller;
use crate::verbs::claim::Claim;
use crate::verbs::contract::{self, Draft, Verdict};
use crate::verbs::environment::Environment;
use crate::verbs::launch::{Order, start_manager};
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// At most so many targets are offered in a sentence.
const OFFERED: usize = 12;
/// How long an accepted `handoff` waits for the end of its own context.
const WAIT: Duration = Duration::from_secs(90);
/// How often it looks meanwhile whether a manager lives.
const LOOK: Duration = Duration::from_secs(1);
/// How long a manager that was put in place may take to let go of its standard error.
const PLACE: Duration = Duration::from_secs(10);

/// Where the agent wants its successor to run; the target in force when it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// `--into`.
    pub into: Option<Target>,
    /// `--account`.
    pub account: Option<String>,
}

/// A handoff that passed every check.
#[derive(Debug)]
pub struct Passed {
    /// What the validator says of it: warnings, and the weight of its FILES.
    pub verdict: Verdict,
    /// What the successor will run on.
    pub target: Target,
    /// A word about the target, where there is one.
    pub hint: Option<String>,
    bytes: Vec<u8>,
    account: Option<String>,
}

/// How the wait after the commit ended, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The intent is gone, and this context still lives.
    CalledOff,
    /// The context has ended; only this process, which is not in its tree, is left of it.
    Ended,
    /// It is still pending; the context ends whenever a manager gets to it.
    Pending,
}

/// What became of a handoff that was not refused.
#[derive(Debug)]
pub enum Handed {
    /// It passed every check.
    Passed(Box<Passed>),
    /// It had been accepted before, at this time: an agent that was not told, or did not listen, gives the verb again.
    Before(At),
}

/// When the handoff of the calling run was accepted, if it was. Then nothing can be refused any more.
fn accepted_before(caller: &Caller, snapshot: &Snapshot) -> Result<Option<At>> {
    caller.current(snapshot)?;
    Ok(snapshot.intent.get()?.filter(|intent| intent.closing == caller.run).map(|intent| intent.at))
}

/// Does every check of `handoff` and leaves no trace (`--check`).
pub fn check(caller: &Caller, environment: &Environment, wish: &Wish) -> Result<Handed> {
    let snapshot = caller.snapshot()?;
    if let Some(at) = accepted_before(caller, &snapshot)? {
        return Ok(Handed::Before(at));
    }
    let mut findings = manager_findings(caller, &snapshot)?;
    let passed = examine(caller, environment, wish, &snapshot, &mut findings)?;
    let passed = passed.filter(|_| findings.is_empty()).ok_or(Refusal { findings })?;
    Ok(Handed::Passed(Box::new(passed)))
}

/// Checks and commits: from its return on, the context is going to end.
pub fn commit(caller: &Caller, environment: &Environment, wish: &Wish) -> Result<Handed> {
    if let Some(at) = accepted_before(caller, &caller.snapshot()?)? {
        return Ok(Handed::Before(at));
    }
    let mut findings = keeper(caller, environment)?;
    let claim = Claim::take(&caller.spool, "compact handoff")?;
    let snapshot = caller.snapshot()?;
    if let Some(at) = accepted_before(caller, &snapshot)? {
        return Ok(Handed::Before(at));
    }
    let passed = examine(caller, environment, wish, &snapshot, &mut findings)?;
    let Some(passed) = passed.filter(|_| findings.is_empty()) else {
        let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
        log::note(&caller.spool, "handoff-refused", Some(caller.run), codes.join(" "));
        return Err(Refusal { findings }.into());
    };
    claim.insist()?;
    write(caller, &passed)?;
    log::note(&caller.spool, "handoff-accepted", Some(caller.run), format!("the successor runs on {}", passed.target));
    Ok(Handed::Passed(Box::new(passed)))
}

/// Everything that could be wrong, reported together. `None` when the draft itself cannot be accepted.
fn examine(
    caller: &Caller,
    environment: &Environment,
    wish: &Wish,
    snapshot: &Snapshot,
    findings: &mut Vec<Finding>,
) -> Result<Option<Passed>> {
    let me = caller.current(snapshot)?;
    findings.extend(owned(snapshot, &caller.session.id, caller.run)?);
    findings.extend(finished_before(snapshot, caller.run).filter(|_| findings.is_empty()));
    let hold = snapshot.hold.get()?.filter(|hold| hold.run == caller.run);
    if hold.is_none() && findings.is_empty() {
        let message = format!("run {} has not begun a compaction", caller.run);
        findings.push(Finding::new(
            "not-started",
            message,
            "run 'orbh compact start', and write the handoff it asks for",
        ));
    }
    let run = me.run.get()?;
    let (target, account) = wanted(caller, wish)?;
    let had = run.map(|run| run.environment.as_slice()).unwrap_or_default();
    findings.extend(target_findings(environment, &caller.session, &target, account.as_deref(), had)?);
    // Before an earlier compaction is finished nobody expects a draft.
    let unfinished = findings.iter().any(|finding| finding.code == "compaction-unfinished");
    let window = window(caller, environment, run, &target)?;
    let mut draft = if unfinished { None } else { draft(caller, window, findings) };
    if let Some((_, verdict)) = &mut draft {
        let since = Since::of(hold, run.map(|run| run.started_at));
        if let Some(owed) = &verdict.owed {
            let judged = owed::judge(&caller.spool, &caller.spool.handoff(caller.run), owed, since);
            findings.extend(judged.findings);
            verdict.warnings.extend(judged.warnings);
        }
    }
    let hint = run.filter(|run| wish.into.is_some() && run.target.runtime == target.runtime && run.target != target);
    let hint = hint.filter(|_| keeps_conversation(&target)).map(|_| {
        format!("the conversation ends with this; 'orbh profiles switch', of a later release, will keep it on {target}")
    });
    Ok(draft.map(|(bytes, verdict)| Passed { verdict, target, hint, bytes, account }))
}

fn keeps_conversation(target: &Target) -> bool {
    Runtime::named(&target.runtime).is_some_and(Runtime::resumes_natively)
}

/// The target and account of the successor.
fn wanted(caller: &Caller, wish: &Wish) -> Result<(Target, Option<String>)> {
    let in_force = caller.spool.in_force()?.context("the target in force is unknown")?;
    let Some(target) = &wish.into else { return Ok((in_force.target, in_force.account)) };
    Ok((target.clone(), account_for(target, wish.account.as_deref(), Some(&in_force))))
}

/// The account for a target: the one that was named, else the one in force, as long as the runtime stays. An account was
/// chosen by a person, and is not left by the way.
pub fn account_for(target: &Target, named: Option<&str>, in_force: Option<&InForce>) -> Option<String> {
    let same = in_force.filter(|in_force| in_force.target.runtime == target.runtime);
    named.map(str::to_owned).or_else(|| same.and_then(|in_force| in_force.account.clone()))
}

/// The window that the successor will have, in tokens: what its profile says, which may not be what this run began with;
/// else, on the same target, what this run's harness tells.
fn window(caller: &Caller, environment: &Environment, run: Option<&Run>, target: &Target) -> Result<Option<u64>> {
    let stated = environment.registry()?.resolve(target).ok().and_then(|profile| profile.window());
    let same = run.filter(|run| stated.is_none() && run.target == *target);
    // A report of the occupancy that is damaged is no reason to refuse a handoff.
    let told = same.and_then(|run| occupancy::read(&caller.spool, caller.run, run).ok()?.max);
    Ok(stated.or(told))
}

/// Reads and validates the draft of the calling run, for a successor with this window.
fn draft(caller: &Caller, window: Option<u64>, findings: &mut Vec<Finding>) -> Option<(Vec<u8>, Verdict)> {
    let path = caller.spool.handoff(caller.run);
    let bytes = match contract::read_draft(&path) {
        Ok(bytes) => bytes,
        Err(finding) if finding.code == "handoff-missing" => {
            findings.push(elsewhere(&caller.spool, caller.run).unwrap_or(finding));
            return None;
        }
        Err(finding) => {
            findings.push(finding);
            return None;
        }
    };
    if let Some(other) = same_words(&caller.spool, caller.run, &bytes) {
        let message = format!("this handoff is a copy of '{}', which belongs to another run", other.display());
        findings.push(Finding::new("handoff-foreign", message, "write the handoff of this context").at(&path));
        return None;
    }
    let draft = Draft { path: &path, bytes: &bytes, window };
    let mut verdict = contract::validate(&draft);
    findings.append(&mut verdict.findings);
    Some((bytes, verdict))
}

/// The handoffs, drafts and accepted ones, of other runs.
fn others(spool: &Spool, me: RunNumber) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(spool.scratch()) else { return Vec::new() };
    let mine = [layout::handoff(me), layout::accepted(me)];
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| (name.starts_with("handoff-") || name.starts_with("accepted-")) && name.ends_with(".md"))
        .filter(|name| !mine.contains(name))
        .map(|name| spool.scratch().join(name))
        .collect();
    paths.sort();
    paths
}

/// The handoff is not where it belongs, but at the path of a run that never was: say so.
fn elsewhere(spool: &Spool, me: RunNumber) -> Option<Finding> {
    let here = spool.handoff(me);
    let other = others(spool, me).into_iter().find(|path| of_no_run(spool, path))?;
    let message = format!("there is no handoff of run {me}, and '{}' belongs to another run", other.display());
    let fix = format!("write it to '{}'", here.display());
    Some(Finding::new("handoff-missing", message, fix).at(&here))
}

/// Whether a path is that of a handoff, and of no run that there ever was.
fn of_no_run(spool: &Spool, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix("handoff-").and_then(|name| name.strip_suffix(".md"));
    let run = |text: &str| text.parse::<RunNumber>().ok().filter(|run| run.to_string() == text);
    number.is_some_and(|number| run(number).is_none_or(|number| !spool.run(number).exists()))
}

/// The handoff of another run with the same words; blanks and line ends make no new account of it.
fn same_words(spool: &Spool, me: RunNumber, bytes: &[u8]) -> Option<PathBuf> {
    let words = |bytes: &[u8]| {
        let words = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let mine = words(bytes);
    let same = |path: &PathBuf| read(path).is_ok_and(|other| other.is_some_and(|other| words(&other) == mine));
    // A draft that was written to a made-up place, and copied to where it belongs, is nobody else's.
    others(spool, me).into_iter().filter(|path| fits(path) && !of_no_run(spool, path)).find(same)
}

/// Whether a file is small enough to have been a handoff.
fn fits(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.len() <= contract::MAX_BYTES)
}

/// What is wrong with a target: unknown, not runnable, of too high a class, or its account not known.
pub fn target_findings(
    environment: &Environment,
    session: &Session,
    target: &Target,
    account: Option<&str>,
    had: &[String],
) -> Result<Vec<Finding>> {
    let registry = environment.registry()?;
    let mut findings = Vec::new();
    match registry.resolve(target) {
        Ok(profile) if profile.class > session.class => {
            let message = format!(
                "the class of '{target}' is '{}', and this session was granted '{}'",
                profile.class, session.class
            );
            let fits: Vec<Target> = registry
                .targets()
                .into_iter()
                .filter(|other| registry.resolve(other).is_ok_and(|profile| profile.class <= session.class))
                .collect();
            let names: Vec<String> = fits.iter().take(OFFERED).map(Target::to_string).collect();
            let fix = if names.is_empty() {
                "no other target fits".to_owned()
            } else {
                format!("these fit: {}", names.join(" "))
            };
            findings.push(Finding::new("class-too-high", message, fix).at(&registry.path(target)));
        }
        // The manager's environment is what counts; the one of a run comes from it.
        Ok(profile) => {
            let runtime = Runtime::named(&target.runtime);
            // A harness may keep keys from its shell tools: what the run has, by its run.json, its manager has.
            let known = |name: &str| had.iter().any(|one| one == name).then_some(OsStr::new("set"));
            let get = |name: &str| environment.get(name).or_else(|| known(name));
            findings.extend(runtime.and_then(|runtime| missing_variables(runtime, &profile.needs, &[], &get)));
            findings.extend(environment.exposed(&profile, &session.cwd)?);
        }
        Err(finding) => findings.push(finding),
    }
    if let Some(account) = account {
        findings.extend(registry.account(target, account).err());
    }
    Ok(findings)
}

/// Makes sure that somebody will carry the relaunch out. A headless manager that died is replaced, if this run is
/// allowed to start programs that outlive it.
fn keeper(caller: &Caller, environment: &Environment) -> Result<Vec<Finding>> {
    let snapshot = caller.snapshot()?;
    caller.check(&snapshot)?;
    let findings = manager_findings(caller, &snapshot)?;
    let alive = probe(&caller.spool)?.held();
    if findings.is_empty() && !alive {
        let heard = start_manager(environment, &caller.spool, &Order::Keep, PLACE)?;
        if !probe(&caller.spool)?.held() {
            let message = format!("the manager of session {} died, and a new one does not stay", caller.session.id);
            if heard.kind != Kind::System {
                let message = format!("{message}: {}", heard.reason());
                return Err(Fault::new(heard.kind, message).hint(format!("orbh inspect {}", caller.session.id)).into());
            }
            return Ok(vec![no_manager(&caller.spool, message)]);
        }
    }
    Ok(findings)
}

fn manager_findings(caller: &Caller, snapshot: &Snapshot) -> Result<Vec<Finding>> {
    let id = &caller.session.id;
    let class = class(caller, snapshot);
    Ok(match probe(&caller.spool)? {
        Probe::Held(Some(holder)) if !holder.verbs.iter().any(|verb| verb == "compact") => {
            let message =
                format!("the manager of session {id}, {}, does not know compaction", lease::describe(Some(&holder)));
            vec![no_manager(&caller.spool, message)]
        }
        Probe::Held(_) => Vec::new(),
        Probe::Free if !snapshot.run(caller.run).is_some_and(RunFacts::within_reach) => {
            let message =
                format!("the manager of session {id} died, and this process sees no other: it is in a sandbox");
            vec![no_manager(&caller.spool, message)]
        }
        Probe::Free if caller.session.mode == Mode::Headless && class == Class::Full => Vec::new(),
        Probe::Free => {
            let message = format!("the manager of session {id} died, and a run of class '{class}' cannot replace it");
            vec![no_manager(&caller.spool, message)]
        }
    })
}

/// The class of the calling run, which may be lower than what its session was granted.
fn class(caller: &Caller, snapshot: &Snapshot) -> Class {
    let me: Option<&RunFacts> = snapshot.run(caller.run);
    me.and_then(|run| run.run.here()).map_or(caller.session.class, |run| run.class)
}

fn no_manager(spool: &Spool, message: String) -> Finding {
    let fix = format!("ask the person to run 'orbh resume {}', then try again", spool.id());
    Finding::new("no-manager", message, fix)
}

fn probe(spool: &Spool) -> Result<Probe> {
    lease::probe(&spool.scratch().join(layout::MANAGER))
}

/// The commit. The claim is held.
fn write(caller: &Caller, passed: &Passed) -> Result<()> {
    let scratch = Dir::open(&caller.spool.scratch())?;
    let accepted = layout::accepted(caller.run);
    // A new inode, read-only: an open descriptor, a late write and root would all pass a chmod of the draft.
    scratch.replace_mode(&accepted, &passed.bytes, 0o400).inspect_err(|_| {
        // Renamed, and not made durable.
        let _ = scratch.remove(&accepted);
    })?;
    let intent = Intent {
        kind: RunKind::Compact,
        closing: caller.run,
        sha256: intent::sha256(&passed.bytes),
        target: passed.target.clone(),
        account: passed.account.clone(),
        at: At::now(),
    };
    match fact::create(&scratch, layout::INTENT, &intent) {
        Ok(Written::Now) => Ok(()),
        Ok(Written::Before) => {
            let message = format!("cannot create '{}': it appeared meanwhile", layout::INTENT);
            Err(Fault::new(Kind::Busy, message).hint("try again").into())
        }
        Err(error) => withdraw(caller, &scratch, &accepted, error),
    }
}

/// The intent could not be made durable, but it may be visible. No manager has acted on it, the claim is ours: take it
/// back. If even that fails it stands, and the handoff counts as accepted.
fn withdraw(caller: &Caller, scratch: &Dir, accepted: &str, error: anyhow::Error) -> Result<()> {
    let taken_back = scratch.remove(layout::INTENT);
    let there = caller.spool.scratch().join(layout::INTENT).symlink_metadata().is_ok();
    if there {
        log::note(&caller.spool, "handoff-accepted", Some(caller.run), format!("although: {error:#}"));
        return Ok(());
    }
    drop(taken_back);
    let _ = scratch.remove(accepted);
    Err(error)
}

/// After the commit: waits for the end of this very process, and keeps a manager in place meanwhile.
pub fn wait(caller: &Caller, environment: &Environment) -> Waited {
    let begin = Instant::now();
    let mut watch = Watch::new(environment.watch()).ok();
    if let Some(watch) = &mut watch {
        let _ = watch.add(&caller.spool.scratch());
        let _ = watch.add(&caller.spool.run(caller.run));
    }
    // A sandbox would end a manager that was started from inside it.
    let replaces = caller.session.mode == Mode::Headless
        && caller.snapshot().is_ok_and(|snapshot| {
            class(caller, &snapshot) == Class::Full && snapshot.run(caller.run).is_some_and(RunFacts::within_reach)
        });
    while begin.elapsed() < WAIT {
        if let Some(watch) = &mut watch {
            watch.drain();
        }
        match Found::<End>::read(&caller.spool.run(caller.run).join(layout::END)) {
            Ok(Found::Here(_)) => return Waited::Ended,
            // No manager goes on beside it, and none has to be put in place again and again.
            Ok(Found::Damaged(_)) => return Waited::Pending,
            Ok(Found::Absent) | Err(_) => {}
        }
        if !closes_me(&caller.spool, caller.run) && !caller.spool.run(caller.run).join(layout::END).exists() {
            // Who calls it off may die before that is durable, and a power loss would bring it back.
            let _ = dir::sync_path(&caller.spool.scratch());
            return Waited::CalledOff;
        }
        if replaces && probe(&caller.spool).is_ok_and(|probe| !probe.held()) {
            let heard = start_manager(environment, &caller.spool, &Order::Keep, PLACE);
            // The next one would meet the same damage: somebody has to mend it, and give the recovery.
            if heard.is_ok_and(|heard| heard.kind == Kind::Damaged) {
                return Waited::Pending;
            }
        }
        let waited = watch.as_mut().is_some_and(|watch| watch.wait(&[], Some(LOOK)).is_ok());
        if !waited {
            std::thread::sleep(LOOK);
        }
    }
    Waited::Pending
}

fn closes_me(spool: &Spool, me: RunNumber) -> bool {
    let path: &Path = &spool.scratch().join(layout::INTENT);
    match Found::<Intent>::read(path) {
        Ok(found) => found.here().is_none_or(|intent| intent.closing == me) && found.exists(),
        Err(_) => true,
    }
}
