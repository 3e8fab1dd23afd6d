//! All workloads of a dump, a row each, in the words of the command line.

use kubectl_podrank::view::{self, Row as TableRow};
use podrank_predict::{Options, Snapshot, Verdict, overview};
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
pub(crate) fn rows(input: &Snapshot, mut options: Options) -> String {
    (options.namespace, options.workload) = (None, None);
    (options.replicas, options.parallelism) = (None, None);
    let all = overview(input, &options, None, false, |_| true);
    let table = view::overview::titled(&all, false);
    let rows = all.workloads.iter().zip(table.rows).map(|(line, TableRow { verdict, cells })| Row {
        namespace: line.namespace,
        short: format!("{}/{}", line.workload.kind.short(), line.workload.name),
        fate: verdict,
        cells,
    });
    super::json(&Rows { header: table.header, rows: rows.collect() })
}
