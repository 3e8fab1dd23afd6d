//! The workloads of one namespace, read at once: for several of them, one list of everything takes less time than the calls of kubectl
//! for each. Reads only through kubectl.

use super::cluster::Cluster;
use crate::kubectl::Kubectl;
use crate::surroundings;
use podrank_predict::{Input, Scalable, WorkloadKind};

/// What is in a namespace.
pub(super) struct Shared {
    input: Input,
    /// The autoscalers and disruption budgets.
    around: Input,
}

impl Shared {
    /// Reads the namespace. `None` if the user may not read all of that.
    pub(super) fn read(kubectl: &Kubectl, namespace: &str) -> Option<Self> {
        let kinds = WorkloadKind::WITH_COSTS.iter().map(|kind| kind.resource());
        let resources = kinds.chain(["pods".into()]).collect::<Vec<_>>().join(",");
        let input =
            kubectl.get_if_allowed(&[&resources, "--show-managed-fields", "--namespace", namespace])?;
        Some(Self { input, around: surroundings::common(kubectl, namespace) })
    }

    /// What a plan of this workload reads, and what is around it. `None` if it has to be read alone: because its status lags behind, or
    /// because something else is not as usual.
    pub(super) fn of<'k>(
        &self,
        kubectl: &'k Kubectl,
        name: &Scalable,
    ) -> Option<(Cluster<'k>, Input, Input)> {
        let Scalable::Workload(name) = name else { return None };
        let workload = self.input.workload(name).ok()??;
        if self.input.lags(&workload).ok()? {
            return None;
        }
        Some((Cluster::of(kubectl, workload), self.input.clone(), self.around.clone()))
    }
}
