//! What the real `StatefulSet` controller took in the rounds that are recorded in `vectors/stateful-rounds.jsonl.gz`.

use flate2::read::GzDecoder;
use podrank_preview::{Input, Options, Verdict, WorkloadPreview, preview_workload};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

#[test]
fn the_controller_took_what_the_preview_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/stateful-rounds.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(File::open(path).expect(path))).lines();
    let mut seen = BTreeMap::<String, u32>::new();
    let mut rounds = 0;
    for line in lines {
        let round: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let dump =
            serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": round["items"] }).to_string();
        let input = Input::read(dump.as_bytes()).expect("a dump");
        let replicas = u32::try_from(round["replicas"].as_u64().expect("a count")).expect("a small count");
        let now = round["now"].as_str().expect("a time").parse().expect("a time");
        let options = Options::new(replicas, now);
        let preview = preview_workload(&input, &options).expect("a preview");
        let WorkloadPreview::Direct(preview) = &preview else { panic!("not a StatefulSet") };
        let gone: Vec<_> = round["gone"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for pod in &preview.pods {
            assert_eq!(
                pod.verdict == Verdict::Delete,
                gone.contains(&&*pod.uid),
                "round {rounds}: {} {}",
                pod.name,
                pod.why
            );
            *seen.entry(pod.rule.unwrap_or("none").to_owned()).or_default() += 1;
        }
        assert_eq!(preview.delete, gone.len(), "round {rounds}");
        rounds += 1;
    }
    assert!(
        rounds >= 10 && seen.contains_key("out-of-range") && seen.len() >= 5,
        "{rounds} rounds, {seen:?}"
    );
}
