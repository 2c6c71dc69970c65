//! Ids and names as types, parsed at the edge.

use crate::ground::fault::{Fault, Kind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::str::FromStr;

/// The id of a session: a UUID in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// A fresh, random one.
    pub fn fresh() -> Self {
        SessionId(uuid::Uuid::new_v4().to_string())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        match uuid::Uuid::try_parse(text) {
            Ok(uuid) if uuid.hyphenated().to_string() == text => Ok(SessionId(text.to_owned())),
            _ => Err(Fault::new(Kind::Usage, format!("'{text}' is not a session id"))),
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The number of a run, from 1. Written with four digits at least, in file names and in JSON alike: `0001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunNumber(u32);

impl RunNumber {
    /// The first run of a session.
    pub const FIRST: RunNumber = RunNumber(1);

    /// The run after this one.
    pub fn next(self) -> Self {
        RunNumber(self.0 + 1)
    }
}

impl FromStr for RunNumber {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        match text.parse::<u32>() {
            Ok(number) if number > 0 && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(RunNumber(number)),
            _ => Err(Fault::new(Kind::Usage, format!("'{text}' is not the number of a run"))),
        }
    }
}

impl TryFrom<String> for RunNumber {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<RunNumber> for String {
    fn from(run: RunNumber) -> String {
        run.to_string()
    }
}

impl fmt::Display for RunNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

/// A name that came from outside (key, profile, account): `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, so that it is safe as a
/// file name and in a shell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let all = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if first && all && text.len() <= 64 {
            return Ok(Name(text.to_owned()));
        }
        let message = format!("'{}' is not a name", text.escape_debug());
        Err(Fault::new(Kind::Usage, message).hint("a name is a letter or digit, then up to 63 of A-Z a-z 0-9 . _ -"))
    }
}

impl TryFrom<String> for Name {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a run is started on: a runtime and one of its profiles, written `runtime/profile`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    /// The harness: `command`, …
    pub runtime: Name,
    /// The profile of that harness.
    pub profile: Name,
}

impl FromStr for Target {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let parts = text.split_once('/').map(|(runtime, profile)| (runtime.parse(), profile.parse()));
        match parts {
            Some((Ok(runtime), Ok(profile))) => Ok(Target { runtime, profile }),
            _ => {
                let message = format!("'{}' is not a target", text.escape_debug());
                Err(Fault::new(Kind::Usage, message).hint("a target is RUNTIME/PROFILE, such as command/my-agent"))
            }
        }
    }
}

impl TryFrom<String> for Target {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> String {
        target.to_string()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.runtime, self.profile))
    }
}

/// How many hexadecimal digits follow the first letter of the id of a message.
const DIGITS: usize = 9;

/// The id of a message or a question inside a session: `m` or `q`, then nine hexadecimal digits. A question that was
/// put by a message has the id of that message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageId(String);

impl MessageId {
    /// A fresh, random one for a message.
    pub fn message() -> Self {
        MessageId::random('m')
    }

    /// A fresh, random one for a question.
    pub fn question() -> Self {
        MessageId::random('q')
    }

    /// The one that a message without an id of ours has, from what is always the same of it.
    pub fn derived(from: &[u8]) -> Self {
        let mut text = String::from("m");
        for byte in Sha256::digest(from).iter().take(DIGITS.div_ceil(2)) {
            let _ = write!(text, "{byte:02x}");
        }
        text.truncate(1 + DIGITS);
        MessageId(text)
    }

    fn random(letter: char) -> Self {
        let digits = uuid::Uuid::new_v4().simple().to_string();
        MessageId(format!("{letter}{}", &digits[..DIGITS]))
    }

    /// Whether it is that of a question.
    pub fn is_question(&self) -> bool {
        self.0.starts_with('q')
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MessageId {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self, Fault> {
        let digits = text.strip_prefix(['m', 'q']).unwrap_or_default();
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if digits.len() == DIGITS && digits.bytes().all(digit) {
            return Ok(MessageId(text.to_owned()));
        }
        Err(Fault::new(Kind::Usage, format!("'{}' is not the id of a message or a question", text.escape_debug()))
            .hint("an id is m or q and nine hexadecimal digits, as the Page shows it"))
    }
}

impl TryFrom<String> for MessageId {
    type Error = Fault;
    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<MessageId> for String {
    fn from(id: MessageId) -> String {
        id.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
