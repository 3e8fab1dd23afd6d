//! Workloads: their kinds, what identifies them, and their names as users give them.

use crate::text::{self, Error};
use WorkloadKind::{DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The kind of a workload that can be previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum WorkloadKind {
    /// `Deployment`, in the group `apps` or the old `extensions`.
    Deployment,
    /// `ReplicaSet`, in the group `apps` or the old `extensions`.
    ReplicaSet,
    /// `ReplicationController`.
    ReplicationController,
    /// `StatefulSet`, in the group `apps`.
    StatefulSet,
    /// `DaemonSet`, in the group `apps` or the old `extensions`.
    DaemonSet,
    /// `Job`, in the group `batch`.
    Job,
}

/// What identifies a workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WorkloadId {
    /// Its namespace.
    pub namespace: String,
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its name.
    pub name: String,
}

/// The same, borrowed. Messages list workloads in this order. The JSON of an answer has the namespace beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WorkloadRef<'a> {
    /// Its namespace.
    #[serde(skip)]
    pub namespace: &'a str,
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its name.
    pub name: &'a str,
}

/// A workload as a user names it: `NAME`, or `TYPE/NAME` as `kubectl get -o name` prints it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkloadName {
    /// The kind, if the user named one.
    pub kind: Option<WorkloadKind>,
    /// `metadata.name`.
    pub name: String,
}

/// A type as kubectl knows it.
struct Type {
    kind: &'static str,
    short: &'static str,
    group: &'static str,
    /// `None` if no preview knows it yet.
    supported: Option<WorkloadKind>,
}

const TYPES: [Type; 7] = [
    Type { kind: "Deployment", short: "deploy", group: "apps", supported: Some(Deployment) },
    Type { kind: "ReplicaSet", short: "rs", group: "apps", supported: Some(ReplicaSet) },
    Type { kind: "ReplicationController", short: "rc", group: "", supported: Some(ReplicationController) },
    Type { kind: "StatefulSet", short: "sts", group: "apps", supported: Some(StatefulSet) },
    Type { kind: "DaemonSet", short: "ds", group: "apps", supported: Some(DaemonSet) },
    Type { kind: "Job", short: "job", group: "batch", supported: Some(Job) },
    Type { kind: "CronJob", short: "cj", group: "batch", supported: None },
];

impl WorkloadKind {
    /// Every kind, in the order in which they are listed to a user.
    pub const ALL: [Self; 6] = [Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job];

    /// The kind by an object's own `kind` and, if known, API version.
    pub(crate) fn of_object(kind: &str, api_version: Option<&str>) -> Option<Self> {
        let group = api_version.map(|version| version.split_once('/').map_or("", |(group, _)| group));
        let known = TYPES.iter().find(|known| known.kind == kind)?;
        let was_extension = matches!(known.supported, Some(Deployment | ReplicaSet | DaemonSet));
        let is_old = was_extension && group == Some("extensions");
        known.supported.filter(|_| group.is_none_or(|group| group == known.group) || is_old)
    }

    /// Whether it is a set: a workload whose pods Kubernetes deletes in the order when it scales down.
    pub fn is_set(self) -> bool {
        matches!(self, ReplicaSet | ReplicationController)
    }

    /// Whether it has a replica count.
    pub fn has_replicas(self) -> bool {
        !matches!(self, DaemonSet | Job)
    }

    /// Whether a decision reads nodes and revisions.
    pub fn reads_nodes(self) -> bool {
        self.types().contains("nodes")
    }

    /// Whether it has a count of pods. A `DaemonSet` has none, as its nodes decide.
    pub fn has_count(self) -> bool {
        self != DaemonSet
    }

    /// Whether its controller deletes a pod that has ended, and creates another in its place.
    pub(crate) fn replaces_ended_pods(self) -> bool {
        matches!(self, StatefulSet | DaemonSet)
    }

    /// Whether its controller deletes pods itself, and not through sets or in the order.
    pub fn is_direct(self) -> bool {
        !Self::WITH_COSTS.contains(&self)
    }

    /// The kinds whose controllers read deletion costs, so that `scale` and `drop` can choose their pods.
    pub const WITH_COSTS: [Self; 3] = [Deployment, ReplicaSet, ReplicationController];

    /// The kind that this text names as a type, as for [`of_type`](Self::of_type), or why there is no preview of that kind, but of
    /// `kinds`. `None` if only the cluster may know the type.
    pub(crate) fn known(text: &str, kinds: &[Self]) -> Option<Result<Self, Error>> {
        let lower = text.to_ascii_lowercase();
        let known = TYPES.iter().find(|known| known.is_named(&lower))?;
        let unsupported = || {
            Error::new(format!("podrank does not support {}s", known.kind))
                .advise(format!("Supported types are {}.", listed(kinds, "and")))
        };
        Some(known.supported.ok_or_else(unsupported))
    }

