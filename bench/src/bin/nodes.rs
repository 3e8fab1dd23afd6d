//! Compares rules by how many nodes they empty, in a simulated cluster.

use podrank_bench::nodes::scenario::Scenario;
use podrank_bench::nodes::summary::table;

fn main() {
    print!("{}", table(&Scenario::USUAL, 10));
}
