//! The flags.

// The doc comments are what --help prints.
#![expect(clippy::doc_markdown)]

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum, ValueHint};
use jiff::Timestamp;
use podrank::FeatureGates;
use podrank_preview::gates::{GATES, Gate};
use podrank_preview::{Options, Order, SetName};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Show which pods go first when a ReplicaSet or ReplicationController scales down, and why.
///
/// Reads what kubectl prints and touches no cluster.
#[derive(Debug, Parser)]
#[command(version, bin_name = "kubectl podrank", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What `kubectl get pods,replicasets -o json` (or `-o yaml`) printed; `-` is standard input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) filename: PathBuf,

    /// The count to scale this one set to
    #[arg(long, value_name = "N")]
    replicas: u32,

    /// Which set: NAME, rs/NAME or rc/NAME; needed if the input holds pods of several
    #[arg(long, value_name = "NAME")]
    replicaset: Option<SetName>,

    /// The set's namespace
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// The moment to decide at, such as 2026-03-10T12:00:00Z [default: the clock]
    #[arg(long, value_name = "RFC3339")]
    now: Option<Timestamp>,

    /// Whose decision to show
    #[arg(long, value_name = "ORDER", default_value = "kubernetes")]
    order: OrderName,

    /// Feature gates that differ from Kubernetes' defaults: PodDeletionCost, LogarithmicScaleDown,
    /// PreferForScaleDown
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = gate)]
    feature_gates: Vec<(Gate, bool)>,

    /// Show only the first N deletions, as one sync of the controller does (upstream 500)
    #[arg(long, value_name = "N")]
    burst_replicas: Option<NonZeroU32>,

    /// How to print
    #[arg(short, long, value_name = "FORM", default_value = "table")]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "\
Examples:
  # Which pods would go if the one set here had 3 replicas?
  kubectl get pods,replicasets -l app=web -o json | kubectl podrank --replicas 3 -f -

  # Pick the set in a whole namespace, at a given moment
  kubectl get pods,replicasets -o json > dump.json
  kubectl podrank -f dump.json --replicaset rs/web-7f6b9d5c48 --replicas 3 --now 2026-03-10T12:00:00Z

  # The victims as names for another command
  kubectl podrank -f dump.json --replicaset web-7f6b9d5c48 --replicas 3 -o name";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Victims first, with the rule that settles each pod
    Table,
    /// The table with all that the rules look at
    Wide,
    /// For programs
    Json,
    /// `pod/NAME` of the (certain) victims, for another command
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderName {
    /// kube-controller-manager's: pods that it may take or leave, by the order of its list, are contested
    Kubernetes,
    /// podrank's total order: the pods alone decide
    Total,
}

fn gate(text: &str) -> Result<(Gate, bool), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=true or NAME=false")?;
    let (_, gate) = GATES.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        format!("unknown feature gate `{name}`; known are {}", GATES.map(|(name, _)| name).join(", "))
    })?;
    let value = value.parse().map_err(|_| format!("`{value}` is neither true nor false"))?;
    Ok((*gate, value))
}

impl Args {
    /// The flags of this call. Ends the program if they are wrong.
    pub(crate) fn read() -> Self {
        let args = Self::parse();
        if args.order == OrderName::Kubernetes && args.options().gates.prefer_for_scale_down {
            let text = "no release of Kubernetes has PreferForScaleDown: it goes with --order total";
            Self::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
        args
    }

    pub(crate) fn options(&self) -> Options {
        let mut gates = FeatureGates::KUBERNETES;
        for &(gate, value) in &self.feature_gates {
            *gate(&mut gates) = value;
        }
        Options {
            replicas: self.replicas,
            set: self.replicaset.clone(),
            namespace: self.namespace.clone(),
            now: self.now.unwrap_or_else(Timestamp::now),
            order: match self.order {
                OrderName::Kubernetes => Order::Kubernetes,
                OrderName::Total => Order::Total,
            },
            gates,
            burst_replicas: self.burst_replicas,
        }
    }
}
