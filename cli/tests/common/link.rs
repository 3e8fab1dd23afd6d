//! What is in a link of `-o link`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::read::DeflateDecoder;
use kubectl_podrank::link::PAGE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The dump in a link, and its other parameters.
pub(crate) fn decoded(link: &str) -> (Value, BTreeMap<String, String>) {
    let fragment =
        link.strip_prefix(PAGE).and_then(|rest| rest.strip_prefix('#')).expect("the page's address");
    let mut parts = fragment.split('&').map(|part| part.split_once('=').expect("a value"));
    let (name, dump) = parts.next().expect("the dump");
    assert_eq!(name, "dump", "it is the first");
    let bytes = URL_SAFE_NO_PAD.decode(dump).expect("base64url without padding");
    let mut text = String::new();
    DeflateDecoder::new(&*bytes).read_to_string(&mut text).expect("DEFLATE");
    let rest = parts.map(|(name, value)| (name.to_owned(), percent_decoded(value))).collect();
    (serde_json::from_str(&text).expect("JSON"), rest)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).expect("UTF-8")
}
