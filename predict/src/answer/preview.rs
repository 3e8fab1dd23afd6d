//! The decision as plain data, and as the JSON that other programs read: docs/schemas says what each name means.

use crate::answer::{CountRange, EndState, Note, PodAnswer, StepPreview};
use crate::question::{Options, Order, TimeSource, Window, gates};
use crate::reason::SetSize;
use crate::snapshot::{Release, WorkloadKind, WorkloadRef};
pub use crate::sync::Verdict;
use crate::text::number;
use jiff::Timestamp;
use serde::Serialize;

/// Which pods of a workload go and why, whatever its kind. Serialized, it is the JSON that other programs read.
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    /// The workload.
    pub workload: WorkloadRef<'a>,
    /// The object of another kind that the set belongs to, which decides about the set's size.
    pub owner: Option<Owner<'a>>,
    /// The exact time of the decision.
    pub now: Timestamp,
    /// Where that time comes from.
    pub time_source: TimeSource,
    /// By how much the controller may decide earlier and later. A pod is certain only if it is all that time.
    pub within: Window,
    /// Whose decision it is.
    pub order: Order,
    /// The feature gates that its controller reads.
    pub feature_gates: Vec<(&'static str, bool)>,
    /// The continuation of a Deployment's rollout.
    pub rollout: Option<Rollout>,
    /// The syncs of a Deployment that immediately follow each other, this one first. `None` if only this one is shown.
    pub steps: Option<Vec<StepPreview<'a>>>,
    /// Where they lead; if its controller deletes pods itself, what the next sync leaves to do. `None` if only this sync is shown.
    pub rest: Option<EndState<'a>>,
    /// Its present count; `None` if it has none.
    pub present: Option<u32>,
    /// What the workload is asked to be.
    pub size: Size,
    /// The autoscaler that sets the asked count, too, if the input has one.
    pub autoscaler: Option<AutoscalerPreview<'a>>,
    /// Whether an incomplete input was accepted.
    pub partial: bool,
    /// The release of Kubernetes, if it is known.
    pub release: Option<Release>,
    /// What else a reader should know.
    pub notes: Vec<Note>,
    /// Whether no count changes what becomes of its pods: it is being deleted, or its controller does nothing. A note says which.
    pub is_settled: bool,
    /// The sets of a Deployment that have pods, or get some, oldest first. For other kinds, one group of all pods.
    pub groups: Vec<PodGroup<'a>>,
}

/// How a Deployment goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// What the sync does: `scale`, `roll` or `recreate`, or `rollback` or `nothing`, which delete no pods.
    pub path: &'static str,
    /// Whether more follows: another sync that changes a size, an annotation that records one, or creates a set, or the
    /// Deployment waits until new pods are available or old ones have ended, and then deletes or creates more pods.
    pub is_under_way: bool,
}

impl<'a> Preview<'a> {
    /// What is known before the decision.
    pub(crate) fn new(id: WorkloadRef<'a>, options: &Options) -> Self {
        Self {
            workload: id,
            owner: None,
            now: options.now,
            time_source: options.time_source,
            within: options.within,
            order: options.order,
            feature_gates: Vec::new(),
            release: options.release,
            rollout: None,
            steps: None,
            rest: None,
            present: None,
            size: Size::default(),
            autoscaler: None,
            partial: options.partial,
            notes: Vec::new(),
            is_settled: false,
            groups: Vec::new(),
        }
    }

    /// The words after `kubectl podrank` that ask the same again, at the same time.
    pub fn replay(&self) -> String {
        let Self { workload: WorkloadRef { namespace, kind, name }, now, .. } = self;
        let order = match self.order {
            Order::Total => "total",
            Order::Kubernetes => "kubernetes",
        };
        let gates: Vec<_> = gates::changed(&self.feature_gates, self.release)
            .iter()
            .map(|(name, on)| format!("{name}={on}"))
            .collect();
        let (kind, size) = (kind.short(), self.size.flags());
        let flags = [
            Some(format!("{kind}/{name} --namespace {namespace} {size} --now {now}")),
            (self.within != Window::default()).then(|| {
                let [before, after] = [self.within.before, self.within.after].map(|time| time.as_secs_f64());
                format!("--within {before}s,{after}s")
            }),
            Some(format!("--order {order}")),
            self.release.map(|release| format!("--kubernetes-version {release}")),
            (!gates.is_empty()).then(|| format!("--feature-gates {}", gates.join(","))),
            self.partial.then(|| "--partial".to_owned()),
        ];
        flags.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// All pods, set by set, each set's in the order.
    pub fn pods(&self) -> impl Iterator<Item = &PodAnswer<'a>> {
        self.groups.iter().flat_map(|group| &group.pods)
    }

    /// How many pods are deleted: for a Deployment, until a sync changes nothing more.
    pub fn deletions(&self) -> CountRange {
        self.rest.as_ref().map_or_else(|| CountRange::one(self.delete()), |rest| rest.delete)
    }

