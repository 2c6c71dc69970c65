//! The spool: what a session is on disk. Reading and writing the facts of orbh-spool(5), and nothing that decides.

pub mod announced;
pub mod asked;
pub mod child;
pub mod facts;
pub mod id;
pub mod inbox;
pub mod keys;
pub mod layout;
pub mod letter;
pub mod log;
pub mod outbox;
pub mod root;
pub mod session;
pub mod snapshot;
