//! The C functions as an implementation of the order, for the laws.

use podrank::{Blocked, Key, Neighbour, Odds, Pod, Policy, Relation, Row, Rule, SteerError, ValueKind};
use podrank_ffi::*;
use podrank_laws::Implementation;
use podrank_laws::relation::Settled;
use podrank_laws::steer::Steering;
use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

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

pub(crate) fn done(status: i32) {
    assert_eq!(status, PODRANK_OK);
}

impl Implementation for C {
    fn compare(&self, policy: &Policy, a: &Pod, b: &Pod) -> Ordering {
        let mut ordering = 77;
        done(unsafe { podrank_compare(&record(a), &record(b), &options(policy), &raw mut ordering) });
        ordering.cmp(&0)
    }

    fn decide(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Ordering, Option<Rule>) {
        let (mut ordering, mut number) = (77, 77);
        done(unsafe {
            podrank_decide(&record(a), &record(b), &options(policy), &raw mut ordering, &raw mut number)
        });
        assert!((-1..=1).contains(&ordering));
        (ordering.cmp(&0), rule(number))
    }

    fn explain(&self, policy: &Policy, a: &Pod, b: &Pod) -> Vec<Row> {
        let mut rows = [canary::<podrank_row>(); PODRANK_ROW_MAX];
        let mut len = 0;
        done(unsafe {
            podrank_explain(
                &record(a),
                &record(b),
                &options(policy),
                rows.as_mut_ptr(),
                rows.len(),
                &raw mut len,
            )
        });
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
        done(unsafe { podrank_key(&record(pod), &options(policy), key.as_mut_ptr(), key.len()) });
        key
    }

    fn select(&self, policy: &Policy, pods: &[Pod], k: usize) -> Vec<u32> {
        self.select_with(policy, pods, k, 0)
    }

    fn select_with(&self, policy: &Policy, pods: &[Pod], k: usize, scratch: usize) -> Vec<u32> {
        let pods = records(pods);
        let mut victims = vec![u32::MAX; k];
        let mut scratch = vec![podrank_scratch { words: [7; 8] }; scratch];
        let mut selected = usize::MAX;
        done(unsafe {
            podrank_select(
                if pods.is_empty() { null() } else { pods.as_ptr() },
                pods.len(),
                &options(policy),
                if victims.is_empty() { null_mut() } else { victims.as_mut_ptr() },
                victims.len(),
                if scratch.is_empty() { null_mut() } else { scratch.as_mut_ptr() },
                scratch.len(),
                &raw mut selected,
            )
        });
        victims.truncate(selected);
        victims
    }

    fn sort(&self, policy: &Policy, pods: &[Pod]) -> Vec<u32> {
        let pods = records(pods);
        let mut order = vec![u32::MAX; pods.len()];
        done(unsafe {
            podrank_sort(pods.as_ptr(), pods.len(), &options(policy), order.as_mut_ptr(), order.len())
        });
        order
    }
    fn upstream(&self, policy: &Policy, a: &Pod, b: &Pod) -> (Relation, Option<Rule>) {
        let (mut ordering, mut number) = (77, 77);
        done(unsafe {
            podrank_upstream(&record(a), &record(b), &options(policy), &raw mut ordering, &raw mut number)
        });
        let relation = match ordering {
            -1 => Relation::Before,
            0 => Relation::Tie,
            1 => Relation::After,
            other => panic!("no relation {other}"),
        };
        (relation, rule(number))
    }

    fn settle(&self, policy: &Policy, pods: &[Pod], k: usize) -> Settled {
        let pods = records(pods);
        let (mut order, mut scores) = (vec![u32::MAX; pods.len()], vec![u64::MAX; pods.len()]);
        let (mut certain, mut contested) = (usize::MAX, usize::MAX);
        done(unsafe {
            podrank_settle(
                pods.as_ptr(),
                pods.len(),
                &options(policy),
                k,
                order.as_mut_ptr(),
                order.len(),
                scores.as_mut_ptr(),
                scores.len(),
                &raw mut certain,
                &raw mut contested,
            )
        });
        Settled { order, certain, contested }
    }

    fn upstream_sort(&self, policy: &Policy, pods: &[Pod], list: &[u32]) -> Vec<u32> {
        let (pods, mut list) = (records(pods), list.to_vec());
        let mut scratch = vec![podrank_odds_scratch { words: [7; 4] }; list.len()];
        let status = unsafe {
            podrank_upstream_sort(
                pods.as_ptr(),
                pods.len(),
                &options(policy),
                list.as_mut_ptr(),
                list.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
            )
        };
        assert_eq!(status, PODRANK_OK);
        list
    }

