//! Characters that hide: a reader does not see them, or sees the text around them in another order. A name in a Kubernetes cluster has
//! none, but a file may. What people read shows them as escapes, and so does JSON.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// What Unicode 16.0 calls controls (Cc), format characters (Cf), separators of lines and paragraphs (Zl, Zp), or default-ignorable code
/// points, such as the variation selectors. A test compares them with Unicode's tables.
const HIDDEN: [RangeInclusive<char>; 27] = [
    '\u{0}'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Whether a character hides: controls, line breaks among them, and what changes the order of the text around it or has no width.
pub fn is_hidden(char: char) -> bool {
    !matches!(char, ' '..='~') && HIDDEN.iter().any(|range| range.contains(&char))
}

/// Returns the text with `escape` in place of each hidden character that is not among those `kept`.
pub fn escaped<'t>(text: &'t str, kept: &[char], escape: impl Fn(char) -> String) -> Cow<'t, str> {
    let is_escaped = |char: char| is_hidden(char) && !kept.contains(&char);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if is_escaped(char) { escaped += &escape(char) } else { escaped.push(char) }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    #[test]
    fn what_unicode_calls_invisible_hides_and_nothing_else() {
        let pattern = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]";
        let parsed = regex_syntax::parse(pattern).expect("a pattern");
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            panic!("{parsed:?} is not a class")
        };
        let ranges: Vec<_> = class.ranges().iter().map(|range| range.start()..=range.end()).collect();
        assert_eq!(ranges, HIDDEN);
        let is_in = |char: &char| ranges.iter().any(|range| range.contains(char));
        let wrong = ('\0'..=char::MAX).find(|char| is_hidden(*char) != is_in(char));
        assert_eq!(wrong, None);
    }

    #[test]
    fn what_is_kept_or_seen_is_not_escaped() {
        let escape = |text| escaped(text, &['\n'], |char| char.escape_default().to_string());
        assert_eq!(escape("a\u{202e}b\nc\u{fe0f}"), "a\\u{202e}b\nc\\u{fe0f}");
        for seen in ["web-1", "…", "e\u{301}", "日本", "עברית", "\u{a0}"] {
            assert!(matches!(escape(seen), Cow::Borrowed(_)), "{seen}");
        }
    }
}
