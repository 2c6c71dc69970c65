//! Learning what a harness tells of itself only once it runs: the id of its conversation, and where its transcript is.

use super::Manager;
use crate::ground::dir::Dir;
use crate::ground::fact;
use crate::ground::fault::unreadable;
use crate::harness::native;
use crate::spool::facts::Native;
use crate::spool::layout;
use crate::spool::log;
use crate::spool::snapshot::RunFacts;
use anyhow::Result;

impl Manager<'_> {
    /// Writes native.json and the link `transcript`, as far as they can be known and are not there. Something else in
    /// their place is told once: a conversation that is not known is no reason to hold up the end of a run, or to leave
    /// one that lives unwatched.
    pub(super) fn learn(&mut self, facts: Option<&RunFacts>) -> Result<()> {
        let learned = self.learn_what_is_told(facts);
        let Some(why) = learned.as_ref().err().and_then(unreadable) else { return learned };
        self.learned = facts.map(|facts| facts.number);
        log::note(&self.spool, "native-conversation", self.learned, format!("not known: {why}"));
        Ok(())
    }

    fn learn_what_is_told(&mut self, facts: Option<&RunFacts>) -> Result<()> {
        let Some((facts, run)) = facts.and_then(|facts| Some((facts, facts.run.here()?))) else { return Ok(()) };
        if self.learned == Some(facts.number) || run.home.is_none() {
            return Ok(());
        }
        let dir = Dir::open(&self.spool.run(facts.number))?;
        let native = match native::read(&self.spool, facts.number)? {
            Some(native) => native,
            None => {
                let Some(id) = native::told(&self.spool, facts.number, run)? else { return Ok(()) };
                let native = Native { id };
                fact::create(&dir, layout::NATIVE, &native)?;
                log::note(&self.spool, "native-conversation", Some(facts.number), native.id.clone());
                native
            }
        };
        let Some(transcript) = native::find_transcript(run, &native) else { return Ok(()) };
        match std::os::unix::fs::symlink(&transcript, dir.path().join(layout::TRANSCRIPT)) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => self.learned = Some(facts.number),
        }
        Ok(())
    }
}
