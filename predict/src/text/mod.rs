//! Text of the input within messages, cut so that no message repeats an input. Pure functions on text.

mod age;
mod error;
mod hidden;
mod json;
mod quantity;

pub(crate) use age::{age, ages, human, not_yet_available};
pub use error::{Error, ErrorKind};
pub(crate) use error::{not_negative, parse, unknown, without_place};
pub use hidden::{escaped, is_hidden};
pub use json::{API_VERSION, TextReason, json};
pub(crate) use quantity::billionths;

use std::borrow::Cow;
use std::fmt::Display;

/// The most characters of the input that a message quotes.
const MOST_QUOTED: usize = 40;

/// The most characters of a name: as many as Kubernetes allows.
const LONGEST_NAME: usize = 253;

/// The most items that a message lists.
const MOST_LISTED: usize = 20;

/// `text` in double quotes, with escapes, cut after 40 characters.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", cut(text, MOST_QUOTED))
}

/// A word that the input should not have, cut after 40 characters.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    cut(text, MOST_QUOTED)
}

/// A name, or a path of names, cut if it is longer than any that Kubernetes has.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    cut(text, LONGEST_NAME)
}

/// Returns the items, separated by commas. If there are more than 20, returns the first 20 and how many more there are.
pub(crate) fn list(items: &[impl Display]) -> String {
    first(items, MOST_LISTED)
}

/// Returns the first of the items, at most that many, separated by commas, and how many more there are.
pub(crate) fn first(items: &[impl Display], most: usize) -> String {
    let shown: Vec<_> = items.iter().take(most).map(ToString::to_string).collect();
    let text = shown.join(", ");
    match items.len().saturating_sub(most) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The number, or the greatest one if 32 bits cannot hold it.
pub(crate) fn number(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// `1 pod`, `2 pods`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `is` for one, `are` for any other number.
pub fn is(number: impl TryInto<u64>) -> &'static str {
    if number.try_into().is_ok_and(|number| number == 1) { "is" } else { "are" }
}

/// Returns which of the words `word` may have been meant to be.
pub fn nearest<T: AsRef<str>>(word: &str, known: impl Iterator<Item = T>) -> Option<T> {
    let word = word.to_lowercase();
    let likeness = |other: &str| {
        let other = other.to_lowercase();
        // Of a label such as topology.kubernetes.io/zone, people remember the end.
        let end = other.rsplit('/').next().unwrap_or_default();
        alike(&word, &other).max(alike(&word, end))
    };
    let best = known.map(|other| (likeness(other.as_ref()), other)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, other)| other)
}

/// Less similar words have little in common. clap uses this limit for its own suggestions.
const ALIKE: f64 = 0.7;

/// How similar two words are, from 0 to 1.
fn alike(word: &str, other: &str) -> f64 {
    // In a short word, one slip is much by the first measure, even if it only changes the order of two letters.
    let slip = if strsim::osa_distance(word, other) == 1 { 0.9 } else { 0.0 };
    strsim::jaro_winkler(word, other).max(slip)
}

/// A library's message: every text between double quotes or backticks is cut after 40 characters.
pub(crate) fn brief(message: &str) -> String {
    let mut brief = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(['"', '`']) {
        let (before, quoted) = rest.split_at(start + 1);
        brief += before;
        let end = end_of_quote(quoted, before.as_bytes()[start]);
        brief += &cut(&quoted[..end], MOST_QUOTED);
        let (close, after) = quoted[end..].split_at(usize::from(end < quoted.len()));
        brief += close;
        rest = after;
    }
    brief + rest
}

/// Where the text that starts behind a quotation mark ends: before the next one that no backslash escapes.
fn end_of_quote(text: &str, mark: u8) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == mark && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// Returns `text` with `…` instead of what is beyond `most` characters.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_quote_forty_characters() {
        let long = "é".repeat(41);
        let cut = format!("{}…", "é".repeat(40));
        for (message, expected) in [
            ("plain".to_owned(), "plain".to_owned()),
            (format!("a \"{long}\" b `{long}`, c"), format!("a \"{cut}\" b `{cut}`, c")),
            (format!("\"\\\"{}\" and `1`", &long[2..]), format!("\"\\\"{}…\" and `1`", "é".repeat(38))),
            (format!("open \"{long}"), format!("open \"{cut}")),
            (format!("\"{}\"", "é".repeat(40)), format!("\"{}\"", "é".repeat(40))),
            (format!("\"{cut}\""), format!("\"{cut}\"")),
        ] {
            assert_eq!(brief(&message), expected, "{message}");
        }
        assert_eq!(quoted("a\nb"), "\"a\\nb\"");
        assert_eq!(list(&["a", "b"]), "a, b");
        assert!(list(&["a"; 22]).ends_with("a, a and 2 more"));
        assert_eq!((count(1_u64, "pod"), count(2_u64, "pod")), ("1 pod".into(), "2 pods".into()));
    }
}
