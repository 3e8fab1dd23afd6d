//! Compares rules by how many nodes they empty, in a simulated cluster: `nodes [SEEDS DAYS [DIRECTORY]]` prints tables, and
//! draws charts into the directory.

use podrank_bench::nodes::scenario::Scenario;
use podrank_bench::nodes::summary::{Plan, Summary};
use std::error::Error;
use std::path::Path;

const USAGE: &str = "usage: nodes [SEEDS DAYS [DIRECTORY]], with at least 1 seed and 1 day";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (seeds, days, directory) = match &arguments[..] {
        [] => (10, 7, None),
        [seeds, days] => (seeds.parse()?, days.parse()?, None),
        [seeds, days, directory] => (seeds.parse()?, days.parse()?, Some(directory)),
        _ => return Err(USAGE.into()),
    };
    if seeds == 0 || days == 0 {
        return Err(USAGE.into());
    }
    let summary = Summary::new(Plan { scenario: Scenario::USUAL, seeds, days });
    print!("{}", summary.tables());
    if let Some(directory) = directory {
        for chart in summary.charts() {
            chart.draw(Path::new(directory))?;
        }
    }
    Ok(())
}
