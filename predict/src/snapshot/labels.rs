//! Which workloads of an input have certain labels. Reads only the input.

use crate::snapshot::deployment::DeploymentEntry;
use crate::snapshot::direct::DirectEntry;
use crate::snapshot::read::Input;
use crate::snapshot::replica_set::SetEntry;
use crate::snapshot::selector::{LabelSelector, Selector};
use crate::snapshot::workload::WorkloadId;
use crate::text;
use crate::text::error::Error;

impl Input {
    /// Returns the workloads whose labels match a selector, which is written as for `kubectl get --selector`.
    ///
    /// # Errors
    /// If the selector is invalid.
    pub fn selected(&self, selector: &str) -> Result<Vec<WorkloadId>, Error> {
        let read = LabelSelector::of_text(selector);
        let invalid =
            || Error::new(format!("{} is not a label selector such as app=web", text::quoted(selector)));
        let selector = Selector::new(&read).ok_or_else(invalid)?;
        let deployments = self.deployments.iter().map(|entry| (DeploymentEntry::id(entry), &entry.labels));
        let sets = self.sets.iter().map(|entry| (SetEntry::id(entry), &entry.labels));
        let direct = self.direct.iter().map(|entry| (DirectEntry::id(entry), &entry.labels));
        let all = deployments.chain(sets).chain(direct);
        Ok(all.filter(|(_, labels)| selector.matches(labels)).map(|(id, _)| id.to_id()).collect())
    }
}
