//! Replays where real controllers came to rest after a Deployment was changed in the middle of its rollouts: `judge/cluster/end` records
//! the objects, the pods that went and the sizes of all sets.

use podrank_laws::objects;
use podrank_predict::{NoteCode, Options, Preview, Snapshot, Verdict, Window, preview_workload};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// As `judge/cluster/internal/record` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    round: u32,
    kind: String,
    replicas: Option<u32>,
    now: String,
    gone: Option<BTreeSet<String>>,
    sizes: BTreeMap<String, u32>,
    others: u32,
    items: Vec<Value>,
}

impl Case {
    fn preview<R>(&self, read: impl FnOnce(&Preview<'_>) -> R) -> R {
        let input = Snapshot::read(objects::dump(&self.items).as_bytes()).expect("a dump");
        let mut options = Options::new(0, self.now.parse().expect("a time"));
        options.replicas = self.replicas;
        options.workload = Some("deploy/web".parse().expect("a name"));
        options.within = Window::USUAL;
        options.probabilities = false;
        read(&preview_workload(&input, &options).expect("a preview"))
    }

    /// What is wrong about the preview, if anything is.
    fn compare(&self, preview: &Preview<'_>) -> Result<(), String> {
        let rest = preview.rest.as_ref().ok_or("there is no end")?;
        let mut listed = BTreeSet::new();
        for set in &rest.sets {
            let size = match set.replica_set {
                Some(name) => self.sizes.get(name).copied().unwrap_or(0),
                None => self.others,
            };
            listed.insert(set.replica_set);
            if !(set.replicas.min..=set.replicas.max).contains(&size) {
                return Err(format!(
                    "{:?} ends at {size}, and not at {}",
                    set.replica_set,
                    set.replicas.text()
                ));
            }
        }
        let sizes = self.sizes.iter().map(|(name, size)| (Some(name.as_str()), *size));
        for (name, size) in sizes.chain([(None, self.others)]) {
            if size > 0 && !listed.contains(&name) {
                return Err(format!("{name:?} ends at {size}, and is not shown"));
            }
        }
        let gone = self.gone.as_ref();
        for pod in preview.pods() {
            let went = gone.is_some_and(|gone| gone.contains(&pod.uid().to_string()));
            let is_wrong = match pod.verdict {
                Verdict::Deleted => !went,
                Verdict::Kept | Verdict::Waiting => went,
                Verdict::Possible => false,
            };
            if is_wrong {
                return Err(format!("{} is {}, and went: {went}", pod.name(), pod.verdict.name()));
            }
        }
        let went = u32::try_from(gone.map_or(0, BTreeSet::len)).expect("few pods");
        if (rest.delete.min..=rest.delete.max).contains(&went) {
            Ok(())
        } else {
            Err(format!("{went} pods went, and not {}", rest.delete.text()))
        }
    }

    /// Whether the preview says that the controllers are at work, and they are.
    fn is_at_work(&self, preview: &Preview<'_>) -> bool {
        self.kind == "lagging" && preview.notes.iter().any(|note| note.code == NoteCode::ControllerBusy)
    }
}

fn cases() -> Vec<Case> {
    crate::recorded::rounds("ends.jsonl.gz")
}

#[test]
fn controllers_come_to_rest_where_the_preview_says() {
    let (mut sure, mut pods, mut certain) = (BTreeMap::<_, [usize; 2]>::new(), 0, 0);
    for case in cases() {
        let text = case.preview(|preview| {
            let rest = preview.rest.as_ref().expect("an end");
            let [of, all] = sure.entry(case.kind.clone()).or_default();
            *of += usize::from(rest.sets.iter().all(|set| set.replicas.min == set.replicas.max));
            *all += 1;
            pods += preview.pods().count();
            certain += preview.pods().filter(|pod| pod.verdict != Verdict::Possible).count();
            if case.is_at_work(preview) { Ok(()) } else { case.compare(preview) }
        });
        if let Err(text) = text {
            panic!("round {}, {}: {text}", case.round, case.kind);
        }
    }
    println!("sizes certain, of all: {sure:?}; {certain} of {pods} pods certain");
    assert!(certain * 10 > pods * 9, "{certain} of {pods} pods are certain");
}
