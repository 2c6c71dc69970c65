//! Points in time as the spool writes them: RFC 3339, milliseconds, with the offset of the machine.
//!
//! Wall-clock time informs people. No verb decides by it: order comes from run numbers, deadlines from the monotonic
//! clock.

use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At(Timestamp);

impl At {
    /// The time of the wall clock.
    pub fn now() -> Self {
        At(Timestamp::now())
    }

    /// Whole seconds since the epoch.
    pub fn seconds(self) -> i64 {
        self.0.as_second()
    }

    /// The microseconds beyond the second.
    pub fn microseconds(self) -> i64 {
        self.0.as_microsecond().rem_euclid(1_000_000)
    }

    /// The point in time that many seconds after the epoch.
    pub fn from_seconds(seconds: i64) -> Self {
        At(Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// How long ago it was; zero when the clock was set back since.
    pub fn age(self) -> Duration {
        Duration::try_from(Timestamp::now().duration_since(self.0)).unwrap_or_default()
    }
}

/// Takes the offset from /etc/localtime itself: for a process whose environment has no TZ.
///
/// To learn the name of that zone, which nobody asks for, jiff would list the whole time zone database, a hundred
/// directories for each verb that writes a line into a log.
pub fn set_local() {
    let local = || TimeZone::tzif("Local", &std::fs::read("/etc/localtime").ok()?).ok();
    let _ = ZONE.set(local);
}

/// How the time zone of the machine is read; it is read when a time is first written.
static ZONE: OnceLock<fn() -> Option<TimeZone>> = OnceLock::new();

fn zone() -> TimeZone {
    static KNOWN: OnceLock<TimeZone> = OnceLock::new();
    KNOWN.get_or_init(|| ZONE.get().and_then(|local| local()).unwrap_or_else(TimeZone::system)).clone()
}

impl From<SystemTime> for At {
    fn from(time: SystemTime) -> Self {
        At(Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = jiff::Zoned::new(self.0, zone());
        write!(f, "{}", local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z"))
    }
}

impl std::str::FromStr for At {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse().map(At)
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
