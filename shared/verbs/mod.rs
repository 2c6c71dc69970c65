//! What the verbs do, without their command lines: the handoff contract, the succession, the manager, the Page.

pub mod asking;
pub mod caller;
pub mod claim;
pub mod contract;
pub mod environment;
pub mod events;
pub mod launch;
pub mod mail;
pub mod manager;
pub mod obligations;
pub mod overview;
pub mod page;
pub mod pager;
pub mod succession;
