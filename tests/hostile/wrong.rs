//! The kinds of wrong things, and putting one in the place of a file for a while.

use crate::harness::{Outcome, Session, World, alive, wait_for};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than any verb waits for anything.
pub const BOUND: Duration = Duration::from_secs(55);

/// The statuses that a verb may exit with whatever it finds: never 2, which is the caller's mistake, never 101, and
/// never by a signal.
pub const STATUSES: [i32; 6] = [0, 1, 65, 66, 74, 75];

/// A kind of wrong thing, and what makes it.
pub type Wrong = (&'static str, fn(&World, &Path));

/// What can stand where a file belongs.
pub const WRONG: [Wrong; 14] = [
    ("a symlink to a file outside", |world, path| symlink(outside(world).join("file"), path).unwrap()),
    ("a symlink to a directory outside", |world, path| symlink(outside(world), path).unwrap()),
    ("a dangling symlink", |world, path| symlink(outside(world).join("nothing"), path).unwrap()),
    ("a FIFO", |_, path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap()),
    ("a socket", |_, path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ("a directory", |_, path| std::fs::create_dir(path).unwrap()),
    ("an empty file", |_, path| std::fs::write(path, "").unwrap()),
    ("a file without permissions", |_, path| {
        std::fs::write(path, r#"{"v": 1}"#).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    }),
    ("a file of terabytes", |_, path| std::fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ("JSON of more than a mebibyte", |_, path| {
        std::fs::write(path, format!(r#"{{"v": 1, "x": "{}"}}"#, "x".repeat(1 << 20))).unwrap();
    }),
    ("JSON nested 100,000 deep", |_, path| {
        let depth = 100_000;
        std::fs::write(path, format!(r#"{{"v": 1, "x": {}{}}}"#, "[".repeat(depth), "]".repeat(depth))).unwrap();
    }),
    ("a later version", |_, path| std::fs::write(path, r#"{"v": 2}"#).unwrap()),
    ("JSON cut short", |_, path| std::fs::write(path, r#"{"v": 1, "ru"#).unwrap()),
    ("no UTF-8", |_, path| std::fs::write(path, b"{\"v\": 1, \"x\": \"\xff\xfe\"}").unwrap()),
];

/// A directory outside of the root, into which nothing is ever written.
pub fn outside(world: &World) -> PathBuf {
    let dir = world.path().join("outside");
    if !dir.exists() {
        crate::harness::private_dir(&dir);
        std::fs::write(dir.join("file"), "somebody else's").unwrap();
    }
    dir
}

/// The question of the names of this directory.
const QUESTION: &str = "asked/q0123abcde";

/// Makes one that the session put and that was answered, so that each of its files has a place.
fn question(session: &Session) {
    std::fs::create_dir(session.path(QUESTION)).unwrap();
    let request = r#"{"v":1,"id":"q0123abcde","to":"human","blocking":false,"at":"2026-01-01T00:00:00.000+00:00"}"#;
    for (name, text) in
        [("question.md", "Which?\n"), ("request.json", request), ("answer.md", "The other one.\n"), ("seen", "")]
    {
        std::fs::write(session.path(QUESTION).join(name), text).unwrap();
    }
}

/// A wrong thing in the place of a path of a spool; what was there is kept aside. Each change is one system call, so that
/// nobody sees the fact missing.
pub struct Planted {
    place: PathBuf,
    aside: PathBuf,
    exchanged: bool,
    inode: u64,
}

impl Planted {
    pub fn put(session: &Session, below: &str, (_, make): Wrong) -> Planted {
        let (place, aside) = (session.path(below), session.world.path().join("aside"));
        if below.starts_with(QUESTION) && !session.exists(QUESTION) {
            question(session);
        }
        make(session.world, &aside);
        let inode = aside.symlink_metadata().unwrap().ino();
        let exchanged = place.symlink_metadata().is_ok();
        let flags = if exchanged { RenameFlags::RENAME_EXCHANGE } else { RenameFlags::RENAME_NOREPLACE };
        renameat2(AT_FDCWD, &aside, AT_FDCWD, &place, flags).unwrap();
        Planted { place, aside, exchanged, inode }
    }

    /// Takes it away, and puts back what was there before; but what a verb has put in its place stays.
    pub fn take_away(self) {
        match self.place.symlink_metadata() {
            Ok(found) if found.ino() != self.inode => {}
            Ok(_) if self.exchanged => {
                renameat2(AT_FDCWD, &self.aside, AT_FDCWD, &self.place, RenameFlags::RENAME_EXCHANGE).unwrap();
            }
            Ok(_) => std::fs::rename(&self.place, &self.aside).unwrap(),
            Err(_) if self.exchanged => std::fs::rename(&self.aside, &self.place).unwrap(),
            Err(_) => {}
        }
        match self.aside.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&self.aside).unwrap(),
            Ok(_) => std::fs::remove_file(&self.aside).unwrap(),
            Err(_) => {}
        }
    }
}

/// Asserts what holds of every verb whatever it meets.
#[track_caller]
pub fn sound(what: &str, out: &Outcome) {
    assert!(out.code.is_some_and(|code| STATUSES.contains(&code)), "{what}: {out:?}");
    assert!(!out.stderr.contains("panicked"), "{what}: {out:?}");
    assert!(out.code == Some(0) || !(out.stdout.is_empty() && out.stderr.is_empty()), "{what} says nothing: {out:?}");
    if what.contains("\"handoff\"") && out.code != Some(0) && !out.stdout.contains("accepted") {
        assert!(out.stderr.ends_with("Your context will NOT end.\n"), "{what}: {out:?}");
    }
}

/// Asserts that nothing was written outside of the root.
#[track_caller]
pub fn untouched(world: &World, what: &str) {
    let dir = outside(world);
    let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["file"], "{what}");
    assert_eq!(std::fs::read_to_string(dir.join("file")).unwrap(), "somebody else's", "{what}");
}

/// The readers, about a session and about all.
pub fn readers(id: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["list", "--json"],
        vec!["inspect", id],
        vec!["page", id, "--no-mutate"],
        vec!["context", id],
        vec!["compact", "status", id],
        vec!["log", id],
        vec!["message", "list", id],
        vec!["pager", "status", id],
        vec!["session", "answer", "--session", id],
        vec!["result", id],
        vec!["session", "get", "--session", id],
    ]
}

/// Runs all readers at once; asserts that each is sound, and that the neighbour is listed as ever.
#[track_caller]
pub fn read_all(session: &Session, neighbour: &Session, what: &str) {
    let id = session.id.as_str();
    std::thread::scope(|scope| {
        let running: Vec<_> = readers(id)
            .into_iter()
            .map(|args| {
                let cmd = session.world.orbh(&args);
                (args, scope.spawn(move || cmd.run_within(BOUND)))
            })
            .collect();
        for (args, thread) in running {
            let out = thread.join().unwrap();
            sound(&format!("{what}: {args:?}"), &out);
            if args[0] == "list" {
                let other = out.stdout.lines().find(|line| line.contains(&format!("\"session\":\"{}\"", neighbour.id)));
                assert!(other.is_some_and(|line| line.contains("\"state\":\"working\"")), "{what}: {out:?}");
                assert!(out.stdout.contains(id), "{what}: {out:?}");
            }
        }
    });
}

/// Waits until a session is as if nothing had been: its manager is there, nothing is damaged, its agent is heard.
#[track_caller]
pub fn usable(session: &Session, run: &str, what: &str) {
    assert!(alive(session.pid(run)), "{what}: the context is dead");
    wait_for(&format!("{what}: a manager"), || session.managed().then_some(()));
    let page = session.verb(run, ["page"]).run_within(BOUND);
    assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""), "{what}: {page:?}");
    let inspected = session.world.orbh(["inspect", &session.id]).run_within(BOUND);
    assert_eq!(inspected.code, Some(0), "{what}: {inspected:?}");
}
