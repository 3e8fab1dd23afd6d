//! The flags of the preview, and the options they stand for. Reads nothing else.

use super::connection::Connection;
use super::quoted::quoted;
use clap::builder::RangedI64ValueParser;
use clap::{Parser, ValueEnum, ValueHint};
use jiff::{SignedDuration, Timestamp};
use podrank::FeatureGates;
use podrank_predict::gates::{ControllerGate, GATES, Gate, STATEFUL_SET_GATES};
use podrank_predict::{
    ControllerGates, NowSource, Options, Order, Release, Replicas, Subject, Within, WorkloadKind,
};
use std::path::PathBuf;
use std::time::Duration;

/// Show which pods go first when a workload scales down, and why
///
/// Asks the cluster through kubectl, or reads what kubectl printed (-f). Without a count, shows the counts at which each pod goes;
/// without a workload, who goes first in each of them. This preview changes nothing.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(name = super::PROGRAM, version, bin_name = "kubectl podrank", after_help = EXAMPLES, after_long_help = MORE_EXAMPLES)]
pub(crate) struct PreviewArgs {
    /// A workload or pod; several; none for all
    ///
    /// As kubectl names them: deploy/web, sts db, ds/agent, job/import, pod/web-1, web, or another owner of ReplicaSets, such as
    /// rollout/web. Of several, or of all workloads of the namespace, each gets a line.
    #[arg(value_name = "TYPE/NAME", num_args = 0.., hide_short_help = true)]
    words: Vec<String>,

    /// Workloads with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,

    /// File to read instead of the cluster, or -
    ///
    /// `-` is standard input. The output of `kubectl get pods,replicasets,deployments -o json` or `-o yaml`.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "connection")]
    pub(crate) filename: Option<PathBuf>,

    /// Desired replicas, or fewer: 5, -2 or -30%
    ///
    /// Fewer are counted from the present count, and a percentage of it is rounded down to whole pods.
    #[arg(long, value_name = "N", value_parser = replicas, allow_hyphen_values = true, alias = "to")]
    pub(crate) replicas: Option<Replicas>,

    /// Desired parallelism of a Job
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = pod_count(), allow_negative_numbers = true, conflicts_with_all = ["replicas", "rollout"])]
    parallelism: Option<u32>,

    /// Desired completions of an Indexed Job, which must be the same number as its parallelism
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = pod_count(), allow_negative_numbers = true, conflicts_with_all = ["replicas", "rollout"])]
    completions: Option<u32>,

    /// Show what happens if a Job is suspended
    #[arg(long, hide_short_help = true, conflicts_with_all = ["replicas", "rollout"])]
    suspend: bool,

    /// Show how a rollout goes on, at the present count
    #[arg(long, conflicts_with = "replicas")]
    rollout: bool,

    /// Namespace of the workload
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Look in all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,

    /// Evaluate pod ages at this time, such as 2026-03-10T12:00:00Z [default: current time; for a file, its modification time]
    ///
    /// A note says if that of a file was used. For standard input, the default is the current time.
    #[arg(long, value_name = "RFC3339", value_parser = moment, hide_short_help = true)]
    pub(crate) now: Option<Timestamp>,

    /// How much earlier and later the controller may decide: an answer is certain only if it holds all that time, as pods age [default: 1s,5s; with --now, 0s,0s]
    #[arg(long, value_name = "BEFORE,AFTER", value_parser = within, hide_short_help = true)]
    within: Option<Within>,

    /// Order in which pods go
    #[arg(long, value_name = "ORDER", default_value = "kubernetes", hide_short_help = true)]
    order: OrderName,

    /// Feature gates that differ from the defaults of the release: MaxUnavailableStatefulSet and StatefulSetRecreateStrategy,
    /// which count for StatefulSets alone; PodDeletionCost, LogarithmicScaleDown and PreferForScaleDown, which count for
    /// Deployments, ReplicaSets and ReplicationControllers alone
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = any_gate, hide_short_help = true)]
    feature_gates: Vec<GivenGate>,

    /// Release of Kubernetes, such as 1.36 [default: that of the cluster; for a file, the newest that was tested]
    ///
    /// It makes a difference for StatefulSets, Jobs and autoscalers. A note says where it decides and is not known.
    #[arg(long, value_name = "RELEASE", hide_short_help = true)]
    pub(crate) kubernetes_version: Option<Release>,

    /// Accept an incomplete file: notes say what is missing
    ///
    /// If a file lacks both the other ReplicaSets of the same owner and their pods, it looks complete, and no note says so.
    #[arg(long, requires = "filename", hide_short_help = true)]
    partial: bool,

    /// table, wide, json, yaml, markdown or name
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "table",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) output: Output,

    /// Print again when the answer changes
    #[arg(short, long, conflicts_with = "filename", hide_short_help = true)]
    pub(crate) watch: bool,

    /// A preview changes nothing anyway.
    #[arg(long = "dry-run", value_name = "HOW", num_args = 0..=1, default_missing_value = "client", hide = true)]
    _dry_run: Option<String>,

    /// Also print the command that asks the same again
    #[arg(short, long, hide_short_help = true)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

