//! A harness that writes down when its first instruction ran, in `stamp-RUN` of its working directory, and waits to be
//! ended.

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn main() {
    const MONOTONIC: i32 = 1;
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure is that of 64-bit Linux, and ours.
    unsafe { clock_gettime(MONOTONIC, &raw mut now) };
    let run = std::env::var("ORBH_RUN").unwrap_or_default();
    let text = format!("{}\n", now.seconds * 1_000_000_000 + now.nanoseconds);
    let _ = std::fs::write(format!(".stamp-{run}"), text);
    let _ = std::fs::rename(format!(".stamp-{run}"), format!("stamp-{run}"));
    loop {
        std::thread::park();
    }
}
