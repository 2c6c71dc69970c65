//! The facts of a session, as they are written. Each is described in orbh-spool(5); keys that are not known are
//! ignored when read.

use super::id::{MessageId, RunNumber, SessionId, Target};
use crate::ground::clock::At;
use crate::ground::process::Proc;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// What a harness may do without asking, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It asks a person (headless: it is refused).
    Asked,
    /// It acts by itself inside a sandbox.
    Sandboxed,
    /// It may do whatever its user may.
    Full,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Asked => "asked",
            Class::Sandboxed => "sandboxed",
            Class::Full => "full",
        })
    }
}

/// How a session meets people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// No terminal: the prompt goes in, the output goes to a file.
    Headless,
    /// In a pane, with a person.
    Interactive,
}

/// session.json: how the session was born.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When it was launched.
    pub created_at: At,
    /// Where its harness works, absolute.
    pub cwd: PathBuf,
    /// Headless or in a pane.
    pub mode: Mode,
    /// The session that launched it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The top of its tree of launches: itself, when nothing launched it.
    pub root: SessionId,
    /// How many launches it is below the top.
    pub depth: u32,
    /// The session that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<SessionId>,
    /// The highest class that was granted to it.
    pub class: Class,
}

/// target.json: the target and the account in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// Runtime and profile of the newest run.
    pub target: Target,
    /// Its account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// Why a run was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// The session began.
    Launch,
    /// It is the successor of a context that handed off.
    Compact,
    /// A person or a script resumed the session.
    Resume,
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RunKind::Launch => "launch",
            RunKind::Compact => "compact",
            RunKind::Resume => "resume",
        })
    }
}

/// What a harness finds on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// Its prompt, then the end of the file.
    Prompt,
    /// Nothing.
    Null,
}

/// run.json: how a run is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Runtime and profile.
    pub target: Target,
    /// The account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The class of the profile.
    pub class: Class,
    /// Why it was created.
    pub kind: RunKind,
    /// The run before it, whose work it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<RunNumber>,
    /// Of kind compact: the run whose context it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes: Option<RunNumber>,
    /// The run in which its native conversation began.
    pub context: RunNumber,
    /// The handoff that it starts from, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<PathBuf>,
    /// The size of its context window in tokens, where the profile tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The program, absolute, and its arguments.
    pub argv: Vec<String>,
    /// What it finds on its standard input.
    pub stdin: Stdin,
    /// Where its harness keeps settings and transcripts, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// Where it works, absolute.
    pub cwd: PathBuf,
    /// The names, never the values, of its environment.
    pub environment: Vec<String>,
    /// The machine.
    pub host: String,
    /// The boot of that machine.
    pub boot_id: String,
    /// When it was created.
    pub started_at: At,
}

impl Run {
    /// The names of its environment, as far as it came from the manager's: `home` is the variable by which an account
    /// moved the home of the harness, and comes from the account.
    pub fn inherited(&self, home: Option<&str>) -> Vec<String> {
        let by_account = |name: &str| self.account.is_some() && Some(name) == home;
        self.environment.iter().filter(|name| !by_account(name)).cloned().collect()
    }
}

/// native.json: the conversation of a run in its harness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Native {
    /// Its id there.
    pub id: String,
}

/// runs/N/pid: the process of a run, or a tombstone that keeps anybody from starting it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PidRecord {
    /// The process; 0 in a tombstone.
    pub pid: i32,
    /// Its start time in clock ticks after boot.
    pub start: u64,
    /// The random mark of this run, also in its environment as ORBH_NONCE.
    pub nonce: String,
    /// The boot in which it was started, which may be later than the one in which its run was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The pid namespace in which its number means it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<String>,
    /// In a tombstone: why the run will not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tombstone: Option<String>,
}

impl PidRecord {
    /// The process; `None` for a tombstone.
    pub fn process(&self) -> Option<Proc> {
        (self.pid > 0 && self.tombstone.is_none()).then_some(Proc { pid: self.pid, start: self.start })
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It gave its result.
    Returned,
    /// It handed off to a fresh context.
    Compacted,
    /// Its program exited without a result.
    Exited,
    /// Its program died of a signal.
    Signalled,
    /// It was killed by an order.
    Killed,
    /// It died while nobody watched.
    Lost,
    /// Its program could not be started.
    SpawnFailed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Returned => "returned",
            Reason::Compacted => "compacted",
            Reason::Exited => "exited",
            Reason::Signalled => "signalled",
            Reason::Killed => "killed",
            Reason::Lost => "lost",
            Reason::SpawnFailed => "spawn-failed",
        })
    }
}

/// end.json: how a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub reason: Reason,
    /// The exit status, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that it died of, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// When it was noticed.
    pub at: At,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// kill.json: an order to end a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillOrder {
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: At,
}

/// returns/N.json: a run has returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Return {
    /// The run.
    pub run: RunNumber,
    /// What becomes of the session.
    pub disposition: Disposition,
    /// When.
    pub at: At,
}

/// What becomes of a session after a return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// The session is finished.
    Finish,
}

/// Who is to answer a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Addressee {
    /// A person; never answered from inside a run.
    Human,
    /// A session, which was sent a message of the same id.
    Session(SessionId),
}

impl TryFrom<String> for Addressee {
    type Error = crate::ground::fault::Fault;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "human" => Ok(Addressee::Human),
            id => id.parse().map(Addressee::Session),
        }
    }
}

impl From<Addressee> for String {
    fn from(to: Addressee) -> String {
        to.to_string()
    }
}

impl fmt::Display for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Addressee::Human => f.write_str("human"),
            Addressee::Session(id) => id.fmt(f),
        }
    }
}

/// asked/ID/request.json: a question that the session put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its id.
    pub id: MessageId,
    /// Who is to answer.
    pub to: Addressee,
    /// Whether a verb waits for the answer.
    pub blocking: bool,
    /// The run that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunNumber>,
    /// When.
    pub at: At,
}

/// compacting.json: the hold marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The run under compaction.
    pub run: RunNumber,
    /// Since when.
    pub since: At,
}

/// relaunch.json: a handoff was accepted; the context of `closing` ends and its successor starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The kind of the run to come.
    pub kind: RunKind,
    /// The run whose context ends.
    pub closing: RunNumber,
    /// SHA-256 of the accepted bytes, hexadecimal, as sha256sum(1) prints it.
    pub sha256: String,
    /// What the successor runs on.
    pub target: Target,
    /// Its account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// When it was accepted.
    pub at: At,
}

/// relaunch.cancelled.json: an intent that was called off. The intent itself was renamed to it.
pub type Cancelled = Intent;

/// A line of compactions.ndjson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The run whose context was replaced.
    pub closed: RunNumber,
    /// The run that finished it.
    pub run: RunNumber,
    /// When it began.
    pub since: At,
    /// When it was finished.
    pub finished_at: At,
    /// How many the session has finished, this one included.
    pub count: usize,
}

/// scratch/context-N.json: the occupancy that a harness reports of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextReport {
    /// Tokens in use.
    pub used: u64,
    /// The size of the window in tokens.
    #[serde(default)]
    pub max: Option<u64>,
}
