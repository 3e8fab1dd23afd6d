//! What a run prints: Markdown, each line as soon as it is known, and at the end all of it in a file.

use std::fmt;
use std::fs;
use std::io;
use std::mem;
use std::path::Path;

/// What has been said so far.
#[derive(Debug, Default)]
pub struct Report {
    text: String,
    goals: Vec<Goal>,
}

/// What a run is measured against.
#[derive(Clone, Debug)]
pub struct Goal {
    /// What is asked for.
    pub what: String,
    /// What came out; `None` if it was not measured.
    pub figure: Option<f64>,
    /// The least or the most it may be.
    pub limit: Limit,
}

/// The least or the most a figure may be.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// It may be no lower.
    AtLeast(f64),
    /// It may be no higher.
    AtMost(f64),
}

impl Goal {
    /// Whether it is met; `None` if it was not measured.
    pub fn is_met(&self) -> Option<bool> {
        self.figure.map(|figure| match self.limit {
            Limit::AtLeast(limit) => figure >= limit,
            Limit::AtMost(limit) => figure <= limit,
        })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.is_met() {
            Some(true) => "met",
            Some(false) => "not met",
            None => "not measured",
        };
        let (bound, limit) = match self.limit {
            Limit::AtLeast(limit) => ("at least", limit),
            Limit::AtMost(limit) => ("at most", limit),
        };
        let figure = self.figure.map_or("-".into(), |figure| format!("{figure:.2}"));
        write!(f, "{verdict:12} {figure:>6}  {bound:8} {limit:>4}  {}", self.what)
    }
}

impl Report {
    /// Adds a line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        println!("{}", line.as_ref());
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Begins a section.
    pub fn section(&mut self, heading: &str, about: &str) {
        self.line(format!("\n## {heading}\n\n{about}\n"));
    }

    /// Adds a goal, for the list of all.
    pub fn goal(&mut self, what: impl Into<String>, figure: Option<f64>, limit: Limit) {
        self.goals.push(Goal { what: what.into(), figure, limit });
    }

    /// Says at last which goals are met, and puts all of it into a file: the goals and the charts first.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self, heading: &str, charts: &[&str], path: &Path) -> io::Result<()> {
        let details = mem::take(&mut self.text);
        self.line("\n## Goals\n\n```text");
        for goal in mem::take(&mut self.goals) {
            self.line(goal.to_string());
        }
        self.line("```");
        let charts = charts.iter().map(|name| format!("![{name}](charts/{name}.svg)\n"));
        let charts = charts.collect::<Vec<_>>().join("\n");
        fs::write(path, format!("{heading}{}\n{charts}{details}", self.text))
    }
}

/// A number with its thousands apart, as people write it.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let start = digits.len() % 3;
    let (head, tail) = digits.split_at(start);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group));
    let head = (!head.is_empty()).then(|| head.into());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

/// Nanoseconds in three digits or more and the unit that fits.
pub fn time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (divisor, unit) = units.into_iter().find(|(unit, _)| nanos >= *unit).unwrap_or((1.0, "ns"));
    format!("{} {unit}", digits(nanos / divisor))
}

/// A number in three digits or more.
pub fn digits(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(
            [5, 150, 1_500, 150_000, 10_000_000].map(count),
            ["5", "150", "1,500", "150,000", "10,000,000"]
        );
        assert_eq!(
            [1.234, 99.0, 12_345.0, 2e6, 1.5e9].map(time),
            ["1.23 ns", "99.0 ns", "12.3 µs", "2.00 ms", "1.50 s"]
        );
    }

    #[test]
    fn goals_say_whether_they_are_met() {
        let goal = |figure, limit| Goal { what: "it".into(), figure, limit }.to_string();
        assert_eq!(goal(Some(2.0), Limit::AtMost(3.0)), "met            2.00  at most     3  it");
        assert_eq!(goal(Some(2.0), Limit::AtLeast(2.5)), "not met        2.00  at least  2.5  it");
        assert_eq!(goal(None, Limit::AtLeast(2.5)), "not measured      -  at least  2.5  it");
    }
}
