//! Reads and writes one workload and its pods for steering, by calling kubectl.

use super::Failure;
use crate::kubectl::{Kubectl, Reason, Refusal};
use crate::live::{self, Live, Scope};
use podrank_predict::plan::{ActivePod, Manifest, Plan, Progress, check_whole, putting_back, state};
use podrank_predict::{FIELD_MANAGER, Options, OwnerName, Scalable, Snapshot, WorkloadId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::thread;
use std::time::Duration;

/// The result of cleaning up the costs that podrank wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cleaned {
    /// The number of pods whose cost was removed.
    pub(super) off: usize,
    /// The number of pods that got an earlier cost back.
    pub(super) back: usize,
}

/// A workload, and how to reach it.
pub(super) struct Cluster<'k> {
    pub(super) kubectl: &'k Kubectl,
    pub(super) workload: WorkloadId,
    /// The object of another type whose count falls in place of that of the workload, which is one of its sets.
    leader: Option<OwnerName>,
}

/// How often it tries to remove the costs.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);

impl<'k> Cluster<'k> {
    /// Finds what is named, and reads it: so many times more if a status lags behind.
    pub(super) fn find(
        kubectl: &'k Kubectl,
        name: &Scalable,
        namespace: Option<&str>,
        retries: u32,
    ) -> Result<(Self, Snapshot), Failure> {
        let (namespace, leader, name) = match name {
            Scalable::Workload(name) => (namespace.map(str::to_owned), None, name.clone()),
            Scalable::Owner(owner) => {
                let (namespace, leader, set) = live::leader(kubectl, owner, Scope::Namespace(namespace))?;
                (Some(namespace), Some(leader), set)
            }
        };
        let scope = Scope::Namespace(namespace.as_deref());
        let Live { input, workload, .. } = live::read(kubectl, &name, leader.as_ref(), scope, true, retries)?;
        Ok((Self { kubectl, workload, leader }, input))
    }

    /// Puts the workload into options.
    pub(super) fn name_workload(&self, options: &mut Options) {
        options.workload = Some(live::named(&self.workload));
        options.namespace = Some(self.workload.namespace.clone());
    }

    pub(super) fn namespace(&self) -> &str {
        &self.workload.namespace
    }

    /// The command that removes what is left.
    pub(super) fn undo(&self) -> String {
        let WorkloadId { kind, name, namespace } = &self.workload;
        let place = self.kubectl.place();
        match &self.leader {
            Some(leader) => format!("kubectl podrank undo {leader} -n {namespace}{place}"),
            None => format!("kubectl podrank undo {}/{name} -n {namespace}{place}", kind.short()),
        }
    }

    /// Reads all that a plan needs, and again if a status lags behind.
    pub(super) fn read(&self) -> Result<Snapshot, Failure> {
        self.read_by(live::RETRIES)
    }

    /// Reads the workload's current state.
    pub(super) fn state(&self) -> Result<Progress, Failure> {
        Ok(state(&self.read_by(0)?, &self.options())?)
    }

    /// Returns an error if runs are not on the workload, which was read, but on what controls it.
    pub(super) fn check_whole(&self, input: &Snapshot) -> Result<(), Failure> {
        Ok(check_whole(input, &self.options())?)
    }

    fn options(&self) -> Options {
        let mut options = Options::new(0, jiff::Timestamp::now());
        self.name_workload(&mut options);
        options
    }

    fn read_by(&self, retries: u32) -> Result<Snapshot, Failure> {
        let scope = Scope::Namespace(Some(self.namespace()));
        let name = live::named(&self.workload);
        Ok(live::read(self.kubectl, &name, self.leader.as_ref(), scope, true, retries)?.input)
    }

    /// Runs kubectl in the workload's namespace. On failure, the error is its last message.
    pub(super) fn call(&self, words: &[&str], stdin: &str) -> Result<String, Refusal> {
        self.kubectl.call(&[words, &["--namespace", self.namespace()]].concat(), stdin)?.result()
    }

    fn apply(&self, manifest: &Manifest, flags: &[&str]) -> Result<(), Refusal> {
        let manager = format!("--field-manager={FIELD_MANAGER}");
        let words = [&["apply", "--server-side", &manager, "--filename", "-"], flags].concat();
        self.call(&words, &manifest.text).map(drop)
    }

    /// Writes the costs of a plan.
    pub(super) fn write(&self, plan: &Plan) -> Result<(), Refusal> {
        let back = plan.put_back();
        back.iter().try_for_each(|pod| self.restore(pod).map(drop))?;
        if let Some(manifest) = Manifest::taking_off(self.namespace(), &back) {
            self.apply(&manifest, &[])?;
        }
        self.apply_plan(plan, true, &[])
    }

