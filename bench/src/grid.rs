//! The first `k` of `n` pods, by every contender: for each data set, each size and each `k`.

use crate::contenders::{self, C};
use crate::data::{DataSet, exact, log_scaled};
use crate::race::{Contender, again, anew, race};
use crate::report::{Limit, Report, count, digits};
use podrank::{Pod, Policy};
use std::time::Duration;

/// How many pods there are. 150,000 are all that Kubernetes supports in one cluster.
const SIZES: [usize; 7] = [10, 100, 1_000, 10_000, 150_000, 1_000_000, 10_000_000];

/// As many as kube-controller-manager deletes at a time.
pub(crate) const BURST: usize = 500;

/// Beyond it, whoever goes through memory in no order takes minutes.
pub(crate) const MOST_UNORDERED: usize = 1_000_000;

/// Who finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nobody: the records are only summed.
    Floor,
    /// `Policy::select`, log-scaled.
    Select,
    /// `Policy::select_with`, log-scaled.
    Scratch,
    /// `Policy::select`, exact times.
    SelectExact,
    /// `Policy::select_with`, exact times.
    ScratchExact,
    /// `podrank_select` with its scratch, log-scaled, as are all that follow.
    C,
    /// `select_nth_unstable` of naive tuples.
    Nth,
    /// `sort` of naive tuples.
    Sort,
    /// C's `qsort`.
    Qsort,
    /// C++'s `std::partial_sort`.
    PartialSort,
}

/// How long everyone took for one question, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Cell {
    set: DataSet,
    pods: usize,
    k: usize,
    times: Vec<(Way, f64)>,
}

impl Cell {
    fn time(&self, way: Way) -> Option<f64> {
        self.times.iter().find(|(of, _)| *of == way).map(|(_, time)| *time)
    }

    /// How often the time of `other` goes into that of `way`.
    fn ratio(&self, way: Way, other: Way) -> Option<f64> {
        Some(self.time(way)? / self.time(other)?)
    }

    /// The slower of log-scaled and exact with the scratch, in floors.
    fn worse(&self) -> Option<f64> {
        Some(self.ratio(Way::Scratch, Way::Floor)?.max(self.ratio(Way::ScratchExact, Way::Floor)?))
    }

    #[expect(clippy::cast_precision_loss, reason = "10,000,000 at most")]
    fn per_pod(&self, way: Way) -> Option<(f64, f64)> {
        Some((self.pods as f64, self.time(way)? / self.pods as f64))
    }

    fn row(&self) -> String {
        let cell = |ratio: Option<f64>| ratio.map_or("-".into(), digits);
        let [select, scratch, select_exact, scratch_exact] =
            [Way::Select, Way::Scratch, Way::SelectExact, Way::ScratchExact]
                .map(|way| cell(self.ratio(way, Way::Floor)));
        let [nth, sort] = [Way::Nth, Way::Sort].map(|way| cell(self.ratio(way, Way::Scratch)));
        let [qsort, partial] = [Way::Qsort, Way::PartialSort].map(|way| cell(self.ratio(way, Way::C)));
        format!(
            "{:>10} {:>10} {:>8} | {select:>8} {scratch:>8} | {select_exact:>8} {scratch_exact:>8} | {nth:>8} {sort:>8} | {qsort:>8} {partial:>8}",
            count(self.pods),
            count(self.k),
            cell(self.per_pod(Way::Floor).map(|(_, time)| time)),
        )
    }
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    cells: Vec<Cell>,
}

