//! What is wrong with the input, and where: one sentence that starts with the place.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;

/// Why there is no preview. Its text starts with the place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Reads one object; on failure says at which field, such as `metadata.labels.app: invalid type: …`.
pub(crate) fn parse<'a, T: Deserialize<'a>>(object: &'a RawValue) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(object.get());
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let text = words(error.inner());
        if path == "." { text } else { format!("{path}: {text}") }
    })
}

/// The error without its line and column, which count from the start of the text that was parsed: in a whole dump they
/// mislead.
pub(crate) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}
