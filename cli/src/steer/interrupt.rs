//! Interrupts: SIGINT, SIGTERM and SIGHUP are noted, and each step looks before it begins.

use crate::complain;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Whether the user wants it to end.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Notes interrupts from now on, in place of ending at once.
    pub(super) fn catch() -> Result<Self, Box<dyn Error>> {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        ctrlc::set_handler(move || {
            if !theirs.swap(true, Ordering::SeqCst) {
                complain("note: interrupted; wait until podrank has ended");
            }
        })?;
        Ok(Self(flag))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sleeps, unless it is interrupted.
    pub(super) fn sleep(&self, length: Duration) {
        let end = Instant::now() + length;
        while !self.is_set() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
        }
    }
}
