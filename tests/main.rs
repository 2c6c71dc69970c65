//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod contract;
mod life;
mod root;
mod watch;
