//! The progress of what takes long: reading a large input, planning many workloads, waiting. Writes to standard error.

use crate::complain;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use kubectl_podrank::view::plain;
use std::cell::Cell;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The fewest bytes of a large input. Reading less takes too little time to need a progress bar.
const LARGE: u64 = 64 << 20;
/// The time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

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
            let form = match self.length {
                Some(_) => "reading {wide_bar} {bytes} of {total_bytes}, {eta} left",
                None => "reading {spinner} {bytes}, {binary_bytes_per_sec}",
            };
            self.bar.get_or_insert_with(|| bar(self.length, form)).set_position(self.read);
        }
        Ok(count)
    }
}

/// A line on standard error, where `indicatif` draws, that disappears when its work ends. Hidden if standard error is
/// not a terminal.
fn bar(length: Option<u64>, form: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_style(ProgressStyle::with_template(form).expect("the template is valid"));
    bar.with_finish(ProgressFinish::AndClear)
}

/// A wait that the user should see: a line that changes on a terminal, and elsewhere a line every ten seconds.
pub(crate) struct Waiting {
    bar: ProgressBar,
    last: Cell<Instant>,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self { bar: bar(None, "{spinner} {wide_msg} {elapsed}"), last: Cell::new(Instant::now()) }
    }

    /// Says what it waits for now.
    pub(crate) fn tell(&self, what: &str) {
        if !self.bar.is_hidden() {
            self.bar.set_message(plain(what).into_owned());
            self.bar.tick();
        } else if self.last.get().elapsed() >= BETWEEN_LINES {
            self.last.set(Instant::now());
            complain(&format!("{what} ({} s)", self.bar.elapsed().as_secs()));
        }
    }
}
