//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod agents;
mod contract;
mod demo;
mod docs;
mod flint;
mod guarantees;
mod life;
mod model;
mod recovery;
mod shim;
mod targets;
mod tidy;
mod transcript;
mod watch;
