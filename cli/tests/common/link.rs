//! What is in a link of `-o link`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::read::DeflateDecoder;
use kubectl_podrank::link::PAGE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The dump in a link, the options that ask for its answer, and what follows as text.
pub(crate) fn decoded(link: &str) -> (Value, Value, BTreeMap<String, String>) {
    let fragment =
        link.strip_prefix(PAGE).and_then(|rest| rest.strip_prefix('#')).expect("the page's address");
    let mut parts = fragment.split('&').map(|part| part.split_once('=').expect("a value"));
    let (name, dump) = parts.next().expect("the dump");
    assert_eq!(name, "dump", "it is the first");
    let bytes = URL_SAFE_NO_PAD.decode(dump).expect("base64url without padding");
    let mut text = String::new();
    DeflateDecoder::new(&*bytes).read_to_string(&mut text).expect("DEFLATE");
    let mut given: Value = serde_json::from_str(&text).expect("JSON");
    let rest = parts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (given["dump"].take(), given["options"].take(), rest)
}
