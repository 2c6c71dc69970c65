//! Waiting for the answer to a question.

use crate::ground::dir::LARGEST;
use crate::ground::fault::{Fault, Kind};
use crate::ground::watch::Watch;
use crate::spool::asked::{self, Standing};
use crate::spool::id::MessageId;
use crate::spool::session::Spool;
use crate::verbs::environment::Environment;
use anyhow::Result;
use std::time::{Duration, Instant};

/// How a wait came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// The answer.
    Answered(String),
    /// The question was called off.
    CalledOff,
    /// The time is over; the question stays open.
    TimedOut,
}

/// Waits until a question of this session is answered or called off.
pub fn wait(spool: &Spool, id: &MessageId, environment: &Environment, timeout: Option<Duration>) -> Result<Waited> {
    let mut watch = Watch::new(environment.watch())?;
    watch.add(&spool.asked().join(id.as_str()))?;
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        watch.drain();
        let gone = || {
            let message = format!("session {} has put no question {id}", spool.id());
            Fault::new(Kind::Missing, message).hint("'orbh page' lists the open ones")
        };
        let question = asked::find(spool, id)?.ok_or_else(gone)?;
        if question.standing == Standing::CalledOff {
            return Ok(Waited::CalledOff);
        }
        if question.standing != Standing::Open
            && let Some((answer, _)) = question.answer(LARGEST)?
        {
            return Ok(Waited::Answered(answer));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Waited::TimedOut);
        }
        watch.wait(&[], left)?;
    }
}
