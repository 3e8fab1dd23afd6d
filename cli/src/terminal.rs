//! How answers look on a terminal and in a pipe: colours, columns and the width of lines.

use crate::view::{Row, Table, plain};
use anstyle::{AnsiColor, Style};
use comfy_table::presets;
use podrank_predict::Verdict;
use unicode_width::UnicodeWidthStr;

/// What shows a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Whether to use escape codes for colours.
    pub in_colour: bool,
    /// The columns of the terminal. `None` for a file or a pipe, which get long lines.
    pub width: Option<usize>,
}

/// Returns the header and a line for each row, in columns.
fn in_columns(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The narrowest that a column is cut to.
const FEWEST_COLUMNS: usize = 16;

/// Each text on lines of its own, which are as wide as the terminal.
///
/// A command at the end of a text that does not fit gets a line of its own, however long, so that it can be copied.
pub fn in_sentences(texts: &[String], terminal: Terminal) -> String {
    let width = terminal.width.unwrap_or(usize::MAX);
    let of_text = |text: &String| {
        let text = plain(text);
        match text.split_once(COMMAND).filter(|_| text.width() > width) {
            Some((before, command)) => {
                lines(&wrapped(&format!("{before}:"), width)) + &format!("  {}{command}\n", &COMMAND[2..])
            }
            None => lines(&wrapped(&text, width)),
        }
    };
    texts.iter().map(of_text).collect()
}

/// How a command begins behind a text.
const COMMAND: &str = ": kubectl ";

impl Table {
    /// The answer as text, in lines as wide as the terminal is.
    pub fn text(&self, terminal: Terminal) -> String {
        let width = terminal.width.unwrap_or(usize::MAX);
        let mut text = in_sentences(&self.sentences, terminal);
        if self.rows.is_empty() {
            return text + &in_sentences(&self.below, terminal);
        }
        let mut table = self.columns(&[], width);
        for gone in 1..=self.optional.len() {
            if widest(&table) > width {
                table = self.columns(&self.optional[..gone], width);
            }
        }
        for (index, line) in table.iter().enumerate() {
            let style = index.checked_sub(1).map_or(Style::new().bold(), |row| style(self.rows[row].verdict));
            text += &self.paint(terminal, style, line);
            if self.ruled.contains(&index) {
                text += &paint(terminal, Style::new().dimmed(), &"-".repeat(widest(&table).min(width)));
            }
        }
        text + &in_sentences(&self.below, terminal)
    }

    /// A line in its style, but the name of a `ReplicaSet` in the set's own.
    fn paint(&self, terminal: Terminal, style: Style, line: &str) -> String {
        let found = || {
            let named = self.sets.iter().zip(colours(&self.sets));
            let found = named.filter_map(|(set, colour)| Some((line.find(&*plain(set))?, set.len(), colour)));
            found.max_by_key(|(_, length, _)| *length)
        };
        match found().filter(|_| terminal.in_colour) {
            None => paint(terminal, style, line),
            Some((start, length, colour)) => {
                let (before, rest) = line.split_at(start);
                let (name, after) = rest.split_at(length);
                let set = colour.on_default();
                format!("{style}{before}{style:#}{set}{name}{set:#}{style}{after}{style:#}\n")
            }
        }
    }

    /// The table without these columns, and with the last one cut if there is some room for it.
    fn columns(&self, without: &[&str], width: usize) -> Vec<String> {
        let kept: Vec<_> =
            (0..self.header.len()).filter(|&column| !without.contains(&self.header[column])).collect();
        let header: Vec<_> = kept.iter().map(|&column| self.header[column]).collect();
        let row = |row: &Row| kept.iter().map(|&column| plain(&row.cells[column]).into_owned()).collect();
        let mut rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        let last = |rows: &[Vec<String>]| {
            let cells = rows.iter().filter_map(|row| row.last());
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let excess = widest(&in_columns(&header, rows.iter().cloned())).saturating_sub(width);
        let room = last(&rows).saturating_sub(excess);
        if self.is_cut && excess > 0 && room >= FEWEST_COLUMNS {
            let cut = |cell: &mut String| {
                if cell.width() > room {
                    *cell = cell.chars().take(room - 1).chain(['…']).collect();
                }
            };
            rows.iter_mut().filter_map(|row| row.last_mut()).for_each(cut);
        }
        in_columns(&header, rows.into_iter())
    }
}

/// A colour for each of these names, which depends on the name alone as far as none has it already. No verdict has one of them.
fn colours(names: &[String]) -> Vec<AnsiColor> {
    use AnsiColor::{Blue, BrightBlue, BrightCyan, BrightGreen, Cyan, Green};
    const COLOURS: [AnsiColor; 6] = [Cyan, Blue, Green, BrightCyan, BrightBlue, BrightGreen];
    let mut taken = Vec::new();
    for name in names {
        let sum = name.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let free = (0..COLOURS.len()).map(|next| COLOURS[(sum + next) % COLOURS.len()]);
        let colour = free.clone().find(|colour| !taken.contains(colour));
        taken.extend(colour.or_else(|| free.clone().next()));
    }
    taken
}

fn paint(terminal: Terminal, style: Style, line: &str) -> String {
    if terminal.in_colour { format!("{style}{line}{style:#}\n") } else { format!("{line}\n") }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Deleted => AnsiColor::Red.on_default(),
        Verdict::Possible => AnsiColor::Yellow.on_default(),
        Verdict::Waiting => AnsiColor::Magenta.on_default(),
        Verdict::Kept => Style::new(),
    }
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| line.width()).max().unwrap_or(0)
}

