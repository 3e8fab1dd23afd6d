//! `cost`: the text of a deletion cost against its grammar, in Rust and through C.

use podrank::deletion_cost;
use podrank_ffi::{PODRANK_OK, podrank_deletion_cost_parse};

/// The target: the bytes are a text; from 0x80 on, the first says that the others choose from the characters of numbers.
pub fn run(data: &[u8]) {
    const CHARACTERS: &[u8; 16] = b"0012345678989+-_";
    let text = match data {
        [first, choices @ ..] if *first >= 0x80 => {
            choices.iter().map(|&choice| CHARACTERS[usize::from(choice & 15)]).collect()
        }
        text => text.to_vec(),
    };
    check(&text);
}

fn check(text: &[u8]) {
    let expected = grammar(text);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(deletion_cost(text).ok(), expected, "{shown:?}");
    let mut through_c = 77;
    // SAFETY: a text of this length and a place for an integer.
    let status = unsafe { podrank_deletion_cost_parse(text.as_ptr().cast(), text.len(), &raw mut through_c) };
    assert_eq!((status == PODRANK_OK).then_some(through_c), expected, "{shown:?}");
}

/// The grammar: `0`, or digits of which the first is not 0, or `-` and digits; of 32 bits.
fn grammar(text: &[u8]) -> Option<i32> {
    let text = str::from_utf8(text).ok()?;
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_valid = match text.strip_prefix('-') {
        Some(digits) => is_number(digits),
        None => is_number(text) && (text == "0" || !text.starts_with('0')),
    };
    // Rust's own parser takes what the grammar does and more: a plus, and zeros in front.
    if is_valid { text.parse().ok() } else { None }
}
