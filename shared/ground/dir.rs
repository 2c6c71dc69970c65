//! A directory held by descriptor, and the durable operations on the names in it.
//!
//! Every operation is relative to the descriptor, which was opened without following a symlink anywhere on the way,
//! so that nobody who may write below a spool can make a verb write somewhere else (openat2(2), RESOLVE_NO_SYMLINKS;
//! where the kernel or a seccomp filter lacks it, only the last component is guarded).
//!
//! What is written here appears whole or not at all: a temporary file in the same directory, fsync, link or rename,
//! fsync of the directory. A failed fsync is final: the temporary file is unlinked and the failure reported, never
//! retried (a second fsync "succeeds" without the data). Temporary names start with `.tmp-` and name their writer.

use super::fault::{Fault, Kind};
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, RenameFlags, ResolveFlag, openat, openat2, renameat2};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static DURABLE: AtomicBool = AtomicBool::new(true);
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// The prefix of temporary names, which every reader ignores.
pub const TEMPORARY: &str = ".tmp-";

/// No file of a spool that is read whole is larger, in bytes: what is, was not written by orbh, and is not read into
/// memory.
pub const LARGEST: u64 = 64 * 1024 * 1024;

/// Switches fsync off for this process (`ORBH_FSYNC=0`, for tests only: after a power loss nothing holds).
pub fn set_durable(on: bool) {
    DURABLE.store(on, Ordering::Relaxed);
}

/// Whether a fact was written, or had been written before by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is there, and we wrote it.
    Now,
    /// It was there already, and is unchanged.
    Before,
}

/// A directory, held open.
#[derive(Debug)]
pub struct Dir {
    file: File,
    path: PathBuf,
}

/// A file that was written under a temporary name, for several that become facts together: first all are written, then
/// all synced, then each gets its name, the one that says that the others are there last, and then the directory is
/// synced once. A file system that was made to sync the first has little to do for the others. Dropped, it is gone.
#[derive(Debug)]
pub struct Draft<'d> {
    dir: &'d Dir,
    name: String,
    file: File,
    renamed: bool,
}

impl Draft<'_> {
    /// Makes its bytes durable. Before it gets its name: a name must never lead to less than the whole.
    pub fn sync(&self) -> Result<()> {
        sync_file(&self.file).with_context(|| format!("cannot write a file in '{}'", self.dir.path.display()))
    }

    /// Gives it its name, unless that is taken. Durable once the directory is.
    pub fn create(self, name: &str) -> Result<Written> {
        self.link_in(self.dir, name)
    }

    fn link_in(&self, dir: &Dir, name: &str) -> Result<Written> {
        match linkat(self.dir.fd(), self.name.as_str(), dir.fd(), name, AtFlags::empty()) {
            Ok(()) => Ok(Written::Now),
            Err(Errno::EEXIST) => Ok(Written::Before),
            Err(errno) => dir.failed(errno, "create", name),
        }
    }

    /// Moves it into another directory of the same file system, unless the name is taken there. Durable once that
    /// directory is.
    pub fn create_in(mut self, dir: &Dir, name: &str) -> Result<Written> {
        match renameat2(self.dir.fd(), self.name.as_str(), dir.fd(), name, RenameFlags::RENAME_NOREPLACE) {
            Ok(()) => {
                self.renamed = true;
                Ok(Written::Now)
            }
            Err(Errno::EEXIST) => Ok(Written::Before),
            // A file system that cannot refuse to replace.
            Err(Errno::EINVAL | Errno::ENOSYS) => self.link_in(dir, name),
            Err(errno) => dir.failed(errno, "create", name),
        }
    }

    /// Puts it in the place of whatever stands under `name`, a directory as well. Durable once the directory is.
    pub fn replace(mut self, name: &str) -> Result<()> {
        self.dir.rename_over(&self.name, name)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    /// A second name that cannot be taken away is litter, and no reason to call a fact unwritten that is there.
    fn drop(&mut self) {
        if !self.renamed {
            self.dir.discard(&self.name);
        }
    }
}

/// Opens `path` for reading without following a symlink; `None` when it does not exist.
pub fn open_read(path: &Path) -> Result<Option<File>> {
    open_no_symlinks(path, OFlag::O_RDONLY | OFlag::O_NONBLOCK)
}

fn open_no_symlinks(path: &Path, flags: OFlag) -> Result<Option<File>> {
    let flags = flags | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let opened = match openat2(nix::fcntl::AT_FDCWD, path, how) {
        Err(Errno::ENOSYS | Errno::EPERM) => openat(nix::fcntl::AT_FDCWD, path, flags, Mode::empty()),
        other => other,
    };
    match opened {
        Ok(fd) => Ok(Some(File::from(fd))),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(not_opened(errno, path, "open")),
    }
}