    /// The one of these kinds that this text names as a type: kubectl's short name, singular or plural, in any case, with or
    /// without the API group.
    ///
    /// # Errors
    /// Says which there are if kubectl does not know the type, or if it is another one.
    pub fn of_type(text: &str, kinds: &[Self]) -> Result<Self, Error> {
        match Self::known(text, kinds) {
            Some(Ok(kind)) if !kinds.contains(&kind) => {
                Err(Error::new(format!("{kind} controllers ignore deletion costs"))
                    .advise(format!("Use {}.", listed(kinds, "or"))))
            }
            Some(known) => known,
            None => {
                let error = Error::new(format!("unknown type '{}'", text::word(text)));
                let types =
                    kinds.iter().flat_map(|kind| [kind.short().to_owned(), kind.as_type().singular()]);
                let hint = text::nearest(text, types).map(|name| format!("Did you mean {name}?"));
                Err(Error { remedy: hint.into_iter().collect(), ..error }
                    .advise(format!("Supported types are {}.", listed(kinds, "and"))))
            }
        }
    }

    /// The full type, which no type of another API group can be confused with: `deployments.apps`.
    pub fn resource(self) -> String {
        let (singular, group) = (self.as_type().singular(), self.as_type().group);
        if group.is_empty() { format!("{singular}s") } else { format!("{singular}s.{group}") }
    }

    /// The version of its API: `apps/v1`.
    pub(crate) fn api_version(self) -> String {
        let Type { group, .. } = self.as_type();
        if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") }
    }

    /// The types of all objects that a decision reads, as `kubectl get` takes them.
    pub(crate) fn types(self) -> &'static str {
        match self {
            Deployment | ReplicaSet => "pods,replicasets,deployments",
            ReplicationController => "pods,replicationcontrollers",
            StatefulSet => "pods,statefulsets",
            DaemonSet => "pods,daemonsets,controllerrevisions,nodes",
            Job => "pods,jobs",
        }
    }

    /// kubectl's short name for the type: `deploy`.
    pub fn short(self) -> &'static str {
        self.as_type().short
    }

    fn as_type(self) -> &'static Type {
        TYPES.iter().find(|known| known.supported == Some(self)).expect("every kind is in the table")
    }
}

/// The types for an error: `deploy, rs and rc`.
fn listed(kinds: &[WorkloadKind], and: &str) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.short()).collect();
    let (last, others) = names.split_last().expect("there are kinds");
    format!("{} {and} {last}", others.join(", "))
}

impl Type {
    fn singular(&self) -> String {
        self.kind.to_ascii_lowercase()
    }

    /// Whether `text`, in lower case, names it: `deploy`, `deployments`, `deployment.apps`, `deployments.v1.apps`.
    fn is_named(&self, text: &str) -> bool {
        let (name, suffix) = text.split_once('.').map_or((text, None), |(name, suffix)| (name, Some(suffix)));
        let is_name = name == self.short || name.strip_suffix('s').unwrap_or(name) == self.singular();
        let group = suffix.map(|suffix| suffix.strip_prefix("v1.").unwrap_or(suffix));
        is_name && group.is_none_or(|group| group == self.group && !group.is_empty())
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_type().kind)
    }
}

impl WorkloadId {
    pub(crate) fn to_ref(&self) -> WorkloadRef<'_> {
        WorkloadRef { namespace: &self.namespace, kind: self.kind, name: &self.name }
    }
}

impl WorkloadRef<'_> {
    pub(crate) fn to_id(self) -> WorkloadId {
        WorkloadId { namespace: self.namespace.to_owned(), kind: self.kind, name: self.name.to_owned() }
    }

    pub(crate) fn to_name(self) -> WorkloadName {
        WorkloadName { kind: Some(self.kind), name: self.name.to_owned() }
    }
}

impl fmt::Display for WorkloadRef<'_> {
    /// The workload as messages show it: `ReplicaSet default/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, text::name(self.namespace), text::name(self.name))
    }
}

impl fmt::Display for WorkloadName {
    /// As it can be typed: `deploy/web`, or `web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.kind {
            write!(f, "{}/", kind.short())?;
        }
        f.write_str(&self.name)
    }
}

impl WorkloadName {
    /// The name that these words give: `TYPE/NAME`, `TYPE NAME` or `NAME`, where the type is one of these.
    ///
    /// # Errors
    /// Says which word is wrong.
    pub fn of_words(words: &[String], kinds: &[WorkloadKind]) -> Result<Self, Error> {
        match words {
            [word] => Self::of_word(word, kinds),
            [kind, name] if !kind.contains('/') && !name.contains('/') => {
                Ok(Self { kind: Some(WorkloadKind::of_type(kind, kinds)?), name: checked(name)? })
            }
            _ => Err(Error::new("expected one workload").advise("Write TYPE/NAME, TYPE NAME or NAME.")),
        }
    }

    fn of_word(text: &str, kinds: &[WorkloadKind]) -> Result<Self, Error> {
        let (kind, name) = match text.split_once('/') {
            None => {
                // `deploy` alone is most likely an unfinished `deploy/web`.
                if let Some(kind) = TYPES.iter().find(|known| known.is_named(&text.to_ascii_lowercase())) {
                    return Err(Error::new(format!("'{text}' is a type")).advise(format!(
                        "Write {text}/NAME, or {}/{text} for a {} of that name.",
                        kind.short, kind.kind
                    )));
                }
                (None, text)
            }
            Some((kind, name)) => (Some(WorkloadKind::of_type(kind, kinds)?), name),
        };
        Ok(Self { kind, name: checked(name)? })
    }

