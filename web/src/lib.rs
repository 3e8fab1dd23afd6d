//! The preview for a page: a dump that stays in WebAssembly's memory, and answers as JSON or arrays of numbers. No module
//! knows the page.
//!
//! An answer to one step of a slider has to be short: [`Dump::decide`] names pods by their place in [`Dump::pods`], and
//! [`Dump::explain`] says more about one of them.

mod failure;
mod options;
mod steer;

use failure::Failure;
use podrank_preview::{
    Arrow, Contest, Input, Options, PodPreview, Pods, Preview, Verdict, WorkloadId, circle, preview_workload,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use wasm_bindgen::prelude::wasm_bindgen;

/// What `kubectl get` printed.
#[wasm_bindgen]
pub struct Dump {
    input: Input,
}

/// A decision about all pods of a workload.
#[wasm_bindgen]
pub struct Decision {
    head: String,
    order: Vec<u32>,
}

/// The most pods for which the map shows how likely contested ones go: each step of a slider must be quick.
const MOST_WITH_ODDS_AT_ONCE: usize = 120;

/// The most pods for which anything says how likely contested ones go.
const MOST_WITH_ODDS: usize = 1_500;

/// Everything in a preview but its pods, and how many of them go.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(flatten)]
    preview: Preview<'a>,
    /// For each set, in the order of the pods: how many certainly go, are contested, go when the rollout goes on, and certainly stay.
    fates: Vec<[usize; 4]>,
    /// For each pod, in the order of the pods, how likely it goes, if it is contested and that is known.
    odds: Vec<Option<String>>,
}

/// What is shown about a pod before anybody asks for more.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodFace<'a> {
    name: &'a str,
    uid: &'a str,
    node: Option<&'a str>,
    /// The number of its set, in the order of the sets.
    set: usize,
}

/// Why a pod goes or stays.
#[derive(Serialize)]
struct Explanation<'a> {
    pod: &'a PodPreview<'a>,
    /// The pod that it is compared with.
    other: Option<&'a PodPreview<'a>>,
    /// Three pods, the pod first, that contradict each other: a circle, unless two of them tie.
    circle: Option<[Arrow; 3]>,
}

