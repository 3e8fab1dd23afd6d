//! Whose decision a preview shows.

use serde::Serialize;

/// Whose decision is previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The total order: the pods alone decide.
    Total,
    /// kube-controller-manager's, as far as its comparator determines it.
    Kubernetes,
}
