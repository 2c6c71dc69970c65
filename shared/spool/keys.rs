//! Interface keys: what a session says about itself, a file each, so that `cat` reads them and `printf` writes them.

use super::id::Name;
use super::layout;
use super::session::Spool;
use crate::ground::dir::{Dir, read};
use crate::ground::fault::unreadable;
use anyhow::Result;

/// The value of a key, without the newline at its end; `None` when it is not set.
pub fn get(spool: &Spool, key: &str) -> Result<Option<String>> {
    let Some(bytes) = read(&spool.dir().join(layout::KEYS).join(key))? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
}

/// Sets a key.
pub fn set(spool: &Spool, key: &str, value: &str) -> Result<()> {
    Dir::open(&spool.dir().join(layout::KEYS))?.replace(key, format!("{value}\n").as_bytes())
}

/// Removes a key; false when it was not set.
pub fn unset(spool: &Spool, key: &str) -> Result<bool> {
    Dir::open(&spool.dir().join(layout::KEYS))?.remove(key)
}

/// Keys with their values.
pub type Pairs = Vec<(Name, String)>;

/// All keys and their values, sorted by key, and the damage among them, a sentence each: one hides none of the others.
pub fn all(spool: &Spool) -> Result<(Pairs, Vec<String>)> {
    let (mut keys, mut damage) = (Vec::new(), Vec::new());
    let dir = spool.dir().join(layout::KEYS);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) => {
            let error = anyhow::Error::from(error).context(format!("cannot read '{}'", dir.display()));
            damage.extend(unreadable(&error));
            return Ok((keys, damage));
        }
    };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().and_then(|name| name.parse::<Name>().ok()) else { continue };
        match get(spool, name.as_str()) {
            Ok(Some(value)) => keys.push((name, value)),
            Ok(None) => {}
            Err(error) => damage.push(unreadable(&error).ok_or(error)?),
        }
    }
    keys.sort();
    damage.sort();
    Ok((keys, damage))
}
