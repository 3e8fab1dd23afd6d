//! Deployments: a second reading. Their sizes are those of the naive sync.

use super::super::reading::{controller, int, kind, list, selects, space, string, time};
use super::super::{sets, without_words};
use super::{Dump, budget, is_finished};
use podrank::controller::IntOrPercent;
use podrank::controller::deployment::{Deployment, Reason, ReplicaSet, SetFlags, Strategy};
use podrank_laws::deployment::naive;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl<'a> Dump<'a> {
    /// The sizes of a Deployment's sets by the naive sync. If one set alone loses pods, its pods are those of a preview of the set.
    pub(super) fn deployment(&self, text: &[u8], actual: &Value) -> Option<Value> {
        let (metadata, spec) = (&self.workload["metadata"], &self.workload["spec"]);
        let mut deployment = self.spec_of_deployment()?;
        let selector = &spec["selector"];
        let selects_all = list(&selector["matchExpressions"]).count() == 0
            && selector["matchLabels"].as_object().is_none_or(Map::is_empty);
        let annotation = |object: &'a Value, name: &str| string(&object["metadata"]["annotations"][name]);
        let mut own = BTreeMap::new();
        for set in self.all("ReplicaSet").filter(|set| space(set) == self.id.0) {
            own.entry(string(&set["metadata"]["name"])).or_insert(set);
        }
        let has_its_uid = |set: &Value| {
            controller(set).is_some_and(|owner| string(&owner["uid"]) == string(&metadata["uid"]))
        };
        own.retain(|_, set| {
            has_its_uid(set) && !selects_all && selects(selector, &set["metadata"]["labels"])
        });
        // No cluster writes an owner with the UID of one object and the name of another.
        if own.values().any(|set| !self.is_owned(set)) {
            return None;
        }
        let template = template(spec)?;
        let mut records = Vec::new();
        for (name_order, set) in (0..).zip(own.values()) {
            let mut record = ReplicaSet {
                creation_time: time(&set["metadata"]["creationTimestamp"])?,
                replicas: int(&set["spec"]["replicas"], 1),
                status_replicas: int(&set["status"]["replicas"], 0),
                available_replicas: int(&set["status"]["availableReplicas"], 0),
                name_order,
                flags: SetFlags::NONE
                    .with(SetFlags::CURRENT_TEMPLATE, self::template(&set["spec"])? == template),
                ..ReplicaSet::new()
            };
            record.set_annotations(
                annotation(set, "deployment.kubernetes.io/desired-replicas"),
                annotation(set, "deployment.kubernetes.io/max-replicas"),
            );
            records.push(record);
        }
        let names: Vec<_> = own.keys().copied().collect();
        let mut sync = naive(&deployment, &records);
        if let Strategy::Recreate { old_pods_run } = &mut deployment.strategy {
            let new = sync.new_set.map(|index| names[index as usize]);
            let is_of_old_set = |pod: &Value| {
                controller(pod).is_some_and(|owner| {
                    let name = string(&owner["name"]);
                    let set = own.get(name).filter(|_| Some(name) != new && space(pod) == self.id.0);
                    set.is_some_and(|set| {
                        kind(&owner["kind"], &json!(string(&owner["apiVersion"]))) == Some("ReplicaSet")
                            && string(&set["metadata"]["uid"]) == string(&owner["uid"])
                    })
                })
            };
            *old_pods_run = self.all("Pod").any(|pod| is_of_old_set(pod) && !is_finished(pod));
            sync = naive(&deployment, &records);
        }
        let mut sets = Vec::new();
        let mut moving = usize::from(sync.creates);
        for ((name, record), effect) in names.iter().zip(&records).zip(&sync.sets) {
            let to = u32::try_from(effect.replicas).unwrap_or(0);
            let mut options = self.options.clone();
            options.replicas = Some(to);
            let of_set = sets::reference(text, (self.id.0, "ReplicaSet", name), &options)?;
            let active = of_set.pods.len();
            moving += usize::from(active != to as usize)
                + usize::from(effect.reason == Reason::UnhealthyAndAvailable);
            if record.replicas != 0 || effect.replicas != 0 || active != 0 {
                let facts = json!([
                    name,
                    record.replicas,
                    effect.replicas,
                    effect.reason.name(),
                    active,
                    of_set.delete
                ]);
                sets.push((record.creation_time.unix_nanos(), *name, facts, of_set.pods));
            }
        }
        sets.sort_by_key(|(time, name, ..)| (*time, *name));
        if moving <= 1 {
            for ((.., expected), set) in sets.iter().zip(list(&actual["sets"])) {
                let pods: Vec<_> = list(&set["pods"]).map(without_words).collect();
                assert_eq!(&pods, expected, "{}", String::from_utf8_lossy(text));
            }
        }
        let new = sync.creates.then(|| json!([null, 0, sync.new.replicas, sync.new.reason.name(), 0, 0]));
        Some(sets.into_iter().map(|(_, _, facts, _)| facts).chain(new).collect())
    }

    fn spec_of_deployment(&self) -> Option<Deployment> {
        let (metadata, spec) = (&self.workload["metadata"], &self.workload["spec"]);
        let strategy = &spec["strategy"];
        let rolling = &strategy["rollingUpdate"];
        let quarter = IntOrPercent::Percent(25);
        Some(Deployment {
            replicas: self.options.replicas.map_or(int(&spec["replicas"], 1), u32::cast_signed),
            status_replicas: int(&self.workload["status"]["replicas"], 0),
            strategy: match string(&strategy["type"]) {
                "Recreate" => Strategy::Recreate { old_pods_run: false },
                _ => Strategy::RollingUpdate {
                    max_surge: budget(&rolling["maxSurge"], quarter)?,
                    max_unavailable: budget(&rolling["maxUnavailable"], quarter)?,
                },
            },
            is_paused: spec["paused"] == true,
            is_being_deleted: !metadata["deletionTimestamp"].is_null(),
            is_rolling_back: string(&metadata["annotations"]["deprecated.deployment.rollback.to"])
                .parse::<i64>()
                .is_ok(),
        })
    }
}

/// The template as it stands, without the label that tells sets apart. `None` if it has fields whose text is not their value.
fn template(spec: &Value) -> Option<Value> {
    fn is_plain(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty() && items.iter().all(is_plain),
            Value::Object(fields) => {
                !fields.is_empty()
                    && fields.iter().all(|(name, value)| name != "resources" && is_plain(value))
            }
            _ => true,
        }
    }
    let mut template = spec.get("template")?.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    is_plain(&template).then_some(template)
}
