//! How text looks on a terminal and in a pipe: colours, columns and the width of lines.

use anstyle::{AnsiColor, Style};
use comfy_table::{Table, presets};
use podrank_preview::Verdict;
use std::borrow::Cow;
use std::iter;
use unicode_width::UnicodeWidthStr;

/// The look of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Whether to show every pod, also on a terminal.
    pub shows_all: bool,
    /// Whether to use escape codes for colours.
    pub in_colour: bool,
    /// The columns of the terminal. `None` for a file or a pipe, which get every pod and long lines.
    pub terminal_width: Option<usize>,
}

/// Returns the header and a line for each row, in columns.
pub(crate) fn in_columns(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

pub(crate) fn paint(look: Look, style: Style, line: &str) -> String {
    if look.in_colour { format!("{style}{line}{style:#}\n") } else { format!("{line}\n") }
}

pub(crate) fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Delete => AnsiColor::Red.on_default(),
        Verdict::Contested => AnsiColor::Yellow.on_default(),
        Verdict::Blocked => AnsiColor::Magenta.on_default(),
        Verdict::Later => Style::new().dimmed(),
        Verdict::Keep => Style::new(),
    }
}

pub(crate) fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| line.width()).max().unwrap_or(0)
}

pub(crate) fn lines(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// Returns `text` in lines of at most `width` columns, unless a word is longer.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word.to_owned());
        } else {
            line.extend(iter::once(" ").filter(|_| !line.is_empty()).chain([word]).collect::<Vec<_>>());
        }
    }
    lines
}

/// Returns `text` without its middle if it is longer than `width` characters.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (front, back) = (kept.div_ceil(2), kept / 2);
    text.chars().take(front).chain(['…']).chain(text.chars().skip(length - back)).collect()
}

/// Returns `text` on one line and harmless to a terminal: control characters become escapes. No Kubernetes name has them,
/// but a file may.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::new();
    for char in text.chars() {
        if char.is_control() {
            plain.extend(char.escape_default());
        } else {
            plain.push(char);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 13), ["one two three"]);
        assert_eq!(wrapped("one-two-three four", 4), ["one-two-three", "four"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("ip-10-0-12-34.eu-west-1.compute.internal", 14), "ip-10-0…ternal");
        assert_eq!(shortened("node-1", 6), "node-1");
        assert_eq!(shortened("node-10", 6), "nod…10");
    }
}
