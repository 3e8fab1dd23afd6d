//! More than 500 deletions take several syncs of the controller. The preview is compared with its definition, and with
//! controllers that are played here: before each sync, time has passed and ranks are counted anew, and what the comparator
//! leaves undecided is decided at random.

use fastrand::Rng;
use jiff::Timestamp;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::generate::seeds;
use podrank_laws::objects;
use podrank_preview::{Input, Note, NoteCode, Options, Order, Preview, Verdict, preview_workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOW: i64 = 1_773_144_000;
const BURST: usize = 500;

/// What the dump says of a pod: its number is its UID, its node may be 0 for none.
#[derive(Clone)]
struct Played {
    number: u32,
    node: u32,
    phase: Phase,
    cost: i32,
    /// Seconds before now.
    ready: Option<i64>,
    created: i64,
    restarts: u32,
}

impl Played {
    fn random(rng: &mut Rng, number: u32, nodes: u32, rarity: u32) -> Self {
        let rarely = |rng: &mut Rng| rng.u32(..rarity) == 0;
        let age = 1 + (rng.i64(0..4_000) >> rng.u32(..8));
        Self {
            number,
            node: if rarely(rng) { 0 } else { rng.u32(1..=nodes) },
            phase: if rarely(rng) { Phase::PENDING } else { Phase::RUNNING },
            cost: if rarely(rng) { rng.i32(-1..=1) } else { 0 },
            ready: (!rarely(rng)).then_some(age),
            created: age + rng.i64(0..20),
            restarts: rng.u32(..8) / 6,
        }
    }

    fn object(&self) -> Value {
        let time = |before| Timestamp::from_second(NOW - before).expect("a time").to_string();
        let mut object = objects::pod(self.number);
        for (place, value) in [
            ("metadata uid", json!(self.uid().to_string())),
            ("metadata creationTimestamp", json!(time(self.created))),
            ("metadata annotations controller.kubernetes.io/pod-deletion-cost", json!(self.cost.to_string())),
            ("spec nodeName", json!(if self.node == 0 { String::new() } else { self.node.to_string() })),
            ("status phase", json!(if self.phase == Phase::PENDING { "Pending" } else { "Running" })),
            ("status conditions", objects::ready(self.ready.is_some(), &time(self.ready.unwrap_or(0)))),
            ("status containerStatuses", json!([{ "name": "web", "restartCount": self.restarts }])),
        ] {
            objects::put(&mut object, place, value);
        }
        object
    }

    fn uid(&self) -> Uid {
        Uid::from_bytes(
            u128::from(self.number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).to_be_bytes(),
        )
    }

    fn record(&self, ranks: &BTreeMap<u32, u32>) -> Pod {
        let mut pod = Pod::new();
        pod.uid = self.uid();
        pod.phase = self.phase;
        pod.deletion_cost = self.cost;
        pod.rank = ranks[&self.node];
        pod.restarts = self.restarts;
        pod.ready_time = self.ready.map_or(Time::UNSET, |before| Time::from_unix(NOW - before, 0));
        pod.creation_time = Time::from_unix(NOW - self.created, 0);
        pod.flags = Flags::NONE.with(Flags::ASSIGNED, self.node > 0).with(Flags::READY, self.ready.is_some());
        pod
    }

    /// What rules 1 to 4 compare.
    fn lasting(&self) -> (bool, u8, bool, i32) {
        (self.node > 0, self.phase.ordinal(), self.ready.is_some(), self.cost)
    }
}

fn dump(pods: &[Played]) -> String {
    let set = objects::with(objects::set("web"), "spec replicas", json!(pods.len()));
    let set = objects::with(set, "status replicas", json!(pods.len()));
    objects::dump(&pods.iter().map(Played::object).chain([set]).collect::<Vec<_>>())
}

/// The certain and the contested victims of one sync, as places in `pods`, and how many of the contested go.
fn sync(pods: &[Played], at: i64, delete: usize) -> (Vec<usize>, Vec<usize>, usize) {
    let mut ranks = BTreeMap::new();
    for pod in pods {
        *ranks.entry(pod.node).or_default() += 1;
    }
    let records: Vec<_> = pods.iter().map(|pod| pod.record(&ranks)).collect();
    let policy = Policy::at(Time::from_unix(at, 0));
    let (mut order, mut scores) = (vec![0; pods.len()], vec![0; pods.len()]);
    let settled = policy.settle(&records, delete, &mut order, &mut scores).expect("enough memory");
    let places = |indices: &[u32]| indices.iter().map(|&index| index as usize).collect();
    (places(settled.certain()), places(settled.contested()), settled.quota())
}

/// The pods that one controller deletes, if each sync takes the next random turn.
fn play(rng: &mut Rng, pods: &[Played], replicas: usize) -> BTreeSet<u32> {
    let (mut left, mut gone, mut at) = (pods.to_vec(), BTreeSet::new(), NOW);
    while left.len() > replicas {
        let (mut victims, mut contested, quota) = sync(&left, at, (left.len() - replicas).min(BURST));
        rng.shuffle(&mut contested);
        victims.extend(&contested[..quota]);
        let victims: BTreeSet<u32> = victims.into_iter().map(|place| left[place].number).collect();
        left.retain(|pod| !victims.contains(&pod.number));
        gone.extend(victims);
        at += rng.i64(1..=120);
    }
    gone
}

fn verdicts<'p>(preview: &'p Preview<'_>) -> impl Iterator<Item = (u32, Verdict)> + 'p {
    preview.pods().map(|pod| (pod.name[4..].parse().expect("a number"), pod.verdict))
}

#[test]
fn several_syncs_never_contradict_the_preview() {
    let (mut contradicted, mut contested, mut by_first_sync, mut by_groups) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let mut rng = Rng::with_seed(seed);
        let (count, nodes, rarity) = (rng.u32(501..1_300), rng.u32(2..60), rng.u32(2..15));
        let pods: Vec<_> = (0..count).map(|number| Played::random(&mut rng, number, nodes, rarity)).collect();
        let replicas = rng.u32(..=count - 501);
        let delete = (count - replicas) as usize;
        let text = dump(&pods);
        let input = Input::read(text.as_bytes()).expect("a dump");
        let options = Options::new(replicas, Timestamp::from_second(NOW).expect("a time"));
        let preview = preview_workload(&input, &options).expect("a preview");

        // By the definition.
        let first: BTreeSet<u32> =
            sync(&pods, NOW, BURST).0.into_iter().map(|place| pods[place].number).collect();
        let before = |pod: &Played| pods.iter().filter(|other| other.lasting() < pod.lasting()).count();
        let with = |pod: &Played| pods.iter().filter(|other| other.lasting() <= pod.lasting()).count();
        let expected: BTreeMap<u32, Verdict> = pods
            .iter()
            .map(|pod| {
                let verdict = match (before(pod), with(pod)) {
                    (_, end) if end <= delete => Verdict::Delete,
                    (start, _) if start >= delete => Verdict::Keep,
                    _ if first.contains(&pod.number) => Verdict::Delete,
                    _ => Verdict::Contested,
                };
                (pod.number, verdict)
            })
            .collect();
        let actual: BTreeMap<_, _> = verdicts(&preview).collect();
        assert_eq!(actual.len(), pods.len());
        assert!(actual.iter().eq(&expected), "seed {seed}");
        let certain = expected.values().filter(|verdict| **verdict == Verdict::Delete).count();
        assert_eq!((preview.delete, preview.quota), (delete, delete - certain), "seed {seed}");
        let rank =
            |verdict| [Verdict::Delete, Verdict::Contested, Verdict::Keep].iter().position(|v| *v == verdict);
        assert!(verdicts(&preview).map(|(_, verdict)| rank(verdict)).is_sorted(), "seed {seed}");
        by_first_sync += usize::from(certain <= BURST && certain > 0);
        by_groups += usize::from(certain > BURST);

        // Whatever a controller does.
        let naive: BTreeSet<u32> =
            sync(&pods, NOW, delete).0.into_iter().map(|place| pods[place].number).collect();
        for _ in 0..5 {
            let gone = play(&mut rng, &pods, replicas as usize);
            assert_eq!(gone.len(), delete);
            for (number, verdict) in &actual {
                match verdict {
                    Verdict::Delete => assert!(gone.contains(number), "seed {seed}: web-{number} stayed"),
                    Verdict::Keep | Verdict::Later | Verdict::Blocked => {
                        assert!(!gone.contains(number), "seed {seed}: web-{number} went");
                    }
                    Verdict::Contested => contested += 1,
                }
            }
            contradicted += usize::from(!naive.is_subset(&gone));
        }

        let note = preview.notes.iter().find(|note| note.code == NoteCode::SeveralSyncs).expect("a note");
        let words = format!("{delete} deletions take {} syncs of at most 500", delete.div_ceil(BURST));
        assert!(note.text.starts_with(&words), "{note}");
        for pod in preview.pods() {
            let has_rule = pod.verdict != Verdict::Contested && delete < pods.len();
            assert_eq!(pod.rule.is_some(), has_rule, "seed {seed}: {pod:?}");
        }
    }
    // As many syncs in one look would have promised what did not come.
    assert!(contradicted > 10, "{contradicted}");
    assert!(
        contested > 1_000 && by_first_sync > 2 && by_groups > 5,
        "{contested} {by_first_sync} {by_groups}"
    );
}