const EXAMPLES: &str = "\
Examples:
  kubectl podrank                            who goes first in each workload
  kubectl podrank deploy/web                 the counts at which each pod goes
  kubectl podrank deploy/web --replicas 5    which pods go then, and why
  kubectl podrank scale deploy/web --replicas 5 --pod NAME    choose them
kubectl's flags such as --context work here, too; --help shows all.";

const MORE_EXAMPLES: &str = "\
Examples:
  # Who goes first in each workload of the namespace?
  kubectl podrank

  # At which count does each pod of the Deployment web go? And one of them?
  kubectl podrank deploy/web
  kubectl podrank pod/web-7f6b9d5c48-hq8zt

  # Which pods would go if the Deployment web had 3 replicas?
  kubectl podrank deploy/web --replicas 3

  # How does its rollout go on?
  kubectl podrank deploy/web --rollout

  # Print the names of the certain victims, for another command
  kubectl podrank deploy/web --replicas 3 -o name

  # Without a cluster: read what kubectl printed
  kubectl get pods,replicasets,deployments -o json > dump.json
  kubectl podrank deploy/web --replicas 3 -f dump.json

  # Why does a StatefulSet not scale down?
  kubectl podrank sts/db --replicas 3

  # Which pods of a Job would go?
  kubectl podrank job/import --parallelism 2

  # And of an elastic Indexed Job, whose completions and parallelism change together?
  kubectl podrank job/train --completions 3 --parallelism 3

  # Which pods does the next sync of a DaemonSet delete?
  kubectl podrank ds/agent

  # Scale one ReplicaSet of a Deployment alone
  kubectl podrank rs/web-7f6b9d5c48 --replicas 3";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The answer: which pods go, and why, in a few words
    Table,
    /// All pods in the order, with everything that the rules compare
    Wide,
    /// Everything, for programs
    Json,
    /// The same as YAML
    Yaml,
    /// The answer with at most ten rows, to paste into a channel or an issue
    #[value(alias = "md")]
    Markdown,
    /// pod/NAME of each certain victim, for another command
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// What kube-controller-manager does; its list order decides about contested pods
    Kubernetes,
    /// podrank's total order, in which the pods alone decide
    Total,
}

pub(super) fn replicas(text: &str) -> Result<Replicas, String> {
    text.parse()
}

/// A number of pods, at most the largest that Kubernetes stores.
pub(super) fn pod_count() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(0..=i32::MAX.into())
}

pub(super) fn gate(text: &str) -> Result<(Gate, bool), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=true or NAME=false")?;
    let (_, gate) = GATES.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        format!("unknown feature gate `{name}`: use {}", GATES.map(|(name, _)| name).join(", "))
    })?;
    Ok((*gate, on_or_off(value)?))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "write it as in 2026-03-10T12:00:00Z".to_owned())
}

