//! Writes what `kubectl get pods,replicasets -o json` prints for a cluster of N pods: `large-dump N > dump.json`.

use podrank_bench::large_dump::dump;
use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    let pods = std::env::args().nth(1).ok_or("usage: large-dump N")?.parse()?;
    dump(pods, io::stdout().lock())
}
