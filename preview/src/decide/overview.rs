//! Several workloads of an input, a line each: the count, who goes first, and what is under way.

use crate::answer::overview::{Overview, OverviewLine};
use crate::answer::preview::{Asked, Preview, Verdict, Workload};
use crate::answer::rest::Bounds;
use crate::ask::options::Options;
use crate::ask::replicas::Replicas;
use crate::ask::subject::OwnerName;
use crate::decide::choose::{Choice, choose_workload, with_pods_in};
use crate::decide::interference;
use crate::decide::standing::at;
use crate::decide::workload::preview_workload;
use crate::dump::input::Input;
use crate::dump::sets::Sets;
use crate::object::direct::Spec;
use crate::object::workload::{WorkloadKind, WorkloadName, WorkloadRef};
use crate::words::error::Error;
use crate::words::text;

/// Says who goes first in each of the workloads that have pods, or what happens if each gets this count. `is_wanted` chooses among
/// them, by kind, namespace and name.
pub fn overview<'a>(
    input: &'a Input,
    options: &Options,
    replicas: Option<Replicas>,
    is_wanted: impl Fn(WorkloadKind, &str, &str) -> bool,
) -> Overview<'a> {
    let all = with_pods_in(input, &Sets::of(input), options.namespace.as_deref());
    let ids = all.into_iter().map(Choice::id).filter(|id| is_wanted(id.kind, id.namespace, id.name));
    let lines = ids.map(|id| {
        line(input, options, replicas, id)
            .unwrap_or_else(|error| OverviewLine { error: Some(error.to_string()), ..empty(id) })
    });
    Overview {
        api_version: "podrank/v1",
        kind: "ScaleDownOverview",
        now: options.now,
        now_source: options.now_source,
        order: options.order,
        workloads: lines.collect(),
    }
}

fn empty(id: WorkloadRef<'_>) -> OverviewLine<'_> {
    OverviewLine {
        namespace: id.namespace,
        workload: Workload { kind: id.kind, name: id.name },
        owner: None,
        asked: Asked::default(),
        active: 0,
        delete: Bounds::one(0),
        certain: 0,
        next: None,
        odds: None,
        autoscaler: None,
        rest: None,
        notes: Vec::new(),
        error: None,
    }
}

fn line<'a>(
    input: &'a Input,
    options: &Options,
    replicas: Option<Replicas>,
    id: WorkloadRef<'a>,
) -> Result<OverviewLine<'a>, Error> {
    let mut its = Options {
        workload: Some(WorkloadName { kind: Some(id.kind), name: id.name.to_owned() }),
        namespace: Some(id.namespace.to_owned()),
        replicas: None,
        ..options.clone()
    };
    if let Some(replicas) = replicas {
        its.replicas = Some(input.count(&its, replicas)?);
    }
    let preview = preview_workload(input, &its)?;
    let mut line = OverviewLine {
        owner: preview.owner,
        autoscaler: interference::autoscaler(&preview, input),
        asked: preview.asked,
        active: preview.active,
        delete: preview.deletions(),
        certain: preview.count(Verdict::Delete),
        ..empty(id)
    };
    let count = preview.asked.replicas.or(preview.asked.parallelism).filter(|_| replicas.is_none());
    let pods = u32::try_from(preview.active).unwrap_or(u32::MAX);
    if let Some(fewer) = count.map(|count| count.min(pods)).and_then(|count| count.checked_sub(1))
        && line.delete.max == 0
        && preview.blocked.is_empty()
        && preview.rest.as_ref().is_none_or(|rest| rest.then == 0)
    {
        let one = preview_workload(input, &at(&its, id.kind, fewer))?;
        let chances = one.pods().filter_map(|pod| Some((pod, pod.chance()?)));
        let likeliest =
            chances.max_by(|a, b| a.1.odds.total_cmp(&b.1.odds).then(b.0.position.cmp(&a.0.position)));
        (line.next, line.odds) =
            likeliest.map(|(pod, odds)| (pod.name, odds)).filter(|(_, odds)| odds.odds > 0.0).unzip();
        if let (None, Some(blocked)) = (line.next, one.blocked.first()) {
            (line.next, line.rest) = (Some(blocked.name), one.rest);
        }
    }
    let Preview { rest, notes, .. } = preview;
    Ok(OverviewLine { rest: rest.filter(|rest| rest.then > 0).or(line.rest.take()), notes, ..line })
}

