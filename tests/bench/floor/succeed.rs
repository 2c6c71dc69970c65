//! A floor: the least that a succession can be. `succeed HARNESS DIR WRITES`: starts HARNESS in DIR, and when that is up
//! ends it, waits for its death, writes WRITES facts durably in DIR, starts HARNESS anew, and prints how long it took
//! from the signal to the first instruction of the new one, in nanoseconds.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn kill(pid: i32, signal: i32) -> i32;
}

fn now() -> i64 {
    const MONOTONIC: i32 = 1;
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure is that of 64-bit Linux, and ours.
    unsafe { clock_gettime(MONOTONIC, &raw mut now) };
    now.seconds * 1_000_000_000 + now.nanoseconds
}

fn start(harness: &Path, dir: &Path, run: &str) -> std::io::Result<Child> {
    Command::new(harness).current_dir(dir).env("ORBH_RUN", run).spawn()
}

fn stamp(dir: &Path, run: &str) -> i64 {
    loop {
        let text = std::fs::read_to_string(dir.join(format!("stamp-{run}"))).unwrap_or_default();
        if let Ok(at) = text.trim().parse() {
            return at;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn end(child: &mut Child) -> std::io::Result<()> {
    const TERM: i32 = 15;
    // SAFETY: a child of ours that was not waited for yet.
    unsafe { kill(child.id().cast_signed(), TERM) };
    child.wait().map(drop)
}

fn write(dir: &Path, directory: &File, number: usize) -> std::io::Result<()> {
    let (temporary, name) = (dir.join(format!(".tmp-{number}")), dir.join(format!("fact-{number}")));
    let mut file = File::create_new(&temporary)?;
    file.write_all(&[b'x'; 512])?;
    file.sync_all()?;
    std::fs::rename(&temporary, &name)?;
    directory.sync_all()
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [harness, dir, writes] = arguments.as_slice() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    let (harness, dir) = (PathBuf::from(harness), PathBuf::from(dir));
    let mut old = start(&harness, &dir, "old")?;
    stamp(&dir, "old");
    let begin = now();
    end(&mut old)?;
    let directory = File::open(&dir)?;
    for number in 0..writes.parse().unwrap_or(0) {
        write(&dir, &directory, number)?;
    }
    let mut new = start(&harness, &dir, "new")?;
    let took = stamp(&dir, "new") - begin;
    end(&mut new)?;
    println!("{took}");
    Ok(())
}
