//! The flags of the preview, and the options they stand for. Reads nothing else.

use super::connection::{Connection, place};
use super::quoted::quoted;
use clap::builder::RangedI64ValueParser;
use clap::{ArgAction, Parser, ValueEnum, ValueHint};
use jiff::{SignedDuration, Timestamp};
use podrank::FeatureGates;
use podrank_predict::gates::{GATES, STATEFUL_SET_GATES};
use podrank_predict::{
    ControllerGates, Error, Options, Order, Release, Replicas, Subject, TimeSource, Window, WorkloadKind,
};
use std::path::PathBuf;
use std::time::Duration;

/// Predict which pods Kubernetes deletes when a workload scales down, and why
///
/// Reads the cluster through kubectl, or a file with the output of kubectl (-f). Without --replicas, shows at which replica counts
/// Kubernetes deletes each pod. Without a workload, shows a line for each workload. Predicting changes nothing.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(name = super::PROGRAM, version, bin_name = "kubectl podrank", after_help = EXAMPLE, after_long_help = EXAMPLES)]
pub(crate) struct PreviewArgs {
    /// Workload or pod [default: all workloads in the namespace]
    ///
    /// Write it as for kubectl: deploy/web, sts db, ds/agent, job/import, pod/web-1 or web. It may be another owner of ReplicaSets,
    /// such as rollout/web. If you name several workloads, each gets a line.
    #[arg(value_name = "TYPE/NAME", num_args = 0.., hide_short_help = true)]
    words: Vec<String>,

    /// Replica count: absolute (5) or relative (-2, -30%)
    ///
    /// A relative count is subtracted from the current one. A percentage is rounded down to whole pods.
    #[arg(long, value_name = "N", allow_hyphen_values = true, alias = "to", help_heading = QUESTION)]
    pub(crate) replicas: Option<Replicas>,

    /// Parallelism of a Job to predict
    #[arg(long, hide_short_help = true, help_heading = QUESTION, value_name = "N", value_parser = pod_count(), allow_negative_numbers = true, conflicts_with_all = ["replicas", "rollout"])]
    parallelism: Option<u32>,

    /// Completions of an Indexed Job to predict, which must equal its parallelism
    #[arg(long, hide_short_help = true, help_heading = QUESTION, value_name = "N", value_parser = pod_count(), allow_negative_numbers = true, conflicts_with_all = ["replicas", "rollout"])]
    completions: Option<u32>,

    /// Predict what suspending a Job deletes
    #[arg(long, hide_short_help = true, help_heading = QUESTION, conflicts_with_all = ["replicas", "rollout"])]
    suspend: bool,

    /// Predict how a rollout continues at the current replica count
    #[arg(long, conflicts_with = "replicas", hide_short_help = true, help_heading = QUESTION)]
    rollout: bool,

    /// Namespace of the workload
    #[arg(short, long, value_name = "NAMESPACE", help_heading = PLACE)]
    pub(crate) namespace: Option<String>,

    /// Look in all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace", hide_short_help = true, help_heading = PLACE)]
    pub(crate) all_namespaces: bool,

    /// Only workloads with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", hide_short_help = true, help_heading = PLACE)]
    pub(crate) selector: Option<String>,

    /// File, folder or - to read instead of the cluster
    ///
    /// `-` is standard input. The file has the output of `kubectl get pods,replicasets,deployments -o json` or `-o yaml`. Of a folder,
    /// podrank reads all files whose names end with .json, .yaml or .yml. Repeat the flag to read several as one.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::AnyPath, conflicts_with = "connection", help_heading = PLACE)]
    pub(crate) filename: Vec<PathBuf>,

    /// Time of the decision, such as 2026-03-10T12:00:00Z [default: current time; for a file, its modification time]
    ///
    /// The ages of pods count from it. A note tells you when podrank uses the modification time of a file.
    #[arg(long, value_name = "RFC3339", value_parser = time, hide_short_help = true, help_heading = ASSUMPTIONS)]
    pub(crate) now: Option<Timestamp>,

    /// Time window that must give the same answer for it to count as certain [default: 1s,5s before and after now; with --now, 0s,0s]
    ///
    /// The controller may decide a bit earlier or later, and pods age.
    #[arg(long, value_name = "BEFORE,AFTER", value_parser = within, hide_short_help = true, help_heading = ASSUMPTIONS)]
    within: Option<Window>,

    /// Order in which pods are deleted
    #[arg(long, value_name = "ORDER", default_value = "kubernetes", hide_short_help = true, help_heading = ASSUMPTIONS)]
    order: OrderName,

