//! The names of messages in a Maildir: `SECONDS.UNIQUE.HOST`, and in cur/ `:2,FLAGS` after it.
//!
//! Ours are `SECONDS.MMICROSECONDS_ID.HOST`, so that `ls` shows in what order they came, and the id by which the verbs
//! know each. Whatever else another program chose has an id as well: the beginning of the SHA-256 of its name.

use crate::ground::clock::At;
use crate::spool::id::MessageId;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What separates the name of a message from its flags.
const INFO: &[u8] = b":2,";

/// A flag of a message, one of those that Maildir defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// S: the session has been shown it.
    Seen,
    /// R: it was answered.
    Replied,
}

impl Flag {
    fn letter(self) -> u8 {
        match self {
            Flag::Seen => b'S',
            Flag::Replied => b'R',
        }
    }
}

/// The name of a message, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailName(OsString);

impl MailName {
    /// The name of a file in new/ or cur/; `None` for what begins with a dot, which is no message.
    pub fn parse(name: OsString) -> Option<MailName> {
        (!name.as_bytes().starts_with(b".")).then_some(MailName(name))
    }

    /// The name of a message of ours, without flags. The same for the same message, so that delivering it twice is
    /// delivering it once.
    pub fn of(id: &MessageId, at: At) -> MailName {
        MailName(OsString::from(format!("{}.M{:06}_{id}.{}", at.seconds(), at.microseconds(), host())))
    }

    /// The whole of it.
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// The part that never changes, up to the colon; empty where it is not UTF-8, which ours always are.
    pub fn base(&self) -> &str {
        std::str::from_utf8(self.base_bytes()).unwrap_or_default()
    }

    /// Whether both are names of one message.
    pub fn same(&self, other: &MailName) -> bool {
        self.base_bytes() == other.base_bytes()
    }

    fn base_bytes(&self) -> &[u8] {
        let bytes = self.0.as_bytes();
        let end = bytes.iter().position(|byte| *byte == b':').unwrap_or(bytes.len());
        &bytes[..end]
    }

    fn flags(&self) -> &[u8] {
        let info = &self.0.as_bytes()[self.base_bytes().len()..];
        info.strip_prefix(INFO).unwrap_or_default()
    }

    /// Whether it carries a flag.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags().contains(&flag.letter())
    }

    /// The same message with one flag more, for cur/.
    pub fn with(&self, flag: Flag) -> MailName {
        let mut flags: Vec<u8> = self.flags().to_vec();
        flags.push(flag.letter());
        flags.sort_unstable();
        flags.dedup();
        let bytes = [self.base_bytes(), INFO, &flags].concat();
        MailName(OsString::from_vec(bytes))
    }

    /// Its id.
    pub fn id(&self) -> MessageId {
        let ours = || self.unique()?.split_once('_')?.1.parse::<MessageId>().ok();
        ours().unwrap_or_else(|| MessageId::derived(self.base_bytes()))
    }

    /// When it was delivered, as far as its name tells, in seconds since the epoch.
    pub fn seconds(&self) -> Option<i64> {
        self.base().split('.').next()?.parse().ok()
    }

    fn unique(&self) -> Option<&str> {
        self.base().split('.').nth(1)
    }

    /// What sorts messages by their delivery.
    pub fn order(&self) -> (i64, u32, OsString) {
        let micro = || self.unique()?.strip_prefix('M')?.get(..6)?.parse().ok();
        (self.seconds().unwrap_or(i64::MAX), micro().unwrap_or(0), self.0.clone())
    }
}

/// Whether a name carries a flag.
pub(super) fn flagged(name: &[u8], flag: Flag) -> bool {
    let info = name.iter().position(|byte| *byte == b':').and_then(|at| name[at..].strip_prefix(INFO));
    info.is_some_and(|flags| flags.contains(&flag.letter()))
}

/// Whether a name may be that of a question: ours have its id behind a line below.
pub(super) fn marks_question(name: &[u8]) -> bool {
    let line = name.iter().position(|byte| *byte == b'_');
    line.is_some_and(|at| name.get(at + 1) == Some(&b'q'))
}

/// The name of this host as Maildir wants it.
pub(in crate::spool) fn host() -> String {
    let name = nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned();
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')).collect();
    if name.is_empty() { "localhost".to_owned() } else { name }
}
