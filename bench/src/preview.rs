//! Times the preview against reading the same dump into a `serde_json::Value` and against summing its bytes, for each size.

use crate::large_dump;
use crate::race::{again, race};
use crate::report::{Limit, Report, count, digits, time};
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view;
use podrank_predict::{Options, Snapshot, preview_workload};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

const SIZES: [u32; 3] = [1_000, 10_000, 50_000];

/// How fast the preview of the largest dump must be, where the machine sums its bytes at least this fast: in MB/s.
const GOAL: f64 = 500.0;
const FAST_ENOUGH: f64 = 2_000.0;

/// Runs the races of up to `largest` pods.
///
/// # Errors
/// If a dump cannot be made.
///
/// # Panics
/// If it cannot be previewed.
pub fn run(largest: usize, report: &mut Report) -> Result<(), Box<dyn Error>> {
    report.section(
        "The preview",
        "From the bytes of a dump to the table of one of its ReplicaSets. `ratio` is its time divided by that of reading the same \
         bytes into a `serde_json::Value`. `MB/s` is the speed of the preview, and `sum` that of summing the bytes.",
    );
    report.line("```text");
    report.line(format!(
        "{:>10} {:>8} {:>10} {:>10} {:>8} {:>8} {:>8}",
        "pods", "MB", "preview", "Value", "ratio", "MB/s", "sum"
    ));
    let mut largest_speed = None;
    for size in SIZES.into_iter().filter(|size| *size as usize <= largest) {
        let mut dump = Vec::new();
        large_dump::dump(size, &mut dump)?;
        let options = options(size)?;
        let times = race(
            Duration::from_secs(2),
            &mut [
                again(|| table(&dump, &options).expect("a preview").len()),
                again(|| serde_json::from_slice::<serde_json::Value>(&dump).is_ok()),
                again(|| black_box(&dump).iter().map(|byte| u64::from(*byte)).sum::<u64>()),
            ],
        );
        let (preview, sum) = (times[0], times[2]);
        let [speed, sum] = [preview, sum].map(|nanos| megabytes(&dump) / nanos * 1e9);
        if size == SIZES[SIZES.len() - 1] && sum >= FAST_ENOUGH {
            largest_speed = Some(speed);
        }
        report.line(format!(
            "{:>10} {:>8} {:>10} {:>10} {:>8} {:>8} {:>8}",
            count(size as usize),
            count(dump.len() / 1_000_000),
            time(times[0]),
            time(times[1]),
            digits(times[0] / times[1]),
            digits(speed),
            digits(sum),
        ));
    }
    report.line("```\n");
    let pods = count(SIZES[SIZES.len() - 1] as usize);
    let what =
        format!("the preview of {pods} pods in MB/s, where bytes are summed at {FAST_ENOUGH} MB/s or more");
    report.goal(what, largest_speed, Limit::AtLeast(GOAL));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a dump is far shorter than 2^52 bytes")]
fn megabytes(dump: &[u8]) -> f64 {
    dump.len() as f64 / 1e6
}

fn options(pods: u32) -> Result<Options, Box<dyn Error>> {
    let mut options = Options::new(pods.min(1_000) / 2, "2026-03-10T12:00:00Z".parse()?);
    options.workload = Some("web-000".parse()?);
    Ok(options)
}

fn table(dump: &[u8], options: &Options) -> Result<String, Box<dyn Error>> {
    let input = Snapshot::read(dump)?;
    let preview = preview_workload(&input, options)?;
    Ok(view::wide::tables(&preview, "").iter().map(|table| table.text(Terminal::default())).collect())
}