#[wasm_bindgen]
impl Dump {
    /// Reads what `kubectl get -o json` or `-o yaml` prints.
    ///
    /// # Errors
    /// Those of the command line.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Dump, Failure> {
        Ok(Self { input: Input::read(bytes)? })
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
        let is_shown = |id: &WorkloadId| !id.kind.is_direct();
        json(&self.input.workloads().into_iter().filter(is_shown).map(named).collect::<Vec<_>>())
    }

    /// The zone of each node whose zone the dump tells, as JSON.
    pub fn zones(&self) -> String {
        json::<BTreeMap<_, _>>(&self.input.zones())
    }

    /// The time of the decision, as the command line takes it.
    ///
    /// # Errors
    /// If the options are wrong.
    pub fn moment(&self, options: &str) -> Result<String, Failure> {
        Ok(options::read(options, &self.input)?.now.to_string())
    }

    /// The active pods of the workload, as JSON: their places are their names in [`Decision::order`]. They stay the same as
    /// long as the workload does.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn pods(&self, options: &str) -> Result<String, Failure> {
        let preview = self.decided(options)?;
        let mut faces = Vec::new();
        for (set, pods) in sets(&preview).into_iter().enumerate() {
            for PodPreview { name, uid, node, .. } in pods {
                faces.push(PodFace { name, uid, node: *node, set });
            }
        }
        faces.sort_by_key(|face| face.uid);
        Ok(json(&faces))
    }

    /// Decides.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn decide(&self, options: &str) -> Result<Decision, Failure> {
        let mut preview = self.with_odds(&options::read(options, &self.input)?, MOST_WITH_ODDS_AT_ONCE)?;
        let odds = preview.pods().map(|pod| pod.odds.map(|odds| odds.text())).collect();
        let (order, fates) = {
            let sets = sets(&preview);
            let mut uids: Vec<_> =
                sets.iter().flat_map(|pods| pods.iter().map(|pod| pod.uid.as_str())).collect();
            uids.sort_unstable();
            let places: HashMap<_, _> = uids.iter().zip(0_u32..).collect();
            let order = sets.iter().flat_map(|pods| pods.iter().map(|pod| places[&pod.uid.as_str()]));
            let count =
                |pods: &[PodPreview<'_>], verdict| pods.iter().filter(|pod| pod.verdict == verdict).count();
            let fates = |pods: &&[PodPreview<'_>]| {
                [Verdict::Delete, Verdict::Contested, Verdict::Later, Verdict::Keep]
                    .map(|verdict| count(pods, verdict))
            };
            (order.collect(), sets.iter().map(fates).collect())
        };
        match &mut preview.of {
            Pods::Pods(pods) => pods.clear(),
            Pods::Sets(sets) => sets.iter_mut().for_each(|set| set.pods.clear()),
        }
        Ok(Decision { head: json(&Head { preview, fates, odds }), order })
    }

    /// What `kubectl podrank -o json` prints.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn preview(&self, options: &str) -> Result<String, Failure> {
        Ok(self.shown(&options::read(options, &self.input)?)?.to_json())
    }

    /// The pods at these places of the whole list, as the command line's JSON has them.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn rows(&self, options: &str, from: usize, to: usize) -> Result<String, Failure> {
        let preview = self.decided(options)?;
        Ok(json(&preview.pods().skip(from).take(to.saturating_sub(from)).collect::<Vec<_>>()))
    }

    /// Why the pod with this UID goes or stays, as JSON, or `null` if there is no such pod.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn explain(&self, options: &str, uid: &str) -> Result<String, Failure> {
        let asked = options::read(options, &self.input)?;
        let preview = self.decided(options)?;
        let sets = sets(&preview);
        let found = sets.iter().find_map(|pods| Some((pods, pods.iter().find(|pod| pod.uid == uid)?)));
        let Some((pods, pod)) = found else { return Ok("null".to_owned()) };
        // A victim is compared with the first pod that is none, a survivor with the last.
        let other = match pod.verdict {
            Verdict::Delete => pods.iter().find(|other| other.verdict != Verdict::Delete),
            Verdict::Contested | Verdict::Blocked => None,
            stays => pods.iter().rfind(|other| other.verdict != stays),
        };
        let is_contradicted = pod.contest.is_some_and(|contest| contest != Contest::Tie);
        let circle = if is_contradicted { circle(&self.input, &asked, uid)? } else { None };
        Ok(json(&Explanation { pod, other, circle }))
    }

    /// How many pods are contested.
    ///
    /// # Errors
    /// Those of the command line.
    pub fn contested(&self, options: &str) -> Result<usize, Failure> {
        let mut options = options::read(options, &self.input)?;
        (options.clock, options.odds) = (None, false);
        Ok(self.shown(&options)?.pods().filter(|pod| pod.verdict == Verdict::Contested).count())
    }

    /// The plan that makes Kubernetes take exactly the named pods, and the commands for it, as JSON. With `ahead`, those
    /// that go before them whatever their costs go, too.
    ///
    /// # Errors
    /// Those of the command line.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen has no slices of texts")]
    pub fn steer(&self, options: &str, names: Vec<String>, ahead: bool) -> Result<String, Failure> {
        steer::plan(&self.input, options::read(options, &self.input)?, &names, ahead)
    }

    /// The decision without the warning that needs a second one, for those who do not pass its notes on.
    fn decided(&self, options: &str) -> Result<Preview<'_>, Failure> {
        let mut options = options::read(options, &self.input)?;
        options.clock = None;
        self.with_odds(&options, MOST_WITH_ODDS)
    }

    /// The decision, with odds if there are up to this number of pods.
    fn with_odds(&self, options: &Options, most: usize) -> Result<Preview<'_>, Failure> {
        let mut without = options.clone();
        without.odds = false;
        let preview = self.shown(&without)?;
        if preview.active > most { Ok(preview) } else { self.shown(options) }
    }

    fn shown(&self, options: &Options) -> Result<Preview<'_>, Failure> {
        let preview = preview_workload(&self.input, options)?;
        let kind = preview.workload.kind;
        if kind.is_direct() {
            let text =
                format!("this page shows Deployments, ReplicaSets and ReplicationControllers, not a {kind}");
            return Err(text.into());
        }
        Ok(preview)
    }
}

#[wasm_bindgen]
impl Decision {
    /// Everything but the pods, as JSON.
    #[wasm_bindgen(getter)]
    pub fn head(&self) -> String {
        self.head.clone()
    }

    /// The pods in the order, set by set, by their places in [`Dump::pods`].
    #[wasm_bindgen(getter)]
    pub fn order(&self) -> Vec<u32> {
        self.order.clone()
    }
}

/// The pods of each set.
fn sets<'p>(preview: &'p Preview<'_>) -> Vec<&'p [PodPreview<'p>]> {
    match &preview.of {
        Pods::Pods(pods) => vec![pods],
        Pods::Sets(sets) => sets.iter().map(|set| &*set.pods).collect(),
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data is JSON")
}