    /// Whether it is the name of this workload.
    pub(crate) fn is(&self, workload: WorkloadRef<'_>) -> bool {
        self.name == workload.name && self.kind.is_none_or(|kind| kind == workload.kind)
    }

    /// Returns which of `known` the user may have meant.
    pub fn nearest<'a>(&self, known: &'a [Self]) -> Option<&'a Self> {
        let name = text::nearest(&self.name, known.iter().map(|it| &*it.name))?;
        known.iter().rfind(|it| it.name == name)
    }
}

impl FromStr for WorkloadName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::of_word(text, &WorkloadKind::ALL)
    }
}

/// The name, if Kubernetes allows it.
pub(crate) fn checked(name: &str) -> Result<String, Error> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    if name.is_empty() {
        return Err(Error::new("the name is empty"));
    }
    if !name.bytes().all(is_allowed) || name.starts_with(['-', '.']) {
        return Err(Error::new(format!("'{}' is not a valid name", text::word(name)))
            .because("Kubernetes allows lower-case letters, digits, '-' and '.'."));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_as_kubectl_names_them() {
        let [deploy, rs, rc, sts, ds, job] = WorkloadKind::ALL;
        for (kind, names) in [
            (
                deploy,
                "deploy deployment deployments Deployment DEPLOYMENTS deployments.apps deployment.v1.apps",
            ),
            (rs, "rs RS replicaset replicasets replicasets.apps ReplicaSets.v1.apps"),
            (rc, "rc replicationcontroller ReplicationControllers"),
            (sts, "sts statefulset StatefulSets statefulsets.v1.apps"),
            (ds, "ds daemonset DaemonSets daemonsets.v1.apps"),
            (job, "job Jobs jobs.v1.batch"),
        ] {
            for name in names.split(' ') {
                assert_eq!(WorkloadKind::of_type(name, &WorkloadKind::ALL), Ok(kind), "{name}");
            }
        }
        assert_eq!(
            WorkloadKind::ALL.map(WorkloadKind::resource),
            [
                "deployments.apps",
                "replicasets.apps",
                "replicationcontrollers",
                "statefulsets.apps",
                "daemonsets.apps",
                "jobs.batch"
            ]
        );
    }

    #[test]
    fn other_types_are_refused_with_what_there_is() {
        const THESE: &str = "\n  Supported types are deploy, rs, rc, sts, ds and job.";
        let said = |name: &str, kinds: &[WorkloadKind]| {
            WorkloadKind::of_type(name, kinds).map_err(|error| error.to_string())
        };
        for (name, error) in [
            ("cj", "podrank does not support CronJobs"),
            ("deployement", "unknown type 'deployement'\n  Did you mean deployment?"),
            ("deployments.batch", "unknown type 'deployments.batch'\n  Did you mean deployment?"),
            ("rc.", "unknown type 'rc.'\n  Did you mean rc?"),
            ("xyz", "unknown type 'xyz'"),
            ("", "unknown type ''"),
        ] {
            assert_eq!(said(name, &WorkloadKind::ALL), Err(format!("{error}{THESE}")), "{name}");
        }
        for (name, error) in [
            ("pod", "unknown type 'pod'\n  Supported types are deploy, rs and rc."),
            ("sts", "StatefulSet controllers ignore deletion costs\n  Use deploy, rs or rc."),
            ("statefulsetz", "unknown type 'statefulsetz'\n  Supported types are deploy, rs and rc."),
        ] {
            assert_eq!(said(name, &WorkloadKind::WITH_COSTS), Err(error.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_workload_is_named_in_three_ways() {
        let deploy = WorkloadName { kind: Some(Deployment), name: "web".to_owned() };
        let words = |text: &str| {
            let words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
            WorkloadName::of_words(&words, &WorkloadKind::ALL)
        };
        assert_eq!(words("deploy/web"), Ok(deploy.clone()));
        assert_eq!(words("deployments.apps web"), Ok(deploy.clone()));
        assert_eq!(words("web"), Ok(WorkloadName { kind: None, ..deploy }));
        for (text, error) in [
            ("deploy/", "the name is empty"),
            ("deploy/a/b", "'a/b' is not a valid name"),
            ("deploy/Web", "'Web' is not a valid name"),
            ("deploy/web,api", "'web,api' is not a valid name"),
            ("deploy/-web", "'-web' is not a valid name"),
            (
                "deploy",
                "'deploy' is a type\n  Write deploy/NAME, or deploy/deploy for a Deployment of that name.",
            ),
            ("deploy/a deploy/b", "expected one workload"),
            ("deploy a b", "expected one workload"),
            ("deploy/web web", "expected one workload"),
            ("deploy deploy/web", "expected one workload"),
            ("", "expected one workload\n  Write TYPE/NAME, TYPE NAME or NAME."),
        ] {
            let said = words(text).expect_err(text).to_string();
            assert!(said.starts_with(error), "{text}: {said}");
        }
    }
}
