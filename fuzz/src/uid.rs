//! `uid`: the text of a UID against its grammar, in Rust and through C, and its order against that of its bytes.

use podrank::Uid;
use podrank_ffi::{PODRANK_OK, PODRANK_UID_TEXT_LEN, podrank_uid_format, podrank_uid_parse};
use std::fmt::Write;

/// The target: the bytes are a text; from 0x80 on, the first says that they are two UIDs and changes to the text of one.
pub fn run(data: &[u8]) {
    match data {
        [first, rest @ ..] if *first >= 0x80 => {
            let (a, rest) = taken(rest);
            let (b, rest) = taken(rest);
            in_order(a, b);
            let mut text = written(a).into_bytes();
            for change in rest.chunks_exact(2).take(usize::from(first & 3)) {
                let at = usize::from(change[0]) % text.len();
                text[at] = change[1];
            }
            check(&text);
            text.truncate(text.len() - usize::from(first >> 2 & 1));
            check(&text);
        }
        text => check(text),
    }
}

/// The first 16 bytes, zeros where there are fewer, and the rest.
fn taken(data: &[u8]) -> ([u8; 16], &[u8]) {
    let (first, rest) = data.split_at(data.len().min(16));
    let mut bytes = [0; 16];
    bytes[..first.len()].copy_from_slice(first);
    (bytes, rest)
}

/// The canonical text.
fn written(bytes: [u8; 16]) -> String {
    let mut text = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&i) {
            text.push('-');
        }
        write!(text, "{byte:02x}").expect("a string takes all");
    }
    text
}

/// The grammar: 8-4-4-4-12 digits of 0-9 and a-f.
fn grammar(text: &[u8]) -> Option<[u8; 16]> {
    let groups: Vec<&str> = str::from_utf8(text).ok()?.split('-').collect();
    let is_canonical = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let number = || u128::from_str_radix(&groups.concat(), 16).ok();
    is_canonical.then(number)?.map(u128::to_be_bytes)
}

fn check(text: &[u8]) {
    let expected = grammar(text);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(Uid::parse(text).map(Uid::to_bytes).ok(), expected, "{shown:?}");
    let mut through_c = [77; 16];
    // SAFETY: a text of this length and 16 bytes.
    let status = unsafe {
        podrank_uid_parse(text.as_ptr().cast(), text.len(), through_c.as_mut_ptr(), through_c.len())
    };
    assert_eq!((status == PODRANK_OK).then_some(through_c), expected, "{shown:?}");
}

/// The order of UIDs is that of their texts, and the text is written and read as it is.
fn in_order(a: [u8; 16], b: [u8; 16]) {
    let [first, second] = [a, b].map(Uid::from_bytes);
    let text = written(a);
    assert_eq!(format!("{first:>40}"), format!("    {text}"));
    assert_eq!(first.cmp(&second), text.cmp(&written(b)));
    let mut through_c = [b'x'; PODRANK_UID_TEXT_LEN + 1];
    // SAFETY: 16 bytes, and a place for the text.
    let status = unsafe { podrank_uid_format(a.as_ptr(), through_c.as_mut_ptr().cast(), through_c.len()) };
    assert_eq!((status, &through_c[..]), (PODRANK_OK, [text.as_bytes(), &[0]].concat().as_slice()));
}
