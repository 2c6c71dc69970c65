//! Questions, for who puts them: waiting for an answer.

pub mod wait;