/// That its Deployment writes the count back says nothing about what is certain, and neither do costs.
fn are_no_limit(notes: &[Note]) -> bool {
    notes.iter().all(|note| matches!(note.code, NoteCode::WrittenBack | NoteCode::DeletionCosts))
}

#[test]
fn one_sync_and_the_total_order_are_one_list() {
    let mut rng = Rng::with_seed(seeds(1).start);
    let pods: Vec<_> = (0..700).map(|number| Played::random(&mut rng, number, 9, 12)).collect();
    let text = dump(&pods);
    let input = Input::read(text.as_bytes()).expect("a dump");
    let mut options = Options::new(200, Timestamp::from_second(NOW).expect("a time"));
    let one = preview_workload(&input, &options).expect("a preview");
    let certain = sync(&pods, NOW, 500).0.len();
    assert_eq!(verdicts(&one).filter(|(_, verdict)| *verdict == Verdict::Delete).count(), certain);
    assert!(are_no_limit(&one.notes), "{:?}", one.notes);

    options.replicas = Some(10);
    options.order = Order::Total;
    let total = preview_workload(&input, &options).expect("a preview");
    assert_eq!(verdicts(&total).filter(|(_, verdict)| *verdict == Verdict::Delete).count(), 690);
    assert!(are_no_limit(&total.notes) && total.quota == 0, "{:?}", total.notes);

    // The first deletions alone are one sync.
    options.order = Order::Kubernetes;
    options.burst_replicas = std::num::NonZeroU32::new(500);
    let first = preview_workload(&input, &options).expect("a preview");
    assert!(first.delete == 500 && are_no_limit(&first.notes), "{:?}", first.notes);
}
