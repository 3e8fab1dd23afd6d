//! The present count of a workload, and the count that a user asks for in terms of it.

use crate::decide::choose_workload;
use crate::question::{Options, Replicas};
use crate::snapshot::{ReplicaSet, Sets, Snapshot, Workload, WorkloadRef};
use crate::text::{Error, number};
use std::fmt::Display;

impl Snapshot {
    /// Returns whether the options' workload has a count of pods.
    ///
    /// # Errors
    /// If the options do not name one workload of the input.
    pub fn has_count(&self, options: &Options) -> Result<bool, Error> {
        let choice = choose_workload(&Sets::of(self), options)?;
        Ok(choice.id().kind.has_count())
    }

    /// Returns the number of replicas that the options' workload gets, given its present one.
    ///
    /// # Errors
    /// If the options do not name one workload of the input, if it has no replicas, or if it has too few: too few for a percentage of
    /// them to be a pod, too.
    pub fn count(&self, options: &Options, replicas: Replicas) -> Result<u32, Error> {
        let (count, none) = self.rounded_count(options, replicas)?;
        none.map_or(Ok(count), Err)
    }

    /// Returns the same, and says so if a percentage is less than a pod.
    ///
    /// # Errors
    /// If the options do not name one workload of the input, if it has no replicas, or if it has too few.
    pub fn rounded_count(
        &self,
        options: &Options,
        replicas: Replicas,
    ) -> Result<(u32, Option<Error>), Error> {
        if let Replicas::To(count) = replicas {
            return Ok((count, None));
        }
        let sets = Sets::of(self);
        let choice = choose_workload(&sets, options)?;
        of_choice(&sets, choice, replicas)
    }
}

/// The number of replicas that a workload gets, given its present one, and an error if a percentage is less than a pod.
pub(crate) fn of_choice(
    sets: &Sets<'_>,
    choice: Workload<'_>,
    replicas: Replicas,
) -> Result<(u32, Option<Error>), Error> {
    if let Replicas::To(count) = replicas {
        return Ok((count, None));
    }
    let present = present(sets, choice)?;
    let count = replicas.of(present).map_err(|error| error.at(choice))?;
    Ok((count, replicas.rounds_to_none(present).map(|error| error.at(choice))))
}

/// The error for a `ReplicaSet` of which the input only has pods.
pub(crate) fn unknown(id: WorkloadRef<'_>) -> Error {
    Error::new(format!("the replica count of {id} is unknown"))
        .because("The input has its pods, but not the object itself.")
}

/// The present number of replicas of a set: if the input lacks the set, the number of its active pods.
pub(crate) fn of_set(sets: &Sets<'_>, id: WorkloadRef<'_>) -> u32 {
    let active = || sets.pods(id).iter().filter(|pod| pod.is_active()).count();
    sets.get(id).map_or_else(|| number(active()), ReplicaSet::replicas)
}

/// The error for a workload whose pods no replica count limits.
pub(crate) fn none(workload: impl Display) -> Error {
    Error::new(format!("{workload} has no replica count"))
}

/// The present number of replicas of a workload.
pub(crate) fn present(sets: &Sets<'_>, choice: Workload<'_>) -> Result<u32, Error> {
    if let Workload::Unlisted(id) = choice {
        return Ok(of_set(sets, id));
    }
    let none = || none(choice).advise("Leave out --replicas.");
    choice.replicas().map(|(replicas, _)| replicas.unsigned_abs()).ok_or_else(none)
}

/// The count to decide for, of a workload that has this one now.
pub(crate) fn asked(workload: &impl Display, present: i32, options: &Options) -> Result<i32, Error> {
    let Some(wanted) = options.replicas else { return Ok(present) };
    stored(wanted, || format!("{workload} cannot have {wanted} replicas"))
}

/// The number as Kubernetes stores it. If it does not, the error says `what` is not possible.
pub(crate) fn stored(number: u32, what: impl FnOnce() -> String) -> Result<i32, Error> {
    let most = i32::MAX;
    i32::try_from(number)
        .map_err(|_| Error::new(what()).because(format!("Kubernetes stores at most {most}.")))
}
