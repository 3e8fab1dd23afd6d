//! Compares odds with what a real controller did: `calibration ROUNDS [DIRECTORY]` prints a table for
//! each size of sets, and draws it into `odds.svg` in the directory.

use podrank_bench::calibration::{Calibration, chart, parts};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [rounds, directory @ ..] = &arguments[..] else {
        return Err("usage: calibration ROUNDS [DIRECTORY]".into());
    };
    let [small, large] = Calibration::read(Path::new(rounds))?;
    let all = small.clone().and(&large);
    let parts = parts(&small, &large);
    for (title, part) in parts.into_iter().chain([("all", &all)]) {
        println!("{}", part.table(title));
        for contradiction in part.contradictions() {
            println!("not chance: {contradiction}\n");
        }
    }
    if let [directory] = directory {
        chart(&parts).draw(Path::new(directory))?;
    }
    Ok(())
}