    /// Feature gates that differ from the defaults of the release
    ///
    /// For Deployments, ReplicaSets and ReplicationControllers: PodDeletionCost, LogarithmicScaleDown and PreferForScaleDown.
    /// For StatefulSets: MaxUnavailableStatefulSet and StatefulSetRecreateStrategy.
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = any_gate, hide_short_help = true, help_heading = ASSUMPTIONS)]
    feature_gates: Vec<GivenGate>,

    /// Kubernetes release, such as 1.36 [default: the release of the cluster; for a file, the newest tested one]
    ///
    /// It matters for StatefulSets, Jobs and autoscalers. A note tells you if the answer depends on an unknown release.
    #[arg(long, value_name = "RELEASE", hide_short_help = true, help_heading = ASSUMPTIONS)]
    pub(crate) kubernetes_version: Option<Release>,

    /// Accept an incomplete file, with notes about missing objects
    ///
    /// No note can tell you that the other ReplicaSets of an owner are missing if their pods are missing, too.
    #[arg(long, requires = "filename", hide_short_help = true, help_heading = ASSUMPTIONS)]
    partial: bool,

    /// table, wide, json, yaml, markdown or name
    #[arg(
        help_heading = super::OUTPUT,
        short,
        long,
        value_name = "FORMAT",
        default_value = "table",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) output: Output,

    /// Print the answer again whenever it changes
    #[arg(short, long, conflicts_with = "filename", hide_short_help = true, help_heading = super::OUTPUT)]
    pub(crate) watch: bool,

    /// A preview changes nothing anyway.
    #[arg(long = "dry-run", value_name = "HOW", num_args = 0..=1, default_missing_value = "client", hide = true)]
    _dry_run: Option<String>,

    /// Also print a command that repeats the question
    #[arg(short, long, hide_short_help = true, help_heading = super::OUTPUT)]
    pub(crate) verbose: bool,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version, hide_short_help = true, help_heading = super::OUTPUT)]
    version: Option<bool>,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// The headings of the flags.
const QUESTION: &str = "What to predict";
const PLACE: &str = "Where to look";
const ASSUMPTIONS: &str = "Assumptions";

const EXAMPLE: &str = "Example: kubectl podrank deploy/web --replicas 5";

const EXAMPLES: &str = "\
Examples:
  # Which pod of each workload in the namespace would be deleted first?
  kubectl podrank

  # At which replica count is each pod of the Deployment web deleted? And one of them?
  kubectl podrank deploy/web
  kubectl podrank pod/web-7f6b9d5c48-hq8zt

  # Which pods are deleted if the Deployment web scales down to 3 replicas?
  kubectl podrank deploy/web --replicas 3

  # How does its rollout continue?
  kubectl podrank deploy/web --rollout

  # Print the names of the pods that are certain to be deleted, for another command
  kubectl podrank deploy/web --replicas 3 -o name

  # Without a cluster: read the output of kubectl
  kubectl get pods,replicasets,deployments -o json > dump.json
  kubectl podrank deploy/web --replicas 3 -f dump.json

  # Why does a StatefulSet not scale down?
  kubectl podrank sts/db --replicas 3

  # Which pods of a Job are deleted?
  kubectl podrank job/import --parallelism 2

  # And of an elastic Indexed Job, whose completions and parallelism change together?
  kubectl podrank job/train --completions 3 --parallelism 3

  # Which pods does the next sync of a DaemonSet delete?
  kubectl podrank ds/agent

  # Scale one ReplicaSet of a Deployment alone
  kubectl podrank rs/web-7f6b9d5c48 --replicas 3";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Which pods are deleted, and why, in a few words
    Table,
    /// All pods in deletion order, with every value that the rules compare
    Wide,
    /// Everything, for programs
    Json,
    /// Everything, as YAML
    Yaml,
    /// The answer with at most ten rows, for a chat or an issue
    #[value(alias = "md")]
    Markdown,
    /// pod/NAME of each pod that is certain to be deleted, for another command
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// Kubernetes' comparison, which leaves ties to chance
    Kubernetes,
    /// podrank's total order, which has no ties
    Total,
}

/// A number of pods, at most the largest that Kubernetes stores.
pub(super) fn pod_count() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(0..=i32::MAX.into())
}

/// The name of a feature gate, and its value.
pub(super) type GivenGate = (&'static str, bool);

fn given_gate(text: &str, known: &[&'static str]) -> Result<GivenGate, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=true or NAME=false")?;
    let unknown = || format!("unknown feature gate `{name}`: use {}", known.join(", "));
    let name = *known.iter().find(|known| **known == name).ok_or_else(unknown)?;
    Ok((name, value.parse().map_err(|_| format!("expected true or false, not `{value}`"))?))
}

/// A gate of the order.
pub(super) fn gate(text: &str) -> Result<GivenGate, String> {
    given_gate(text, &GATES.map(|(name, _)| name))
}

/// A gate of the order, or of the controllers that delete pods themselves.
fn any_gate(text: &str) -> Result<GivenGate, String> {
    given_gate(text, &[&GATES.map(|(name, _)| name)[..], &STATEFUL_SET_GATES.map(|(name, _)| name)].concat())
}

/// Kubernetes' defaults with the changes that are asked for.
pub(super) fn order_gates(given: &[GivenGate]) -> FeatureGates {
    let mut gates = FeatureGates::KUBERNETES;
    for (given, value) in given {
        for (_, gate) in GATES.iter().filter(|(name, _)| name == given) {
            *gate(&mut gates) = *value;
        }
    }
    gates
}

fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "write it as in 2026-03-10T12:00:00Z".to_owned())
}

