//! The cases whose instructions `bench/instructions.sh` counts: runs each once and prints its name.

use podrank::{Pod, SteerScratch, Uid, deletion_cost};
use podrank_bench::contenders::{self, C};
use podrank_bench::data::{DataSet, exact, log_scaled};
use std::hint::black_box;

fn main() {
    pairs();
    select();
    lists();
    texts();
}

/// Callgrind counts what is done in here, and nothing else.
#[inline(never)]
fn counted_case<T>(run: impl FnOnce() -> T) -> T {
    black_box(run())
}

fn case<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let outcome = counted_case(run);
    println!("{name}");
    outcome
}

fn pairs() {
    for set in [DataSet::Spread, DataSet::Tie] {
        let (pods, policy) = (set.pods(1_001), black_box(log_scaled()));
        let of_each = |name: &str| format!("{name} 1,000 {}", set.name());
        case(&of_each("compare"), || each(&pods, |a, b| policy.compare(a, b)));
        case(&of_each("decide"), || each(&pods, |a, b| policy.decide(a, b)));
        case(&of_each("explain"), || each(&pods, |a, b| policy.explain(a, b)));
        case(&of_each("upstream"), || each(&pods, |a, b| policy.kubernetes_compare(a, b)));
        case(&of_each("key"), || each(&pods, |a, _| policy.key(a).to_bytes()));
    }
}

/// Does something with each pod and the next.
fn each<T>(pods: &[Pod], run: impl Fn(&Pod, &Pod) -> T) {
    for (a, b) in pods.iter().zip(pods.iter().skip(1)) {
        black_box(run(black_box(a), black_box(b)));
    }
}

fn select() {
    for set in DataSet::ALL {
        let (pods, name) = (black_box(set.pods(10_000)), set.name());
        let mut victims = vec![0; 500];
        let mut scratch = contenders::scratch(&pods, victims.len());
        for (policy, times) in [(log_scaled(), "log-scaled"), (exact(), "exact")] {
            let name = format!("select 500 of 10,000 {name}, {times}");
            let policy = black_box(policy);
            let count = case(&name, || policy.select(&pods, &mut victims).map_or(0, <[u32]>::len));
            let same = case(&format!("{name}, scratch"), || {
                policy.select_with(&pods, &mut victims, &mut scratch).map_or(0, <[u32]>::len)
            });
            assert_eq!((count, same), (500, 500));
        }
        let mut c = C::new(&log_scaled(), victims.len());
        case(&format!("podrank_select 500 of 10,000 {name}"), || c.select(&pods).len());
    }
}

fn lists() {
    let mut order = vec![0; 1_000];
    let mut scores = vec![0; order.len()];
    let (mut costs, mut scratch) = (vec![0; order.len()], vec![SteerScratch::default(); order.len()]);
    for set in [DataSet::Spread, DataSet::Rollout] {
        let (pods, policy) = (black_box(set.pods(order.len())), black_box(log_scaled()));
        case(&format!("sort 1,000 {}", set.name()), || policy.sort(&pods, &mut order).is_ok());
        let mut candidates = contenders::scratch(&pods, pods.len());
        case(&format!("sort 1,000 {}, scratch", set.name()), || {
            policy.sort_with(&pods, &mut order, &mut candidates).is_ok()
        });
        case(&format!("settle 500 of 1,000 {}", set.name()), || {
            policy.predict(&pods, 500, &mut order, &mut scores).map_or(0, |settled| settled.quota())
        });
        let mut tiered = pods.clone();
        for (tier, pod) in (0..5).cycle().zip(&mut tiered) {
            (pod.tier, pod.deletion_cost, pod.node) =
                (tier, i32::from(pod.uid.to_bytes()[0] % 5), pod.restarts);
        }
        case(&format!("steer 1,000 {}", set.name()), || {
            policy
                .steer(&tiered, |_| Some(1), &mut costs, &mut scratch)
                .map_or(0, |steered| steered.changed())
        });
        case(&format!("spread 1,000 {}", set.name()), || {
            policy.spread(&mut tiered, &[], &mut [0; 8], &mut order).is_ok()
        });
    }
}

fn texts() {
    let costs: Vec<_> = (-500..500).map(|cost| (cost * 4_000_000_i64).to_string()).collect();
    case("deletion_cost 1,000", || costs.iter().filter(|text| deletion_cost(text).is_ok()).count());
    let uids: Vec<_> = DataSet::Tie.pods(1_000).iter().map(|pod| pod.uid.to_text()).collect();
    case("Uid::parse 1,000", || uids.iter().filter(|text| black_box(Uid::parse(text)).is_ok()).count());
}
