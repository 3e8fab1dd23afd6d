//! The feature gates by name.

use podrank::FeatureGates;

/// Where a gate stands among the gates.
pub type Gate = fn(&mut FeatureGates) -> &mut bool;

/// Every gate, with the name that Kubernetes gives it.
pub const GATES: [(&str, Gate); 3] = [
    ("PodDeletionCost", |gates| &mut gates.pod_deletion_cost),
    ("LogarithmicScaleDown", |gates| &mut gates.logarithmic_scale_down),
    ("PreferForScaleDown", |gates| &mut gates.prefer_for_scale_down),
];

/// The flag that sets these gates, with a space before it; nothing if they are Kubernetes' own.
pub fn flag(mut gates: FeatureGates) -> String {
    let changed = GATES.iter().filter_map(|(name, gate)| {
        let value = *gate(&mut gates);
        (value != *gate(&mut FeatureGates::KUBERNETES.clone())).then(|| format!("{name}={value}"))
    });
    let changed: Vec<_> = changed.collect();
    if changed.is_empty() { String::new() } else { format!(" --feature-gates {}", changed.join(",")) }
}
