//! A floor: the least that the durable delivery of a message can be. `deliver MAILDIR NAME`: 512 bytes into tmp/, fsync,
//! rename into new/, fsync of that.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [maildir, name] = arguments.as_slice() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    let maildir = PathBuf::from(maildir);
    let (temporary, place) = (maildir.join("tmp").join(name), maildir.join("new").join(name));
    let mut file = File::create_new(&temporary)?;
    file.write_all(&[b'x'; 512])?;
    file.sync_all()?;
    std::fs::rename(&temporary, &place)?;
    File::open(maildir.join("new"))?.sync_all()
}
