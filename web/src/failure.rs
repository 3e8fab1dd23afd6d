//! Why there is no answer, as the page gets it: JSON with the words of the command line, and what the page can offer.

use podrank_predict::{Error, Remedy};
use serde::Serialize;
use wasm_bindgen::JsValue;

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub struct Failure {
    message: String,
    /// The name of a button.
    remedy: Option<&'static str>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let remedy = match error.remedy() {
            Some(Remedy::AcceptPartial) => Some("partial"),
            _ => None,
        };
        Self { message: error.to_string(), remedy }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message, remedy: None }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        super::json(&failure).into()
    }
}
