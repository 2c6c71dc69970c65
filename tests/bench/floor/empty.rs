//! A floor: what a Rust program costs that does nothing.

fn main() {}
