//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod compact;
mod contract;
mod kill;
mod life;
mod manager;
mod relaunch;
mod resume;
mod straggler;
mod target;
mod together;
mod tree;
mod watch;
