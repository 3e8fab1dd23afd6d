//! All workloads of a dump, a row each, in the words of the command line.

use crate::overview_words::whole;
use podrank_predict::{Input, Options, Verdict, overview};
use serde::Serialize;

#[derive(Serialize)]
struct Rows<'o> {
    header: Vec<&'static str>,
    rows: Vec<Row<'o>>,
}

#[derive(Serialize)]
struct Row<'o> {
    namespace: &'o str,
    /// As the command line takes it.
    short: String,
    /// Whether pods go anyway.
    fate: Verdict,
    cells: Vec<String>,
}

/// Who goes first in each workload, as JSON.
pub(crate) fn rows(input: &Input, mut options: Options) -> String {
    (options.namespace, options.workload) = (None, None);
    (options.replicas, options.parallelism) = (None, None);
    let all = overview(input, &options, None, false, |_, _, _| true);
    let grid = whole(&all, false);
    let rows = all.workloads.iter().zip(grid.rows).map(|(line, (fate, cells))| Row {
        namespace: line.namespace,
        short: format!("{}/{}", line.workload.kind.short(), line.workload.name),
        fate,
        cells,
    });
    super::json(&Rows { header: grid.header, rows: rows.collect() })
}
