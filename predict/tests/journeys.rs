//! Where a Deployment's syncs lead, against a naive simulation of its controllers: they take turns at random, see statuses late, and sort
//! lists in random order. Whatever happens, no certain pod stays, no safe one goes, and all sizes are within what the preview says.
//!
//! A sync of the Deployment and the sort are podrank's own, which other tests compare with Kubernetes' code.

use crate::records::{before, now, object, timestamp};
use podrank::controller::{Availability, availability};
use podrank::{Flags, Phase, Pod, Policy, Time, Uid};
use podrank_laws::{generate, objects};
use podrank_predict::sync::IntOrPercent;
use podrank_predict::sync::deployment::{Annotation, DeploymentState, ReplicaSetState, Strategy, next_sync};
use podrank_predict::{Options, Preview, Snapshot, Verdict, preview_workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// The sets of the start. The first two are as old, and the third is younger.
const NAMES: [&str; 3] = ["web-m", "web-n", "web-c"];

#[derive(Clone, Debug)]
struct PodState {
    set: usize,
    record: Pod,
    is_terminating: bool,
}

impl PodState {
    fn node(&self) -> Option<u32> {
        self.record.flags.contains(Flags::ASSIGNED).then_some(self.record.node)
    }

    fn assign(&mut self, node: u32) {
        self.record.node = node;
        self.record.flags = self.record.flags.with(Flags::ASSIGNED, true);
    }
}

#[derive(Clone, Debug)]
struct SetState {
    record: ReplicaSetState,
    created: Time,
    revision: u32,
}

#[derive(Clone, Debug)]
struct World {
    deployment: DeploymentState,
    surge: Value,
    unavailable: Value,
    min_ready_seconds: u32,
    sets: Vec<SetState>,
    pods: Vec<PodState>,
    next: u128,
}

/// The sets whose controller has work, with the sync that gave it.
type Queue = VecDeque<(usize, usize)>;

fn budget(random: &mut fastrand::Rng) -> (IntOrPercent, Value) {
    match random.u8(0..5) {
        0 => (IntOrPercent::Int(0), json!(0)),
        1 => (IntOrPercent::Int(1), json!(1)),
        2 => (IntOrPercent::Percent(25), json!("25%")),
        3 => (IntOrPercent::Percent(50), json!("50%")),
        _ => (IntOrPercent::Percent(100), json!("100%")),
    }
}

impl World {
    /// A Deployment somewhere in its rollouts. Mostly, its statuses are those of its pods.
    fn draw(random: &mut fastrand::Rng) -> Self {
        let count = random.i32(0..=8);
        let ((mut surge, mut surge_text), (unavailable, unavailable_text)) = (budget(random), budget(random));
        if surge == IntOrPercent::Int(0) && unavailable == IntOrPercent::Int(0) {
            (surge, surge_text) = (IntOrPercent::Int(1), json!(1));
        }
        let mut world = Self {
            deployment: DeploymentState {
                replicas: count,
                strategy: if random.u8(0..8) == 0 {
                    Strategy::Recreate { old_pods_run: false }
                } else {
                    Strategy::RollingUpdate { max_surge: surge, max_unavailable: unavailable }
                },
                is_paused: random.u8(0..6) == 0,
                status_replicas: 0,
                is_being_deleted: false,
                is_rolling_back: false,
            },
            surge: surge_text,
            unavailable: unavailable_text,
            min_ready_seconds: if random.u8(0..4) == 0 { 600 } else { 0 },
            sets: Vec::new(),
            pods: Vec::new(),
            next: 1,
        };
        let ready = *random.choice(&[4, 8, 16, 16]).expect("one");
        let was = if random.bool() { count } else { random.i32(0..=8) };
        for index in 0..random.u32(1..=3) {
            let size = random.i32(0..=5);
            let record = ReplicaSetState {
                replicas: size,
                desired: Annotation::Valid(was),
                max: Annotation::Valid(was + random.i32(0..3)),
                ..ReplicaSetState::default()
            };
            let created = before(100_000 - i64::from(index / 2) * 1000);
            world.sets.push(SetState { record, created, revision: random.u32(0..3) });
            for _ in 0..size {
                let mut pod = world.pod(index as usize, random);
                let age = 1000 * random.i64(1..4);
                pod.record.creation_time = before(age);
                if random.u8(0..8) > 0 {
                    pod.assign(random.u32(0..3));
                    pod.record.phase = Phase::RUNNING;
                    let since = if random.u8(0..3) == 0 { 300 } else { age - random.i64(0..2) };
                    if random.u8(0..16) < ready {
                        pod.record.flags = pod.record.flags.with(Flags::READY, true);
                        pod.record.ready_time = before(since);
                    }
                }
                pod.record.deletion_cost = if random.u8(0..6) == 0 { random.i32(-1..=1) } else { 0 };
                world.pods.push(pod);
            }
        }
        for index in 0..world.sets.len() {
            world.follow(index);
            let is_late = random.u8(0..20) == 0;
            let record = &mut world.sets[index].record;
            if is_late {
                record.available_replicas = random.i32(0..=record.status_replicas);
            }
        }
        world.deployment.status_replicas = world.sets.iter().map(|set| set.record.status_replicas).sum();
        world
    }

    fn pod(&mut self, set: usize, random: &mut fastrand::Rng) -> PodState {
        self.next += 1;
        let uid = (u128::from(random.u64(..)) << 64) | self.next;
        let record = Pod {
            uid: Uid::from_bytes(uid.to_be_bytes()),
            phase: Phase::PENDING,
            creation_time: before(0),
            ..Pod::new()
        };
        PodState { set, record, is_terminating: false }
    }

    fn active(&self, set: usize) -> impl Iterator<Item = (usize, &PodState)> {
        self.pods.iter().enumerate().filter(move |(_, pod)| pod.set == set && !pod.is_terminating)
    }

    /// A set's status follows its pods.
    fn follow(&mut self, set: usize) {
        let is_available = |(_, pod): &(usize, &PodState)| {
            availability(&pod.record, self.min_ready_seconds, before(0)) == Availability::Available
        };
        let available = self.active(set).filter(is_available).count();
        let active = self.active(set).count();
        let record = &mut self.sets[set].record;
        (record.status_replicas, record.available_replicas) =
            (i32::try_from(active).expect("few"), i32::try_from(available).expect("few"));
    }

    fn dump(&self) -> String {
        let template = |revision: u32, labels: Value| {
            json!({ "metadata": { "labels": labels, "annotations": { "revision": revision.to_string() } },
            "spec": { "containers": [{ "name": "web", "image": "none" }] } })
        };
        let strategy = match self.deployment.strategy {
            Strategy::Recreate { .. } => json!({ "type": "Recreate" }),
            Strategy::RollingUpdate { .. } => json!({ "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": self.surge, "maxUnavailable": self.unavailable } }),
        };
        let mut items = vec![json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "web", "namespace": "shop", "uid": "web", "generation": 1 },
            "spec": { "replicas": self.deployment.replicas, "paused": self.deployment.is_paused, "strategy": strategy,
                "minReadySeconds": self.min_ready_seconds, "selector": { "matchLabels": { "app": "web" } },
                "template": template(0, json!({ "app": "web" })) },
            "status": { "replicas": self.deployment.status_replicas, "observedGeneration": 1 },
        })];
        let number = |annotation: Annotation| annotation.leniently().expect("a number").to_string();
        let owner = |kind: &str, name: &str| objects::owner("apps/v1", kind, name);
        for (index, set) in self.sets.iter().enumerate().rev() {
            let labels = json!({ "app": "web", "pod-template-hash": index.to_string() });
            let record = &set.record;
            let (name, own) = (NAMES[index], json!({ "matchLabels": labels }));
            items.push(json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": { "name": name, "namespace": "shop", "uid": name, "generation": 1, "labels": labels,
                    "creationTimestamp": timestamp(set.created), "ownerReferences": owner("Deployment", "web"),
                    "annotations": { "deployment.kubernetes.io/desired-replicas": number(record.desired),
                        "deployment.kubernetes.io/max-replicas": number(record.max) } },
                "spec": { "replicas": record.replicas, "selector": own, "minReadySeconds": self.min_ready_seconds,
                    "template": template(set.revision, labels.clone()) },
                "status": { "replicas": record.status_replicas, "availableReplicas": record.available_replicas, "observedGeneration": 1 },
            }));
        }
        for (number, pod) in (0..).zip(&self.pods) {
            let mut object = object(number, &pod.record);
            for (place, value) in [
                ("metadata namespace", json!("shop")),
                ("metadata labels", json!({ "app": "web", "pod-template-hash": pod.set.to_string() })),
                ("metadata ownerReferences", owner("ReplicaSet", NAMES[pod.set])),
            ] {
                objects::put(&mut object, place, value);
            }
            items.push(object);
        }
        objects::dump(&items)
    }

    /// Lets the controllers take turns until nothing is left to do. Returns false if that takes too long.
    fn run(&mut self, random: &mut fastrand::Rng) -> bool {
        // What the Deployment's controller has seen of each set.
        let mut seen: Vec<_> =
            self.sets.iter().map(|set| (set.record.status_replicas, set.record.available_replicas)).collect();
        (0..self.sets.len()).for_each(|set| self.follow(set));
        // Sets wait in a queue, those of one sync in any order.
        let mut queue = Queue::new();
        let mut has_news = true;
        for sync in 0..1000 {
            let unseen: Vec<_> = (0..self.sets.len())
                .filter(|&set| {
                    seen[set]
                        != (self.sets[set].record.status_replicas, self.sets[set].record.available_replicas)
                })
                .collect();
            match random.u8(0..3) {
                0 if has_news => {
                    has_news = self.sync(sync, &mut seen, &mut queue);
                }
                1 if !queue.is_empty() => {
                    let (first, _) = queue[0];
                    let same = queue.iter().take_while(|(sync, _)| *sync == first).count();
                    let (_, set) = queue.remove(random.usize(0..same)).expect("a set");
                    self.work(set, random);
                }
                2 if !unseen.is_empty() => {
                    let set = *random.choice(&unseen).expect("a set");
                    seen[set] =
                        (self.sets[set].record.status_replicas, self.sets[set].record.available_replicas);
                    has_news = true;
                }
                _ if !has_news && queue.is_empty() && unseen.is_empty() => return true,
                _ => {}
            }
        }
        false
    }

    /// A sync of the Deployment. Returns whether it wrote something, which is news.
    fn sync(&mut self, number: usize, seen: &mut Vec<(i32, i32)>, queue: &mut Queue) -> bool {
        let records: Vec<_> = self
            .sets
            .iter()
            .zip(&*seen)
            .map(|(set, &(status_replicas, available_replicas))| ReplicaSetState {
                has_template: set.revision == 0,
                status_replicas,
                available_replicas,
                ..set.record
            })
            .collect();
        let mut deployment = self.deployment;
        let mut sync = next_sync(&deployment, &records);
        if let Strategy::Recreate { old_pods_run } = &mut deployment.strategy {
            *old_pods_run = self.pods.iter().any(|pod| Some(pod.set) != sync.new_set);
            sync = next_sync(&deployment, &records);
        }
        let mut wrote = sync.creates;
        for (index, change) in sync.changes.iter().enumerate() {
            let old = self.sets[index].record;
            self.sets[index].record = old.with(change, &deployment, &sync);
            wrote |= self.sets[index].record != old;
            if self.sets[index].record.replicas != old.replicas && queue.iter().all(|(_, set)| *set != index)
            {
                queue.push_back((number, index));
            }
        }
        if sync.creates {
            let record = ReplicaSetState::default().with(&sync.new_change, &deployment, &sync);
            queue.push_back((number, self.sets.len()));
            self.sets.push(SetState { record, created: before(0), revision: 0 });
            seen.push((0, 0));
        }
        self.deployment.status_replicas = seen.iter().map(|status| status.0).sum();
        wrote
    }

    /// A set's controller creates or deletes pods, and its status follows.
    fn work(&mut self, set: usize, random: &mut fastrand::Rng) {
        let size = usize::try_from(self.sets[set].record.replicas).unwrap_or(0);
        let mut own: Vec<usize> = self.active(set).map(|(index, _)| index).collect();
        if own.len() > size {
            let mut on_node = BTreeMap::new();
            for pod in self.pods.iter().filter(|pod| !pod.is_terminating) {
                *on_node.entry(pod.node()).or_default() += 1;
            }
            let record = |pod: &PodState| Pod { rank: on_node[&pod.node()], ..pod.record };
            random.shuffle(&mut own);
            let records: Vec<_> = own.iter().map(|&index| record(&self.pods[index])).collect();
            let mut list: Vec<u32> = (0..).take(own.len()).collect();
            let policy = Policy::at(before(0));
            policy.kubernetes_sort(&records, &mut list, &mut vec![[0; 4]; own.len()]).expect("a sort");
            let mut gone: Vec<_> =
                list[..own.len() - size].iter().map(|&place| own[place as usize]).collect();
            gone.sort_unstable_by_key(|index| std::cmp::Reverse(*index));
            for index in gone {
                // What runs on a node takes time to end.
                if self.pods[index].node().is_some() {
                    self.pods[index].is_terminating = true;
                } else {
                    self.pods.remove(index);
                }
            }
        }
        for _ in own.len()..size {
            let mut pod = self.pod(set, random);
            if random.bool() {
                pod.assign(random.u32(0..3));
            }
            self.pods.push(pod);
        }
        self.follow(set);
    }
}

