//! Why there is no answer, as the web app gets it: JSON with the parts of the error, and what the web app can offer.

use podrank_predict::{Error, ErrorKind};
use serde::Serialize;
use wasm_bindgen::JsValue;

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// All parts, a line each.
    message: String,
    what: String,
    why: Vec<String>,
    /// The name of a button.
    remedy: Option<&'static str>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let remedy = (error.kind == ErrorKind::Incomplete).then_some("partial");
        Self { message: error.to_string(), what: error.what, why: error.why, remedy }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Error::new(message).into()
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        super::json(&failure).into()
    }
}
