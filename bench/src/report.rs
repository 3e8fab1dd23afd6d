//! What a run prints: Markdown, each line as soon as it is known, and at the end all of it in a file.

use std::fs;
use std::io;
use std::mem;
use std::path::Path;

/// What has been said so far.
#[derive(Debug, Default)]
pub struct Report {
    text: String,
    /// A line for each.
    goals: Vec<String>,
}

/// The least or the most a figure may be.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// It may be no lower.
    AtLeast(f64),
    /// It may be no higher.
    AtMost(f64),
}

/// The line of a goal: whether it is met, the figure, its limit and what is asked for.
fn goal(what: &str, figure: Option<f64>, limit: Limit) -> String {
    let (bound, limit, is_met) = match limit {
        Limit::AtLeast(limit) => ("at least", limit, figure.map(|figure| figure >= limit)),
        Limit::AtMost(limit) => ("at most", limit, figure.map(|figure| figure <= limit)),
    };
    let verdict = match is_met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not measured",
    };
    let figure = figure.map_or("-".into(), |figure| format!("{figure:.2}"));
    format!("{verdict:12} {figure:>6}  {bound:8} {limit:>4}  {what}")
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

    /// Adds a goal, for the list of all. A figure that was not measured is `None`.
    pub fn goal(&mut self, what: impl AsRef<str>, figure: Option<f64>, limit: Limit) {
        self.goals.push(goal(what.as_ref(), figure, limit));
    }

    /// Says at last which goals are met, and puts all of it into a file: the goals first.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self, heading: &str, path: &Path) -> io::Result<()> {
        let details = mem::take(&mut self.text);
        self.line("\n## Goals\n\n```text");
        for goal in mem::take(&mut self.goals) {
            self.line(goal);
        }
        self.line("```");
        fs::write(path, format!("{heading}{}{details}", self.text))
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
    fn goals_say_whether_they_are_met() {
        assert_eq!(goal("it", Some(2.0), Limit::AtMost(3.0)), "met            2.00  at most     3  it");
        assert_eq!(goal("it", Some(2.0), Limit::AtLeast(2.5)), "not met        2.00  at least  2.5  it");
        assert_eq!(goal("it", None, Limit::AtLeast(2.5)), "not measured      -  at least  2.5  it");
    }
}