/// Two durations, or one for both.
fn within(text: &str) -> Result<Within, String> {
    let (before, after) = text.split_once(',').unwrap_or((text, text));
    let duration = |text: &str| {
        let duration: SignedDuration =
            text.parse().map_err(|_| format!("`{text}` is not a duration such as 5s"))?;
        let duration = Duration::try_from(duration).map_err(|_| format!("`{text}` is negative"))?;
        let most = Duration::from_secs(600);
        if duration > most { Err(format!("`{text}` is more than 10m")) } else { Ok(duration) }
    };
    Ok(Within { before: duration(before)?, after: duration(after)? })
}

fn on_or_off(value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| format!("expected true or false, not `{value}`"))
}

/// A gate of the order, or of the controllers that delete pods themselves.
#[derive(Clone, Copy, Debug)]
enum AnyGate {
    Order(Gate),
    Controller(ControllerGate),
}

/// A gate, its value, and both as they were typed.
#[derive(Clone, Debug)]
struct GivenGate(AnyGate, bool, String);

fn any_gate(text: &str) -> Result<GivenGate, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=true or NAME=false")?;
    if let Some((_, gate)) = STATEFUL_SET_GATES.iter().find(|(known, _)| *known == name) {
        return Ok(GivenGate(AnyGate::Controller(*gate), on_or_off(value)?, text.to_owned()));
    }
    match gate(text) {
        Ok((gate, value)) => Ok(GivenGate(AnyGate::Order(gate), value, text.to_owned())),
        Err(error) if error.starts_with("unknown") => {
            Err(format!("{error}, {}", STATEFUL_SET_GATES.map(|(name, _)| name).join(", ")))
        }
        Err(error) => Err(error),
    }
}

impl PreviewArgs {
    /// What is wrong with the flags together.
    pub(crate) fn conflict(&self) -> Option<&'static str> {
        let wants_proposal = self.gates().0.prefer_for_scale_down && self.order == OrderName::Kubernetes;
        wants_proposal.then_some("no release of Kubernetes has PreferForScaleDown: use it with --order total")
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

    /// The flags that name the file, if one is read: for commands that are printed.
    pub(crate) fn of_file(&self) -> String {
        let name = |file: &PathBuf| format!(" -f {}", quoted(&file.to_string_lossy()));
        self.filename.as_ref().map_or_else(String::new, name)
    }

    /// The same flags, and all others besides the count that change an answer: for commands that ask more about the same.
    pub(crate) fn of_file_and_decision(&self) -> String {
        let within = |within: Within| {
            let [before, after] = [within.before, within.after].map(|time| time.as_secs_f64());
            format!("--within {before}s,{after}s")
        };
        let gates: Vec<_> = self.feature_gates.iter().map(|GivenGate(.., text)| text.as_str()).collect();
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
            "this output is about one count: add --replicas N, or --rollout to see how a rollout goes on, or for a Job \
             --parallelism N, --completions N or --suspend",
        )
    }

    /// Kubernetes' defaults with the changes that are asked for.
    fn gates(&self) -> (FeatureGates, ControllerGates) {
        let (mut order, mut controllers) = (FeatureGates::KUBERNETES, ControllerGates::default());
        for GivenGate(gate, value, _) in &self.feature_gates {
            match gate {
                AnyGate::Order(gate) => *gate(&mut order) = *value,
                AnyGate::Controller(gate) => *gate(&mut controllers) = Some(*value),
            }
        }
        (order, controllers)
    }

    /// What the user asks about.
    pub(crate) fn subjects(&self) -> Result<Vec<Subject>, String> {
        Subject::of_words(&self.words)
    }

    pub(crate) fn options(&self, clock: Timestamp) -> Options {
        let mut options = Options::new(0, self.now.unwrap_or(clock));
        options.now_source = self.now.map_or(NowSource::Clock, |_| NowSource::Given);
        options.within =
            self.within.unwrap_or(if self.now.is_some() { Within::default() } else { Within::USUAL });
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
        (options.gates, options.controller_gates) = self.gates();
        options.release = self.kubernetes_version;
        options.partial = self.partial;
        options
    }
}
