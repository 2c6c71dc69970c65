//! `orbh relaunch`: the manager of a headless session, and recovery.

use crate::args::Args;
use anyhow::{Context, Result};
use nix::sys::signal::{SigHandler, Signal, raise, signal};
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, fork, setsid};
use serde::Serialize;
use shared::face::entry::warn_of_unusable;
use shared::face::exit;
use shared::face::output::{print, print_json, tell};
use shared::ground::clock::At;
use shared::ground::fault::{Fault, Kind};
use shared::ground::process::close_inherited;
use shared::spool::id::{RunNumber, SessionId, Target};
use shared::spool::log;
use shared::spool::session::Spool;
use shared::verbs::environment::Environment;
use shared::verbs::launch::Order;
use shared::verbs::manager::{Left, Manager};
use shared::verbs::overview::{Overview, State};
use shared::verbs::succession::redirect;
use std::fs::OpenOptions;
use std::io::{PipeWriter, Read, Write};

#[derive(Serialize)]
struct Changed<'a> {
    session: &'a SessionId,
    closing: RunNumber,
    target: &'a Target,
    cancelled: bool,
    at: At,
}

#[derive(Serialize)]
struct Gone<'a> {
    session: &'a SessionId,
    state: State,
    run: Option<RunNumber>,
}

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = environment.root()?.find(&args.id)?;
    if environment.session().is_some() && !args.background {
        let message = "a manager lives outside of every run, and this is inside one";
        return Err(Fault::new(Kind::Refused, message).hint("ask the person to run it").into());
    }
    if args.background {
        return in_background(args, environment, spool);
    }
    warn_of_unusable("orbh-relaunch", environment);
    if args.cancel {
        spool.root().writable()?;
        let intent = redirect::cancel(&spool)?;
        let words = format!("the relaunch of session {} is called off\nhint: orbh resume {}\n", spool.id(), spool.id());
        return changed(args, &spool, intent.closing, &intent.target, &words);
    }
    let redirected = match &args.into {
        Some(into) => {
            spool.root().writable()?;
            let target: Target = into.parse()?;
            let intent = redirect::into(&spool, environment, &target, args.account.as_deref())?;
            let words = format!("session {} will be relaunched on {target}\n", spool.id());
            if Overview::read(&spool)?.manager.is_some() {
                return changed(args, &spool, intent.closing, &target, &words);
            }
            Some((intent.closing, target, words))
        }
        None => None,
    };
    let manager = match (Manager::take(spool.clone(), environment, Order::Keep), &redirected) {
        // Another one was quicker, and what was asked for is done: it goes where it was sent.
        (Err(error), Some((closing, target, words))) if owned(&error) => {
            return changed(args, &spool, *closing, target, words);
        }
        (taken, _) => taken?,
    };
    if let Some((.., words)) = &redirected {
        tell(words);
    }
    in_foreground(args, spool, manager)
}

fn owned(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Fault>().is_some_and(|fault| fault.kind == Kind::Busy)
}

fn changed(args: &Args, spool: &Spool, closing: RunNumber, target: &Target, words: &str) -> Result<u8> {
    match args.json {
        true => print_json(&Changed { session: spool.id(), closing, target, cancelled: args.cancel, at: At::now() })?,
        false => print(words)?,
    }
    Ok(0)
}

fn in_foreground(args: &Args, spool: Spool, mut manager: Manager) -> Result<u8> {
    let id = spool.id().clone();
    let mut told = false;
    let left = manager.keep(&mut || {
        if !told {
            told = true;
            tell(&format!("managing session {id}; the run goes on when this is interrupted\n"));
        }
    })?;
    drop(manager);
    if left == Left::Forgotten {
        let message = format!("session {id} is gone: '{}' was removed, and its run is stopped", spool.dir().display());
        return Err(Fault::new(Kind::Missing, message).hint("'orbh list --all' shows what is there").into());
    }
    let overview = Overview::read(&spool)?;
    match left {
        Left::Over | Left::Forgotten => {
            let run = overview.run.as_ref().map(|run| run.run);
            match args.json {
                true => print_json(&Gone { session: &id, state: overview.state, run })?,
                false => {
                    print(&format!("session {id} is {}\n", overview.state))?;
                    if let Some(hint) = overview.hint {
                        tell(&format!("hint: {hint}\n"));
                    }
                }
            }
            Ok(0)
        }
        Left::GaveUp => Err(gave_up(&overview)),
        Left::Replaced => {
            let message = format!("the lease of session {id} was replaced, and another manager has taken it");
            Err(Fault::new(Kind::Busy, message).hint(format!("orbh inspect {id}")).into())
        }
        Left::Signalled(signal) => {
            tell(&format!("the run of session {id} goes on without a manager\nhint: orbh relaunch {id}\n"));
            die_of(signal);
            Ok(0)
        }
    }
}

