//! The deletion costs of a plan, by the core's `steer`. Survivors keep their costs, unless there is no other way or writing
//! them takes fewer writes in all. A written survivor counts twice, because its cost must be taken off again.

use podrank::{Pod, Policy, SteerError, SteerScratch};

/// What decides about the cost of one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CostOf {
    pub(super) is_wanted: bool,
    /// Whether the cost belongs to somebody else.
    pub(super) is_fixed: bool,
    /// Whether podrank wrote the cost, so that it is taken off in any case.
    pub(super) is_podranks: bool,
}

/// The costs with which the wanted pods go first, with the fewest writes.
pub(super) fn costs(policy: Policy, pods: &[Pod], about: &[CostOf]) -> Result<Vec<i32>, SteerError> {
    let tiered: Vec<_> = pods
        .iter()
        .zip(about)
        .map(|(pod, about)| Pod { tier: u16::from(!about.is_wanted), ..*pod })
        .collect();
    let limit = survivors_from(pods, about);
    let is_kept = |index: usize| {
        let (pod, about) = (&pods[index], &about[index]);
        about.is_fixed || !about.is_wanted && i64::from(pod.deletion_cost) >= limit
    };
    let mut costs = vec![0; pods.len()];
    let mut scratch = vec![SteerScratch::default(); pods.len()];
    policy.steer(&tiered, is_kept, &mut costs, &mut scratch)?;
    Ok(costs)
}

/// The limit from which survivors keep their costs, and below which wanted pods keep theirs: the lowest of the limits with
/// the fewest writes.
fn survivors_from(pods: &[Pod], about: &[CostOf]) -> i64 {
    // Below the lowest cost there is none for a wanted pod, and above the highest none for a survivor.
    let (lowest, highest) = (i64::from(i32::MIN) + 1, i64::from(i32::MAX));
    let mut pods: Vec<_> =
        pods.iter().zip(about).map(|(pod, about)| (i64::from(pod.deletion_cost), *about)).collect();
    pods.sort_by_key(|(cost, _)| *cost);
    let fixed = |is_wanted: bool| {
        let fixed = pods.iter().filter(move |(_, about)| about.is_fixed && about.is_wanted == is_wanted);
        fixed.map(|(cost, _)| *cost)
    };
    let least = fixed(true).map(|cost| cost + 1).fold(lowest, i64::max);
    let most = fixed(false).fold(highest, i64::min);
    let writes = |limit: i64| -> usize {
        let written = pods.iter().filter(|(cost, about)| about.is_wanted != (*cost < limit));
        written.map(|(_, about)| if about.is_wanted || about.is_podranks { 1 } else { 2 }).sum()
    };
    // Between two costs of wanted pods, a higher limit only writes more survivors.
    let wanted = pods.iter().filter(|(_, about)| about.is_wanted).map(|(cost, _)| cost + 1);
    let limits = [least].into_iter().chain(wanted).filter(|limit| (least..=most).contains(limit));
    // If there is no room between the fixed costs, `steer` says so.
    limits.min_by_key(|&limit| (writes(limit), limit)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank::Uid;

    /// The fewest writes, by trying every set of pods to write.
    fn fewest(pods: &[Pod], about: &[CostOf]) -> Option<usize> {
        let all = (0..1_u32 << pods.len()).filter_map(|written| {
            let is_written = |index: usize| written >> index & 1 == 1;
            let with = |is_wanted: bool| (0..pods.len()).filter(move |&i| about[i].is_wanted == is_wanted);
            let kept = |is_wanted| with(is_wanted).filter(|&i| !is_written(i)).map(|i| pods[i].deletion_cost);
            let (below, above) = (kept(true).max(), kept(false).min());
            let has_room_below = !with(true).any(is_written) || above != Some(i32::MIN);
            let has_room_above = !with(false).any(is_written) || below != Some(i32::MAX);
            let is_in_line = below.zip(above).is_none_or(|(below, above)| below < above);
            let is_allowed = (0..pods.len()).all(|i| !(about[i].is_fixed && is_written(i)));
            let weight = |i: usize| if about[i].is_wanted || about[i].is_podranks { 1 } else { 2 };
            (has_room_below && has_room_above && is_in_line && is_allowed)
                .then(|| (0..pods.len()).filter(|&i| is_written(i)).map(weight).sum())
        });
        all.min()
    }

    #[test]
    fn the_writes_are_the_fewest_and_steer() {
        let mut random = fastrand::Rng::with_seed(45509);
        let (mut without_room, mut survivors_written) = (0, 0);
        for case in 0..20_000 {
            let count = random.usize(0..8);
            let base = [0, i32::MIN, i32::MAX - 3][random.usize(..3)];
            let pods: Vec<_> = (0..count)
                .map(|index| Pod {
                    deletion_cost: base + random.i32(0..=3),
                    uid: Uid::from_bytes([u8::try_from(index).expect("few"); 16]),
                    ..Pod::new()
                })
                .collect();
            let about: Vec<_> = (0..count)
                .map(|_| {
                    let is_fixed = random.u8(..4) == 0;
                    CostOf {
                        is_wanted: random.bool(),
                        is_fixed,
                        is_podranks: !is_fixed && random.u8(..4) == 0,
                    }
                })
                .collect();
            let expected = fewest(&pods, &about);
            let found = costs(Policy::without_now(), &pods, &about);
            let Ok(costs) = found else {
                assert_eq!(expected, None, "case {case}: {pods:?} {about:?}");
                without_room += 1;
                continue;
            };
            let changed = |i: &usize| costs[*i] != pods[*i].deletion_cost;
            let weight = |i: usize| if about[i].is_wanted || about[i].is_podranks { 1 } else { 2 };
            let writes: usize = (0..count).filter(changed).map(weight).sum();
            assert_eq!(Some(writes), expected, "case {case}: {pods:?} {about:?} {costs:?}");
            assert!((0..count).filter(changed).all(|i| !about[i].is_fixed), "case {case}");
            let highest_wanted = (0..count).filter(|&i| about[i].is_wanted).map(|i| costs[i]).max();
            let lowest_other = (0..count).filter(|&i| !about[i].is_wanted).map(|i| costs[i]).min();
            let is_steered = highest_wanted.zip(lowest_other).is_none_or(|(wanted, other)| wanted < other);
            assert!(is_steered, "case {case}: {costs:?}");
            survivors_written += usize::from((0..count).filter(changed).any(|i| !about[i].is_wanted));
        }
        assert!(without_room > 100 && survivors_written > 1_000, "{without_room} {survivors_written}");
    }
}