impl Input {
    /// Returns whether the options' workload has a count of pods.
    ///
    /// # Errors
    /// If the options do not name one workload of the input.
    pub fn has_count(&self, options: &Options) -> Result<bool, Error> {
        let choice = choose_workload(self, &Sets::of(self), options)?;
        Ok(choice.id().kind.has_count())
    }

    /// Returns the number of replicas that the options' workload gets, given its present one.
    ///
    /// # Errors
    /// If the options do not name one workload of the input, if it has no replicas, or if it has too few.
    pub fn count(&self, options: &Options, replicas: Replicas) -> Result<u32, Error> {
        if let Replicas::To(count) = replicas {
            return Ok(count);
        }
        let sets = Sets::of(self);
        let choice = choose_workload(self, &sets, options)?;
        let present = match choice {
            Choice::Deployment(entry) => entry.spec()?.deployment.replicas,
            Choice::Set(id) => {
                let set = sets
                    .get(id)
                    .ok_or_else(|| Error::new(format!("{id} is missing, so its count is unknown")))?;
                set.replicas()?
            }
            Choice::Direct(entry) => match entry.spec()? {
                Spec::StatefulSet(spec) => spec.set.replicas,
                _ => return Err(Error::new(format!("{entry} has no replicas: leave out --replicas"))),
            },
        };
        let present = u32::try_from(present).unwrap_or(0);
        replicas.of(present).map_err(|error| Error::new(format!("{choice}: {error}")))
    }

    /// Returns the `ReplicaSet` that an object of another type owns and uses, and its namespace.
    ///
    /// # Errors
    /// If it owns none, or uses several, or deletes its pods itself.
    pub fn set_in_use(
        &self,
        owner: &OwnerName,
        namespace: Option<&str>,
    ) -> Result<(String, WorkloadName), Error> {
        let sets = Sets::of(self);
        let is_here = |its: &str| namespace.is_none_or(|namespace| its == namespace);
        let own: Vec<_> = sets
            .ids()
            .filter(|id| is_here(id.namespace))
            .filter_map(|id| sets.get(id))
            .filter(|set| set.controller.as_ref().is_some_and(|its| owner.is(its)))
            .collect();
        let pods = |id| sets.pods(id).iter().filter(|pod| pod.is_active()).count();
        let in_use: Vec<_> = own
            .iter()
            .map(|set| (set.id(), pods(set.id())))
            .filter(|(id, pods)| {
                *pods > 0 || sets.get(*id).is_some_and(|set| set.replicas().unwrap_or(0) > 0)
            })
            .collect();
        let of_pods = || {
            let pods = self.pods.iter().filter(|pod| is_here(&pod.namespace));
            pods.filter_map(|pod| pod.controller.as_ref()).find(|its| owner.is(its))
        };
        match &*in_use {
            [(only, _)] => {
                let name = WorkloadName { kind: Some(only.kind), name: only.name.to_owned() };
                Ok((only.namespace.to_owned(), name))
            }
            [] => Err(Error::new(match of_pods() {
                Some(its) => format!(
                    "{owner}: a {} deletes its pods itself, by rules that podrank does not know",
                    text::name(&its.kind)
                ),
                None if own.is_empty() => format!("no ReplicaSet and no pod belongs to {owner}"),
                None => format!("no ReplicaSet of {owner} has pods"),
            })),
            several => {
                let list: Vec<_> = several
                    .iter()
                    .map(|(id, pods)| format!("rs/{} ({})", id.name, text::count(*pods as u64, "pod")))
                    .collect();
                Err(Error::new(format!(
                    "{owner} uses several ReplicaSets, and how it shares its count among them is its own business: ask about one, {}",
                    text::list(&list)
                )))
            }
        }
    }
}
