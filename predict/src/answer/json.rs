//! The JSON of pods, which other programs read: borrowed views of the answers. docs/preview-json.md says what each name means.

use crate::answer::pod::{Details, PodAnswer};
use crate::answer::probability::Odds;
use crate::sync::Verdict;
use crate::text::hidden::escaped;
use serde::{Serialize, Serializer};
use std::ops::Not;

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

/// A pod of a preview or of an order.
#[derive(Serialize)]
pub(crate) struct PodView<'v> {
    name: &'v str,
    uid: String,
    node: Option<&'v str>,
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    #[serde(flatten)]
    pub(crate) counts: Option<Counts>,
    verdict: Verdict,
    #[serde(flatten)]
    odds: Option<Odds>,
    pub(crate) rule: Option<&'static str>,
    pub(crate) why: String,
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) replaced: bool,
    #[serde(flatten)]
    details: Details,
}

/// The counts at which a pod goes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) may_go_at: Option<u32>,
    pub(crate) goes_at: Option<u32>,
}

/// A pod that would go, but waits.
#[derive(Serialize)]
pub(crate) struct WaitingView<'v> {
    name: &'v str,
    by: String,
    rule: Option<&'static str>,
    why: String,
}

impl<'v> WaitingView<'v> {
    pub(crate) fn new(pod: &'v PodAnswer<'_>) -> Self {
        Self {
            name: pod.name(),
            by: pod.waits_for().unwrap_or_default().into_owned(),
            rule: pod.reason.rule(),
            why: pod.reason.sentence().to_string(),
        }
    }
}

impl<'v> PodView<'v> {
    pub(crate) fn new(pod: &'v PodAnswer<'_>) -> Self {
        Self {
            name: pod.name(),
            uid: pod.uid().to_string(),
            node: pod.node(),
            rank: pod.rank,
            position: None,
            counts: None,
            verdict: pod.verdict,
            odds: pod.odds,
            rule: pod.reason.rule(),
            why: pod.reason.sentence().to_string(),
            replaced: pod.is_replaced,
            details: pod.details(),
        }
    }
}

impl Serialize for PodAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PodView::new(self).serialize(serializer)
    }
}

/// The pods of a group, each with its place.
pub(crate) fn pods<S: Serializer>(pods: &[PodAnswer<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    let view = |(place, pod)| PodView { position: Some(place), ..PodView::new(pod) };
    serializer.collect_seq((1..).zip(pods).map(view))
}
