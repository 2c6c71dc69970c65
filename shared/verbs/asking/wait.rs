//! Waiting for the answer to a question, without a look at it as long as nothing happens.
//!
//! Changes nothing: whoever prints the answer marks it as seen afterwards. Ends with the run that it waits in, because
//! who comes after that collects the answer.

use crate::ground::dir::{LARGEST, unfit};
use crate::ground::watch::Watch;
use crate::spool::asked::{self, Standing};
use crate::spool::facts::Mode;
use crate::spool::id::{MessageId, RunNumber};
use crate::spool::layout;
use crate::spool::session::Spool;
use crate::spool::snapshot::RunFacts;
use crate::verbs::environment::Environment;
use anyhow::Result;
use std::time::{Duration, Instant};

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// This is the answer.
    Answered(String),
    /// The question was called off.
    CalledOff,
    /// The time ran out; the question stays as it was.
    TimedOut,
    /// The run is over in which this process waits, or the session or the question is gone; why, in a sentence.
    RunOver(String),
}

/// Waits until the question `id` of the session is answered or called off, `timeout` has passed, or the run is over that
/// the environment names. An answer that is there already is found at once.
pub fn wait(spool: &Spool, id: &MessageId, environment: &Environment, timeout: Option<Duration>) -> Result<Waited> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let waiting = Waiting { spool, id, mode: spool.session()?.mode, run: run_of(spool, environment)? };
    if let Some(waited) = waiting.look()? {
        return Ok(waited);
    }
    if timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Ok(Waited::TimedOut);
    }
    let mut watch = Watch::new(environment.watch())?;
    watch.add(&spool.asked().join(id.as_str()))?;
    if let Some(run) = waiting.run {
        watch.add(&spool.run(run))?;
        watch.add(&spool.returns())?;
    }
    loop {
        watch.drain();
        if let Some(waited) = waiting.look()? {
            return Ok(waited);
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Waited::TimedOut);
        }
        watch.wait(&[], left)?;
    }
}

/// The run that waits: the one of the environment, if that is of this session.
fn run_of(spool: &Spool, environment: &Environment) -> Result<Option<RunNumber>> {
    let own = environment.session() == Some(spool.id().as_str());
    Ok(environment.run().filter(|_| own).map(str::parse::<RunNumber>).transpose()?)
}

struct Waiting<'a> {
    spool: &'a Spool,
    id: &'a MessageId,
    mode: Mode,
    run: Option<RunNumber>,
}

impl Waiting<'_> {
    /// How the wait ends, if it does. The run first: an answer that comes after its end is for the next one.
    fn look(&self) -> Result<Option<Waited>> {
        if let Some(why) = self.over()? {
            return Ok(Some(Waited::RunOver(why)));
        }
        let Some(question) = asked::find(self.spool, self.id)? else {
            return Ok(Some(Waited::RunOver(format!("the question {} is gone: its directory was removed", self.id))));
        };
        match question.standing {
            Standing::Open => Ok(None),
            Standing::CalledOff => Ok(Some(Waited::CalledOff)),
            // Emptied again by an editor since it was looked at: none yet.
            Standing::Answered | Standing::Seen => match question.answer(LARGEST)? {
                Some((_, true)) => {
                    let path = question.dir().join(layout::ANSWER);
                    Err(unfit("read", &path, &format!("it is larger than {LARGEST} bytes")).into())
                }
                Some((text, false)) if !text.is_empty() => Ok(Some(Waited::Answered(text))),
                _ => Ok(None),
            },
        }
    }

    fn over(&self) -> Result<Option<String>> {
        if self.spool.dir().symlink_metadata().is_err() {
            return Ok(Some(format!("session {} is gone: its spool was removed", self.spool.id())));
        }
        let Some(run) = self.run else { return Ok(None) };
        let facts = RunFacts::read(self.spool, run)?;
        if facts.open(self.mode) {
            return Ok(None);
        }
        let how = match facts.end.here() {
            Some(end) => format!("it has ended ({})", end.reason),
            None if facts.end.exists() => "it has ended".to_owned(),
            None => "it has returned its result".to_owned(),
        };
        Ok(Some(format!("run {run} of session {} is over: {how}", self.spool.id())))
    }
}
