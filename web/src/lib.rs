//! The preview for a page: keeps a dump in WebAssembly's memory, and answers as JSON. No module knows the page.
//!
//! An answer to one step of a slider has to be short: [`Dump::decide`] says a few words about each pod, and [`Dump::rows`] and
//! [`Dump::explain`] say more about some of them. They are about one decision, which is made once.

mod answer;
mod failure;
mod options;
mod overview;
mod steer;

use answer::{Answer, Explanation, Row, Scene};
use failure::Failure;
use kubectl_podrank::view;
use podrank_predict::{Options, PodAnswer, Preview, Snapshot, Verdict, WorkloadId, preview_workload};
use serde::Serialize;
use std::collections::BTreeMap;
use steer::Steered;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// A file that the page's worker reads piece by piece: an object with a method `next`, which returns the next bytes. None are
    /// left if it returns nothing.
    pub type Chunks;

    #[wasm_bindgen(method)]
    fn next(this: &Chunks) -> Option<Vec<u8>>;
}

/// What `kubectl get` printed, and the last decision about it.
#[wasm_bindgen]
pub struct Dump {
    /// It lives as long as its worker, which ends with it: so decisions about it can be kept.
    input: &'static Snapshot,
    last: Option<Decided>,
    steered: Option<Steered>,
}

struct Decided {
    /// What was asked.
    text: String,
    preview: Preview<'static>,
}

/// The most pods for which an answer immediately has probabilities, because each step of a slider must be quick.
const MOST_AT_ONCE: usize = 120;

/// The most pods for which probabilities follow later.
const MOST_LATER: usize = 1_500;

#[wasm_bindgen]
impl Dump {
    /// Reads what `kubectl get -o json` or `-o yaml` prints, chunk by chunk.
    ///
    /// # Errors
    /// Those of the command line.
    #[wasm_bindgen(constructor)]
    pub fn new(chunks: &Chunks) -> Result<Dump, Failure> {
        let mut text = Vec::new();
        while let Some(chunk) = chunks.next() {
            text.extend(chunk);
        }
        let input = Snapshot::read(&text)?;
        Ok(Self { input: Box::leak(Box::new(input)), last: None, steered: None })
    }

    /// The workloads that have pods, as JSON.
    pub fn workloads(&self) -> String {
        #[derive(Serialize)]
        struct Named {
            #[serde(flatten)]
            id: WorkloadId,
            /// As the command line takes it.
            short: String,
        }
        let named = |id: WorkloadId| Named { short: format!("{}/{}", id.kind.short(), id.name), id };
        json(&self.input.workloads().into_iter().map(named).collect::<Vec<_>>())
    }

    /// The zone of each node whose zone the dump tells, as JSON.
    pub fn zones(&self) -> String {
        json::<BTreeMap<_, _>>(&self.input.zones())
    }

    /// The deletion order of each workload, as JSON.
    ///
    /// # Errors
    /// If the options are invalid.
    pub fn overview(&self, options: &str) -> Result<String, Failure> {
        Ok(overview::rows(self.input, options::read(options)?))
    }

