//! The progress of what takes long: reading a large input, planning many workloads, waiting for pods. Writes to standard error, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The fewest bytes of a large input. Reading less takes too little time to need a progress bar.
const LARGE: u64 = 64 << 20;

/// A reader that shows a progress bar as soon as its input turns out to be large.
pub(crate) struct Watched<R> {
    reader: R,
    /// The bytes of the whole input, if known.
    length: Option<u64>,
    read: u64,
    bar: Option<ProgressBar>,
}

impl<R> Watched<R> {
    pub(crate) fn new(reader: R, length: Option<u64>) -> Self {
        Self { reader, length, read: 0, bar: None }
    }

    fn is_large(&self) -> bool {
        self.length.unwrap_or(self.read) >= LARGE
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.read += count as u64;
        if self.is_large() {
            let length = self.length;
            self.bar.get_or_insert_with(|| bar(length)).set_position(self.read);
        }
        Ok(count)
    }
}

impl<R> Drop for Watched<R> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress bar, which `indicatif` hides if standard error is not a terminal.
fn bar(length: Option<u64>) -> ProgressBar {
    let form = match length {
        Some(_) => "reading {wide_bar} {bytes} of {total_bytes}, {eta} left",
        None => "reading {spinner} {bytes}, {binary_bytes_per_sec}",
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(form).expect("the template is valid"));
    bar
}

/// A bar for pods that go one after the other.
pub(crate) fn count(pods: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(pods), ProgressDrawTarget::stderr());
    let form = "waiting for pods to go {wide_bar} {pos} of {len}";
    bar.set_style(ProgressStyle::with_template(form).expect("the template is valid"));
    bar
}

/// How long planning takes before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The progress of planning several workloads.
pub(crate) struct Planning {
    begun: Instant,
    workloads: u64,
    next: u64,
    bar: Option<ProgressBar>,
}

impl Planning {
    pub(crate) fn of(workloads: u64) -> Self {
        Self { begun: Instant::now(), workloads, next: 0, bar: None }
    }

    /// The next workload begins.
    pub(crate) fn next(&mut self) {
        self.next += 1;
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            let bar = ProgressBar::with_draw_target(Some(self.workloads), ProgressDrawTarget::stderr());
            let form = "planning {wide_bar} {pos} of {len} workloads";
            bar.set_style(ProgressStyle::with_template(form).expect("the template is valid"));
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.next);
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
