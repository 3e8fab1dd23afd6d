//! Races, tables and goals in one run: `make bench` (with `MOST=10000`, of few pods).
//!
//! `podrank-bench DIRECTORY [MOST_PODS]` writes `RESULTS.md` into the directory, and is run at the top of the checkout.

use podrank_bench::report::Report;
use podrank_bench::{go, grid, odds, preview, settle, sort};
use std::error::Error;
use std::fs;
use std::path::Path;

/// With fewer pods than this, what cannot be scaled down is left out.
const MOST_PODS: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (directory, most_pods) = match arguments[..] {
        [directory] => (directory, MOST_PODS),
        [directory, most_pods] => (directory, most_pods.parse()?),
        _ => return Err("usage: podrank-bench DIRECTORY [MOST_PODS]".into()),
    };
    fs::create_dir_all(directory)?;
    Ok(run(most_pods)?.finish(&heading(), &Path::new(directory).join("RESULTS.md"))?)
}

fn run(most_pods: usize) -> Result<Report, Box<dyn Error>> {
    let mut report = Report::default();
    grid::run(most_pods, &mut report);
    sort::run(most_pods, &mut report);
    settle::run(most_pods, &mut report);
    odds::run(&mut report);
    preview::run(most_pods / 10, &mut report)?;
    if most_pods >= MOST_PODS {
        go::run(&mut report);
    } else {
        go::skip(&mut report);
    }
    Ok(report)
}

fn heading() -> String {
    format!(
        "# How fast it is\n\n\
         `make bench` writes this file. All figures come from one run, in which the contenders took turns.\n\
         [README.md](README.md) describes the contenders and the data sets.\n\n\
         {}, {}\n",
        env!("RUSTC_VERSION"),
        std::env::consts::ARCH
    )
}
