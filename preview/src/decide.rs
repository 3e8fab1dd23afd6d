//! From an input to a preview: chooses the set, sees that the input is complete, and decides.

use crate::choose::choose;
use crate::complete;
use crate::error::Error;
use crate::input::Input;
use crate::line::{Line, MOST_IN_ONE_SYNC};
use crate::members::{members, ranked};
use crate::notes;
use crate::options::{Options, Order};
use crate::pod::to_time;
use crate::preview::{Preview, Workload};
use crate::related::Related;
use crate::set::Sets;
use podrank::Policy;

/// Decides which pods of a set go, and notes what else the reader should know.
///
/// # Errors
/// If the options do not name one set of the input, if a set or pod that matters is unsound, or if the input is
/// incomplete, unless [`Options::partial`] accepts that.
pub fn preview<'a>(input: &'a Input, options: &Options) -> Result<Preview<'a>, Error> {
    let sets = Sets::of(&input.sets);
    let id = choose(input, &sets, options.set.as_ref(), options.namespace.as_deref())?;
    let set = sets.get(id);

    let gaps = complete::gaps(input, &sets, id)?;
    if !gaps.is_empty() && options.order == Order::Kubernetes && !options.partial {
        return Err(complete::error(id, &gaps));
    }
    let mut notes = gaps;

    let related = Related::of(id, set, &sets, options.order)?;
    let members = members(input, &sets, id, &related, &mut notes)?;
    let own = ranked(&members);

    let policy = Policy { now: to_time(options.now), gates: options.gates };
    let most = options.burst_replicas.map_or(usize::MAX, |most| most.get() as usize);
    let delete = own.len().saturating_sub(options.replicas as usize).min(most);
    let line = Line::up(options.order, policy, &own, delete)?;

    if let Some(set) = set {
        notes.extend(complete::more_pods_than_status(set, own.len())?);
        notes.extend(notes::mid_rollout(input, &sets, set)?);
        notes.extend(notes::claims(input, &sets, set)?);
    }
    if options.gates.pod_deletion_cost {
        notes.extend(line.pods().filter_map(|(member, _)| notes::invalid_cost(member)));
    }
    notes.extend(notes::created_after_now(line.pods().map(|(member, _)| *member), options.now));
    if options.order == Order::Kubernetes && delete > MOST_IN_ONE_SYNC {
        notes.push(notes::several_syncs(delete, MOST_IN_ONE_SYNC));
    }

    Ok(Preview {
        api_version: "podrank/v1",
        kind: "ScaleDownPreview",
        namespace: id.namespace,
        workload: Workload { kind: id.kind, name: id.name },
        replica_set: id.name,
        now: options.now,
        order: options.order,
        feature_gates: options.gates,
        active: own.len(),
        replicas: options.replicas,
        burst_replicas: options.burst_replicas,
        partial: options.partial,
        delete,
        quota: line.quota(),
        notes,
        blocked: [],
        pods: line.previews(),
    })
}
