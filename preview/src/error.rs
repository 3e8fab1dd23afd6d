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
        let error = error.into_inner();
        // The line and column count from the start of this object: in a whole dump they mislead.
        let text = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        let text = text.strip_suffix(&position).unwrap_or(&text);
        if path == "." { text.to_owned() } else { format!("{path}: {text}") }
    })
}