/// Why something could not be opened: what stands there is of the wrong kind, which is damage, or a system call failed.
pub(super) fn not_opened(errno: Errno, path: &Path, doing: &str) -> anyhow::Error {
    let damaged = |what: &str| unfit(doing, path, what).into();
    match errno {
        Errno::ENXIO | Errno::EISDIR => damaged("it is not a regular file"),
        // A symlink in the place of a directory itself: ENOTDIR when a directory is asked for.
        Errno::ELOOP => damaged("a part of it is a symbolic link"),
        Errno::ENOTDIR if path.is_symlink() => damaged("a part of it is a symbolic link"),
        Errno::ENOTDIR => damaged("a part of it is not a directory"),
        errno => {
            anyhow::Error::from(std::io::Error::from(errno)).context(format!("cannot {doing} '{}'", path.display()))
        }
    }
}

impl Dir {
    /// Opens the directory; an error names it when it does not exist.
    pub fn open(path: &Path) -> Result<Dir> {
        let missing = || format!("cannot open '{}'", path.display());
        Dir::open_if_there(path)?.ok_or(std::io::Error::from(Errno::ENOENT)).with_context(missing)
    }

    /// Opens it; `None` when it does not exist.
    pub fn open_if_there(path: &Path) -> Result<Option<Dir>> {
        let file = open_no_symlinks(path, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?;
        Ok(file.map(|file| Dir { file, path: path.to_owned() }))
    }

    /// Shows each name in it but `.` and `..`, in no particular order. Nothing is made of a name that nobody wants.
    pub fn each_name(self, mut show: impl FnMut(&[u8])) -> Result<()> {
        let Dir { file, path } = self;
        let reading = || format!("cannot read '{}'", path.display());
        let mut listing = nix::dir::Dir::from_fd(file.into()).map_err(std::io::Error::from).with_context(reading)?;
        for entry in listing.iter() {
            let entry = entry.map_err(std::io::Error::from).with_context(reading)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                show(name);
            }
        }
        Ok(())
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Writes a file that has no name of its own yet and is not durable yet; see [`Draft`].
    pub fn draft(&self, bytes: &[u8], mode: u32) -> Result<Draft<'_>> {
        let name = self.temporary_name();
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let fd = openat(self.fd(), name.as_str(), flags, Mode::from_bits_truncate(mode))
            .map_err(std::io::Error::from)
            .with_context(|| format!("cannot create a file in '{}'", self.path.display()))?;
        let mut draft = Draft { dir: self, name, file: File::from(fd), renamed: false };
        insist_mode(&draft.file, mode)
            .and_then(|()| draft.file.write_all(bytes))
            .with_context(|| format!("cannot write a file in '{}'", self.path.display()))?;
        Ok(draft)
    }

