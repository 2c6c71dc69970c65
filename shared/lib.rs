//! What two or more verbs of orbh must agree on.
//!
//! The layers only look down: `face` on `verbs` on `harness` on `spool` on `ground`. The library never reads the
//! command line and never exits; nothing in it both decides and prints.

pub mod face;
pub mod ground;
pub mod harness;
pub mod spool;
pub mod verbs;
