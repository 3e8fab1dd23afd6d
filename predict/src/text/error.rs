//! Why there is no preview: one sentence that names the place in the input, and the remedy. Reads no files.

use crate::text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;

/// Why there is no preview. The text names the place in the input and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    text: String,
    remedy: Option<Remedy>,
}

/// What a caller can change in its [`Options`](crate::Options) to get a preview of the same input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Name the set, and its namespace if need be.
    NameTheSet,
    /// Accept that the input is incomplete.
    AcceptPartial,
    /// Read the cluster again in a moment, once its controllers have caught up.
    Wait,
}

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), remedy: None }
    }

    pub(crate) fn with_remedy(text: impl Into<String>, remedy: Remedy) -> Self {
        Self { text: text.into(), remedy: Some(remedy) }
    }

    /// The option that helps, if one does.
    pub fn remedy(&self) -> Option<Remedy> {
        self.remedy
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Checks the `spec.replicas` of an object. Kubernetes stores no negative number.
pub(crate) fn not_negative(replicas: i32) -> Result<i32, String> {
    let text = || format!("spec.replicas: {replicas} is negative, which Kubernetes does not allow");
    Some(replicas).filter(|replicas| *replicas >= 0).ok_or_else(text)
}

/// Returns what a library found, without the place, and without long quotations.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text::brief(text.strip_suffix(&place).unwrap_or(&text))
}

/// Reads one object; on failure says at which field, such as `metadata.labels.app: invalid type: …`.
pub(crate) fn parse<'a, T: Deserialize<'a>>(object: &'a RawValue) -> Result<T, String> {
    // Keeping track of the fields takes time, and is of use only for an error.
    if let Ok(value) = serde_json::from_str(object.get()) {
        return Ok(value);
    }
    let mut json = serde_json::Deserializer::from_str(object.get());
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        // Line and column count from the start of this object, so they would mislead in a whole dump.
        let text = without_place(&error);
        if path == "." { text } else { format!("{}: {text}", text::name(&path)) }
    })
}
