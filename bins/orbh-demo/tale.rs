//! The tale: what each event of the session means, with what the agent said meanwhile.

use crate::stage::Stage;
use anyhow::{Context, Result};
use shared::face::output::{BOLD, PLAIN};
use shared::face::text::clean;
use shared::spool::log::Event;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tells the events of one session, in order.
pub struct Tale<'a> {
    stage: &'a Stage<'a>,
    bold: bool,
    output: Option<PathBuf>,
    heard: usize,
}

impl<'a> Tale<'a> {
    pub fn new(stage: &'a Stage<'a>, bold: bool) -> Self {
        Tale { stage, bold, output: None, heard: 0 }
    }

    /// What is about to be seen.
    pub fn opening(&self) -> String {
        let text = format!(
            "A coding agent works in a context that fills up. orbh keeps its session alive while the context is \
             replaced.\nHere is one such life, with a shell script as the agent, in {}.\nLines with a bar are the \
             agent's own. In another terminal you can watch it too:\n\n    ORBH_ROOT={} orbh list\n\n",
            self.stage.dir().display(),
            self.stage.root().display()
        );
        text + &self.heading("The session is launched")
    }

    /// One event, after what the agent has said before it.
    pub fn tell(&mut self, session: &str, event: &Event) -> Result<String> {
        let mut text = self.listen()?;
        let run = event.run.map(|run| run.to_string()).unwrap_or_default();
        match event.event.as_str() {
            "launched" => {
                let _ = writeln!(text, "It is a directory: {}", self.stage.spool(session).display());
                text += "A manager, orbh-relaunch, keeps it from outside of the agent.\n";
            }
            "run-started" => {
                self.output = Some(self.stage.spool(session).join("runs").join(&run).join("output"));
                self.heard = 0;
                text += &self.heading(&format!("Run {run} begins: a fresh context ({})", event.text));
            }
            "compaction-started" => {
                text += &self.heading("The agent begins a compaction. The pager is held, the title is marked:");
                text += &self.stage.answer(&["list"])?;
            }
            "handoff-refused" => {
                text += &self.heading("The handoff is refused. Nothing has changed, nothing has ended")
            }
            "handoff-accepted" => {
                text += &self.heading("The handoff is accepted: one fact, scratch/relaunch.json, makes it so");
            }
            "context-ending" => text += "The manager ends the context: TERM, a grace, KILL, for every process of it.\n",
            "run-ended" if event.text == "compacted" => {
                let _ = writeln!(text, "Run {run} is over. {}", self.helper()?);
            }
            "run-ended" => {
                let _ = writeln!(text, "Run {run} has ended ({}).", clean(&event.text));
            }
            "compaction-finished" => {
                text += &self.heading("The successor has read everything, and has confirmed it. The mark is gone");
            }
            "returned" => text += &self.heading("The agent has returned its result"),
            _ => {}
        }
        Ok(text)
    }

    /// What became of it, and where to look.
    pub fn ending(&mut self, session: &str, result: &str) -> Result<String> {
        let mut text = self.listen()?;
        let spool = self.stage.spool(session);
        let short = &session[..8.min(session.len())];
        let root = self.stage.root();
        text += &self.heading("One session, two contexts");
        let _ = write!(text, "Its result: {result}\nWhat to look at, in {}\n", spool.display());
        for (file, what) in [
            ("scratch/handoff-0001.md", "the handoff that the first context wrote"),
            ("runs/0001/output", "what the first context said, its refusal included"),
            ("runs/0002/prompt.md", "what the second one was told: the duty, then the handoff's path"),
            ("runs/0001/end.json", "how the first one ended; every fact is a file"),
            ("log/events.ndjson", "the events that were told here"),
        ] {
            let _ = writeln!(text, "    {file:<25} {what}");
        }
        let _ = write!(
            text,
            "\nAnd by its verbs:\n    export ORBH_ROOT={}\n    orbh list --all\n    orbh inspect {short}\n    orbh log \
             {short}\n\nTo run your own agent like this: orbh help tutorial. To forget this one: rm -r {}\n",
            root.display(),
            self.stage.dir().display()
        );
        Ok(text)
    }

    /// What the agent has said since the last time.
    fn listen(&mut self) -> Result<String> {
        let Some(path) = &self.output else { return Ok(String::new()) };
        let said = read(path)?;
        let new = said.get(self.heard..).unwrap_or_default();
        let whole = new.rfind('\n').map_or(0, |at| at + 1);
        self.heard += whole;
        Ok(new[..whole].lines().map(|line| format!("  | {}\n", clean(line))).collect())
    }

    /// Whether the process that the first context left in the background is really gone.
    fn helper(&self) -> Result<String> {
        let pid = read(&self.stage.work().join("helper.pid"))?.trim().to_owned();
        Ok(match Path::new("/proc").join(&pid).exists() {
            false => format!("No process of it lives; its helper {pid} is gone, too."),
            true => format!("But its helper {pid} is still there, which should not be."),
        })
    }

    fn heading(&self, text: &str) -> String {
        if self.bold { format!("\n{BOLD}== {text}{PLAIN}\n") } else { format!("\n== {text}\n") }
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read '{}'", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
