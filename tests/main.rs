//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod badinput;
mod compact;
mod context;
mod contract;
mod demo;
mod dispatch;
mod docs;
mod faults;
mod flint;
mod ground;
mod guarantees;
mod inspect;
mod kill;
mod launch;
mod life;
mod list;
mod log;
mod manager;
mod page;
mod recovery;
mod relaunch;
mod result;
mod resume;
mod root;
mod session;
mod shapes;
mod shim;
mod straggler;
mod target;
mod tidy;
mod together;
mod tree;
mod watch;
