//! Kubernetes' feature gates by name. Constants and pure functions.

use crate::snapshot::{ControllerGates, Release};
use crate::sync::stateful_set::Behavior;
use podrank::FeatureGates;
use serde::Serializer;

/// Selects one of the gates.
pub type Gate = fn(&mut FeatureGates) -> &mut bool;

/// Every gate, with the name that Kubernetes gives it.
pub const GATES: [(&str, Gate); 3] = [
    ("PodDeletionCost", |gates| &mut gates.pod_deletion_cost),
    ("LogarithmicScaleDown", |gates| &mut gates.logarithmic_scale_down),
    ("PreferForScaleDown", |gates| &mut gates.prefer_for_scale_down),
];

/// Selects one of the gates of controllers that delete pods themselves.
pub type ControllerGate = fn(&mut ControllerGates) -> &mut Option<bool>;

/// Every gate of `StatefulSets`, with the name that Kubernetes gives it.
pub const STATEFUL_SET_GATES: [(&str, ControllerGate); 2] = [
    ("MaxUnavailableStatefulSet", |gates| &mut gates.max_unavailable_stateful_set),
    ("StatefulSetRecreateStrategy", |gates| &mut gates.stateful_set_recreate_strategy),
];

/// The gates of sets by name, in the order of [`GATES`].
pub fn of_sets(mut gates: FeatureGates) -> Vec<(&'static str, bool)> {
    GATES.into_iter().map(|(name, gate)| (name, *gate(&mut gates))).collect()
}

/// The gates of `StatefulSets` by name, in the order of [`STATEFUL_SET_GATES`].
pub(crate) fn of_stateful_sets(behavior: Behavior) -> Vec<(&'static str, bool)> {
    let values = [behavior.max_unavailable_gate, behavior.recreate_gate];
    STATEFUL_SET_GATES.into_iter().zip(values).map(|((name, _), value)| (name, value)).collect()
}

/// Those of these gates that differ from the defaults of a release, or of the newest that was tested.
pub fn changed(gates: &[(&'static str, bool)], release: Option<Release>) -> Vec<(&'static str, bool)> {
    let behavior = release.unwrap_or(Release::TESTED).stateful_sets(ControllerGates::default());
    let defaults = [of_sets(FeatureGates::KUBERNETES), of_stateful_sets(behavior)].concat();
    gates.iter().filter(|gate| !defaults.contains(gate)).copied().collect()
}

/// An object with every gate by name.
pub(crate) fn serialize<S: Serializer>(gates: &[(&str, bool)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(gates.iter().copied())
}
