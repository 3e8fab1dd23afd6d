//! The charts of `RESULTS.md`, drawn from its tables: what a chart shows is what the file says.

use crate::chart::{Axis, Chart, Curve, Mark, Scale};
use crate::data::DataSet;
use crate::go;
use crate::grid::{BURST, MOST_UNORDERED};
use crate::report::count;

const PODS: Axis = Axis { label: "pods", scale: Scale::Logarithmic };
const PER_POD: Axis = Axis { label: "ns per pod", scale: Scale::Logarithmic };

/// One line of the first k of n pods. Times are in nanoseconds for each pod, and all that may be missing is a number.
struct Cell {
    set: DataSet,
    pods: f64,
    k: f64,
    floor: f64,
    scratch: f64,
    /// `nth`, `sort`, `qsort` and `p_sort`, in times of podrank's.
    rivals: [Option<f64>; 4],
}

/// Returns the charts of these results: those for which there are lines.
#[must_use]
pub fn charts(results: &str) -> Vec<Chart> {
    let cells = cells(results);
    let all = [
        select(&cells),
        rivals(&cells),
        victims(&cells),
        settle(section(results, "## Settle")),
        preview(section(results, "## The preview")),
        from_go(section(results, "## From Go")),
    ];
    all.into_iter()
        .flatten()
        .filter(|chart| chart.curves.iter().any(|curve| curve.points.len() > 1))
        .collect()
}

/// The lines from a heading to the next.
fn section<'t>(results: &'t str, heading: &str) -> &'t str {
    let from = results.find(heading).map_or("", |at| &results[at + heading.len()..]);
    from.find("\n## ").map_or(from, |end| &from[..end])
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// The numbers of a line, after so many words.
fn numbers(line: &str, words: usize) -> Vec<Option<f64>> {
    line.split_whitespace().filter(|word| *word != "|").skip(words).map(number).collect()
}

fn cells(results: &str) -> Vec<Cell> {
    let mut set = None;
    let mut cells = Vec::new();
    for line in section(results, "## The first k of n pods").lines() {
        let first = line.split_whitespace().next();
        set = DataSet::ALL.into_iter().find(|set| Some(set.name()) == first).or(set);
        let numbers = numbers(line, 0);
        if let (Some(set), [Some(pods), Some(k), Some(floor), _, Some(scratch), _, _, rivals @ ..]) =
            (set, &numbers[..])
            && let Ok(rivals) = rivals.try_into()
        {
            cells.push(Cell { set, pods: *pods, k: *k, floor: *floor, scratch: scratch * floor, rivals });
        }
    }
    cells
}

fn line(name: impl Into<String>, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    Curve { name: name.into(), points: points.collect(), mark: Mark::Line }
}

