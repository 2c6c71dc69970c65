//! The ground: durable facts, leases, watches, processes, time. Nothing here knows what a session is.

pub mod clock;
pub mod dir;
pub mod fact;
pub mod fault;
pub mod foreign;
pub mod lease;
pub mod process;
pub mod stop;
pub mod watch;
