//! Compares probabilities with the deletions of a real controller: `calibration ROUNDS` prints a table for each size of
//! sets.

use podrank_bench::calibration::Calibration;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).ok_or("usage: calibration ROUNDS")?;
    let [small, large] = Calibration::read(Path::new(&rounds))?;
    let all = small.clone().and(&large);
    for (title, part) in [("up to 8 pods", &small), ("more than 8 pods", &large), ("all", &all)] {
        println!("{}", part.table(title));
        for contradiction in part.contradictions() {
            println!("not chance: {contradiction}\n");
        }
    }
    Ok(())
}
