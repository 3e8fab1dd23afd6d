//! The preview over the size of the dump, against reading the same bytes into a `serde_json::Value`.

use crate::chart::{Chart, Curve};
use crate::large_dump;
use crate::race::{again, race};
use crate::report::{Report, count, digits, time};
use kubectl_podrank::render::{self, Look};
use podrank_preview::{Input, Options, preview};
use std::error::Error;
use std::time::Duration;

const SIZES: [u32; 3] = [1_000, 10_000, 50_000];

/// Runs the races of up to `largest` pods, and draws them.
///
/// # Errors
/// If a dump cannot be made.
///
/// # Panics
/// If it cannot be previewed.
pub fn run(largest: usize, report: &mut Report) -> Result<Chart, Box<dyn Error>> {
    report.section(
        "The preview",
        "From the bytes of a dump to the table of one of its ReplicaSets, against reading the same bytes into a \
         `serde_json::Value`; `ratio` is the preview over that.",
    );
    report.line("```text");
    report.line(format!("{:>10} {:>8} {:>10} {:>10} {:>8}", "pods", "MB", "preview", "Value", "ratio"));
    let mut points = [const { Vec::new() }; 2];
    for size in SIZES.into_iter().filter(|size| *size as usize <= largest) {
        let mut dump = Vec::new();
        large_dump::dump(size, &mut dump)?;
        let options = options(size)?;
        let times = race(
            Duration::from_millis(500),
            &mut [
                again(|| table(&dump, &options).expect("a preview").len()),
                again(|| serde_json::from_slice::<serde_json::Value>(&dump).is_ok()),
            ],
        );
        report.line(format!(
            "{:>10} {:>8} {:>10} {:>10} {:>8}",
            count(size as usize),
            count(dump.len() / 1_000_000),
            time(times[0]),
            time(times[1]),
            digits(times[0] / times[1]),
        ));
        for (points, time) in points.iter_mut().zip(times) {
            points.push((f64::from(size), time / 1e6));
        }
    }
    report.line("```\n");
    let names = ["preview", "serde_json::Value"].into_iter();
    let curves = names.zip(points).map(|(name, points)| Curve { name: name.into(), points }).collect();
    Ok(Chart {
        name: "preview",
        title: "from a dump to a table".into(),
        x: "pods in the dump",
        y: "ms",
        curves,
    })
}

fn options(pods: u32) -> Result<Options, Box<dyn Error>> {
    let mut options = Options::new(pods.min(1_000) / 2, "2026-03-10T12:00:00Z".parse()?);
    options.set = Some("web-000".parse()?);
    Ok(options)
}

fn table(dump: &[u8], options: &Options) -> Result<String, Box<dyn Error>> {
    let input = Input::read(dump)?;
    let preview = preview(&input, options)?;
    Ok(render::table(&preview, Look { is_wide: false, in_colour: false, terminal_width: None }))
}
