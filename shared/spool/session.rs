//! One spool: its paths, its birth, and the facts that concern the session as a whole.

use super::facts::{InForce, Session};
use super::id::{RunNumber, SessionId};
use super::inbox::{Inbox, MAILDIR};
use super::layout;
use super::root::Root;
use crate::ground::dir::{Dir, read};
use crate::ground::fact;
use crate::ground::fault::{Fault, Kind};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The directories that every spool is born with.
const BORN_WITH: [&str; 9] = [
    layout::KEYS,
    layout::RUNS,
    layout::RETURNS,
    layout::INBOX,
    layout::OUTBOX,
    layout::ASKED,
    layout::LINKS,
    layout::LOG,
    layout::SCRATCH,
];

/// The spool of one session.
#[derive(Debug, Clone)]
pub struct Spool {
    root: Root,
    id: SessionId,
    dir: PathBuf,
}

impl Spool {
    /// The spool that the session `id` would have; nothing is looked at.
    pub fn at(root: Root, id: SessionId) -> Spool {
        let dir = root.sessions_dir().join(id.as_str());
        Spool { root, id, dir }
    }

    /// Makes the spool of a new session: built aside, then renamed, so that it is there whole or not at all.
    pub fn create(root: &Root, session: &Session, target: &InForce, prompt: &str) -> Result<Spool> {
        root.writable()?;
        let spool = Spool::at(root.clone(), session.id.clone());
        let sessions = Dir::open(&root.sessions_dir())?;
        let temporary = format!("{}{}", crate::ground::dir::TEMPORARY, session.id);
        sessions.make_dir(&temporary)?;
        let build = || -> Result<()> {
            let dir = Dir::open(&sessions.path().join(&temporary))?;
            for name in BORN_WITH {
                dir.make_dir(name)?;
            }
            Inbox::below(dir.path()).make()?;
            dir.create(layout::PROMPT, prompt.as_bytes())?;
            fact::create(&dir, layout::TARGET, target)?;
            fact::create(&dir, layout::SESSION, session)?;
            link(&dir, layout::LINK_PARENT, session.parent.as_ref())?;
            link(&dir, layout::LINK_CONTINUES, session.continues.as_ref())?;
            sessions.rename(&temporary, session.id.as_str())
        };
        if let Err(error) = build() {
            // What could not be built whole is taken away again, as far as that is possible.
            let _ = std::fs::remove_dir_all(sessions.path().join(&temporary));
            return Err(error);
        }
        Ok(spool)
    }

    /// Makes the directories again that it was born with and that somebody removed. Not runs/: without it nobody knows
    /// which runs there were.
    pub fn mend(&self) -> Result<()> {
        let missing = |path: &Path| {
            let found = path.symlink_metadata();
            found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        for name in BORN_WITH.into_iter().filter(|name| *name != layout::RUNS) {
            if missing(&self.dir.join(name)) {
                Dir::open(&self.dir)?.make_dir(name)?;
            }
        }
        let inbox = Inbox::of(self);
        if MAILDIR.into_iter().any(|name| missing(&inbox.dir().join(name))) {
            inbox.make()?;
        }
        Ok(())
    }

    /// The root that it lies in.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The id of the session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// scratch/: where the binaries coordinate.
    pub fn scratch(&self) -> PathBuf {
        self.dir.join(layout::SCRATCH)
    }

    /// asked/.
    pub fn asked(&self) -> PathBuf {
        self.dir.join(layout::ASKED)
    }

    /// runs/.
    pub fn runs(&self) -> PathBuf {
        self.dir.join(layout::RUNS)
    }

    /// returns/.
    pub fn returns(&self) -> PathBuf {
        self.dir.join(layout::RETURNS)
    }

    /// The directory of a run.
    pub fn run(&self, run: RunNumber) -> PathBuf {
        self.runs().join(run.to_string())
    }

    /// Where the handoff of a run belongs.
    pub fn handoff(&self, run: RunNumber) -> PathBuf {
        self.scratch().join(layout::handoff(run))
    }

    /// session.json.
    pub fn session(&self) -> Result<Session> {
        let path = self.dir.join(layout::SESSION);
        let Some(session) = fact::load::<Session>(&path)? else {
            return Err(self.missing(&path).into());
        };
        if session.id != self.id {
            let message = format!("'{}' speaks of another session, {}", path.display(), session.id);
            return Err(Fault::new(Kind::Damaged, message).into());
        }
        Ok(session)
    }

    /// The duty: the launch prompt as given.
    pub fn duty(&self) -> Result<String> {
        let path = self.dir.join(layout::PROMPT);
        let bytes = read(&path)?.ok_or_else(|| self.missing(&path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What to say when something is not there that every spool has: damage, or the session was forgotten meanwhile.
    pub fn missing(&self, path: &Path) -> Fault {
        match std::fs::symlink_metadata(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("session {} is gone: '{}' was removed", self.id, self.dir.display());
                Fault::new(Kind::Missing, message).hint("'orbh list --all' shows what is there")
            }
            _ => Fault::new(Kind::Damaged, format!("'{}' is missing", path.display()))
                .hint(format!("restore it; 'rm -r {}' forgets the session", self.dir.display())),
        }
    }

    /// target.json; `None` before the first run.
    pub fn in_force(&self) -> Result<Option<InForce>> {
        fact::load(&self.dir.join(layout::TARGET))
    }
}

fn link(dir: &Dir, name: &str, to: Option<&SessionId>) -> Result<()> {
    let Some(to) = to else { return Ok(()) };
    link_to(&dir.path().join(layout::LINKS), name, to)
}

/// Makes links/`name`, leading to the spool of `to`, unless it is there.
fn link_to(links: &Path, name: &str, to: &SessionId) -> Result<()> {
    let path = links.join(name);
    match std::os::unix::fs::symlink(Path::new("../..").join(to.as_str()), &path) {
        Ok(()) => Dir::open(links)?.sync(),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot make the link '{}'", path.display())),
    }
}

/// Makes the link from a parent to a child that it launched.
pub fn link_child(parent: &Spool, child: &SessionId) -> Result<()> {
    link_to(&parent.dir.join(layout::LINKS), &format!("{}{child}", layout::LINK_CHILD), child)
}