fn gave_up(overview: &Overview) -> anyhow::Error {
    let reason = overview.compaction.reason.clone().unwrap_or_else(|| "the successor failed to start".to_owned());
    let hint = overview.compaction.hint.clone().or_else(|| overview.hint.clone()).unwrap_or_default();
    Fault::new(Kind::System, format!("cannot relaunch session {}: {reason}", overview.session)).hint(hint).into()
}

fn die_of(death: Signal) {
    // Blocked since the manager began; unblocked, with its default action, it ends us as the sender expects.
    // SAFETY: the default action replaces no handler that anything here relies on.
    let _ = unsafe { signal(death, SigHandler::SigDfl) };
    let _ = nix::sys::signal::SigSet::all().thread_unblock();
    let _ = raise(death);
}

/// A daemon's birth: two forks with a session of its own between them, so that it has no terminal and no parent of
/// ours. It keeps standard error until its run is up, for what it has to say; and the first process stays until then,
/// for its exit status is the answer.
fn in_background(args: &Args, environment: &Environment, spool: Spool) -> Result<u8> {
    close_inherited();
    let mut added = String::new();
    if args.resume {
        std::io::stdin().lock().read_to_string(&mut added).context("cannot read standard input")?;
    }
    let order = if args.resume { Order::Resume((!added.is_empty()).then_some(added)) } else { Order::Keep };
    let (mut ear, mouth) = std::io::pipe().context("cannot make a pipe")?;
    // SAFETY: this process has one thread.
    if let ForkResult::Parent { .. } = unsafe { fork() }.context("cannot fork")? {
        drop(mouth);
        let mut status = [0];
        let heard = ear.read(&mut status).context("cannot hear from the manager")?;
        if heard == 0 {
            let message = format!("the manager of session {} died before its run was up", spool.id());
            return Err(Fault::new(Kind::System, message).hint(format!("orbh inspect {}", spool.id())).into());
        }
        return Ok(status[0]);
    }
    drop(ear);
    setsid().context("cannot become the leader of a session")?;
    // SAFETY: this process has one thread.
    if let ForkResult::Parent { .. } = unsafe { fork() }.context("cannot fork")? {
        return Ok(0);
    }
    let mut mouth = Some(mouth);
    let taken = Manager::take(spool.clone(), environment, order);
    let alone = !taken.as_ref().is_err_and(owned);
    let kept = taken.and_then(|mut manager| {
        manager.keep(&mut || {
            if let Some(mouth) = mouth.take() {
                let_go_of_streams();
                answer(mouth, 0);
            }
        })
    });
    let status = match kept {
        Ok(Left::GaveUp) => {
            tell(&exit::words("orbh-relaunch", &gave_up(&Overview::read(&spool)?)));
            Kind::System.status()
        }
        Ok(_) => 0,
        Err(error) => {
            let words = exit::words("orbh-relaunch", &error);
            // To find another one in place is no failure: the session has its keeper.
            if alone {
                log::note(&spool, "manager-failed", None, words.trim_end());
            }
            tell(&words);
            exit::kind(&error).status()
        }
    };
    if let Some(mouth) = mouth {
        answer(mouth, status);
    }
    Ok(status)
}

/// Tells the process that waits with what status it is to exit; it may be gone.
fn answer(mut mouth: PipeWriter, status: u8) {
    let _ = mouth.write_all(&[status]);
}

fn let_go_of_streams() {
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = dup2_stdin(&null);
        let _ = dup2_stdout(&null);
        let _ = dup2_stderr(&null);
    }
}
