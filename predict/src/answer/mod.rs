//! What is answered: the preview as data and JSON, and its sentences.

pub(crate) mod autoscaler;
pub(crate) mod deletion;
pub(crate) mod note;
pub(crate) mod order;
pub(crate) mod overview;
pub(crate) mod preview;
pub(crate) mod probability;
pub(crate) mod rollout;

use crate::text::hidden::escaped;

/// Returns the JSON that other programs read, indented, with a newline at the end. Hidden characters are written as `\uXXXX`.
///
/// # Panics
/// Never: every answer is JSON.
pub fn json(answer: &impl serde::Serialize) -> String {
    let json = serde_json::to_string_pretty(answer).expect("an answer is JSON") + "\n";
    // The line breaks of texts are escapes already.
    let escape = |char: char| {
        let units =
            char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>();
        units.concat()
    };
    escaped(&json, &['\n'], escape).into_owned()
}