    /// How many pods of one of its groups are deleted, until nothing follows.
    pub fn deletions_of(&self, group: &PodGroup<'_>) -> CountRange {
        match &self.rest {
            Some(rest) if group.is_new.is_some() => rest.delete_of(group.replica_set),
            Some(rest) => rest.delete,
            None => CountRange::one(group.delete),
        }
    }

    /// The number of its active pods. If its controller deletes pods itself, of those that are not being deleted yet.
    pub fn active(&self) -> usize {
        self.pods().count()
    }

    /// The number of pods that go in this step. If pods of a `StatefulSet` are contested, it is the most.
    pub fn delete(&self) -> usize {
        self.groups.iter().map(|group| group.delete).sum()
    }

    /// Returns the pods: those that go, those that may, the likeliest first, those that wait, and those that stay.
    pub fn in_sequence(&self) -> Vec<&PodAnswer<'a>> {
        let mut pods: Vec<_> = self.pods().collect();
        // Of those whose odds nobody knows, each may well go.
        let most = |pod: &PodAnswer<'_>| pod.probability.map_or(1.0, |it| it.max.unwrap_or(it.min));
        let least = |pod: &PodAnswer<'_>| pod.probability.map_or(0.0, |it| it.min);
        pods.sort_by(|a, b| {
            let by_most = || most(b).total_cmp(&most(a));
            a.verdict.cmp(&b.verdict).then_with(by_most).then_with(|| least(b).total_cmp(&least(a)))
        });
        pods
    }

    /// Returns whether the count that is asked for is above the present one.
    pub fn scales_up(&self) -> bool {
        self.present.is_some() && self.size.replicas > self.present
    }

    /// How many pods of a `StatefulSet` are deleted and created again, now or after other pods.
    pub fn replaced(&self) -> usize {
        self.pods().filter(|pod| pod.is_replaced).count()
    }

    /// Returns how many pods go in the end, but for those that are replaced, if those that wait go one after the other, although
    /// nothing else changes.
    pub fn one_by_one(&self) -> Option<u32> {
        let is_certain = self.deletions().max > 0 && self.count(Verdict::Possible) == 0;
        let waiting = number(self.waiting());
        let goes_on = is_certain && waiting > 0 && self.size.replicas.is_some();
        let replaced = number(self.replaced());
        goes_on.then(|| self.deletions().max.saturating_add(waiting).saturating_sub(replaced))
    }

    /// How many pods have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pods().filter(|pod| pod.verdict == verdict).count()
    }

    /// How many pods wait for another pod, and not for a rollout.
    pub(crate) fn waiting(&self) -> usize {
        self.pods().filter(|pod| pod.waits_for().is_some()).count()
    }

    /// The sets of a Deployment.
    pub fn sets(&self) -> &[PodGroup<'a>] {
        if self.workload.kind == WorkloadKind::Deployment { &self.groups } else { &[] }
    }
}

/// What happens to one set of a Deployment, or to all pods of another workload.
#[derive(Clone, Debug, Default)]
pub struct PodGroup<'a> {
    /// The set's name; `None` if this sync creates it, and for a workload that is not a set.
    pub replica_set: Option<&'a str>,
    /// Whether a Deployment's set has its present template: the others are old.
    pub is_new: Option<bool>,
    /// The sizes that the sync gives a Deployment's set, and why.
    pub size: Option<SetSize>,
    /// The number of its pods that go.
    pub delete: usize,
    /// Its active pods in the order.
    pub pods: Vec<PodAnswer<'a>>,
    /// Whether all its pods go at any count, because it is being deleted in the foreground.
    pub is_settled: bool,
}

/// What a workload is asked to be, by the fields that its kind has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// The number of pods to scale to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// The parallelism of a Job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// The completions that an Indexed Job is asked to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<u32>,
    /// Whether a Job is suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

impl Size {
    /// The flags of the command line that ask for the same: `--rollout` for a kind without a count.
    pub fn flags(&self) -> String {
        let flags = [
            self.replicas.map(|replicas| format!("--replicas {replicas}")),
            self.parallelism.map(|parallelism| format!("--parallelism {parallelism}")),
            self.completions.map(|completions| format!("--completions {completions}")),
            self.suspend.filter(|suspend| *suspend).map(|_| "--suspend".to_owned()),
        ];
        let flags: Vec<_> = flags.into_iter().flatten().collect();
        if flags.is_empty() { "--rollout".to_owned() } else { flags.join(" ") }
    }
}

/// An autoscaler of the workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerPreview<'a> {
    /// Its name.
    pub name: &'a str,
    /// The least count that it sets.
    pub min_replicas: u32,
    /// The greatest count that it sets.
    pub max_replicas: u32,
    /// The count that it wants now, if it has found one.
    pub desired_replicas: Option<u32>,
    /// Whether the asked count is within its bounds.
    #[serde(rename = "withinBounds")]
    pub is_inside: bool,
    /// Whether it sets no count while the asked one, which is 0, stands.
    #[serde(skip)]
    pub is_off: bool,
}

/// An object that owns a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner<'a> {
    /// Its API version, such as `argoproj.io/v1alpha1`.
    pub api_version: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
}
