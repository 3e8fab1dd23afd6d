//! Why there is no answer: what happened, why, and what to do. Reads no files.

use crate::text;
use crate::text::hidden::escaped;
use serde::Deserialize;
use serde_json::Deserializer;
use std::fmt;

/// Why there is no answer, in up to three parts. `Display` writes each sentence on a line of its own, with escapes for characters that
/// would break the line or hide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// What happened: a clause, which an `error: ` may precede.
    pub what: String,
    /// Why, in sentences.
    pub why: Vec<String>,
    /// What to do, in sentences.
    pub remedy: Vec<String>,
    /// What kind of error it is, for callers that can do something about it.
    pub kind: ErrorKind,
}

/// Which errors a caller can do something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Several workloads fit. [`Options`](crate::Options) may name one, and its namespace.
    Ambiguous,
    /// The input is incomplete, which [`Options`](crate::Options) may accept.
    Incomplete,
    /// A controller has not caught up, so a later reading may succeed.
    Busy,
    /// An object cannot be read: it does not exist, or the cluster does not answer.
    Unavailable,
    /// Any other error.
    Other,
}

impl Error {
    /// An error of which only this is known.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), why: Vec::new(), remedy: Vec::new(), kind: ErrorKind::Other }
    }

    /// The same error with one more reason.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why.push(why.into());
        self
    }

    /// The same error with one more remedy.
    #[must_use]
    pub fn advise(mut self, remedy: impl Into<String>) -> Self {
        self.remedy.push(remedy.into());
        self
    }

    /// The same error after its place, such as the name of a file.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self { what: format!("{place}: {}", self.what), ..self }
    }

    /// The same error, of another kind.
    #[must_use]
    pub fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// All of it in one line, for a table.
    pub fn in_one_line(&self) -> String {
        let sentences: Vec<_> = self.why.iter().chain(&self.remedy).map(String::as_str).collect();
        if sentences.is_empty() {
            self.what.clone()
        } else {
            format!("{}. {}", self.what, sentences.join(" "))
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text| escaped(text, &[], |char| char.escape_default().to_string());
        f.write_str(&line(&self.what))?;
        self.why.iter().chain(&self.remedy).try_for_each(|text| write!(f, "\n  {}", line(text)))
    }
}

impl std::error::Error for Error {}

/// Checks the `spec.replicas` of an object. Kubernetes stores no negative number.
pub(crate) fn not_negative(replicas: i32) -> Result<i32, String> {
    let text = || format!("spec.replicas: {replicas} is negative, which Kubernetes does not allow");
    Some(replicas).filter(|replicas| *replicas >= 0).ok_or_else(text)
}

/// The error for a word in a field that has a few: `spec.strategy.type: "A" is neither B nor C`.
pub(crate) fn unknown<T>(field: &str, word: &str, why: &str) -> Result<T, String> {
    Err(format!("{field}: {} is {why}", text::quoted(word)))
}

/// Returns what a library found, without the place, and without long quotations.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text::brief(text.strip_suffix(&place).unwrap_or(&text))
}

/// Reads the object at the start of a text, and moves the text behind it; on failure says at which field, such as
/// `metadata.labels.app: invalid type: …`.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &mut &'a str) -> Result<T, String> {
    // Keeping track of the fields takes time, and is of use only for an error.
    let mut values = Deserializer::from_str(text).into_iter();
    if let Some(Ok(value)) = values.next() {
        *text = &text[values.byte_offset()..];
        return Ok(value);
    }
    let mut json = Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        // Line and column count from the start of this object, so they would mislead in a whole dump.
        let text = without_place(error.inner());
        if path == "." { text } else { format!("{}: {text}", text::name(&path)) }
    })
}
