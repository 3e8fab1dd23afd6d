//! Kubernetes' feature gates by name. Constants and pure functions.

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
