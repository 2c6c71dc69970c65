//! Everything is tested through the real binaries, on real processes and real files.
#![allow(missing_docs, clippy::unwrap_used)]

mod harness;

mod badinput;
mod context;
mod contract;
mod dispatch;
mod faults;
mod ground;
mod inspect;
mod launch;
mod life;
mod list;
mod log;
mod page;
mod result;
mod session;
mod shapes;
mod watch;
