//! The root: where the spools of one user are, who may use it, and how a session is found by its id.

use super::id::SessionId;
use super::layout;
use super::session::Spool;
use crate::ground::dir::Dir;
use crate::ground::fault::{Fault, Kind};
use anyhow::{Context, Result};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The shortest beginning of an id that names a session.
const SHORTEST_PREFIX: usize = 4;

/// The directory of all spools of one user.
#[derive(Debug, Clone)]
pub struct Root {
    path: PathBuf,
    owner: u32,
}

impl Root {
    /// Opens the root at `path`; a root that does not exist yet is an empty one.
    ///
    /// Refused by name: a root that is not a directory, is not ours (root may look at any), or that others can write.
    pub fn open(path: &Path) -> Result<Root> {
        match std::fs::canonicalize(path) {
            Ok(real) => {
                let owner = trusted(&real)?;
                Ok(Root { path: real, owner })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if std::fs::symlink_metadata(path).is_ok() {
                    let message = format!("'{}' is a symbolic link that leads nowhere", path.display());
                    return Err(Fault::new(Kind::Refused, message)
                        .hint("make the directory that it leads to, or choose another root with ORBH_ROOT")
                        .into());
                }
                Ok(Root { path: path.to_owned(), owner: nix::unistd::geteuid().as_raw() })
            }
            Err(error) => Err(error).with_context(|| format!("cannot open the root '{}'", path.display())),
        }
    }

    /// Opens the root, and makes it (mode 0700) if it is not there.
    pub fn create(path: &Path) -> Result<Root> {
        // What is there and cannot be a root is said by name, not as the failure to make one.
        if Root::open(path)?.path.symlink_metadata().is_err() {
            let doing = || format!("cannot make the root '{}'", path.display());
            DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(doing)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).with_context(doing)?;
        }
        let root = Root::open(path)?;
        Dir::open(&root.path)?.make_dir(layout::SESSIONS)?;
        Ok(root)
    }

    /// Where it is, without a symbolic link on the way.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the spools are.
    pub fn sessions_dir(&self) -> PathBuf {
        self.path.join(layout::SESSIONS)
    }

    /// Refuses to write in a root that belongs to somebody else (only the superuser gets here).
    pub fn writable(&self) -> Result<()> {
        if self.owner == nix::unistd::geteuid().as_raw() {
            return Ok(());
        }
        let owner = nix::unistd::User::from_uid(self.owner.into()).ok().flatten();
        let owner = owner.map_or_else(|| format!("#{}", self.owner), |user| user.name);
        Err(Fault::new(Kind::Refused, format!("'{}' belongs to {owner}, not to you", self.path.display()))
            .hint(format!("sudo -u '{owner}' and the same command"))
            .into())
    }

    /// The spool of exactly this session.
    pub fn session(&self, id: &SessionId) -> Result<Spool> {
        let spool = Spool::at(self.clone(), id.clone());
        match std::fs::symlink_metadata(spool.dir()) {
            Ok(metadata) if metadata.is_dir() => {
                trusted(spool.dir())?;
                Ok(spool)
            }
            Ok(_) => Err(Fault::new(Kind::Damaged, format!("'{}' is not a directory", spool.dir().display())).into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.unknown(id.as_str()).into()),
            Err(error) => Err(error).with_context(|| format!("cannot open '{}'", spool.dir().display())),
        }
    }

    /// The spool of the session that `text` names: a whole id, or a unique beginning of one.
    pub fn find(&self, text: &str) -> Result<Spool> {
        if let Ok(id) = text.parse::<SessionId>() {
            return self.session(&id);
        }
        let plausible = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !plausible {
            return Err(self.unknown(text).into());
        }
        if text.len() < SHORTEST_PREFIX {
            let message = format!("'{text}' is too short to name a session: give {SHORTEST_PREFIX} characters or more");
            return Err(Fault::new(Kind::Usage, message).hint("orbh list --all").into());
        }
        let mut found: Vec<SessionId> = self.ids()?;
        found.retain(|id| id.as_str().starts_with(&text.to_ascii_lowercase()));
        match found.as_slice() {
            [id] => self.session(id),
            [] => Err(self.unknown(text).into()),
            several => {
                let names: Vec<&str> = several.iter().map(SessionId::as_str).collect();
                let message = format!("'{text}' names {} sessions: {}", several.len(), names.join(" "));
                Err(Fault::new(Kind::Usage, message).hint("give more characters of the id").into())
            }
        }
    }

    /// The ids of all sessions, in no particular order. What is not named like a session is not one.
    pub fn ids(&self) -> Result<Vec<SessionId>> {
        let dir = self.sessions_dir();
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", dir.display())),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read '{}'", dir.display()))?;
            ids.extend(entry.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok()));
        }
        Ok(ids)
    }

    /// The shortest beginning, eight characters at least, by which each of these ids can be told from all others.
    pub fn shorten(&self, ids: &[SessionId]) -> Result<Vec<String>> {
        let mut all: Vec<String> = self.ids()?.into_iter().map(String::from).collect();
        all.sort_unstable();
        Ok(ids.iter().map(|id| shortest(&all, id.as_str())).collect())
    }

    fn unknown(&self, text: &str) -> Fault {
        let message = format!("no session '{}' in '{}'", text.escape_debug(), self.path.display());
        Fault::new(Kind::Missing, message).hint("'orbh list --all' shows what is there; ORBH_ROOT chooses the root")
    }
}

fn shortest(sorted: &[String], id: &str) -> String {
    let at = sorted.partition_point(|other| other.as_str() < id);
    let neighbours = [at.checked_sub(1).and_then(|before| sorted.get(before)), sorted.get(at), sorted.get(at + 1)];
    let common = |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let shared = neighbours.into_iter().flatten().filter(|other| *other != id).map(common).max().unwrap_or(0);
    id[..(shared + 1).clamp(8, id.len())].to_owned()
}

/// Checks that a directory is ours and that nobody else can write in it; tells its owner.
fn trusted(dir: &Path) -> Result<u32> {
    let metadata = std::fs::metadata(dir).with_context(|| format!("cannot open '{}'", dir.display()))?;
    let me = nix::unistd::geteuid();
    if !metadata.is_dir() {
        return Err(Fault::new(Kind::Refused, format!("'{}' is not a directory", dir.display())).into());
    }
    if metadata.uid() != me.as_raw() && !me.is_root() {
        let message = format!("'{}' belongs to another user (uid {})", dir.display(), metadata.uid());
        return Err(Fault::new(Kind::Refused, message).hint("ORBH_ROOT chooses another root").into());
    }
    if metadata.mode() & 0o022 != 0 {
        let message = format!("'{}' can be written by others (mode {:04o})", dir.display(), metadata.mode() & 0o7777);
        return Err(Fault::new(Kind::Refused, message).hint(format!("chmod 700 '{}'", dir.display())).into());
    }
    Ok(metadata.uid())
}