/// Who takes part in the race for the first `k` of these pods.
fn entrants(pods: &[Pod], k: usize) -> Vec<(Way, Contender<'_>)> {
    let len = pods.len();
    let few = k <= BURST;
    let select = |policy: Policy| {
        let mut victims = vec![0; k];
        again(move || policy.select(pods, &mut victims).map_or(0, <[u32]>::len))
    };
    let with_scratch = |policy: Policy| {
        let (mut victims, mut scratch) = (vec![0; k], contenders::scratch(pods, k));
        again(move || policy.select_with(pods, &mut victims, &mut scratch).map_or(0, <[u32]>::len))
    };
    let (policy, options) = (log_scaled(), contenders::options(&log_scaled()));
    let mut entrants =
        vec![(Way::Floor, again(|| contenders::floor(pods))), (Way::Scratch, with_scratch(policy))];
    if few || len <= MOST_UNORDERED {
        entrants.push((Way::ScratchExact, with_scratch(exact())));
        entrants.push((Way::Select, select(policy)));
        entrants.push((Way::SelectExact, select(exact())));
    }
    if len <= MOST_UNORDERED {
        let mut c = C::new(&policy, k);
        entrants.push((Way::C, again(move || c.select(pods).len())));
        entrants.push((Way::Qsort, anew(|| pods.to_vec(), move |copy| contenders::qsort(&options, copy))));
        let partial_sort = move |copy: &mut Vec<Pod>| contenders::partial_sort(&options, copy, k);
        entrants.push((Way::PartialSort, anew(|| pods.to_vec(), partial_sort)));
    }
    if len <= MOST_UNORDERED || k == BURST {
        entrants.push((Way::Nth, again(move || contenders::nth(&policy, pods, k))));
        entrants.push((Way::Sort, again(move || contenders::sort(&policy, pods, k))));
    }
    entrants
}

/// How long each may run for one cell: longest where a goal hangs on it.
fn share(pods: usize, k: usize) -> Duration {
    Duration::from_millis(match (pods, k) {
        (..=1_000, _) => 15,
        (150_000 | MOST_UNORDERED, BURST) => 300,
        (10_000_000, BURST) => 800,
        (MOST_UNORDERED.., _) => 200,
        _ => 50,
    })
}

impl Grid {
    /// Runs all races of up to `largest` pods.
    ///
    /// # Panics
    /// If select with and without the scratch do not agree.
    pub fn run(&mut self, largest: usize, report: &mut Report) {
        report.section(
            "The first k of n pods",
            "`floor` is the time to sum the bytes of the records, in nanoseconds per pod. `select` and `scratch` (`select_with`) are \
             multiples of the floor, with log-scaled and with exact times. The others are multiples of podrank's time, with \
             log-scaled times: `nth` (`select_nth_unstable`) and `sort` of naive tuples are compared with `select_with`, and \
             `qsort` and `p_sort` (`std::partial_sort`), which call `podrank_compare`, with `podrank_select`.",
        );
        for set in DataSet::ALL {
            report.line(format!(
                "```text\n{:10} {:>10} {:>8} | {:^17} | {:^17} | {:^17} | {:^17}",
                set.name(),
                "",
                "",
                "log-scaled",
                "exact",
                "in Rust",
                "from C"
            ));
            report.line(format!(
                "{:>10} {:>10} {:>8} | {:>8} {:>8} | {:>8} {:>8} | {:>8} {:>8} | {:>8} {:>8}",
                "n", "k", "floor", "select", "scratch", "select", "scratch", "nth", "sort", "qsort", "p_sort"
            ));
            let all = set.pods(largest);
            for pods in SIZES.iter().filter_map(|&size| all.get(..size)) {
                for k in ks(pods.len()) {
                    let (ways, mut contenders): (Vec<_>, Vec<_>) = entrants(pods, k).into_iter().unzip();
                    let times = race(share(pods.len(), k), &mut contenders);
                    let times = ways.into_iter().zip(times).collect();
                    let cell = Cell { set, pods: pods.len(), k, times };
                    report.line(cell.row());
                    self.cells.push(cell);
                }
            }
            report.line("```\n");
        }
    }

