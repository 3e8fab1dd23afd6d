//! Evictions: pods go a few at a time, as disruption budgets allow, and the count follows. Once an evicted pod has been
//! replaced, the set is scaled so that the replacement goes.

use super::ending::Seen;
use super::outcome::{Outcome, Step};
use super::run::{End, Run, Stop};
use crate::kubectl::Reason;
use crate::progress::Waiting;
use podrank_predict::plan::{Count, Plan, PlannedPod};
use std::time::{Duration, Instant};

/// The time until the next attempt while a budget does not allow an eviction.
const PAUSE: Duration = Duration::from_secs(1);
/// How often replacements are evicted again.
const TRIES: u32 = 3;

/// Evicts the wanted pods, batch by batch. An interrupt ends it between two batches.
pub(super) fn go(mut run: Run<'_>) -> End<'_> {
    let plan = match run.read(Step::ReadAgain) {
        Ok(plan) => plan,
        Err(stop) => return run.stop(stop),
    };
    let mut wanted: Vec<_> = plan.wanted().cloned().collect();
    // As long as one that is not ready stays, it goes before a replacement that is.
    wanted.sort_by_key(|pod| pod.is_ready);
    let mut known = plan.pods.clone();
    let mut rest = &*wanted;
    let mut early = None;
    while !rest.is_empty() {
        let most = rest.len().min(run.how.batch());
        match batch(&mut run, &rest[..most], &mut known) {
            Ok(evicted) => rest = &rest[evicted..],
            Err(stop) => {
                early = Some(stop);
                break;
            }
        }
    }
    let stay = known.into_iter().filter(|pod| !wanted.iter().any(|wanted| wanted.uid == pod.uid));
    let pods = wanted.iter().cloned().chain(stay).collect();
    let reached = Plan { replicas: run.count, pods, ..plan };
    let is_scaled = run.count != run.confirmed.from;
    let seen = run.look();
    match early {
        None => End::told(run.conclude(&reached, seen)),
        Some(stop) if run.gone_before.is_empty() => run.stop(stop),
        Some(Stop::Unknown(why)) => End::told(run.unknown(&why)),
        Some(Stop::Early(why)) => End::told(run.conclude(&reached, Seen { early: Some(why), ..seen })),
        Some(stop) if !is_scaled => End::told(run.abort(stop.why())),
        Some(stop) => {
            let outcome = run.conclude(&reached, seen);
            let message = format!("{}; it ended early: {}", outcome.message, stop.why());
            End::told(Outcome { message, ..outcome })
        }
    }
}

/// Evicts as many of these pods as the budgets allow at once, and lowers the count by their number. Returns it. `known` are the pods
/// that are there, before and afterwards.
fn batch(run: &mut Run<'_>, pods: &[PlannedPod], known: &mut Vec<PlannedPod>) -> Result<usize, Stop> {
    run.request.by_cost = true;
    run.request.named.clear();
    run.request.wishes.clear();
    run.stop_if_interrupted()?;
    run.step(Step::Evict);
    let mut evicted = 0;
    for pod in pods {
        if !evict(run, &pod.name, &pod.uid, evicted > 0)? {
            break;
        }
        run.note_gone(pod.clone());
        evicted += 1;
    }
    run.wait_for_replacements(known, run.how.timeout)?;
    let replicas = run.count - evicted;
    run.request.count = Count::To(replicas);
    run.request.options.replicas = Some(replicas);
    let plan = scale(run, known)?;
    run.count = replicas;
    run.watch(&plan).early.map_or(Ok(()), |why| Err(Stop::Early(why)))?;
    *known = plan.pods.into_iter().filter(|pod| !pod.is_wanted).collect();
    Ok(evicted as usize)
}

/// Scales such that the replacements go. If they are ready and a pod that stays is not, they are evicted and replaced again.
fn scale(run: &mut Run<'_>, known: &[PlannedPod]) -> Result<Plan, Stop> {
    let mut tries = 0;
    loop {
        match scale_once(run) {
            Err(Stop::Blocked(_)) if tries < TRIES => tries += 1,
            result => return result,
        }
        for pod in run.cluster.state()?.pods {
            if run.request.named.remove(&pod.name) {
                run.step(Step::Evict);
                evict(run, &pod.name, &pod.uid, false)?;
            }
        }
        run.wait_for_replacements(known, run.how.timeout)?;
    }
}

fn scale_once(run: &mut Run<'_>) -> Result<Plan, Stop> {
    let once = |run: &mut Run<'_>| run.plan_replacements().and_then(|plan| run.lower(plan));
    match once(run) {
        Err(Stop::Blocked(_)) => {
            // Without a cost, the replacement still goes first as long as it is not ready.
            run.request.only_if_needed = true;
            once(run)
        }
        result => result,
    }
}

/// Evicts a pod as soon as its budgets allow it. With `may_skip`, returns false at once if they do not.
fn evict(run: &Run<'_>, name: &str, uid: &str, may_skip: bool) -> Result<bool, Stop> {
    let end = Instant::now() + run.how.timeout;
    let waiting = Waiting::new();
    loop {
        run.still_locked()?;
        waiting.tell(&format!("waiting until a disruption budget allows the eviction of {name}"));
        let Err(error) = run.cluster.evict(name, uid) else { return Ok(true) };
        if error.reason != Reason::Budget {
            return Err(Stop::Unchanged(format!("{name} cannot be evicted: {error}")));
        }
        if may_skip {
            return Ok(false);
        }
        run.stop_if_interrupted()?;
        if Instant::now() > end {
            return Err(Stop::Unchanged(format!(
                "no disruption budget allowed the eviction of {name}: {error}"
            )));
        }
        run.interrupt.sleep(PAUSE);
    }
}
