//! A scale-down in the middle of a rollout: how many pods of each set go is the Deployment's controller's decision. It is known if all
//! ways in which the syncs can go lead to the same end, and then costs choose the pods of each set.

use crate::answer::{Preview, Verdict};
use crate::decide::preview_workload;
use crate::plan::{DefaultVerdicts, PlanRequest, PlanSize, SetPlan, Target};
use crate::question::Options;
use crate::snapshot::Snapshot;
use crate::text::{self, Error};
use std::collections::{HashMap, HashSet};

/// The most times that the sizes are computed for the selected pods. A new selection can change the sizes.
const ATTEMPTS: usize = 4;

/// What each set loses.
pub(super) struct Shares {
    /// How many pods of each part go.
    pub(super) delete: Vec<usize>,
    pub(super) default_verdict: DefaultVerdicts,
    /// How many active pods there are then.
    pub(super) left: usize,
    /// What follows after that, as a sentence.
    pub(super) follows: Option<String>,
}

/// How many pods of each part are deleted until the rollout rests, if the costs make Kubernetes delete exactly the
/// selected ones.
///
/// # Errors
/// If that depends on what the controllers see first, or if the named pods are not among them.
pub(super) fn shares(
    input: &Snapshot,
    request: &PlanRequest,
    target: &Target,
    parts: &[SetPlan<'_>],
    replicas: u32,
) -> Result<Shares, Error> {
    let options = Options { replicas: Some(replicas), ..request.options.clone() };
    let now = preview_workload(input, &options)?;
    let mut delete = deletions(&now, parts);
    for _ in 0..ATTEMPTS {
        check_named(request, target, parts, &delete, replicas)?;
        let supposed = with_costs(input, parts, &delete)?;
        let then = preview_workload(&supposed, &Options { probabilities: false, ..options.clone() })?;
        let again = deletions(&then, parts);
        if again != delete {
            delete = again;
            continue;
        }
        if let Some(why) = doubt(&then, parts, &delete) {
            let why =
                format!("Deletion costs cannot decide which pods are deleted at {replicas} replicas: {why}.");
            return Err(rolls(target, why, "Wait for the rollout to end."));
        }
        let default_verdict = now.pods().map(|pod| (pod.uid(), (pod.verdict, pod.probability))).collect();
        let left = then.rest.iter().flat_map(|rest| &rest.sets).map(|set| set.replicas.max as usize).sum();
        let follows = then.rest.and_then(|rest| Some(rest.sentence(false)?.to_string()));
        return Ok(Shares { delete, default_verdict, left, follows });
    }
    let why = "The choice of pods changes how many pods each ReplicaSet loses.";
    Err(rolls(target, why, "Wait for the rollout to end."))
}

fn rolls(target: &Target, why: impl Into<String>, remedy: &str) -> Error {
    Error::new(format!("{target} is in the middle of a rollout")).because(why).advise(remedy)
}

/// The most pods that each part loses.
fn deletions(preview: &Preview<'_>, parts: &[SetPlan<'_>]) -> Vec<usize> {
    let most = |part: &SetPlan<'_>| {
        let rest = preview.rest.as_ref();
        rest.map_or(0, |rest| rest.delete_of(Some(part.set.id().name)).max as usize).min(part.own.len())
    };
    parts.iter().map(most).collect()
}

/// The input once the costs are written that make so many pods of each part go.
fn with_costs(input: &Snapshot, parts: &[SetPlan<'_>], delete: &[usize]) -> Result<Snapshot, Error> {
    let mut costs = HashMap::new();
    for (part, delete) in parts.iter().zip(delete) {
        costs.extend(part.own.iter().map(|pod| pod.pod.uid()).zip(part.costs(*delete)?));
    }
    let mut supposed = input.clone();
    for pod in supposed.pods.iter_mut().map(|pod| &mut pod.record) {
        pod.deletion_cost = costs.get(&pod.uid).copied().unwrap_or(pod.deletion_cost);
    }
    Ok(supposed)
}

/// Returns an error if more pods of a part are named than are deleted or, if only named pods may be deleted, fewer.
fn check_named(
    request: &PlanRequest,
    target: &Target,
    parts: &[SetPlan<'_>],
    delete: &[usize],
    replicas: u32,
) -> Result<(), Error> {
    let fits = |(part, delete): (&SetPlan<'_>, &usize)| {
        let named = (0..part.own.len()).filter(|&index| part.is_named(index)).count();
        match request.count {
            PlanSize::To(_) => named <= *delete,
            PlanSize::AllButNamed => named == *delete,
            PlanSize::AllButNamedAndAhead => part.ahead_of_named() == *delete,
        }
    };
    if parts.iter().zip(delete).all(fits) {
        return Ok(());
    }
    let share = |(part, delete): (&SetPlan<'_>, &usize)| {
        format!("{} of {}", text::count(*delete, "pod"), part.set.id().name)
    };
    let shares: Vec<_> = parts.iter().zip(delete).map(share).collect();
    let why = format!("At {replicas} replicas, its controller deletes {}.", shares.join(" and "));
    Err(rolls(target, why, "Name that many, or wait for the rollout to end."))
}

/// Why it is not certain that exactly the selected pods are deleted, if it is not.
fn doubt(then: &Preview<'_>, parts: &[SetPlan<'_>], delete: &[usize]) -> Option<String> {
    let Some(rest) = then.rest.as_ref().filter(|rest| rest.is_certain) else {
        return Some("there are too many ways in which its controller can continue".to_owned());
    };
    for (part, delete) in parts.iter().zip(delete) {
        let name = part.set.id().name;
        let goes = rest.delete_of(Some(name));
        if goes.min != goes.max {
            let pods = format!("{} pods of {name}", goes.text());
            return Some(format!("{pods} are deleted, depending on what its controller sees first"));
        }
        let wanted: HashSet<_> = part.order[..*delete].iter().map(|&index| part.name(index)).collect();
        let set = then.sets().iter().find(|set| set.replica_set == Some(name));
        for pod in set.iter().flat_map(|set| &set.pods) {
            let is_as_planned = match pod.verdict {
                Verdict::Deleted => wanted.contains(pod.name()),
                Verdict::Waiting | Verdict::Kept => !wanted.contains(pod.name()),
                Verdict::Possible => false,
            };
            if !is_as_planned {
                let (name, why) = (text::name(pod.name()), pod.reason.sentence());
                return Some(format!("{name} may be deleted or kept: {why}"));
            }
        }
    }
    None
}
