//! Races, tables, charts and goals in one run: `make bench` (with `MOST=10000`, of few pods).
//!
//! `podrank-bench DIRECTORY [MOST_PODS]` writes `RESULTS.md` and `charts/` into the directory, and is run at the top of the
//! checkout.

use podrank_bench::grid::Grid;
use podrank_bench::report::Report;
use podrank_bench::{go, odds, preview, settle};
use std::error::Error;
use std::fs;
use std::path::Path;

/// With fewer pods than this, what cannot be scaled down is left out.
const MOST_PODS: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: podrank-bench DIRECTORY [MOST_PODS]")?;
    let directory = Path::new(&directory);
    let most_pods = arguments.next().map_or(Ok(MOST_PODS), |most| most.parse())?;

    let mut report = Report::default();
    let mut grid = Grid::default();
    grid.run(most_pods, &mut report);
    grid.fit(&mut report);
    grid.goals(&mut report);
    let mut charts = grid.charts();
    charts.push(settle::run(most_pods, &mut report));
    odds::run(&mut report);
    charts.push(preview::run(most_pods / 10, &mut report)?);
    if most_pods >= MOST_PODS {
        charts.extend(go::run(&mut report));
    } else {
        go::skip(&mut report);
    }

    fs::create_dir_all(directory.join("charts"))?;
    for chart in &charts {
        chart.draw(&directory.join("charts"))?;
    }
    let names: Vec<_> = charts.iter().map(|chart| chart.name).collect();
    Ok(report.finish(&heading(), &names, &directory.join("RESULTS.md"))?)
}

fn heading() -> String {
    format!(
        "# How fast it is\n\n\
         `make bench` writes this file and its charts. All figures come from one run, in which the contenders took turns.\n\
         [README.md](README.md) describes the contenders and the data sets.\n\n\
         {}, {}\n",
        env!("RUSTC_VERSION"),
        std::env::consts::ARCH
    )
}
