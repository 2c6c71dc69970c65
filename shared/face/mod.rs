//! The face: what binaries share in meeting people and scripts. Exit statuses, output that may fail, times and sizes.

pub mod catalogue;
pub mod entry;
pub mod exit;
pub mod input;
pub mod output;
pub mod page;
pub mod text;