    pub(super) fn apply_plan(
        &self,
        plan: &Plan,
        unchanged_only: bool,
        flags: &[&str],
    ) -> Result<(), Refusal> {
        let [free, over] = plan.manifests(unchanged_only);
        for (manifest, force) in [(free, None), (over, Some("--force-conflicts"))] {
            if let Some(manifest) = manifest {
                self.apply(&manifest, &flags.iter().copied().chain(force).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// Scales, if the object is still as the plan read it.
    pub(super) fn scale(&self, plan: &Plan, flags: &[&str]) -> Result<(), Refusal> {
        let resource = plan.target.resource();
        let [replicas, current] = [plan.replicas, plan.from].map(|count| count.to_string());
        let [replicas, current, version] = [
            format!("--replicas={replicas}"),
            format!("--current-replicas={current}"),
            format!("--resource-version={}", plan.target.resource_version),
        ];
        let words = [&["scale", &*resource, &replicas, &current], flags].concat();
        // A dry run only checks the rights, and the version may have changed since.
        let words = if flags.is_empty() { [&words[..], &[&*version]].concat() } else { words };
        self.call(&words, "").map(drop)
    }

    /// Restores the costs that podrank overwrote, and removes its own: of all pods, or of those with these UIDs. Returns the state
    /// afterwards.
    pub(super) fn remove_costs(
        &self,
        own: Option<&BTreeSet<String>>,
    ) -> Result<(Cleaned, Progress), Failure> {
        let (mut seen, mut back) = (BTreeSet::<String>::new(), BTreeSet::<String>::new());
        let mut last = None;
        for attempt in 0..=TRIES {
            if attempt > 0 {
                thread::sleep(PAUSE * attempt);
            }
            let state = match self.state() {
                Ok(state) => state,
                Err(error) => {
                    last = Some(error);
                    continue;
                }
            };
            let is_own = |pod: &&ActivePod| own.is_none_or(|own| own.contains(&pod.uid));
            let steered: Vec<_> = state.steered().filter(is_own).collect();
            if steered.is_empty() {
                let off = seen.difference(&back).count();
                return Ok((Cleaned { off, back: back.len() }, state));
            }
            if attempt == TRIES {
                break;
            }
            seen.extend(steered.iter().map(|pod| pod.uid.clone()));
            let mut able = Vec::new();
            for pod in steered {
                match self.restore(pod) {
                    Ok(is_back) => {
                        able.push(pod);
                        back.extend(is_back.then(|| pod.uid.clone()));
                    }
                    Err(error) => last = Some(error.into()),
                }
            }
            let manifest = Manifest::taking_off(self.namespace(), able);
            if let Some(Err(error)) = manifest.map(|manifest| self.apply(&manifest, &[])) {
                last = Some(error.into());
            }
        }
        Err(last.unwrap_or_else(|| "the costs are still there".into()))
    }

    /// Restores the cost that podrank overwrote. False if there was none, or if the pod has changed since.
    fn restore(&self, pod: &ActivePod) -> Result<bool, Refusal> {
        let Some((patch, previous)) = putting_back(pod) else { return Ok(false) };
        let manager = format!("--field-manager={}", previous.manager);
        let patch = format!("--patch={patch}");
        let manager = Some(&*manager).filter(|_| !previous.manager.is_empty());
        let words = ["patch", "pod", &pod.name, "--type=json", &patch].into_iter().chain(manager);
        match self.call(&words.collect::<Vec<_>>(), "") {
            Err(error) if matches!(error.reason, Reason::NotFound | Reason::Mismatch) => Ok(false),
            result => result.map(|_| true),
        }
    }
}

/// A request that a run may send, in the workload's namespace.
pub(super) struct Right {
    pub(super) verb: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    /// Empty for all objects of the type.
    pub(super) name: String,
}

impl fmt::Display for Right {
    /// `delete replicasets.apps`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, .. } = self;
        let dot = if group.is_empty() { "" } else { "." };
        write!(f, "{verb} {resource}{dot}{group}")
    }
}

impl Right {
    pub(super) fn review(&self, namespace: &str) -> Value {
        let Self { verb, group, resource, name } = self;
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "name": name, "namespace": namespace,
            } },
        })
    }

    /// Whether the API server grants this right in the answer to a review. It leaves out empty fields.
    pub(super) fn is_granted(&self, answer: &Value) -> bool {
        let Self { verb, group, resource, name } = self;
        let attributes = &answer["spec"]["resourceAttributes"];
        let is = |(field, text): (&str, &str)| attributes[field].as_str().unwrap_or_default() == text;
        let fields = [("verb", *verb), ("group", *group), ("resource", *resource), ("name", &**name)];
        answer["status"]["allowed"] == true && fields.into_iter().all(is)
    }
}
