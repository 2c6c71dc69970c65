//! The disk of the model: directories as names with a small value each, as everybody sees them and as they are durable.

/// A name in a directory; which names there are depends on the directory.
pub type Name = u8;

// scratch/
pub const HOLD: Name = 0; // compacting.json: the run
pub const INTENT: Name = 1; // relaunch.json: the run that it closes
pub const LINE: Name = 2; // compactions.ndjson has the line of run 1
pub const ACCEPTED: Name = 2; // + run: accepted-N.md, one of the bytes below
pub const HANDOFF: Name = 4; // + run: handoff-N.md
// runs/N
pub const PROMPT: Name = 0;
pub const RUN: Name = 1; // run.json: LAUNCH, RESUME, or the run that it closes
pub const PID: Name = 2; // the nonce of a shim, or TOMBSTONE
pub const KILL: Name = 3;
pub const END: Name = 4;

/// The bytes whose hash the intent has; the same before their fsync; others.
pub const GOOD: u8 = 1;
pub const UNSYNCED: u8 = 2;
pub const BAD: u8 = 3;

pub const LAUNCH: u8 = 14;
pub const RESUME: u8 = 15;
/// Added to the run that it closes: `resume` begins from that handoff again.
pub const AGAIN: u8 = 8;
pub const TOMBSTONE: u8 = 15;

pub const COMPACTED: u8 = 1;
pub const KILLED: u8 = 2;
pub const SPAWN_FAILED: u8 = 3;
pub const RETURNED: u8 = 4;
pub const EXITED: u8 = 5;

/// The directories: scratch/, runs/ (a name for each run), returns/, and runs/1 onwards.
pub const SCRATCH: usize = 0;
pub const RUNS: usize = 1;
pub const RETURNS: usize = 2;
pub const RUN_DIRS: usize = 2;

const LOG: usize = 7;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Dir {
    seen: u32,
    durable: u32,
    /// What was done since the last fsync: name << 4 | value.
    log: [u8; LOG],
    count: u8,
}

fn put(names: u32, name: Name, value: u8) -> u32 {
    names & !(15 << (4 * name)) | u32::from(value) << (4 * name)
}

impl Dir {
    pub fn get(&self, name: Name) -> u8 {
        (self.seen >> (4 * name) & 15) as u8
    }

    pub fn set(&mut self, name: Name, value: u8) {
        self.seen = put(self.seen, name, value);
        assert!(usize::from(self.count) < LOG, "a directory with more changes than the model can tell apart");
        self.log[usize::from(self.count)] = name << 4 | value;
        self.count += 1;
    }

    pub fn sync(&mut self) {
        *self = Dir { seen: self.seen, durable: self.seen, ..Dir::default() };
    }

    /// What a power loss may leave of it: each prefix of what was done, or with `any` each selection.
    pub fn leftovers(&self, any: bool) -> Vec<Dir> {
        let count = usize::from(self.count);
        let choices: Vec<u32> =
            if any { (0..1 << count).collect() } else { (0..=count).map(|first| (1 << first) - 1).collect() };
        let left = |choice: u32| {
            let chosen = (0..count).filter(|at| choice >> at & 1 == 1);
            let seen = chosen.fold(self.durable, |names, at| put(names, self.log[at] >> 4, self.log[at] & 15));
            Dir { seen, durable: seen, ..Dir::default() }
        };
        let mut all: Vec<Dir> = choices.into_iter().map(left).collect();
        all.sort_unstable_by_key(|dir| dir.seen);
        all.dedup();
        all
    }
}
