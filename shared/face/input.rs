//! Long texts: as an argument, from standard input (`-`), or from a file.

use crate::ground::dir::LARGEST;
use crate::ground::fault::{Fault, Kind};
use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;

/// The text that was given, if any. What is not UTF-8 is a usage error that says so.
pub fn text(argument: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    let (bytes, from) = match (argument, file) {
        (_, Some(path)) => {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read '{}'", path.display()))?;
            (bytes, format!("'{}'", path.display()))
        }
        (Some("-"), None) => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
            (bytes, "standard input".to_owned())
        }
        (Some(text), None) => return Ok(Some(text.to_owned())),
        (None, None) => return Ok(None),
    };
    if bytes.len() as u64 > LARGEST {
        return Err(Fault::new(Kind::Usage, format!("{from} is larger than {LARGEST} bytes")).into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Fault::new(Kind::Usage, format!("{from} is not UTF-8 at byte {at}")).into())
        }
    }
}
