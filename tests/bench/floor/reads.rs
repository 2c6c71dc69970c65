//! A floor: an empty program that also does the reads which a verb cannot do without, and prints the last of them.
//! An argument that ends with a slash is listed, one that begins with `?` only looked at, one that begins with `!` looked
//! for in vain, any other one read.

use std::io::Write;

fn main() {
    let mut last = Vec::new();
    for path in std::env::args().skip(1) {
        if let Some(path) = path.strip_prefix('?') {
            assert!(std::fs::metadata(path).is_ok());
        } else if let Some(path) = path.strip_prefix('!') {
            assert!(std::fs::File::open(path).is_err(), "{path} is there");
        } else if path.ends_with('/') {
            assert!(std::fs::read_dir(path).is_ok_and(|entries| entries.count() > 0));
        } else {
            last = std::fs::read(path).unwrap_or_default();
        }
    }
    assert!(std::io::stdout().write_all(&last).is_ok());
}
