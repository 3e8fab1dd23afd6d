//! From an input to a preview: chooses the workload, checks that the input is complete, and decides.

use crate::answer::preview::Preview;
use crate::decide::choose::{Choice, choose_workload};
use crate::decide::circle::Arrow;
use crate::decide::count::present;
use crate::decide::deployment::preview_deployment;
use crate::decide::direct::preview_direct;
use crate::decide::members::{members, ranked};
use crate::decide::related::Related;
use crate::decide::replica_set::preview_set;
use crate::decide::settled::{apply_to_sets, settled};
use crate::decide::{circle as circles, context, leftovers, window};
use crate::question::options::Options;
use crate::snapshot::index::Sets;
use crate::snapshot::pod::PodEntry;
use crate::snapshot::read::Input;
use crate::snapshot::time::to_time;
use crate::snapshot::workload::WorkloadKind;
use crate::text;
use crate::text::error::Error;
use podrank::Policy;

/// Decides which pods of a workload go, and notes what else the reader should know.
///
/// # Errors
/// If the options do not name one workload of the input, if a set or pod that matters is unsound, or if the input is
/// incomplete, unless [`Options::partial`] accepts that.
pub fn preview_workload<'a>(input: &'a Input, options: &Options) -> Result<Preview<'a>, Error> {
    let sets = Sets::of(input);
    let choice = choose_workload(input, &sets, options)?;
    preview_choice(input, &sets, choice, options)
}

/// The same for a workload that is chosen already.
pub(crate) fn preview_choice<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    choice: Choice<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let mut preview = window::decide(options, |options| preview_at(input, sets, choice, options))?;
    preview.present = present(sets, choice).ok();
    context::add(&mut preview, input, options);
    leftovers::add(&mut preview, input, options);
    Ok(preview)
}

/// Decides without looking at where the time of the decision comes from.
fn preview_at<'a>(
    input: &'a Input,
    sets: &Sets<'a>,
    choice: Choice<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    let is_job = matches!(choice, Choice::Direct(entry) if entry.kind == WorkloadKind::Job);
    if !is_job && (options.parallelism.is_some() || options.completions.is_some() || options.suspend) {
        return Err(Error::new(format!(
            "{choice} is not a Job, so it has no parallelism, completions or suspension"
        )));
    }
    let mut preview = match choice {
        Choice::Set(id) => preview_set(input, sets, id, options)?,
        Choice::Deployment(entry) => preview_deployment(input, sets, entry, options)?,
        Choice::Direct(entry) => preview_direct(input, entry, options)?,
    };
    match settled(input, sets, choice)? {
        Some(settled) => settled.apply(&mut preview),
        None => apply_to_sets(sets, &mut preview),
    }
    Ok(preview)
}

/// Returns three pods about which Kubernetes' rules contradict each other, the active pod with this UID first, or `None` if
/// there are none: each goes before the next, and the last before the first, or one of these pairs ties although the third pod
/// goes between the two. This is what makes pods contested that do not all tie.
///
/// # Errors
/// If no such pod belongs to a set of the input, or if the set or a pod that matters is unsound.
pub fn circle(input: &Input, options: &Options, uid: &str) -> Result<Option<[Arrow; 3]>, Error> {
    let sets = Sets::of(input);
    let is_it = |pod: &&PodEntry| {
        pod.record
            .as_ref()
            .and_then(|record| record.as_ref().ok())
            .is_some_and(|it| it.pod.uid.to_string() == uid)
    };
    let id = input.pods.iter().find(is_it).and_then(|pod| sets.owner(pod));
    let id =
        id.ok_or_else(|| Error::new(format!("no active pod of a set has the UID {}", text::word(uid))))?;
    let related = Related::of(id, sets.get(id), &sets)?;
    let members = members(input, &sets, id, &related, &mut Vec::new())?;
    let own = ranked(&members);
    let policy = Policy::at(to_time(options.now)).with_gates(options.gates);
    let start = own.iter().position(|(_, pod)| pod.uid.to_string() == uid);
    Ok(start.and_then(|start| circles::circle(&policy, &own, start)))
}
