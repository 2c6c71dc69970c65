//! `orbh demo`: a whole compaction, told as it happens.
//!
//! The demonstration does what anybody could do: it writes a profile, calls `orbh launch`, and follows `orbh log`. No
//! other part of orbh knows of it.

use crate::args::Args;
use crate::stage::Stage;
use crate::tale::Tale;
use anyhow::{Context, Result};
use shared::face::output::print_styled;
use shared::spool::log::Event;
use shared::verbs::environment::Environment;
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::Stdio;

pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let stage = Stage::build(environment, args.pace)?;
    let bold = std::io::stdout().is_terminal() && environment.get("NO_COLOR").is_none();
    let mut tale = Tale::new(&stage, bold);
    if !args.json {
        print_styled(&tale.opening())?;
    }
    let session = stage.launch()?;
    let mut log = stage
        .orbh(&["log", "--follow", "--json", &session])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start 'orbh log'")?;
    let lines = log.stdout.take().map(BufReader::new).context("cannot read from 'orbh log'")?.lines();
    for line in lines {
        let line = line.context("cannot read from 'orbh log'")?;
        if args.json {
            print_styled(&format!("{line}\n"))?;
        } else {
            let event: Event = serde_json::from_str(&line).context("cannot understand 'orbh log'")?;
            print_styled(&tale.tell(&session, &event)?)?;
        }
    }
    let _ = log.wait();
    let result = stage.answer(&["result", &session])?;
    if !args.json {
        print_styled(&tale.ending(&session, &result)?)?;
    }
    Ok(u8::from(result.is_empty()))
}