fn lines(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// Returns `text` in lines of at most `width` columns, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word.to_owned());
        } else {
            line.extend([if line.is_empty() { "" } else { " " }, word]);
        }
    }
    lines
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
    fn a_command_that_does_not_fit_has_a_line_of_its_own() {
        let at = |columns| {
            let terminal = Terminal { width: Some(columns), ..Terminal::default() };
            in_sentences(&["See it: kubectl podrank deploy/web --replicas N".to_owned()], terminal)
        };
        assert_eq!(at(80), "See it: kubectl podrank deploy/web --replicas N\n");
        assert_eq!(at(20), "See it:\n  kubectl podrank deploy/web --replicas N\n");
    }

    #[test]
    fn the_last_column_is_cut_before_others_are_left_out() {
        let grid = |is_cut| Table {
            header: vec!["POD", "NODE", "NOTE"],
            rows: vec![Row {
                verdict: Verdict::Kept,
                cells: vec!["web".to_owned(), "worker-1".to_owned(), "it waits for 3 more pods".to_owned()],
            }],
            optional: vec!["NODE"],
            is_cut,
            ..Table::default()
        };
        let at =
            |is_cut, columns| grid(is_cut).text(Terminal { width: Some(columns), ..Terminal::default() });
        assert_eq!(at(true, 33), "POD  NODE      NOTE\nweb  worker-1  it waits for 3 mo…\n");
        assert_eq!(at(false, 33), "POD  NOTE\nweb  it waits for 3 more pods\n");
        // There is too little room to cut it.
        assert_eq!(at(true, 29), "POD  NOTE\nweb  it waits for 3 more pods\n");
    }

    #[test]
    fn a_set_has_the_same_colour_beside_others() {
        let names = |names: &[&str]| colours(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let [old, new] = ["web-5d8c7f9b64", "web-7f6b9d5c48"];
        assert_eq!(names(&[old])[0], names(&[old, new])[0]);
        let all = names(&["a", "b", "c", "d", "e", "f"]);
        assert!((1..all.len()).all(|place| !all[..place].contains(&all[place])), "{all:?}");
        assert_eq!(names(&["a"; 7]).len(), 7);
    }

    #[test]
    fn a_name_of_a_set_keeps_its_colour_in_a_row() {
        let grid = Table {
            header: vec!["GOES", "POD"],
            rows: vec![Row {
                verdict: Verdict::Deleted,
                cells: vec!["yes".to_owned(), "web-1-x".to_owned()],
            }],
            sets: vec!["web".to_owned(), "web-1".to_owned()],
            ..Table::default()
        };
        let text = grid.text(Terminal { in_colour: true, ..Terminal::default() });
        let row = text.lines().nth(1).expect("a row");
        let (red, own) = (style(Verdict::Deleted), colours(&grid.sets)[1].on_default());
        assert_eq!(row, format!("{red}yes   {red:#}{own}web-1{own:#}{red}-x{red:#}"));
        assert!(!grid.text(Terminal::default()).contains('\u{1b}'));
    }
}
