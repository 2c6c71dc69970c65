//! Chance that can be had again: everything follows from the seed (SplitMix64).

use std::time::Duration;

/// A stream of numbers.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below that one.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Half of them shorter than what a verb takes, half of them longer than what a manager takes to replace a context.
    pub fn delay(&mut self) -> Duration {
        let (least, most) = if self.below(2) == 0 { (200, 8_000) } else { (8_000, 60_000) };
        Duration::from_micros(least + self.below(most - least))
    }
}