/// What the controllers did that the preview excludes.
fn contradiction(preview: &Preview<'_>, start: &World, end: &World) -> Option<String> {
    let rest = preview.rest.as_ref().expect("an end");
    for (index, set) in end.sets.iter().enumerate() {
        let name = NAMES.get(index).copied().filter(|_| index < start.sets.len());
        let shown = rest
            .sets
            .iter()
            .find(|its| its.replica_set == name)
            .map_or((0, 0), |its| (its.replicas.min, its.replicas.max));
        let size = set.record.replicas.unsigned_abs();
        if !(shown.0..=shown.1).contains(&size) {
            return Some(format!("{name:?} ends at {size}, and not at {shown:?}"));
        }
    }
    let mut gone = 0;
    let left: Vec<_> =
        end.pods.iter().filter(|pod| !pod.is_terminating).map(|pod| pod.record.uid.to_string()).collect();
    for pod in preview.pods() {
        let went = !left.contains(&pod.uid().to_string());
        gone += u32::from(went);
        match pod.verdict {
            Verdict::Deleted if !went => return Some(format!("{} is certain to go, and stayed", pod.name())),
            Verdict::Kept | Verdict::Waiting if went => {
                return Some(format!("{} is {}, and went", pod.name(), pod.verdict.name()));
            }
            _ => {}
        }
    }
    let delete = rest.delete;
    (!(delete.min..=delete.max).contains(&gone))
        .then(|| format!("{gone} pods went, and not {}", delete.text()))
}

