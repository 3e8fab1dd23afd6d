//! Kubernetes' feature gates by name. Constants and pure functions.

use crate::ask::options::ControllerGates;
use podrank::FeatureGates;
use serde::Serializer;
use std::collections::BTreeMap;

/// Selects one of the gates.
pub type Gate = fn(&mut FeatureGates) -> &mut bool;

/// Every gate, with the name that Kubernetes gives it.
pub const GATES: [(&str, Gate); 3] = [
    ("PodDeletionCost", |gates| &mut gates.pod_deletion_cost),
    ("LogarithmicScaleDown", |gates| &mut gates.logarithmic_scale_down),
    ("PreferForScaleDown", |gates| &mut gates.prefer_for_scale_down),
];

/// Selects one of the gates of controllers that delete pods themselves.
pub type ControllerGate = fn(&mut ControllerGates) -> &mut bool;

/// Every gate of `StatefulSets`, with the name that Kubernetes gives it.
pub const STATEFUL_SET_GATES: [(&str, ControllerGate); 2] = [
    ("MaxUnavailableStatefulSet", |gates| &mut gates.max_unavailable_stateful_set),
    ("StatefulSetRecreateStrategy", |gates| &mut gates.stateful_set_recreate_strategy),
];

/// The gates of `StatefulSets` by name.
pub(crate) fn of_stateful_sets(mut gates: ControllerGates) -> impl Iterator<Item = (&'static str, bool)> {
    STATEFUL_SET_GATES.into_iter().map(move |(name, gate)| (name, *gate(&mut gates)))
}

/// The gates of these that differ from Kubernetes' defaults.
pub fn changed_of(gates: &BTreeMap<&'static str, bool>) -> Vec<(&'static str, bool)> {
    let defaults: BTreeMap<_, _> = of_stateful_sets(ControllerGates::KUBERNETES).collect();
    gates.iter().filter(|(name, on)| defaults.get(*name) != Some(on)).map(|(name, on)| (*name, *on)).collect()
}

/// The gates by name, in the order of [`GATES`].
pub fn by_name(mut gates: FeatureGates) -> impl Iterator<Item = (&'static str, bool)> {
    GATES.into_iter().map(move |(name, gate)| (name, *gate(&mut gates)))
}

/// The gates that differ from Kubernetes' defaults.
pub fn changed(gates: FeatureGates) -> impl Iterator<Item = (&'static str, bool)> {
    let default = by_name(FeatureGates::KUBERNETES);
    by_name(gates).zip(default).filter(|(gate, default)| gate != default).map(|(gate, _)| gate)
}

/// An object with every gate by name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn serialize<S: Serializer>(gates: &FeatureGates, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(by_name(*gates))
}
