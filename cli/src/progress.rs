//! The progress of what takes long: reading a large input, planning many workloads, waiting. Writes to standard error.

use crate::complain;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use kubectl_podrank::view::plain;
use podrank_predict::is_too_long;
use std::cell::Cell;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The fewest bytes of a large input. Reading less takes too little time to need a progress bar.
const LARGE: u64 = 64 << 20;
/// The time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The bytes between two steps of a progress bar.
const STEP: u64 = 1 << 20;

/// Reads everything, unless its beginning is too long already, with a progress bar as soon as it turns out to be large. `length` is
/// the number of bytes, if known.
pub(crate) fn read_all(mut reader: impl Read, length: Option<u64>) -> io::Result<Vec<u8>> {
    let form = match length {
        Some(_) => "reading {wide_bar} {bytes} of {total_bytes}, {eta} left",
        None => "reading {spinner} {bytes}, {binary_bytes_per_sec}",
    };
    let (mut text, mut shown) = (Vec::new(), None);
    text.try_reserve_exact(length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0))?;
    while !is_too_long(&text) && reader.by_ref().take(STEP).read_to_end(&mut text)? > 0 {
        let read = text.len() as u64;
        if length.unwrap_or(read) >= LARGE {
            shown.get_or_insert_with(|| bar(length, form)).set_position(read);
        }
    }
    Ok(text)
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
