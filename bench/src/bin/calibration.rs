//! Compares odds with what a real controller did: `calibration ROUNDS [SVG]` prints a table for each size of sets, and draws it.

use podrank_bench::calibration::{Calibration, draw};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [rounds, picture @ ..] = &arguments[..] else { return Err("usage: calibration ROUNDS [SVG]".into()) };
    let [small, large] = Calibration::read(Path::new(rounds))?;
    let all = small.clone().and(&large);
    for (title, part) in [("up to 8 pods", &small), ("more than 8 pods", &large), ("all", &all)] {
        println!("{}", part.table(title));
        for contradiction in part.contradictions() {
            println!("not chance: {contradiction}\n");
        }
    }
    if let [picture] = picture {
        draw(&[("up to 8 pods", &small), ("more than 8 pods", &large)], Path::new(picture))?;
    }
    Ok(())
}