    /// Creates the file `name` with these bytes, whole and durable, unless it is there.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<Written> {
        let draft = self.draft(bytes, 0o600)?;
        draft.sync()?;
        let written = draft.create(name)?;
        if written == Written::Now {
            self.sync()?;
        }
        Ok(written)
    }

    /// Puts these bytes in the place of whatever stands under `name`.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.replace_mode(name, bytes, 0o600)
    }

    /// The same with a mode of one's own (an accepted handoff is 0400). The inode is new.
    pub fn replace_mode(&self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let draft = self.draft(bytes, mode)?;
        draft.sync()?;
        draft.replace(name)?;
        self.sync()
    }

    /// Renames over whatever stands under `to`, and makes it durable.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        match renameat2(self.fd(), from, self.fd(), to, RenameFlags::empty()) {
            Ok(()) => self.sync(),
            // It is the other name that is in the way.
            Err(errno @ (Errno::EISDIR | Errno::ENOTEMPTY)) => self.failed(errno, "replace", to),
            Err(errno) => self.failed(errno, "rename", from),
        }
    }

    /// The same where nothing may stand in the way.
    pub fn rename_away(&self, from: &str, to: &str) -> Result<()> {
        self.rename_over(from, to)?;
        self.sync()
    }

    /// Renames over whatever stands under `to`, durable once the directory is. What cannot be renamed over (a directory,
    /// or a file where a directory is renamed) is moved aside first.
    fn rename_over(&self, from: &str, to: &str) -> Result<()> {
        let in_the_way = [Errno::EISDIR, Errno::ENOTDIR, Errno::ENOTEMPTY, Errno::EEXIST];
        let rename = || renameat2(self.fd(), from, self.fd(), to, RenameFlags::empty());
        match rename() {
            Err(errno) if in_the_way.contains(&errno) => {
                self.move_aside(to)?;
                rename().or_else(|errno| self.failed(errno, "rename", from))
            }
            done => done.or_else(|errno| self.failed(errno, "rename", from)),
        }
    }

    /// Gives what stands under `name` a temporary name: it is lost to everybody but the one who looks for it.
    fn move_aside(&self, name: &str) -> Result<()> {
        match renameat2(self.fd(), name, self.fd(), self.temporary_name().as_str(), RenameFlags::empty()) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => self.failed(errno, "move aside", name),
        }
    }

    /// Moves aside what stands under `name` and is no regular file, where one is to be opened and written to.
    pub fn free_for_file(&self, name: &str) -> Result<()> {
        match std::fs::symlink_metadata(self.path.join(name)) {
            Ok(found) if !found.is_file() => self.move_aside(name),
            _ => Ok(()),
        }
    }

    /// Moves aside what stands under `name` and is no directory, where one is to be made.
    pub fn free_for_dir(&self, name: &str) -> Result<()> {
        match std::fs::symlink_metadata(self.path.join(name)) {
            Ok(found) if !found.is_dir() => self.move_aside(name),
            _ => Ok(()),
        }
    }

    /// Makes `name` a second name of the file `of`, in place of whatever stood there: link, then rename. It is durable
    /// once the directory is: call [`Dir::sync`].
    pub fn link_over(&self, of: &str, name: &str) -> Result<()> {
        let temporary = self.temporary_name();
        if let Err(errno) = linkat(self.fd(), of, self.fd(), temporary.as_str(), AtFlags::empty()) {
            return self.failed(errno, "link", of);
        }
        let renamed = self.rename_over(&temporary, name);
        // rename(2) of two names of one file does nothing and leaves both: the temporary one goes either way.
        self.discard(&temporary);
        renamed
    }

    /// Moves `from` into another directory of the same file system, over whatever file stands there; false when it is
    /// gone. Durable once both directories are.
    pub fn move_to(&self, from: &OsStr, dir: &Dir, to: &OsStr) -> Result<bool> {
        match renameat2(self.fd(), from, dir.fd(), to, RenameFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => self.failed(errno, "rename", &from.to_string_lossy()),
        }
    }

    /// Unlinks `name`; false when it was not there.
    pub fn remove(&self, name: &str) -> Result<bool> {
        match unlinkat(self.fd(), name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => self.failed(errno, "unlink", name),
        }
    }

    /// Makes the directory `name` (mode 0700), durable; `Before` when it was there.
    pub fn make_dir(&self, name: &str) -> Result<Written> {
        let written = self.add_dir(name)?;
        if written == Written::Now {
            self.sync()?;
        }
        Ok(written)
    }

    /// The same, durable once this directory is: call [`Dir::sync`].
    pub fn add_dir(&self, name: &str) -> Result<Written> {
        match mkdirat(self.fd(), name, Mode::S_IRWXU) {
            Ok(()) => {
                // By name: under a umask of 0777 what was made cannot even be opened by its owner.
                match fchmodat(self.fd(), name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink) {
                    Ok(()) => Ok(Written::Now),
                    Err(errno) => {
                        // Nothing was made, as far as that is possible.
                        let _ = unlinkat(self.fd(), name, UnlinkatFlags::RemoveDir);
                        self.failed(errno, "set the mode of", name)
                    }
                }
            }
            Err(Errno::EEXIST) => Ok(Written::Before),
            Err(errno) => self.failed(errno, "make the directory", name),
        }
    }

    /// Appends one line with a single O_APPEND write. A line that a crash cut short is ended first, so that it can
    /// spoil itself only.
    pub fn append_line(&self, name: &str, line: &str, durable: bool) -> Result<()> {
        let flags =
            OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let fd = openat(self.fd(), name, flags, Mode::S_IRUSR | Mode::S_IWUSR)
            .map_err(|errno| not_opened(errno, &self.path.join(name), "open"))?;
        let mut file = File::from(fd);
        insist_mode(&file, 0o600).with_context(|| format!("cannot set the mode of '{}'", self.at(name)))?;
        let metadata = file.metadata().with_context(|| format!("cannot stat '{}'", self.at(name)))?;
        // A full FIFO, planted there, would keep the writer and the claim that it holds for ever.
        if !metadata.is_file() {
            return Err(irregular(&self.path.join(name)).into());
        }
        let length = metadata.len();
        let mut text = String::with_capacity(line.len() + 2);
        let mut last = [b'\n'];
        if length > 0 {
            file.read_exact_at(&mut last, length - 1).with_context(|| format!("cannot read '{}'", self.at(name)))?;
        }
        if last != *b"\n" {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        file.write_all(text.as_bytes()).with_context(|| format!("cannot append to '{}'", self.at(name)))?;
        if durable {
            sync_file(&file).with_context(|| format!("cannot sync '{}'", self.at(name)))?;
            self.sync()?;
        }
        Ok(())
    }

    /// Makes the names in the directory durable.
    pub fn sync(&self) -> Result<()> {
        sync_file(&self.file).with_context(|| format!("cannot sync '{}'", self.path.display()))
    }

    fn failed<T>(&self, errno: Errno, doing: &str, name: &str) -> Result<T> {
        Err(std::io::Error::from(errno)).with_context(|| format!("cannot {doing} '{}'", self.at(name)))
    }

    fn temporary_name(&self) -> String {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let start = super::process::Proc::me().map_or(0, |proc| proc.start);
        format!("{TEMPORARY}{pid}-{start}-{serial}")
    }

    fn discard(&self, name: &str) {
        // Best effort: a reader ignores what is left, and the failure that led here is the one worth reporting.
        let _ = unlinkat(self.fd(), name, UnlinkatFlags::NoRemoveDir);
    }
}