    fn cell(&self, set: DataSet, pods: usize, k: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| (cell.set, cell.pods, cell.k) == (set, pods, k))
    }

    /// What of it was promised.
    pub fn goals(&self, report: &mut Report) {
        let floors = [
            (DataSet::Spread, 150_000, 3.0),
            (DataSet::Spread, 10_000_000, 1.3),
            (DataSet::Rollout, 10_000_000, 3.0),
            (DataSet::Tie, 10_000_000, 5.0),
        ];
        for (set, pods, limit) in floors {
            let what = format!(
                "{}, {BURST} of {}: select_with, log-scaled or exact, in floors",
                set.name(),
                count(pods)
            );
            let figure = self.cell(set, pods, BURST).and_then(Cell::worse);
            report.goal(what, figure, Limit::AtMost(limit));
        }
        let most = count(MOST_UNORDERED);
        for set in DataSet::ALL {
            for (way, name, limit) in [(Way::Qsort, "qsort", 5.0), (Way::PartialSort, "partial_sort", 2.0)] {
                let cells =
                    self.cells.iter().filter(|cell| (cell.set, cell.k) == (set, BURST) && cell.pods > BURST);
                let worst = cells.filter_map(|cell| cell.ratio(way, Way::C)).reduce(f64::min);
                let what =
                    format!("{}, {BURST} of up to {most}: {name} in times of podrank_select", set.name());
                report.goal(what, worst, Limit::AtLeast(limit));
            }
        }
    }

    /// What one pod costs beyond the floor where all go before the last, as a + b log2 k: the fit of O(n log k).
    #[expect(clippy::cast_precision_loss, reason = "500 at most")]
    pub fn fit(&self, report: &mut Report) {
        for (way, name) in [(Way::Select, "select"), (Way::Scratch, "scratch")] {
            let cells = self.cells.iter().filter(|cell| cell.set == DataSet::Reverse);
            let cells = cells.filter(|cell| cell.pods >= 10_000 && cell.k <= BURST);
            let floor = |cell: &Cell| Some(cell.per_pod(Way::Floor)?.1);
            let beyond = |cell: &Cell| Some(((cell.k as f64).log2(), cell.per_pod(way)?.1 - floor(cell)?));
            let points: Vec<_> = cells.clone().filter_map(beyond).collect();
            if let Some((a, b)) = line_through(&points) {
                let times = cells.filter_map(|cell| Some(cell.per_pod(way)?.1));
                let off =
                    points.iter().zip(times).map(|((log, y), time)| 100.0 * (a + b * log - y).abs() / time);
                let off = off.fold(0.0, f64::max);
                report.line(format!(
                    "`reverse`, {name}: a pod takes the floor {a:+.1} {b:+.2} log2 k ns, for k up to {BURST} of n from \
                     10,000; off by {off:.0} % at most.\n"
                ));
            }
        }
    }
}

/// How many of so many are to go.
fn ks(pods: usize) -> Vec<usize> {
    let mut ks: Vec<_> =
        [1, 50, BURST, pods / 10, pods].into_iter().filter(|k| (1..=pods).contains(k)).collect();
    ks.sort_unstable();
    ks.dedup();
    ks
}

/// The line a + b x with the least squares of errors.
fn line_through(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let len = f64::from(u32::try_from(points.len()).ok().filter(|len| *len > 1)?);
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / len;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let b = mean(&|point| (point.0 - x) * (point.1 - y)) / mean(&|point| (point.0 - x).powi(2));
    Some((y - b * x, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_k_once() {
        assert_eq!(ks(10), [1, 10]);
        assert_eq!(ks(10_000), [1, 50, 500, 1_000, 10_000]);
    }

    #[test]
    fn the_line_passes_where_it_must() {
        let (a, b) = line_through(&[(0.0, 1.0), (1.0, 3.0), (4.0, 9.0)]).unwrap();
        assert!((a - 1.0).abs() < 1e-9 && (b - 2.0).abs() < 1e-9);
        assert_eq!(line_through(&[(0.0, 1.0)]), None);
    }
}
