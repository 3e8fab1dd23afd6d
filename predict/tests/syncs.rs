//! More than 500 deletions take several syncs of the controller. These tests compare the preview with simulated
//! controllers: before each sync, time passes and the controller counts ranks again, and chance decides between pods
//! that its comparison leaves undecided.

use crate::records::{NOW, before, dump, now};
use fastrand::Rng;
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::generate::seeds;
use podrank_predict::{Note, NoteCode, Options, Order, Preview, Snapshot, Verdict, preview_workload};
use std::collections::{BTreeMap, BTreeSet};

const BURST: usize = 500;

fn random_pod(rng: &mut Rng, number: u32, nodes: u32, rarity: u32) -> Pod {
    let rarely = |rng: &mut Rng| rng.u32(..rarity) == 0;
    let age = 1 + (rng.i64(0..4_000) >> rng.u32(..8));
    let is_ready = !rarely(rng);
    let uid = u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    Pod {
        uid: Uid::from_bytes(uid.to_be_bytes()),
        node: rng.u32(1..=nodes),
        phase: if rarely(rng) { Phase::PENDING } else { Phase::RUNNING },
        deletion_cost: if rarely(rng) { rng.i32(-1..=1) } else { 0 },
        ready_time: if is_ready { before(age) } else { Time::UNSET },
        creation_time: before(age + rng.i64(0..20)),
        restarts: rng.u32(..8) / 6,
        flags: Flags::NONE.with(Flags::ASSIGNED, !rarely(rng)).with(Flags::READY, is_ready),
        ..Pod::new()
    }
}

/// The certain and the possible pods of one sync, and how many of the possible ones are deleted.
fn sync(pods: &[Pod], at: i64, delete: usize) -> (Vec<Uid>, Vec<Uid>, usize) {
    let node = |pod: &Pod| pod.flags.contains(Flags::ASSIGNED).then_some(pod.node);
    let mut on_node = BTreeMap::new();
    for pod in pods {
        *on_node.entry(node(pod)).or_default() += 1;
    }
    let records: Vec<_> = pods.iter().map(|pod| Pod { rank: on_node[&node(pod)], ..*pod }).collect();
    let policy = Policy::at(Time::from_unix(at, 0));
    let (mut order, mut scores) = (vec![0; pods.len()], vec![0; pods.len()]);
    let settled = policy.predict(&records, delete, &mut order, &mut scores).expect("enough memory");
    let uids = |indices: &[u32]| indices.iter().map(|&index| pods[index as usize].uid).collect();
    (uids(settled.deleted()), uids(settled.possible()), settled.quota())
}

/// The pods that one controller deletes, if each sync takes the next random turn.
fn play(rng: &mut Rng, pods: &[Pod], replicas: usize) -> BTreeSet<String> {
    let (mut left, mut gone, mut at) = (pods.to_vec(), BTreeSet::new(), NOW);
    while left.len() > replicas {
        let (mut victims, mut contested, quota) = sync(&left, at, (left.len() - replicas).min(BURST));
        rng.shuffle(&mut contested);
        victims.extend(&contested[..quota]);
        let victims: BTreeSet<Uid> = victims.into_iter().collect();
        left.retain(|pod| !victims.contains(&pod.uid));
        gone.extend(victims.iter().map(ToString::to_string));
        at += rng.i64(1..=120);
    }
    gone
}

/// The pods that are certainly deleted, and those that are certainly kept: all up to a limit of rules 1 to 4, and
/// otherwise those of the first sync.
fn expected(pods: &[Pod], delete: usize) -> [BTreeSet<String>; 2] {
    let lasting = |pod: &Pod| {
        let is = |flag| pod.flags.contains(flag);
        (is(Flags::ASSIGNED), pod.phase.ordinal(), is(Flags::READY), pod.deletion_cost)
    };
    let end = |pod: &Pod| pods.iter().filter(|other| lasting(other) <= lasting(pod)).count();
    let start = |pod: &Pod| pods.iter().filter(|other| lasting(other) < lasting(pod)).count();
    let first: BTreeSet<_> = sync(pods, NOW, BURST).0.into_iter().collect();
    let goes = |pod: &Pod| end(pod) <= delete || start(pod) < delete && first.contains(&pod.uid);
    let those = |is: &dyn Fn(&Pod) -> bool| {
        pods.iter().filter(|pod| is(pod)).map(|pod| pod.uid.to_string()).collect()
    };
    [those(&goes), those(&|pod| start(pod) >= delete)]
}