    fn odds(&self, policy: &Policy, pods: &[Pod], k: usize) -> (Settled, Vec<Odds>) {
        let pods = records(pods);
        let mut order = vec![u32::MAX; pods.len()];
        let mut odds = vec![podrank_pod_odds { goes: 7, of: 7, error: 7 }; pods.len()];
        let mut scratch = vec![podrank_odds_scratch { words: [7; 4] }; pods.len()];
        let (mut certain, mut contested) = (usize::MAX, usize::MAX);
        let status = unsafe {
            podrank_odds(
                pods.as_ptr(),
                pods.len(),
                &options(policy),
                k,
                order.as_mut_ptr(),
                order.len(),
                odds.as_mut_ptr(),
                odds.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
                &raw mut certain,
                &raw mut contested,
            )
        };
        assert_eq!(status, PODRANK_OK);
        let odds = odds.iter().map(|odds| Odds { goes: odds.goes, of: odds.of, error: odds.error }).collect();
        (Settled { order, certain, contested }, odds)
    }

    fn spread(&self, policy: &Policy, pods: &mut [Pod], others: &[Pod], nodes: usize) {
        let (mut c, others) = (records(pods), records(others));
        let (mut counts, mut order) = (vec![u32::MAX; nodes], vec![u32::MAX; pods.len()]);
        done(unsafe {
            podrank_spread(
                c.as_mut_ptr(),
                c.len(),
                others.as_ptr(),
                others.len(),
                &options(policy),
                counts.as_mut_ptr(),
                counts.len(),
                order.as_mut_ptr(),
                order.len(),
            )
        });
        for (pod, c) in pods.iter_mut().zip(c) {
            pod.rank = c.rank;
        }
    }

    fn node_weights(&self, others: &[Neighbour], nodes: usize) -> Vec<u64> {
        let pod = |pod: &Neighbour| podrank_neighbour { set: pod.set, node: pod.node };
        let mut others: Vec<_> = others.iter().map(pod).collect();
        let mut weights = vec![0; nodes];
        done(unsafe {
            podrank_node_weights(others.as_mut_ptr(), others.len(), weights.as_mut_ptr(), weights.len())
        });
        weights
    }

    fn empty_nodes(&self, policy: &Policy, pods: &mut [Pod], weights: &[u64], domains: &[u32]) {
        let mut c = records(pods);
        let most = domains.iter().max().map_or(0, |most| *most as usize + 1);
        let mut counts = vec![u32::MAX; weights.len() + most];
        let mut scratch: Vec<podrank_empty_nodes_scratch> = vec![canary(); pods.len()];
        done(unsafe {
            podrank_empty_nodes(
                c.as_mut_ptr(),
                c.len(),
                &options(policy),
                weights.as_ptr(),
                weights.len(),
                domains.as_ptr(),
                domains.len(),
                counts.as_mut_ptr(),
                counts.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
            )
        });
        for (pod, c) in pods.iter_mut().zip(c) {
            pod.tier = c.tier;
        }
    }

    fn steer(&self, policy: &Policy, pods: &[Pod], prices: &[Option<u8>]) -> Result<Steering, SteerError> {
        let pods = records(pods);
        let prices: Vec<u8> = prices.iter().map(|price| price.unwrap_or(PODRANK_STEER_PRICE_FIXED)).collect();
        let are_all_1 = prices.iter().all(|price| *price == 1);
        let mut costs = vec![-7; pods.len()];
        let mut scratch = vec![podrank_steer_scratch { words: [7; 2] }; pods.len()];
        let mut blocked = vec![canary::<podrank_blocked>(); pods.len()];
        let mut steered = podrank_steered { changed: 7, blocked: 7, lower: 7, higher: 7 };
        let status = unsafe {
            podrank_steer(
                pods.as_ptr(),
                pods.len(),
                &options(policy),
                if are_all_1 { null() } else { prices.as_ptr() },
                if are_all_1 { 0 } else { prices.len() },
                costs.as_mut_ptr(),
                costs.len(),
                scratch.as_mut_ptr(),
                scratch.len(),
                blocked.as_mut_ptr(),
                blocked.len(),
                &raw mut steered,
            )
        };
        let podrank_steered { changed, blocked: count, lower, higher } = steered;
        match status {
            PODRANK_OK => {
                assert_eq!((lower, higher), (0, 0));
                let pair = |pair: &podrank_blocked| {
                    assert_eq!(pair.reserved, [0; 3]);
                    Blocked { pod: pair.pod, before: pair.before, rule: rule(pair.rule).expect("a rule") }
                };
                let blocked = blocked[..count as usize].iter().map(pair).collect();
                return Ok(Steering { costs, changed: changed as usize, blocked });
            }
            PODRANK_ERR_GATE => assert_eq!([changed, count, lower, higher], [7; 4]),
            _ => assert_eq!((status, changed, count), (PODRANK_ERR_NO_ROOM, 0, 0)),
        }
        assert!(costs.iter().all(|cost| *cost == -7), "costs were written");
        Err(if status == PODRANK_ERR_GATE {
            SteerError::GateOff
        } else {
            SteerError::NoRoom { lower, higher }
        })
    }
}
