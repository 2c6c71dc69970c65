//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod badinput;
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
mod launch;
mod life;
mod list;
mod log;
mod page;
mod recovery;
mod result;
mod session;
mod shapes;
mod shim;
mod tidy;
mod watch;
