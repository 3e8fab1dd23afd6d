//! How likely one pod of a set goes at each number of deletions. A list that is sorted once answers for all of them, so this costs as
//! much as the odds of one count. Knows pods and ranks, not the input.

use crate::answer::odds::{Cases, Odds};
use crate::ask::options::{Options, Order};
use crate::decide::line::{MOST_IN_ONE_SYNC, MOST_WITH_ODDS};
use crate::decide::moment::{moments_of, shares};
use crate::object::time::to_time;
use crate::words::error::Error;
use podrank::{Pod, Policy};
use std::ops::Range;

/// Returns the odds of the pod at `index` for each of these numbers of deletions, as far as one sync makes them: those that a preview
/// of each count would have. Empty if nobody asked for odds, or if they take too long to work out.
pub(crate) fn chances(
    options: &Options,
    pods: &[Pod],
    index: usize,
    deletions: Range<usize>,
) -> Result<Vec<(usize, Odds)>, Error> {
    let deletions = deletions.start..deletions.end.min(MOST_IN_ONE_SYNC + 1);
    if !options.odds || pods.len() > MOST_WITH_ODDS || deletions.is_empty() {
        return Ok(Vec::new());
    }
    let times = pods.iter().flat_map(|pod| [pod.creation_time, pod.ready_time]);
    let mut moments = moments_of(times, options);
    let shares = shares(&moments, options);
    if moments.len() == 1 {
        moments = vec![options.now];
    }
    let at = |now| of_all(Policy::at(to_time(now)).with_gates(options.gates), options.order, pods, index);
    let cases: Vec<Vec<Odds>> = moments.into_iter().map(at).collect::<Result<_, _>>()?;
    let of = |deletions: usize| {
        let mut cases = cases.iter().map(|case| case.get(deletions.checked_sub(1)?).copied());
        let odds =
            if cases.len() == 1 { cases.next()? } else { Odds::together(cases, Cases::Shares(&shares)) };
        Some((deletions, odds?))
    };
    Ok(deletions.filter_map(of).collect())
}

/// The odds of one pod at one time, for each number of deletions from 1.
fn of_all(policy: Policy, order: Order, pods: &[Pod], index: usize) -> Result<Vec<Odds>, Error> {
    let failed = |error: podrank::OrderError| Error::new(error.to_string());
    let mut line = vec![0; pods.len()];
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    if order == Order::Total {
        policy.sort(pods, &mut line).map_err(failed)?;
        let goes = line.iter().scan(false, |goes, its| {
            *goes |= *its == index;
            Some(Odds::new(f64::from(u8::from(*goes)), 0.0))
        });
        return Ok(goes.collect());
    }
    let (mut odds, mut scratch) =
        (vec![podrank::Probability::default(); pods.len()], vec![[0; 4]; pods.len()]);
    policy.probabilities_of(pods, index, &mut line, &mut odds, &mut scratch).map_err(failed)?;
    Ok(odds.into_iter().map(Odds::of).collect())
}