    /// What there is of a workload, as JSON.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn scene(&self, options: &str) -> Result<String, Failure> {
        let preview = self.quick(options)?;
        Ok(json(&Scene::of(&preview, self.input)))
    }

    /// Decides: the answer in a sentence, and the verdict about each pod.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn decide(&mut self, options: &str) -> Result<String, Failure> {
        Ok(json(&Answer::of(self.decided(options)?)))
    }

    /// What `kubectl podrank -o json` prints.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn preview(&self, options: &str) -> Result<String, Failure> {
        let mut options = options::read(options)?;
        options.probabilities = true;
        Ok(podrank_predict::json(&preview_workload(self.input, &options)?))
    }

    /// What `kubectl podrank -o markdown` prints, or would print once the costs are written that make Kubernetes take the named
    /// pods.
    ///
    /// # Errors
    /// Those of the command line.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen has no slices of texts")]
    pub fn markdown(&mut self, options: &str, names: Vec<String>) -> Result<String, Failure> {
        if names.is_empty() {
            Ok(view::answer::table(self.decided(options)?).markdown())
        } else {
            self.steered(options, &names)?.markdown()
        }
    }

    /// The pods at these places of the whole list, as the command line's JSON has them: now, or once the costs are written that make
    /// Kubernetes take the named pods.
    ///
    /// # Errors
    /// Those of the command line.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen has no slices of texts")]
    pub fn rows(&mut self, options: &str, places: Vec<usize>, names: Vec<String>) -> Result<String, Failure> {
        let rows = |preview: &Preview<'_>| {
            let pods: Vec<_> = preview.pods().collect();
            let rows = places.iter().filter_map(|place| Some(Row::of(pods.get(*place)?)));
            json(&rows.collect::<Vec<_>>())
        };
        Ok(if names.is_empty() {
            rows(self.decided(options)?)
        } else {
            rows(&self.steered(options, &names)?.preview()?)
        })
    }

    /// Why the pod with this name is deleted or kept, as JSON, or `null` if there is no such pod.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn explain(&mut self, options: &str, name: &str) -> Result<String, Failure> {
        let preview = self.decided(options)?;
        let lists = answer::lists(preview);
        let found = lists.iter().find_map(|pods| Some((pods, pods.iter().find(|pod| pod.name() == name)?)));
        let Some((pods, pod)) = found else { return Ok("null".to_owned()) };
        let is_direct = preview.workload.kind.is_direct();
        let other = pod.reason.other().and_then(|uid| pods.iter().find(|other| other.uid() == uid));
        Ok(json(&Explanation { pod: Row::of(pod), other, is_direct }))
    }

    /// How many pods are possible.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn possible(&self, options: &str) -> Result<usize, Failure> {
        Ok(self.quick(options)?.count(Verdict::Possible))
    }

    /// The plan that makes Kubernetes take the named pods, and the commands for it, as JSON.
    ///
    /// # Errors
    /// Those of the command line.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen has no slices of texts")]
    pub fn steer(&mut self, options: &str, names: Vec<String>) -> Result<String, Failure> {
        self.steered(options, &names)?.shown()
    }

    /// The plan. The last one is kept, in case the question is the same.
    fn steered(&mut self, text: &str, names: &[String]) -> Result<&Steered, Failure> {
        let last = match self.steered.take() {
            Some(last) if last.is_for(text, names) => last,
            _ => {
                let mut options = options::read(text)?;
                options.probabilities =
                    self.last.as_ref().is_some_and(|last| last.preview.active() <= MOST_AT_ONCE);
                Steered::new(self.input, text, options, names)?
            }
        };
        Ok(self.steered.insert(last))
    }

    /// The decision without probabilities.
    fn quick(&self, options: &str) -> Result<Preview<'static>, Failure> {
        let mut options = options::read(options)?;
        options.probabilities = false;
        Ok(preview_workload(self.input, &options)?)
    }

    /// The decision. The last one is kept, in case the question is the same.
    fn decided(&mut self, text: &str) -> Result<&Preview<'static>, Failure> {
        let last = match self.last.take() {
            Some(last) if last.text == text => last,
            _ => Decided { text: text.to_owned(), preview: decide(self.input, &options::read(text)?)? },
        };
        Ok(&self.last.insert(last).preview)
    }
}

/// Decides. Computes the probabilities of possible pods only if there are few pods, or if the options ask for them.
fn decide<'i>(input: &'i Snapshot, options: &Options) -> Result<Preview<'i>, Failure> {
    let mut asked = options.clone();
    asked.probabilities = false;
    let preview = preview_workload(input, &asked)?;
    let most = if options.probabilities { MOST_LATER } else { MOST_AT_ONCE };
    let is_open = preview.count(Verdict::Possible) > 0 && preview.active() <= most;
    if !is_open {
        return Ok(preview);
    }
    asked.probabilities = true;
    Ok(preview_workload(input, &asked)?)
}

/// Whether the probabilities of possible pods follow.
fn probabilities_follow(preview: &Preview<'_>) -> bool {
    let is_open = |pod: &PodAnswer<'_>| pod.verdict == Verdict::Possible && pod.probability.is_none();
    (MOST_AT_ONCE + 1..=MOST_LATER).contains(&preview.active()) && preview.pods().any(is_open)
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data is JSON")
}
