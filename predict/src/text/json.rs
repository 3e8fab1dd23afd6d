//! What all JSON has in common that other programs read.

use crate::text::hidden::escaped;
use serde::Serialize;
use std::borrow::Cow;

/// The version of the JSON.
pub const API_VERSION: &str = "podrank/v1";

/// Returns the JSON that other programs read, indented, with a newline at the end. Hidden characters are written as `\uXXXX`.
///
/// # Panics
/// Never: every answer is JSON.
pub fn json(answer: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(answer).expect("an answer is JSON") + "\n";
    // The line breaks of texts are escapes already.
    let escape = |char: char| {
        let units =
            char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>();
        units.concat()
    };
    escaped(&json, &['\n'], escape).into_owned()
}

/// A reason without values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextReason {
    /// The rule that decides.
    pub rule: Cow<'static, str>,
    /// What it finds, as a short sentence.
    pub text: String,
}
