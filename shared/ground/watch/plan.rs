//! Which directories must be armed so that a set of directories is watched, whether they exist or not.
//!
//! Promises: each existing directory once, however many paths lead to it; and above each one the nearest directory
//! that exists, where its name will appear, vanish or be replaced. Only looks (stat); arms nothing, and
//! looks no higher: what happens further up is found out by the next look.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which directory it is. The birth time is there because ext4 gives a removed one's inode number to the next.
pub(super) type Identity = (u64, u64, Option<SystemTime>);

/// A directory to be armed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    /// The path by which it is armed, and by which its events name it.
    pub(super) path: PathBuf,
    /// The caller scans it: everything that happens in it matters.
    pub(super) scanned: bool,
    /// Names in it that lead to a scanned directory: they matter, even if it is not scanned itself.
    pub(super) names: HashSet<OsString>,
}

impl Point {
    /// Whether an armed point serves for this one as it is.
    pub(super) fn same_arming(&self, armed: &Point) -> bool {
        self.path == armed.path && self.scanned == armed.scanned
    }

    /// Whether an event that names `path` matters, if this point is the one that it is about.
    pub(super) fn cares_for(&self, path: &Path) -> bool {
        path == self.path
            || path.parent() == Some(&self.path)
                && (self.scanned || path.file_name().is_some_and(|name| self.names.contains(name)))
    }
}

/// All points, by what they are.
pub(super) type Plan = BTreeMap<Identity, Point>;

/// The plan for `dirs`, as the file system is now.
pub(super) fn plan(dirs: &BTreeSet<PathBuf>) -> Plan {
    let mut plan = Plan::new();
    for dir in dirs {
        if let Some(id) = identify(dir) {
            point(&mut plan, id, dir).scanned = true;
        }
        let mut below = dir.as_path();
        for above in dir.ancestors().skip(1) {
            if let Some(id) = identify(above) {
                let name = below.file_name().map(OsString::from);
                point(&mut plan, id, above).names.extend(name);
                break;
            }
            below = above;
        }
    }
    plan
}

fn point<'p>(plan: &'p mut Plan, id: Identity, path: &Path) -> &'p mut Point {
    plan.entry(id).or_insert_with(|| Point { path: path.to_owned(), scanned: false, names: HashSet::new() })
}

/// None for what is not there, cannot be asked, or is no directory.
fn identify(path: &Path) -> Option<Identity> {
    let identity = |stat: Metadata| (stat.dev(), stat.ino(), stat.created().ok());
    path.metadata().ok().filter(Metadata::is_dir).map(identity)
}
