//! What users of comparable tools lost work to, each kind as a scenario on the real binaries. A test's name is the rule
//! that keeps orbh free of it; its comment says what was seen.

mod carried;
mod fresh;
mod handoff;
mod occupancy;
