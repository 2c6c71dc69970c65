//! `orbh log`: what happened in a session.

use crate::args::Args;
use anyhow::{Context, Result};
use shared::face::output::print;
use shared::face::text::clean;
use shared::ground::dir::open_read;
use shared::ground::dir::unfit;
use shared::ground::foreign::clean_json;
use shared::ground::watch::Watch;
use shared::spool::layout;
use shared::spool::log::{self, Event};
use shared::spool::session::Spool;
use shared::verbs::caller::meant;
use shared::verbs::environment::Environment;
use shared::verbs::overview::Overview;
use std::io::{Read, Seek, SeekFrom};

/// No log is larger, in bytes; what is, cannot be shown in a sensible time.
const LARGEST: u64 = 1 << 30;
/// How much of it is read at once, and the longest line that is understood.
const PIECE: usize = 1 << 20;

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let spool = meant(environment, args.id.as_deref(), "orbh log")?;
    let mut tail = Tail { spool, json: args.json, offset: 0 };
    if args.follow {
        tail.follow(environment)?
    } else {
        tail.show(true)?
    }
    Ok(0)
}

struct Tail {
    spool: Spool,
    json: bool,
    offset: u64,
}

impl Tail {
    /// Shows what came since the last look. A last line without its newline is being written, or was cut short: it is
    /// shown at the end only.
    fn show(&mut self, last: bool) -> Result<()> {
        let path = log::path(&self.spool);
        let Some(mut file) = open_read(&path)? else { return Ok(()) };
        let reading = || format!("cannot read '{}'", path.display());
        let metadata = file.metadata().with_context(reading)?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            let what = if metadata.is_file() { "it is larger than any log" } else { "it is not a regular file" };
            return Err(unfit("read", &path, what).into());
        }
        file.seek(SeekFrom::Start(self.offset)).with_context(reading)?;
        // Piece by piece: it may be long. A line longer than a piece is none of ours, and is shown in parts.
        let mut bytes = vec![0; PIECE];
        let mut kept = 0;
        loop {
            let count = file.read(&mut bytes[kept..]).with_context(reading)?;
            let filled = kept + count;
            let ends = bytes[..filled].iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            let whole = match ends {
                _ if count == 0 && last => filled,
                None if filled == PIECE => filled,
                ends => ends.unwrap_or(0),
            };
            self.offset += whole as u64;
            let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let text: String = lines.map(|line| self.line(line)).collect();
            if !text.is_empty() {
                print(&text)?;
            }
            bytes.copy_within(whole..filled, 0);
            kept = filled - whole;
            if count == 0 {
                return Ok(());
            }
        }
    }

    fn line(&self, line: &[u8]) -> String {
        match serde_json::from_slice::<Event>(line) {
            Ok(_) if self.json => format!("{}\n", clean_json(&String::from_utf8_lossy(line))),
            Ok(event) => {
                let run = event.run.map_or_else(|| "-".to_owned(), |run| run.to_string());
                let text = format!("{}  {run:>4}  {:<20} {}", event.at, clean(&event.event), clean(&event.text));
                text.trim_end().to_owned() + "\n"
            }
            // In JSON a line that cannot be understood would break the reader; for people it is shown as it is.
            Err(_) if self.json => String::new(),
            Err(_) => format!("?  {}\n", clean(&String::from_utf8_lossy(line))),
        }
    }

    fn follow(&mut self, environment: &Environment) -> Result<()> {
        let mut watch = Watch::new(environment.watch())?;
        for dir in [self.spool.dir().join(layout::LOG), self.spool.scratch(), self.spool.runs(), self.spool.returns()] {
            watch.add(&dir)?;
        }
        // A manager that leaves closes its lease; without inotify nothing else tells of that.
        watch.want_lease_deaths(true);
        loop {
            watch.drain();
            let overview = Overview::read(&self.spool)?;
            let over = !overview.state.works() && overview.manager.is_none();
            self.show(over)?;
            if over {
                return Ok(());
            }
            watch.wait(&[], None)?;
        }
    }
}
