//! The scale-downs of `tests/vectors/`, through the preview.

use podrank_laws::{objects, vectors};
use podrank_predict::{Options, Order, Snapshot, Verdict, preview_workload};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    name: String,
    now: String,
    replica_set: String,
    replicas: u32,
    objects: Vec<Value>,
    victims: Vec<String>,
    ranks: BTreeMap<String, u32>,
}

#[test]
fn scale_downs() {
    let cases: Vec<Case> = serde_json::from_str(&vectors::read("scale-down.json")).expect("scale-down.json");
    for case in &cases {
        let input = Snapshot::read(objects::dump(&case.objects).as_bytes()).expect(&case.name);
        let mut options = Options::new(case.replicas, case.now.parse().expect("a time"));
        options.workload = Some(case.replica_set.parse().expect("a name"));
        options.namespace = Some("default".to_owned());
        options.order = Order::Total;
        let preview = preview_workload(&input, &options).expect(&case.name);
        let victims: Vec<_> = preview.pods().filter(|pod| pod.verdict == Verdict::Deleted).collect();
        assert_eq!(victims.iter().map(|pod| pod.name()).collect::<Vec<_>>(), case.victims, "{}", case.name);
        let ranks: BTreeMap<_, _> = preview.pods().map(|pod| (pod.name().to_owned(), pod.rank)).collect();
        assert_eq!(ranks, case.ranks, "{}", case.name);
    }
    assert!(cases.len() > 20, "{} cases", cases.len());
}