/// Two durations, or one for both.
fn within(text: &str) -> Result<Window, String> {
    let (before, after) = text.split_once(',').unwrap_or((text, text));
    let duration = |text: &str| {
        let duration: SignedDuration =
            text.parse().map_err(|_| format!("`{text}` is not a duration such as 5s"))?;
        let duration = Duration::try_from(duration).map_err(|_| format!("`{text}` is negative"))?;
        let most = Duration::from_secs(600);
        if duration > most { Err(format!("`{text}` is more than 10m")) } else { Ok(duration) }
    };
    Ok(Window { before: duration(before)?, after: duration(after)? })
}

impl PreviewArgs {
    /// What is wrong with the flags together.
    pub(crate) fn conflict(&self) -> Option<&'static str> {
        let wants_proposal =
            order_gates(&self.feature_gates).prefer_for_scale_down && self.order == OrderName::Kubernetes;
        wants_proposal.then_some("no Kubernetes release has PreferForScaleDown\n  Use it with --order total.")
    }

    /// Whether a flag says what is asked of the workload.
    pub(crate) fn has_count(&self) -> bool {
        let of_job = self.parallelism.is_some() || self.completions.is_some() || self.suspend;
        self.replicas.is_some() || of_job || self.rollout
    }

    /// Whether it is asked about fewer replicas than there are, whatever their number.
    pub(crate) fn is_relative(&self) -> bool {
        self.replicas.is_some_and(Replicas::is_relative)
    }

    /// Whether it is asked about a workload by its name, and not about what owns it.
    pub(crate) fn names_workload(&self) -> bool {
        self.subjects().is_ok_and(|subjects| matches!(&*subjects, [Subject::Workload(_)]))
    }

    /// The flags that name the files, or else the cluster: for commands that are printed.
    pub(crate) fn of_file(&self) -> String {
        let files = self.filename.iter();
        files.fold(place(&self.connection.arguments()), |flags, file| {
            flags + " -f " + &quoted(&file.to_string_lossy())
        })
    }

    /// The same flags, and all others besides the count that change an answer: for commands that ask more about the same.
    pub(crate) fn of_file_and_decision(&self) -> String {
        let within = |within: Window| {
            let [before, after] = [within.before, within.after].map(|time| time.as_secs_f64());
            format!("--within {before}s,{after}s")
        };
        let gates: Vec<_> =
            self.feature_gates.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let flags = [
            self.now.map(|now| format!("--now {now}")),
            self.within.map(within),
            (self.order == OrderName::Total).then(|| "--order total".to_owned()),
            self.kubernetes_version.map(|release| format!("--kubernetes-version {release}")),
            (!gates.is_empty()).then(|| format!("--feature-gates {}", gates.join(","))),
            self.partial.then(|| "--partial".to_owned()),
        ];
        flags.iter().flatten().fold(self.of_file(), |all, flag| format!("{all} {flag}"))
    }

    /// What is missing for this output.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let needs_count = self.output == Output::Name && !self.has_count();
        let subjects = self.subjects().unwrap_or_default();
        let has_none = match &*subjects {
            [Subject::Workload(name)] => name.kind == Some(WorkloadKind::DaemonSet),
            _ => false,
        };
        (needs_count && !has_none).then_some(
            "-o name needs a replica count\n  Add --replicas N or --rollout. For a Job, add --parallelism N, --completions N or --suspend.",
        )
    }

    fn controller_gates(&self) -> ControllerGates {
        let mut gates = ControllerGates::default();
        for (given, value) in &self.feature_gates {
            for (_, gate) in STATEFUL_SET_GATES.iter().filter(|(name, _)| name == given) {
                *gate(&mut gates) = Some(*value);
            }
        }
        gates
    }

    /// What the user asks about.
    pub(crate) fn subjects(&self) -> Result<Vec<Subject>, Error> {
        Subject::of_words(&self.words)
    }

    pub(crate) fn options(&self, clock: Timestamp) -> Options {
        let mut options = Options::new(0, self.now.unwrap_or(clock));
        options.time_source = self.now.map_or(TimeSource::Clock, |_| TimeSource::Given);
        options.within =
            self.within.unwrap_or(if self.now.is_some() { Window::default() } else { Window::USUAL });
        options.replicas = self.replicas.and_then(|replicas| match replicas {
            Replicas::To(count) => Some(count),
            // The present count decides.
            Replicas::Fewer(_) | Replicas::FewerPercent(_) => None,
        });
        options.parallelism = self.parallelism;
        options.completions = self.completions;
        options.suspend = self.suspend;
        options.namespace.clone_from(&self.namespace);
        options.order = match self.order {
            OrderName::Kubernetes => Order::Kubernetes,
            OrderName::Total => Order::Total,
        };
        options.gates = order_gates(&self.feature_gates);
        options.controller_gates = self.controller_gates();
        options.release = self.kubernetes_version;
        options.partial = self.partial;
        options
    }
}