/// Gives a file of ours the permissions of `mode` that it lacks: the umask of the caller must not decide who may read a
/// spool. What an administrator has added stays.
pub fn insist_mode(file: &File, mode: u32) -> std::io::Result<()> {
    let found = file.metadata()?;
    let ours = found.uid() == nix::unistd::geteuid().as_raw();
    if ours && found.mode() & mode != mode {
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

fn sync_file(file: &File) -> std::io::Result<()> {
    if DURABLE.load(Ordering::Relaxed) { file.sync_all() } else { Ok(()) }
}

/// Makes a file durable that somebody else may have written.
pub fn sync_path(path: &Path) -> Result<()> {
    match open_read(path)? {
        Some(file) => sync_file(&file).with_context(|| format!("cannot sync '{}'", path.display())),
        None => Ok(()),
    }
}

/// What stands at `path` is none of ours: damage, for somebody to look at and to move away.
pub fn unfit(doing: &str, path: &Path, what: &str) -> Fault {
    Fault::new(Kind::Damaged, format!("cannot {doing} '{}': {what}", path.display()))
        .hint(format!("look at it with 'ls -ld {}', and move it away", path.display()))
}

pub(super) fn irregular(path: &Path) -> Fault {
    unfit("read", path, "it is not a regular file")
}

/// The first bytes of a file, `most` at most, and whether there are more; `None` when it does not exist.
pub fn read_head(path: &Path, most: u64) -> Result<Option<(Vec<u8>, bool)>> {
    let Some((file, length)) = open_regular(path)? else { return Ok(None) };
    let capacity = usize::try_from(length.min(most)).unwrap_or(0).saturating_add(1);
    let mut bytes = Vec::with_capacity(capacity);
    file.take(most).read_to_end(&mut bytes).with_context(|| format!("cannot read '{}'", path.display()))?;
    Ok(Some((bytes, length > most)))
}

/// Opens a regular file, with its length; `None` when it does not exist.
fn open_regular(path: &Path) -> Result<Option<(File, u64)>> {
    let Some(file) = open_read(path)? else { return Ok(None) };
    let metadata = file.metadata().with_context(|| format!("cannot stat '{}'", path.display()))?;
    if !metadata.is_file() {
        return Err(irregular(path).into());
    }
    Ok(Some((file, metadata.len())))
}

/// The whole content of a file; `None` when it does not exist. Follows no symlink, never blocks on a FIFO, and reads
/// nothing that is larger than [`LARGEST`].
pub fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    read_up_to(path, LARGEST)
}

/// The same with a limit of one's own.
pub fn read_up_to(path: &Path, largest: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, length)) = open_regular(path)? else { return Ok(None) };
    // One byte more than there is, so that the read after the last finds the end without growing; and through `take`,
    // because a File would ask for its length and its position once more, for each fact of each run.
    let capacity = if length > largest { 0 } else { length };
    let mut bytes = Vec::with_capacity(usize::try_from(capacity).unwrap_or(0).saturating_add(1).max(32));
    if length <= largest {
        // Not more either, when it grows meanwhile.
        let read = file.take(largest.saturating_add(1)).read_to_end(&mut bytes);
        read.with_context(|| format!("cannot read '{}'", path.display()))?;
    }
    if length.max(bytes.len() as u64) > largest {
        let message = format!("cannot read '{}': it is larger than anything there ({largest} bytes)", path.display());
        return Err(Fault::new(Kind::Damaged, message).hint("move it away").into());
    }
    Ok(Some(bytes))
}
