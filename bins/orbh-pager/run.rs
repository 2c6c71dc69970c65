//! `orbh pager`: arming one, looking whether one is, and the stream of what happens.

use crate::args::Verb;
use anyhow::Result;
use nix::sys::stat::{SFlag, fstat};
use shared::face::output::{print, print_json};
use shared::face::page::render;
use shared::face::text::span;
use shared::spool::session::Spool;
use shared::verbs::caller::{Caller, meant};
use shared::verbs::environment::Environment;
use shared::verbs::pager::arm::{Options, Pager};
use shared::verbs::pager::status::{Arming, Kind, Status};
use shared::verbs::pager::stream::Stream;
use std::os::fd::AsFd;
use std::time::Duration;

pub fn run(verb: &Verb, environment: &Environment) -> Result<u8> {
    match verb {
        Verb::Arm { max_wait, json } => arm(*max_wait, *json, environment)?,
        Verb::Status { id, json } => {
            let status = Status::read(&meant(environment, id.as_deref(), "orbh pager status")?)?;
            if *json { print_json(&status)? } else { print(&words(&status))? }
        }
        Verb::Watch { ids, all, .. } => watch(ids, *all, environment)?,
    }
    Ok(0)
}

fn arm(max_wait: Option<u64>, json: bool, environment: &Environment) -> Result<()> {
    let options = Options {
        watch: environment.watch(),
        settle: environment.settle(),
        ttl: environment.arm_ttl(),
        max_wait: max_wait.map(Duration::from_secs),
        whole: json,
    };
    let mut pager = Pager::arm(Caller::of(environment, "orbh page arm")?, options)?;
    loop {
        let page = pager.wait()?;
        let rendered = (!json).then(|| render(&page));
        // Once more, as late as can be: a hold may have begun since, or the turn be over.
        if !pager.may_speak()? {
            continue;
        }
        let (shown, unread) = match rendered {
            Some(rendered) => {
                print(&rendered.text)?;
                (rendered.shown, rendered.unread)
            }
            None => {
                print_json(&page)?;
                page.events()
            }
        };
        return pager.announce(&[shown, unread].concat());
    }
}

fn words(status: &Status) -> String {
    let armed = &status.armed;
    let mut text = armed.pager.to_string();
    if armed.pager != Arming::Unarmed {
        text += &armed.run.map_or_else(String::new, |run| format!(" for run {run}"));
        text += &armed.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
        text += &armed.armed_at.map_or_else(String::new, |at| format!(", since {}", span(at.age())));
        text += &armed.watch.as_ref().map_or_else(String::new, |watch| format!(", by {watch}"));
    }
    let counts = [
        (Kind::Message, "messages"),
        (Kind::Question, "questions"),
        (Kind::Answer, "answers"),
        (Kind::Advisory, "advisories"),
    ];
    let counts = counts.map(|(kind, name)| (status.count(kind), name));
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{name} {count}")).collect();
    let pending = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    format!("{text}\npending: {pending}; announced: {}\n", status.announced)
}

fn watch(ids: &[String], all: bool, environment: &Environment) -> Result<()> {
    let mut stream = match all {
        true => Stream::of_all(environment.root()?, environment.watch())?,
        false => {
            let meant = |id: Option<&str>| meant(environment, id, "orbh pager watch");
            let spools: Vec<Spool> = match ids {
                [] => vec![meant(None)?],
                ids => ids.iter().map(|id| meant(Some(id))).collect::<Result<_>>()?,
            };
            Stream::of(spools, environment.watch())?
        }
    };
    let stdout = std::io::stdout();
    // The reader of a pipe may go while nothing happens; of a file or a terminal it cannot be told.
    let pipe =
        fstat(&stdout).is_ok_and(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == SFlag::S_IFIFO);
    while stream.look(&mut |line| print_json(line))? {
        if stream.wait(pipe.then(|| stdout.as_fd()))? {
            return Ok(());
        }
    }
    Ok(())
}
