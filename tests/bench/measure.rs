//! What the benches have in common: floor programs of the same profile, rounds, and how a result is told.
//!
//! Only ratios within one run hold, on machines that are shared and noisy; no time is asserted, and nothing fails for
//! being slow. A round runs each candidate once, so that what disturbs one disturbs its neighbours.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How many rounds: ORBH_BENCH_ROUNDS, or so many.
pub fn rounds(usual: usize) -> usize {
    std::env::var("ORBH_BENCH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Where the programs of the floor are put.
pub fn directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Whether this is `cargo bench --profile dist`, which cargo tells by the directory alone.
fn packaged() -> bool {
    std::env::current_exe().is_ok_and(|path| path.components().any(|part| part.as_os_str() == "dist"))
}

/// Compiles tests/bench/floor/NAME.rs as the bench profile compiles the verbs.
pub fn floor(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/bench/floor/{name}.rs"));
    let program = directory().join(format!("floor-{name}"));
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(["--edition", "2024", "-C", "opt-level=3"]);
    match packaged() {
        true => command.args(["-C", "lto=thin", "-C", "codegen-units=1", "-C", "panic=abort", "-C", "strip=symbols"]),
        false => command.args(["-C", "strip=debuginfo"]),
    };
    let status = command.arg("-o").arg(&program).arg(source).status().expect("rustc");
    assert!(status.success(), "floor/{name}.rs: {status}");
    program
}

/// The smallest, the middle and the greatest of some numbers.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        Spread { min: at(0), median: at(values.len() / 2), max: at(values.len().saturating_sub(1)) }
    }
}

/// Prints a line of times, given in nanoseconds.
pub fn tell_times(name: &str, nanoseconds: &[f64]) {
    let Spread { min, median, max } = Spread::of(nanoseconds.iter().map(|one| one / 1e6));
    println!("    {name:<44} {median:>8.3} ms   ({min:.3} … {max:.3})");
}

/// Prints the ratio to the floor, taken in each round, beside its goal.
pub fn tell_ratio(measured: &[f64], floor: &[f64], goal: f64) {
    let Spread { min, median, max } = Spread::of(measured.iter().zip(floor).map(|(one, floor)| one / floor));
    println!("    ratio in pairs: min {min:.2}, median {median:.2}, max {max:.2}");
    println!("    goal ≤ {goal}, measured {median:.2}");
}