/// "1.04 to 2.6" of values, or the one value if they print alike.
fn from_to(values: impl Iterator<Item = f64>) -> String {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = (short(low), short(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A number in a title: two digits or more.
fn short(number: f64) -> String {
    if number < 9.95 { format!("{number:.1}") } else { format!("{number:.0}") }
}

/// As many as kube-controller-manager deletes at a time, of more.
fn bursts(cells: &[Cell], set: DataSet) -> impl Iterator<Item = &Cell> + Clone {
    #[expect(clippy::cast_precision_loss, reason = "500")]
    let burst = BURST as f64;
    cells.iter().filter(move |cell| cell.set == set && same(cell.k, burst) && cell.pods > burst)
}

/// Whether two counts are the same.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

fn select(cells: &[Cell]) -> Option<Chart> {
    let most = cells.iter().map(|cell| cell.pods).reduce(f64::max)?;
    let largest =
        DataSet::ALL.into_iter().flat_map(|set| bursts(cells, set)).filter(|cell| same(cell.pods, most));
    let ratios = from_to(largest.map(|cell| cell.scratch / cell.floor));
    let floor = line("read floor", bursts(cells, DataSet::Spread).map(|cell| (cell.pods, cell.floor)));
    let sets = DataSet::ALL
        .into_iter()
        .map(|set| line(set.name(), bursts(cells, set).map(|cell| (cell.pods, cell.scratch))));
    let title = format!(
        "Finding the first {BURST} of {} pods takes {ratios} times as long as reading all",
        spoken(most)
    );
    Some(Chart {
        name: "select",
        title,
        x: PODS,
        y: PER_POD,
        curves: [floor].into_iter().chain(sets).collect(),
    })
}

fn rivals(cells: &[Cell]) -> Option<Chart> {
    const NAMES: [&str; 4] = ["select_nth_unstable", "sort", "C: partial_sort", "C: qsort"];
    // In the table, partial_sort comes last.
    const COLUMNS: [usize; 4] = [0, 1, 3, 2];
    let spread = || bursts(cells, DataSet::Spread);
    let of = |column: usize| spread().filter_map(move |cell| Some((cell.pods, cell.rivals[column]?)));
    spread().next()?;
    let all = from_to(COLUMNS.into_iter().flat_map(of).map(|point| point.1));
    let mut curves: Vec<_> =
        NAMES.into_iter().zip(COLUMNS).map(|(name, column)| line(name, of(column))).collect();
    let podrank = Curve {
        name: "podrank".into(),
        points: spread().map(|cell| (cell.pods, 1.0)).collect(),
        mark: Mark::Reference,
    };
    curves.push(podrank);
    let title = format!("Other ways to find the first {BURST} pods take {all} times as long as podrank");
    let y = Axis { label: "times as long as podrank in the same language", scale: Scale::Logarithmic };
    Some(Chart { name: "rivals", title, x: PODS, y, curves })
}

fn victims(cells: &[Cell]) -> Option<Chart> {
    #[expect(clippy::cast_precision_loss, reason = "10,000,000 at most")]
    let most = MOST_UNORDERED as f64;
    let largest = cells.iter().map(|cell| cell.pods).filter(|pods| *pods <= most).reduce(f64::max)?;
    let of = |set: DataSet| cells.iter().filter(move |cell| cell.set == set && same(cell.pods, largest));
    let all = of(DataSet::Spread).find(|cell| same(cell.k, cell.pods))?.scratch;
    let burst = of(DataSet::Spread).find(|cell| same(cell.k, 500.0))?.scratch;
    let curves = DataSet::ALL
        .into_iter()
        .map(|set| line(set.name(), of(set).map(|cell| (cell.k, cell.scratch))))
        .collect();
    let title = format!(
        "The first {BURST} of {} pods take 1/{} of the time of all in order",
        spoken(largest),
        short(all / burst)
    );
    Some(Chart {
        name: "victims",
        title,
        x: Axis { label: "victims", scale: Scale::Logarithmic },
        y: PER_POD,
        curves,
    })
}

fn settle(text: &str) -> Option<Chart> {
    let rows = |set: DataSet| {
        let rows = text.lines().filter(move |line| line.split_whitespace().next() == Some(set.name()));
        rows.filter_map(|line| {
            <[f64; 5]>::try_from(numbers(line, 1).into_iter().collect::<Option<Vec<_>>>()?).ok()
        })
    };
    let sets = || [DataSet::Spread, DataSet::Rollout].into_iter();
    let worst = sets().flat_map(rows).map(|row| row[4]).reduce(f64::max)?;
    let curves = sets().flat_map(|set| {
        [(1, "settle"), (2, "sort")].map(|(column, name)| {
            line(format!("{name}, {}", set.name()), rows(set).map(move |row| (row[0], row[column])))
        })
    });
    let title =
        format!("Telling certain victims takes at most {} times as long as sorting the pods", short(worst));
    Some(Chart { name: "settle", title, x: PODS, y: PER_POD, curves: curves.collect() })
}

fn preview(text: &str) -> Option<Chart> {
    let rows: Vec<_> = text
        .lines()
        .filter_map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let [pods, _, preview, unit, value, value_unit, ..] = words[..] else { return None };
            Some((number(pods)?, nanos(preview, unit)? / 1e6, nanos(value, value_unit)? / 1e6))
        })
        .collect();
    let ratios = from_to(rows.iter().map(|row| row.2 / row.1));
    let curves = vec![
        line("preview", rows.iter().map(|row| (row.0, row.1))),
        line("serde_json::Value", rows.iter().map(|row| (row.0, row.2))),
    ];
    let title = format!("The preview reads a dump {ratios} times as fast as serde_json reads a Value");
    let (x, y) = ("pods in the dump", "ms");
    let axis = |label| Axis { label, scale: Scale::Logarithmic };
    (!rows.is_empty()).then(|| Chart { name: "preview", title, x: axis(x), y: axis(y), curves })
}

/// `22.7` and `ms`, in nanoseconds.
fn nanos(text: &str, unit: &str) -> Option<f64> {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (_, nanos) = units.into_iter().find(|(name, _)| *name == unit)?;
    Some(number(text)? * nanos)
}

fn from_go(text: &str) -> Option<Chart> {
    let lines: Vec<_> = text.lines().filter_map(go::parse).collect();
    let ratios = from_to(lines.iter().map(|line| line.times[0] / line.times[1]));
    let curve = |(at, name): (usize, &str)| {
        line(name, lines.iter().map(|line| (f64::from(line.pods), line.times[at] / f64::from(line.pods))))
    };
    let names = ["Kubernetes' own code", "podrank", "read floor", "podrank without cgo"];
    let title = format!("From Go, Kubernetes' own code takes {ratios} times as long as podrank to decide");
    let curves = names.into_iter().enumerate().map(curve).collect();
    (!lines.is_empty()).then_some(Chart { name: "go", title, x: PODS, y: PER_POD, curves })
}

/// A number in a title: 10,000,000 is "10 million".
fn spoken(number: f64) -> String {
    if number >= 1e6 {
        return format!("{} million", (number / 1e4).round() / 100.0);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    count(number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn results() -> String {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(directory.join("RESULTS.md")).expect("RESULTS.md")
    }

    #[test]
    fn the_charts_are_those_of_the_results() {
        let charts = charts(&results());
        let names: Vec<_> = charts.iter().map(|chart| chart.name).collect();
        assert_eq!(names, ["select", "rivals", "victims", "settle", "preview", "go"]);
        for chart in charts {
            let image = format!("![{}](charts/{}.svg)", chart.title, chart.name);
            assert!(results().contains(&image), "RESULTS.md lacks {image}");
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("charts").join(chart.name).with_extension("svg");
            let stored = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(stored == chart.svg(), "{} is stale: make charts", path.display());
        }
    }

    #[test]
    fn every_line_of_the_tables_is_read() {
        let text = results();
        let cells = cells(&text);
        assert_eq!(
            cells.len(),
            text.lines()
                .filter(|line| line.matches('|').count() == 4 && line.contains(char::is_numeric))
                .count()
        );
        let cell =
            cells.iter().find(|cell| same(cell.pods, 1e7) && same(cell.k, 500.0)).expect("the largest");
        assert!(cell.rivals[0].is_some() && cell.rivals[2].is_none());
    }

    #[test]
    fn results_without_a_table_have_no_chart_of_it() {
        let text = results();
        let (before, _) = text.split_once("## Settle").unwrap();
        assert_eq!(charts(before).len(), 3);
        assert_eq!(charts("").len(), 0);
    }
}
