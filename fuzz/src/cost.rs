//! `cost`: the text of a deletion cost against its grammar, in Rust and through C.

use podrank::{DeletionCostError, deletion_cost};
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
    let cost = deletion_cost(text);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(cost.ok(), expected, "{shown:?}");
    match cost {
        // A cost is written as it is read, but for -0 and zeros after the sign.
        Ok(cost) => assert_eq!(deletion_cost(cost.to_string()), Ok(cost), "{shown:?}"),
        Err(error) => blamed(text, error),
    }
    let mut through_c = 77;
    // SAFETY: a text of this length and a place for an integer.
    let status = unsafe { podrank_deletion_cost_parse(text.as_ptr().cast(), text.len(), &raw mut through_c) };
    assert_eq!((status == PODRANK_OK).then_some(through_c), expected, "{shown:?}");
}

/// The grammar: `0`, or digits of which the first is not 0, or `-` and digits; of 32 bits.
pub fn grammar(text: &[u8]) -> Option<i32> {
    let text = str::from_utf8(text).ok()?;
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_valid = match text.strip_prefix('-') {
        Some(digits) => is_number(digits),
        None => is_number(text) && (text == "0" || !text.starts_with('0')),
    };
    // Rust's own parser takes what the grammar does and more: a plus, and zeros in front.
    if is_valid { text.parse().ok() } else { None }
}

/// The error names what is wrong first.
fn blamed(text: &[u8], error: DeletionCostError) {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let sign = text.len() - digits.len();
    let bad = digits.iter().position(|byte| !byte.is_ascii_digit()).map(|at| at + sign);
    let (expected, says) = match (text, bad) {
        (b"", _) => (DeletionCostError::Empty, "it is empty".to_owned()),
        (b"-", _) => (DeletionCostError::NoDigits, "it has no digits".to_owned()),
        ([b'+', ..], _) => (DeletionCostError::LeadingPlus, "it starts with '+'".to_owned()),
        ([b'0', _, ..], _) => (DeletionCostError::LeadingZero, "it has a leading zero".to_owned()),
        (_, Some(at)) => (DeletionCostError::NotDigit(at), format!("the byte at offset {at} is not a digit")),
        _ => (DeletionCostError::OutOfRange, "it is outside -2147483648 to 2147483647".to_owned()),
    };
    assert_eq!(error, expected, "{:?}", String::from_utf8_lossy(text));
    assert_eq!(error.to_string(), says);
}
