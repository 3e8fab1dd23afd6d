//! An input as it is once the costs of a plan are written. A decision about it says whether they do what the plan says, in the words of every
//! other decision.

use crate::plan::Plan;
use crate::snapshot::{FIELD_MANAGER, Manager, Snapshot, WrittenCost};
use std::collections::HashMap;

impl Plan {
    /// Returns this input with the costs that are to be written, as podrank writes them.
    pub fn written(&self, input: &Snapshot) -> Snapshot {
        let costs = self.pods.iter().filter_map(|pod| Some((&*pod.name, pod.write?)));
        let costs: HashMap<_, _> = costs.collect();
        let mut input = input.clone();
        for entry in input.pods.iter_mut().filter(|entry| entry.meta.namespace == self.namespace) {
            if let Some(cost) = costs.get(&*entry.meta.name).filter(|_| entry.is_active()) {
                entry.record.deletion_cost = *cost;
                entry.cost = Some(Box::new(WrittenCost {
                    text: cost.to_string(),
                    value: Ok(*cost),
                    managers: vec![Manager { name: FIELD_MANAGER.to_owned(), applies: true }],
                    resource_version: None,
                }));
            }
        }
        input
    }
}
