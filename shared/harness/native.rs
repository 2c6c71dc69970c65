//! The native conversation of a run: its id in the harness, and where the harness writes it down.

use super::Runtime;
use super::transcript;
use crate::ground::fact;
use crate::spool::facts::{Native, Run};
use crate::spool::id::RunNumber;
use crate::spool::layout;
use crate::spool::session::Spool;
use anyhow::Result;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a run's output is looked at for the id that it begins with.
const BEGINNING: u64 = 1024 * 1024;

/// native.json of a run, once it is there.
pub fn read(spool: &Spool, number: RunNumber) -> Result<Option<Native>> {
    fact::load(&spool.run(number).join(layout::NATIVE))
}

/// The id that a harness has told in its output, where it chooses the id itself.
pub fn told(spool: &Spool, number: RunNumber, run: &Run) -> Result<Option<String>> {
    match Runtime::named(&run.target.runtime) {
        Some(Runtime::Codex) => {
            let Some(output) = crate::ground::dir::open_read(&spool.run(number).join(layout::OUTPUT))? else {
                return Ok(None);
            };
            let mut beginning = Vec::new();
            output.take(BEGINNING).read_to_end(&mut beginning)?;
            Ok(transcript::thread_id(&beginning))
        }
        Some(Runtime::Claude | Runtime::Command) | None => Ok(None),
    }
}

/// The transcript of a run's conversation, searched by its id, never computed.
pub fn find_transcript(run: &Run, native: &Native) -> Option<PathBuf> {
    let home = run.home.as_ref()?;
    match Runtime::named(&run.target.runtime)? {
        Runtime::Claude => transcript::find_claude(home, &native.id),
        Runtime::Codex => transcript::find_codex(home, &native.id),
        Runtime::Command => None,
    }
}

/// The directories in which the transcript of a run is, or will appear. The CLI chooses among them as it likes, so as
/// long as there is none all are named that it may choose, and those in which it may make another one.
pub fn places(spool: &Spool, number: RunNumber, run: &Run) -> Vec<PathBuf> {
    let found = || find_transcript(run, &read(spool, number).ok().flatten()?)?.parent().map(Path::to_owned);
    if let Some(dir) = found() {
        return vec![dir];
    }
    match (Runtime::named(&run.target.runtime), &run.home) {
        (Some(Runtime::Claude), Some(home)) => transcript::places_claude(home),
        (Some(Runtime::Codex), Some(home)) => transcript::places_codex(home),
        _ => Vec::new(),
    }
}

/// Whether the model has given an answer in the conversation of this run; false when that cannot be told.
pub fn answered(spool: &Spool, number: RunNumber, run: &Run) -> bool {
    let Ok(Some(native)) = read(spool, number) else { return false };
    let Some(path) = find_transcript(run, &native) else { return false };
    let answered = match Runtime::named(&run.target.runtime) {
        Some(Runtime::Claude) => transcript::answered_claude(&path),
        Some(Runtime::Codex) => transcript::answered_codex(&path),
        Some(Runtime::Command) | None => return false,
    };
    answered.unwrap_or(false)
}
