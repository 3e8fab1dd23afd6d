//! The C functions as an implementation of the order, for the laws.

use podrank::{
    Error, Key, KubernetesOrdering, Neighbour, Pod, Policy, Probability, Row, Rule, Unsteerable, ValueKind,
};
use podrank_ffi::*;
use podrank_laws::Implementation;
use podrank_laws::relation::Prediction;
use podrank_laws::steer::Steering;
use std::cmp::Ordering;
use std::mem::MaybeUninit;

/// The C functions as an implementation of the order.
pub struct C;

/// Returns the options that stand for this policy.
pub fn options(policy: &Policy) -> podrank_options {
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    podrank_options {
        size: 16,
        flags: flag(!policy.now.is_unset(), PODRANK_OPTIONS_NOW)
            | flag(!policy.gates.pod_deletion_cost, PODRANK_OPTIONS_POD_DELETION_COST_OFF)
            | flag(!policy.gates.logarithmic_scale_down, PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF)
            | flag(policy.gates.prefer_for_scale_down, PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON),
        now: policy.now.unix_nanos().unwrap_or(0),
    }
}

/// Returns the record in C's layout.
pub fn record(pod: &Pod) -> podrank_pod {
    podrank_pod {
        uid: pod.uid.to_bytes(),
        ready_time: pod.ready_time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET),
        creation_time: pod.creation_time.unix_nanos().unwrap_or(PODRANK_TIME_UNSET),
        deletion_cost: pod.deletion_cost,
        rank: pod.rank,
        restarts: pod.restarts,
        sidecar_restarts: pod.sidecar_restarts,
        node: pod.node,
        phase: pod.phase.ordinal(),
        flags: pod.flags.bits(),
        tier: pod.tier,
        reserved: pod.reserved.as_ref().try_into().expect("8 bytes"),
    }
}

fn records(pods: &[Pod]) -> Vec<podrank_pod> {
    pods.iter().map(record).collect()
}

fn rule(number: u8) -> Option<Rule> {
    (number != PODRANK_RULE_NONE).then(|| Rule::from_number(number).expect("a rule's number"))
}

/// What an output holds before the call: 77 in every byte.
pub(crate) fn canary<T: Copy>() -> T {
    let mut output = MaybeUninit::<T>::uninit();
    // SAFETY: it is used for plain integers in repr(C) structs.
    unsafe {
        output.as_mut_ptr().cast::<u8>().write_bytes(77, size_of::<T>());
        output.assume_init()
    }
}

/// Calls a C function, and returns its status. `list(it)` stands for the pointer to a vector or array and its length, and `out(it)` for
/// the pointer to a variable.
macro_rules! call {
    ($name:ident($($arguments:tt)*)) => { call!(@ $name [] $($arguments)*) };
    (@ $name:ident [$($given:expr,)*]) => { unsafe { $name($($given),*) } };
    (@ $name:ident [$($given:expr,)*] list($list:expr) $(, $($rest:tt)*)?) => {
        call!(@ $name [$($given,)* $list.as_mut_ptr(), $list.len(),] $($($rest)*)?)
    };
    (@ $name:ident [$($given:expr,)*] out($output:expr) $(, $($rest:tt)*)?) => {
        call!(@ $name [$($given,)* &raw mut $output,] $($($rest)*)?)
    };
    (@ $name:ident [$($given:expr,)*] $argument:expr $(, $($rest:tt)*)?) => {
        call!(@ $name [$($given,)* $argument,] $($($rest)*)?)
    };
}
pub(crate) use call;

pub(crate) fn done(status: i32) {
    assert_eq!(status, PODRANK_OK);
}

/// What one of the functions that look at two pods says: the ordering, and the rule.
fn pair(policy: &Policy, a: &Pod, b: &Pod, ask: Ask) -> (i32, Option<Rule>) {
    let (mut ordering, mut number) = (77, 77);
    done(unsafe { ask(&record(a), &record(b), &options(policy), &raw mut ordering, &raw mut number) });
    assert!((-1..=1).contains(&ordering));
    (ordering, rule(number))
}

type Ask = unsafe extern "C" fn(
    *const podrank_pod,
    *const podrank_pod,
    *const podrank_options,
    *mut i32,
    *mut u8,
) -> i32;