/// The pods that have this verdict.
fn those(preview: &Preview<'_>, verdict: Verdict) -> BTreeSet<String> {
    preview.pods().filter(|pod| pod.verdict == verdict).map(|pod| pod.uid().to_string()).collect()
}

#[test]
fn several_syncs_never_contradict_the_preview() {
    let (mut contradicted, mut contested, mut by_first_sync, mut by_groups) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let mut rng = Rng::with_seed(seed);
        let (size, nodes, rarity) = (rng.u32(501..1_300), rng.u32(2..60), rng.u32(2..15));
        let pods: Vec<_> = (0..size).map(|number| random_pod(&mut rng, number, nodes, rarity)).collect();
        let replicas = rng.u32(..=size - 501);
        let delete = (size - replicas) as usize;
        let input = Snapshot::read(dump(&pods).as_bytes()).expect("a dump");
        let preview = preview_workload(&input, &Options::new(replicas, now())).expect("a preview");
        let certain = [Verdict::Deleted, Verdict::Kept].map(|verdict| those(&preview, verdict));
        assert_eq!(certain, expected(&pods, delete), "seed {seed}");
        let [certain, _] = certain;
        assert_eq!(
            (preview.delete(), preview.count(Verdict::Deleted)),
            (delete, certain.len()),
            "seed {seed}"
        );
        by_first_sync += usize::from(certain.len() <= BURST && !certain.is_empty());
        by_groups += usize::from(certain.len() > BURST);
        contested += those(&preview, Verdict::Possible).len();

        // Whatever a controller does.
        let at_once = sync(&pods, NOW, delete).0;
        for _ in 0..5 {
            let gone = play(&mut rng, &pods, replicas as usize);
            for pod in preview.pods().filter(|pod| pod.verdict != Verdict::Possible) {
                let went = gone.contains(&pod.uid().to_string());
                assert_eq!(went, pod.verdict == Verdict::Deleted, "seed {seed}: {} went: {went}", pod.name());
            }
            contradicted += usize::from(!at_once.iter().all(|uid| gone.contains(&uid.to_string())));
        }

        let words = format!("{delete} deletions take {} syncs of at most 500", delete.div_ceil(BURST));
        let is_it = |note: &Note| note.code == NoteCode::Limits && note.text.starts_with(&words);
        assert!(preview.notes.iter().any(is_it), "{:?}", preview.notes);
        for pod in preview.pods() {
            let has_rule = pod.verdict != Verdict::Possible && delete < pods.len();
            assert_eq!(pod.reason.rule().is_some(), has_rule, "seed {seed}: {pod:?}");
        }
    }
    // As many syncs in one look would have promised what did not come.
    assert!(contradicted > 10, "{contradicted}");
    assert!(contested > 200 && by_first_sync > 2 && by_groups > 5, "{contested} {by_first_sync} {by_groups}");
}

/// That its Deployment writes the count back says nothing about what is certain, and neither do costs.
fn are_no_limit(notes: &[Note]) -> bool {
    notes.iter().all(|note| matches!(note.code, NoteCode::ControlledByOwner | NoteCode::DeletionCosts))
}

#[test]
fn one_sync_and_the_total_order_are_one_list() {
    let mut rng = Rng::with_seed(seeds(1).start);
    let pods: Vec<_> = (0..700).map(|number| random_pod(&mut rng, number, 9, 12)).collect();
    let input = Snapshot::read(dump(&pods).as_bytes()).expect("a dump");
    let mut options = Options::new(200, now());
    let one = preview_workload(&input, &options).expect("a preview");
    assert_eq!(those(&one, Verdict::Deleted).len(), sync(&pods, NOW, 500).0.len());
    assert!(are_no_limit(&one.notes), "{:?}", one.notes);

    (options.replicas, options.order) = (Some(10), Order::Total);
    let total = preview_workload(&input, &options).expect("a preview");
    assert_eq!(those(&total, Verdict::Deleted).len(), 690);
    assert!(are_no_limit(&total.notes) && total.count(Verdict::Possible) == 0, "{:?}", total.notes);
}