#[test]
fn controllers_come_to_rest_where_the_preview_says() {
    let (mut several, mut open, mut later, mut created) = (0, 0, 0, 0);
    for seed in generate::seeds(4_000) {
        let mut random = fastrand::Rng::with_seed(seed);
        let start = World::draw(&mut random);
        let text = start.dump();
        let input = Snapshot::read(text.as_bytes()).expect("a dump");
        let mut options = Options::new(0, now());
        (options.replicas, options.probabilities) = (None, false);
        options.workload = Some("deploy/web".parse().expect("a name"));
        let preview =
            preview_workload(&input, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let rest = preview.rest.as_ref().expect("an end");
        if !rest.is_certain {
            continue;
        }
        several += usize::from(preview.steps.as_ref().is_some_and(|steps| steps.len() > 1));
        open += usize::from(rest.sets.iter().any(|set| set.replicas.min < set.replicas.max));
        later += usize::from(preview.pods().any(|pod| pod.verdict == Verdict::Waiting));
        created += usize::from(rest.sets.iter().any(|set| set.replica_set.is_none()));
        for _ in 0..8 {
            let mut end = start.clone();
            assert!(end.run(&mut random), "seed {seed}: the controllers never rest\n{text}");
            if let Some(what) = contradiction(&preview, &start, &end) {
                panic!("seed {seed}: {what}\n{}\n{text}", podrank_predict::json(&preview));
            }
        }
    }
    // The generator reaches what makes this hard.
    println!(
        "{several} with several steps, {open} with open sizes, {later} that wait, {created} that create a set"
    );
    assert!(several > 200 && open > 20 && later > 200 && created > 200);
}
