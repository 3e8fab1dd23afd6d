//! Rounds that were recorded, a line each.

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead, BufReader};

pub(crate) fn rounds<R: DeserializeOwned>(file: &str) -> Vec<R> {
    let path = format!("{}/../tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let lines = BufReader::new(GzDecoder::new(File::open(path).expect("the rounds"))).lines();
    lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("a round")).collect()
}
