//! Interrupts: SIGINT, SIGTERM and SIGHUP are noted, and each step looks before it begins.

use crate::complain;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Notes interrupts from now on, instead of ending immediately.
pub(super) fn catch() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if !INTERRUPTED.swap(true, Ordering::SeqCst) {
            complain("note: interrupted; wait until podrank has ended");
        }
    })
}

/// Whether there was an interrupt since `catch`.
pub(super) fn is_set() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Sleeps, unless it is interrupted.
pub(super) fn sleep(length: Duration) {
    let end = Instant::now() + length;
    while !is_set() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
    }
}