impl Implementation for C {
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
        let mut ordering = 77;
        done(call!(podrank_compare(&record(a), &record(b), &options(policy), out(ordering))));
        ordering.cmp(&0)
    }

    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>) {
        let (ordering, rule) = pair(policy, a, b, podrank_decide);
        (ordering.cmp(&0), rule)
    }

    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row> {
        let mut rows = [canary::<podrank_row>(); PODRANK_ROW_MAX];
        let mut len = 0;
        done(call!(podrank_explain(&record(a), &record(b), &options(policy), list(rows), out(len))));
        let kinds = [
            ValueKind::Bool,
            ValueKind::Phase,
            ValueKind::Number,
            ValueKind::Time,
            ValueKind::AgeBucket,
            ValueKind::Uid,
        ];
        let bool = |byte: u8| [false, true][usize::from(byte)];
        let row = |row: &podrank_row| Row {
            rule: rule(row.rule).expect("a rule"),
            applies: bool(row.applies),
            ordering: row.ordering.cmp(&0),
            decides: bool(row.decides),
            kind: *kinds.iter().find(|kind| **kind as u8 == row.kind).expect("a kind"),
            a: row.a,
            b: row.b,
        };
        rows[..len].iter().map(row).collect()
    }

    fn key(&self, policy: &Policy, pod: &Pod) -> [u8; Key::LEN] {
        let mut key = [0; PODRANK_KEY_LEN];
        done(call!(podrank_key(&record(pod), &options(policy), list(key))));
        key
    }

    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
        self.select_with(policy, pods, k, 0)
    }

    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32> {
        let (mut pods, mut victims, mut selected) = (records(pods), vec![u32::MAX; k], usize::MAX);
        let mut scratch = vec![podrank_scratch { words: [7; 8] }; scratch];
        done(call!(podrank_select(
            list(pods),
            &options(policy),
            list(victims),
            list(scratch),
            out(selected)
        )));
        victims.truncate(selected);
        victims
    }

    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32> {
        self.sort_with(policy, pods, 0)
    }

    fn sort_with(&self, policy: &Policy, pods: &[Pod], scratch: usize) -> Vec<u32> {
        let (mut pods, mut order) = (records(pods), vec![u32::MAX; pods.len()]);
        let mut scratch = vec![podrank_scratch { words: [7; 8] }; scratch];
        done(call!(podrank_sort(list(pods), &options(policy), list(order), list(scratch))));
        order
    }

    fn kubernetes_compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> (KubernetesOrdering, Option<Rule>) {
        let (ordering, rule) = pair(policy, a, b, podrank_kubernetes_compare);
        let relation = match ordering.cmp(&0) {
            Ordering::Less => KubernetesOrdering::Before,
            Ordering::Equal => KubernetesOrdering::Tie,
            Ordering::Greater => KubernetesOrdering::After,
        };
        (relation, rule)
    }

    fn predict(&self, policy: &Policy, pods: &[Pod], k: usize) -> Prediction {
        let mut pods = records(pods);
        let (mut order, mut scores) = (vec![u32::MAX; pods.len()], vec![u64::MAX; pods.len()]);
        let (mut certain, mut possible) = (usize::MAX, usize::MAX);
        done(call!(podrank_predict(
            list(pods),
            &options(policy),
            k,
            list(order),
            list(scores),
            out(certain),
            out(possible)
        )));
        Prediction { order, certain, possible }
    }

    fn kubernetes_sort(&self, policy: &Policy, pods: &[Pod], list: &[u32]) -> Vec<u32> {
        let (mut pods, mut sorted) = (records(pods), list.to_vec());
        let mut scratch = vec![podrank_probability_scratch { words: [7; 4] }; list.len()];
        done(call!(podrank_kubernetes_sort(list(pods), &options(policy), list(sorted), list(scratch))));
        sorted
    }

    fn probabilities(&self, policy: &Policy, pods: &[Pod], k: usize) -> (Prediction, Vec<Probability>) {
        let (mut pods, mut order) = (records(pods), vec![u32::MAX; pods.len()]);
        let mut odds = vec![podrank_probability { deleted: 7, samples: 7, std_error_ppm: 7 }; pods.len()];
        let mut scratch = vec![podrank_probability_scratch { words: [7; 4] }; pods.len()];
        let (mut certain, mut possible) = (usize::MAX, usize::MAX);
        done(call!(podrank_probabilities(
            list(pods),
            &options(policy),
            k,
            0,
            list(order),
            list(odds),
            list(scratch),
            out(certain),
            out(possible)
        )));
        let odds = odds
            .iter()
            .map(|odds| Probability {
                deleted: odds.deleted,
                samples: odds.samples,
                std_error_ppm: odds.std_error_ppm,
            })
            .collect();
        (Prediction { order, certain, possible }, odds)
    }

    fn spread(&self, policy: &Policy, pods: &mut [Pod], others: &[Pod], nodes: usize) {
        let (mut c, mut others) = (records(pods), records(others));
        let (mut counts, mut order) = (vec![u32::MAX; nodes], vec![u32::MAX; pods.len()]);
        done(call!(podrank_spread(list(c), list(others), &options(policy), list(counts), list(order))));
        for (pod, c) in pods.iter_mut().zip(c) {
            pod.rank = c.rank;
        }
    }

    fn node_weights(&self, others: &[Neighbour], nodes: usize) -> Vec<u64> {
        let pod = |pod: &Neighbour| podrank_neighbour { set: pod.set, node: pod.node };
        let mut others: Vec<_> = others.iter().map(pod).collect();
        let mut weights = vec![0; nodes];
        done(call!(podrank_node_weights(list(others), list(weights))));
        weights
    }

    fn empty_nodes(&self, pods: &mut [Pod], weights: &[u64], domains: &[u32]) {
        let most = domains.iter().max().map_or(0, |most| *most as usize + 1);
        let (mut c, mut counts) = (records(pods), vec![u32::MAX; weights.len() + most]);
        let mut scratch: Vec<podrank_empty_nodes_scratch> = vec![canary(); pods.len()];
        let (mut weights, mut domains) = (weights.to_vec(), domains.to_vec());
        done(call!(podrank_empty_nodes(list(c), list(weights), list(domains), list(counts), list(scratch))));
        for (pod, c) in pods.iter_mut().zip(c) {
            pod.tier = c.tier;
        }
    }

    fn steer(&self, policy: &Policy, pods: &[Pod], prices: &[Option<u8>]) -> Result<Steering, Error> {
        let (mut pods, mut costs) = (records(pods), vec![-7; pods.len()]);
        let mut prices: Vec<u8> =
            prices.iter().map(|price| price.unwrap_or(PODRANK_STEER_PRICE_FIXED)).collect();
        if prices.iter().all(|price| *price == 1) {
            prices.clear();
        }
        let mut scratch = vec![podrank_steer_scratch { words: [7; 2] }; pods.len()];
        let mut unsteerable = vec![canary::<podrank_unsteerable>(); pods.len()];
        let mut steered = podrank_steered { changed: 7, unsteerable: 7, lower: 7, higher: 7 };
        let status = call!(podrank_steer(
            list(pods),
            &options(policy),
            list(prices),
            list(costs),
            list(scratch),
            list(unsteerable),
            out(steered)
        ));
        let podrank_steered { changed, unsteerable: count, lower, higher } = steered;
        match status {
            PODRANK_OK => {
                assert_eq!((lower, higher), (0, 0));
                let pair = |pair: &podrank_unsteerable| {
                    assert_eq!(pair.reserved, [0; 3]);
                    Unsteerable { pod: pair.pod, before: pair.before, rule: rule(pair.rule).expect("a rule") }
                };
                let unsteerable = unsteerable[..count as usize].iter().map(pair).collect();
                return Ok(Steering { costs, changed: changed as usize, unsteerable });
            }
            PODRANK_ERR_GATE => assert_eq!([changed, count, lower, higher], [7; 4]),
            _ => assert_eq!((status, changed, count), (PODRANK_ERR_NO_ROOM, 0, 0)),
        }
        assert!(costs.iter().all(|cost| *cost == -7), "costs were written");
        Err(if status == PODRANK_ERR_GATE { Error::GateOff } else { Error::NoRoom { lower, higher } })
    }
}
