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
    /// How many answers share the screen; 0 is as 1.
    pub answers: usize,
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

/// The most lines on a terminal, with the headline and the last one.
const MOST_LINES: usize = 22;
/// The fewest rows, however many notes there are.
const FEWEST_ROWS: usize = 6;
/// The narrowest that a column is cut to.
const FEWEST_COLUMNS: usize = 16;
/// The most rows of a table that is to be pasted.
pub(crate) const MOST_IN_MARKDOWN: usize = 10;

/// Each text on lines of its own, which are as wide as the terminal.
///
/// A command at the end of a text that does not fit gets a line of its own, however long, so that it can be copied.
pub fn in_sentences(texts: &[String], look: Look) -> String {
    let width = look.terminal_width.unwrap_or(usize::MAX);
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

impl Look {
    /// How many lines these texts take.
    fn height(self, texts: &[String]) -> usize {
        in_sentences(texts, self).lines().count()
    }

    /// How many of these texts a terminal has room for beside another one: at least one.
    pub fn fitting(self, texts: &[String], beside: &str) -> usize {
        if self.terminal_width.is_none() {
            return texts.len();
        }
        let beside: Vec<_> = beside.lines().map(str::to_owned).collect();
        // What stays, what is left out, and what to type next.
        let room = MOST_LINES.saturating_sub(5 + self.height(&beside));
        let fits = |most: &usize| self.height(&texts[..*most]) <= room;
        (1..=texts.len()).take_while(fits).last().unwrap_or(1).min(texts.len())
    }
}

/// How a command begins behind a text.
const COMMAND: &str = ": kubectl ";

/// The flag that names a namespace, unless it is the usual one.
pub(crate) fn namespace_flag(namespace: &str) -> String {
    if namespace == "default" { String::new() } else { format!(" -n {namespace}") }
}

/// An answer for people: sentences, and then rows in columns.
pub struct Grid {
    pub(crate) sentences: Vec<String>,
    pub(crate) header: Vec<&'static str>,
    /// What becomes of those that a row is about, and its cells.
    pub(crate) rows: Vec<(Verdict, Vec<String>)>,
    /// The columns that a narrow terminal does without, the first one first.
    pub(crate) give_way: Vec<&'static str>,
    /// Whether the last column is rather cut than done without.
    pub(crate) is_cut: bool,
}

impl Grid {
    /// An answer in sentences alone.
    pub fn of_sentences(sentences: impl IntoIterator<Item = String>) -> Self {
        let sentences = sentences.into_iter().collect();
        Self { sentences, header: Vec::new(), rows: Vec::new(), give_way: Vec::new(), is_cut: false }
    }

    /// The most rows that a terminal has room for beside the sentences and what is printed after the table. `None` if all are shown.
    pub(crate) fn room(&self, look: Look, after: &[String]) -> Option<usize> {
        let is_limited = look.terminal_width.is_some() && !look.shows_all;
        let taken = 1 + look.height(&self.sentences) + look.height(after);
        is_limited.then(|| (MOST_LINES / look.answers.max(1)).saturating_sub(taken).max(FEWEST_ROWS))
    }

    fn in_sentences(&self, look: Look) -> String {
        in_sentences(&self.sentences, look)
    }

    /// The answer as text, in as many lines as the look says.
    pub fn text(&self, look: Look) -> String {
        let width = look.terminal_width.unwrap_or(usize::MAX);
        let mut text = self.in_sentences(look);
        if self.rows.is_empty() {
            return text;
        }
        let mut table = self.columns(&[], width);
        for gone in 1..=self.give_way.len() {
            if widest(&table) > width {
                table = self.columns(&self.give_way[..gone], width);
            }
        }
        for (index, line) in table.iter().enumerate() {
            let style = index.checked_sub(1).map_or(Style::new().bold(), |row| style(self.rows[row].0));
            text += &paint(look, style, line);
        }
        text
    }

    /// The table without these columns, and with the last one cut if there is some room for it.
    fn columns(&self, without: &[&str], width: usize) -> Vec<String> {
        fn kept<'t, T>(header: &[&str], without: &[&str], cells: impl Iterator<Item = T> + 't) -> Vec<T> {
            header
                .iter()
                .zip(cells)
                .filter(|(name, _)| !without.contains(name))
                .map(|(_, cell)| cell)
                .collect()
        }
        let header = kept(&self.header, without, self.header.iter().copied());
        let row = |(_, cells): &(Verdict, Vec<String>)| {
            kept(&self.header, without, cells.iter().map(|cell| plain(cell).into_owned()))
        };
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

    /// The answer to paste into a page or a channel, with the first of the rows.
    pub(crate) fn markdown(&self) -> String {
        let cell = |text: &str| plain(text).replace('|', "\\|");
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let [first, rest @ ..] = &*self.sentences else { return String::new() };
        let mut text = format!("**{}**\n", plain(first));
        text.extend(rest.iter().map(|sentence| format!("{}\n", plain(sentence))));
        if self.rows.is_empty() {
            return text;
        }
        text.push('\n');
        text += &line(&mut self.header.iter().map(|name| name.to_lowercase()));
        text += &line(&mut self.header.iter().map(|_| "---".to_owned()));
        for (_, cells) in self.rows.iter().take(MOST_IN_MARKDOWN) {
            text += &line(&mut cells.iter().map(|text| cell(text)));
        }
        let more = self.rows.len().saturating_sub(MOST_IN_MARKDOWN);
        if more > 0 {
            text.extend(["\n… and ", &more.to_string(), " more\n"]);
        }
        text
    }
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
    // A number stays with its sign.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ').map(|word| word.replace('\u{a0}', " ")) {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word);
        } else {
            line.extend(iter::once(" ").filter(|_| !line.is_empty()).chain([&*word]).collect::<Vec<_>>());
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
    fn a_command_that_does_not_fit_has_a_line_of_its_own() {
        let at = |columns| {
            let look = Look { terminal_width: Some(columns), ..Look::default() };
            in_sentences(&["See it: kubectl podrank deploy/web --replicas N".to_owned()], look)
        };
        assert_eq!(at(80), "See it: kubectl podrank deploy/web --replicas N\n");
        assert_eq!(at(20), "See it:\n  kubectl podrank deploy/web --replicas N\n");
    }

    #[test]
    fn a_number_stays_with_its_sign() {
        assert_eq!(wrapped("goes at 9 (17 %)", 13), ["goes at 9", "(17 %)"]);
    }

    #[test]
    fn the_last_column_is_cut_before_others_are_left_out() {
        let grid = |is_cut| Grid {
            sentences: Vec::new(),
            header: vec!["POD", "NODE", "NOTE"],
            rows: vec![(
                Verdict::Keep,
                vec!["web".to_owned(), "worker-1".to_owned(), "it waits for 3 more pods".to_owned()],
            )],
            give_way: vec!["NODE"],
            is_cut,
        };
        let at =
            |is_cut, columns| grid(is_cut).text(Look { terminal_width: Some(columns), ..Look::default() });
        assert_eq!(at(true, 33), "POD  NODE      NOTE\nweb  worker-1  it waits for 3 mo…\n");
        assert_eq!(at(false, 33), "POD  NOTE\nweb  it waits for 3 more pods\n");
        // There is too little room to cut it.
        assert_eq!(at(true, 29), "POD  NOTE\nweb  it waits for 3 more pods\n");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("ip-10-0-12-34.eu-west-1.compute.internal", 14), "ip-10-0…ternal");
        assert_eq!(shortened("node-1", 6), "node-1");
        assert_eq!(shortened("node-10", 6), "nod…10");
    }
}
