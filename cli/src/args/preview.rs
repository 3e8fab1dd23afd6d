//! The flags of the preview, and the options they stand for. Reads the clock if `--now` does not give the time.

use clap::{Parser, ValueEnum, ValueHint};
use jiff::Timestamp;
use podrank::FeatureGates;
use podrank_preview::gates::{GATES, Gate};
use podrank_preview::{Options, Order, SetName};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Show which pods go first when a ReplicaSet or ReplicationController scales down, and why
///
/// Reads what kubectl printed. Does not connect to a cluster.
#[derive(Debug, Parser)]
#[command(name = super::PROGRAM, version, bin_name = "kubectl podrank", after_help = EXAMPLES)]
pub(crate) struct PreviewArgs {
    /// Output of `kubectl get pods,replicasets,deployments -o json` or `-o yaml`; `-` for standard input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) filename: PathBuf,

    /// Desired replicas of the selected ReplicaSet
    #[arg(long, value_name = "N")]
    replicas: u32,

    /// Set to scale: NAME, rs/NAME or rc/NAME; required if the input has pods of several sets
    #[arg(long, value_name = "NAME")]
    replicaset: Option<SetName>,

    /// Namespace of the set
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Evaluate pod ages at this time, such as 2026-03-10T12:00:00Z [default: current time]
    #[arg(long, value_name = "RFC3339")]
    now: Option<Timestamp>,

    /// Whose decision to show
    #[arg(long, value_name = "ORDER", default_value = "kubernetes")]
    order: OrderName,

    /// Feature gates that differ from Kubernetes' defaults: PodDeletionCost, LogarithmicScaleDown,
    /// PreferForScaleDown
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = gate)]
    feature_gates: Vec<(Gate, bool)>,

    /// Most deletions to show: Kubernetes makes 500 in one sync
    #[arg(long, value_name = "N")]
    burst_replicas: Option<NonZeroU32>,

    /// Accept an incomplete input: show what is missing as notes
    #[arg(long)]
    partial: bool,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  # Which pods would go if the only set with pods had 3 replicas?
  kubectl get pods,replicasets,deployments -l app=web -o json | kubectl podrank --replicas 3 -f -

  # Choose a set from a whole namespace, and evaluate ages at a given time
  kubectl get pods,replicasets,deployments -o json > dump.json
  kubectl podrank -f dump.json --replicaset rs/web-7f6b9d5c48 --replicas 3 --now 2026-03-10T12:00:00Z

  # Print the names of the certain victims, for another command
  kubectl podrank -f dump.json --replicaset web-7f6b9d5c48 --replicas 3 -o name";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Victims first, with the rule that decides about each pod
    Table,
    /// The table, with everything that the rules compare
    Wide,
    /// Everything, for programs
    Json,
    /// pod/NAME of each certain victim, for another command
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// kube-controller-manager's: contested pods are those that its list order decides about
    Kubernetes,
    /// podrank's total order, in which the pods alone decide
    Total,
}

fn gate(text: &str) -> Result<(Gate, bool), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=true or NAME=false")?;
    let (_, gate) = GATES.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        format!("unknown feature gate `{name}`: use {}", GATES.map(|(name, _)| name).join(", "))
    })?;
    let value = value.parse().map_err(|_| format!("expected true or false, not `{value}`"))?;
    Ok((*gate, value))
}

impl PreviewArgs {
    /// What is wrong with the flags together.
    pub(crate) fn conflict(&self) -> Option<&'static str> {
        let wants_proposal = self.gates().prefer_for_scale_down && self.order == OrderName::Kubernetes;
        wants_proposal.then_some("no release of Kubernetes has PreferForScaleDown: use it with --order total")
    }

    fn gates(&self) -> FeatureGates {
        let mut gates = FeatureGates::KUBERNETES;
        for &(gate, value) in &self.feature_gates {
            *gate(&mut gates) = value;
        }
        gates
    }

    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new(self.replicas, self.now.unwrap_or_else(Timestamp::now));
        options.set.clone_from(&self.replicaset);
        options.namespace.clone_from(&self.namespace);
        options.order = match self.order {
            OrderName::Kubernetes => Order::Kubernetes,
            OrderName::Total => Order::Total,
        };
        options.gates = self.gates();
        options.burst_replicas = self.burst_replicas;
        options.partial = self.partial;
        options
    }
}
