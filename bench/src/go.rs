//! Go's race against Kubernetes' own code, as `make -C go compare` runs it.

use crate::report::{Limit, Report, count, digits};
use std::process::Command;

/// How many times as fast as Kubernetes' own code it must be, by the number of pods.
const GOALS: [(u32, f64); 4] = [(10, 5.0), (100, 15.0), (1_000, 9.0), (10_000, 10.0)];

/// How many times as long as libpodrank by cgo plain Go may take.
const PLAIN: f64 = 1.1;

/// How many floors it may take.
const MOST_FLOORS: f64 = 1.5;

/// One line of the race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) pods: u32,
    /// Nanoseconds for Kubernetes' own code, for libpodrank by cgo, for the floor, and for plain Go.
    pub(crate) times: [f64; 4],
}

/// Lists the goals without a figure.
pub fn skip(report: &mut Report) {
    goals(&[], report);
}

/// Runs it, if Go is there.
pub fn run(report: &mut Report) {
    report.section(
        "From Go",
        "The whole decision on `[]*v1.Pod`, deleting min(n/2, 500): the time of Kubernetes' own code divided by podrank's, and \
         podrank's divided by that of a loop that only reads what the decision depends on. `cgo` is podrank by libpodrank, and \
         `plain` is podrank in plain Go. See [go/README.md](../go/README.md).",
    );
    let text = match Command::new("make").args(["-s", "-C", "go", "compare"]).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(output.status.to_string()),
        Err(error) => Err(error.to_string()),
    };
    report.line(match &text {
        Ok(text) => format!("```text\n{}\n```\n", text.trim()),
        Err(why) => format!("Not run: `make -C go compare`, which needs Go: {why}\n"),
    });
    let lines: Vec<_> = text.unwrap_or_default().lines().filter_map(parse).collect();
    goals(&lines, report);
}

fn goals(lines: &[Line], report: &mut Report) {
    for (pods, limit) in GOALS {
        let line = lines.iter().find(|line| line.pods == pods);
        let ratio = |a: usize, b: usize| line.map(|line| line.times[a] / line.times[b]);
        let bound = ratio(0, 2).map_or(String::new(), |most| format!(" (of the floor's: {})", digits(most)));
        let what = format!("Go, {} pods: Kubernetes' own code in times of ours{bound}", count(pods as usize));
        report.goal(what, ratio(0, 1), Limit::AtLeast(limit));
        report.goal(
            format!("Go, {} pods: ours in floors", count(pods as usize)),
            ratio(1, 2),
            Limit::AtMost(MOST_FLOORS),
        );
        let what = format!("Go, {} pods: ours in plain Go in times of ours by cgo", count(pods as usize));
        report.goal(what, ratio(3, 1), Limit::AtMost(PLAIN));
    }
}

/// Reads `n=10 upstream=6.09µs cgo=1.06µs plain=1.5µs floor=761ns cgo-ratio=5.7 plain-ratio=4.1`.
pub(crate) fn parse(line: &str) -> Option<Line> {
    let value = |name| line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let nanos = |name| {
        let text: &str = value(name)?;
        let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
        let (number, unit) =
            units.into_iter().find_map(|(unit, nanos)| Some((text.strip_suffix(unit)?, nanos)))?;
        Some(number.parse::<f64>().ok()? * unit)
    };
    Some(Line {
        pods: value("n")?.parse().ok()?,
        times: [nanos("upstream")?, nanos("cgo")?, nanos("floor")?, nanos("plain")?],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_prints() {
        let line = parse("n=10000 upstream=51.1ms cgo=4.14µs plain=6µs floor=761ns cgo-ratio=12.4").unwrap();
        assert_eq!(
            (line.pods, line.times.map(f64::round)),
            (10_000, [51_100_000.0, 4_140.0, 761.0, 6_000.0])
        );
        let line = parse("n=1 upstream=1.29s cgo=2s plain=4s floor=3s cgo-ratio=1");
        assert_eq!(line, Some(Line { pods: 1, times: [1.29e9, 2e9, 3e9, 4e9] }));
        assert_eq!(parse("go: downloading"), None);
    }
}
