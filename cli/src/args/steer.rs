//! The flags of `scale`, `drop` and `undo`.

use super::connection::Connection;
use super::prefer_nodes::NodePreference;
use super::preview::{GivenGate, gate, order_gates};
use clap::{ArgMatches, Args, ValueEnum, ValueHint};
use podrank::FeatureGates;
use podrank_predict::plan::{ForeignCosts, Metric, PlanSize};
use podrank_predict::{Error, Replicas, Scalable, WorkloadKind, instead_of_node};
use std::path::PathBuf;
use std::time::Duration;

/// Scale down, and choose which pods Kubernetes deletes
///
/// Gives the selected pods lower deletion costs than all other pods. Waits until Kubernetes' controllers have seen the costs. Scales down.
/// Compares the deleted pods with the plan, by UID. Removes the remaining costs.
#[derive(Args, Debug)]
#[command(after_long_help = SCALE_EXAMPLES)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) target: Target,

    /// Replica count: absolute (5) or relative (-2, -30%)
    #[arg(long, value_name = "N", allow_hyphen_values = true, alias = "to")]
    pub(crate) replicas: Replicas,

    #[command(flatten)]
    pub(crate) preferences: Preferences,

    #[command(flatten)]
    pub(crate) how: How,
}

/// The workload to scale, in one word or two.
#[derive(Args, Debug)]
pub(crate) struct Target {
    /// Workload, such as deploy/web, rs/web or rollout/web
    #[arg(value_name = "TYPE/NAME", hide_short_help = true)]
    workload: String,

    /// The name, if the word before is only the type
    #[arg(value_name = "NAME", hide = true)]
    name: Option<String>,
}

/// Scale down by deleting exactly these pods
///
/// Lowers the replica count of their workload by the number of pods. The pods must belong to one Deployment, ReplicaSet,
/// ReplicationController or other owner of a ReplicaSet. Works like `scale`.
#[derive(Args, Debug)]
#[command(after_long_help = DROP_EXAMPLES)]
pub(crate) struct DropArgs {
    /// Pods to delete, as NAME or pod/NAME
    #[arg(value_name = "POD", required = true)]
    pub(crate) pods: Vec<String>,

    /// Also delete pods that Kubernetes deletes first, such as pods that aren't ready
    ///
    /// Kubernetes deletes these before any other pod, whatever their deletion costs.
    #[arg(long)]
    pub(crate) also: bool,

    #[command(flatten)]
    pub(crate) how: How,
}

/// Remove what an interrupted run left behind
///
/// Removes deletion costs, barrier pods and the lock of the run, and restores the costs that it overwrote. The lock of a killed run expires
/// after some minutes. With --force, you don't have to wait for that.
#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) target: Target,

    /// Namespace of the workload
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Stop a run that is still active, then undo it
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

const SCALE_EXAMPLES: &str = "\
Examples:
  # Show the plan, and what Kubernetes would delete without podrank
  kubectl podrank scale deploy/web --replicas 5 --prefer-nodes lifecycle=spot --dry-run

  # Delete pods on spot nodes first, and keep the zones balanced
  kubectl podrank scale deploy/web --replicas 5 --prefer-nodes lifecycle=spot \\
    --spread topology.kubernetes.io/zone

  # Delete idle pods first, by your own measure of load
  measure-load | kubectl podrank scale deploy/web --replicas 5 --by-value - --yes

  # Delete idle pods first, by a metric that an autoscaler could use
  kubectl podrank scale deploy/web --replicas 5 --lowest metric/active_sessions

  # Delete idle pods only, by what each pod writes about itself
  kubectl podrank scale deploy/web --replicas 5 --lowest annotation/example.com/sessions --only-idle";

const DROP_EXAMPLES: &str = "\
Examples:
  # Delete these two pods, and lower the replica count by two
  kubectl podrank drop web-7f6b9d5c48-hq8zt web-7f6b9d5c48-m9c4x";

/// The types by which kubectl knows a pod.
pub(crate) const POD_TYPES: [&str; 3] = ["pod", "pods", "po"];
/// The types by which kubectl knows a node.
pub(crate) const NODE_TYPES: [&str; 3] = ["node", "nodes", "no"];

/// The heading of the preferences.
pub(crate) const PREFERENCES: &str = "Which pods to delete first";

/// Which pods should be deleted. `--pod` counts first and `--spread` last, the others in the order given.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = PREFERENCES)]
pub(crate) struct Preferences {
    /// Pod to delete, as NAME or pod/NAME
    ///
    /// You can repeat it.
    #[arg(long, value_name = "NAME")]
    pub(crate) pod: Vec<String>,

    /// Pods on nodes with this label, name or taint
    ///
    /// Write KEY=VALUE, NAME, taint:KEY[=VALUE][:EFFECT] or condition:TYPE=STATUS. You can repeat it.
    #[arg(long, value_name = "NODES", alias = "node")]
    prefer_nodes: Vec<NodePreference>,

    /// Pods with these labels
    ///
    /// You can repeat it.
    #[arg(long, value_name = "SELECTOR")]
    prefer_pods: Vec<String>,

    /// Pods with the lowest values in this file, or -
    ///
    /// `-` is standard input. Each line has a pod and a number. Pods without a value come last.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, group = "values")]
    by_value: Option<PathBuf>,

    /// Pods with the lowest value, such as metric/NAME
    ///
    /// Write cpu, memory or metric/NAME, which podrank reads from the metrics APIs that HorizontalPodAutoscalers read, or annotation/KEY, an
    /// annotation that each pod has. At least half of the pods must have a value. Pods without a value come last.
    #[arg(long, value_name = "MEASURE", group = "values")]
    lowest: Option<Metric>,

    /// Delete no busy pod: scale down less if too few are idle
    ///
    /// A pod is busy if its value is above VALUE, which is 0 by default, or if it is ready and has no value.
    #[arg(long, value_name = "VALUE", num_args = 0..=1, require_equals = true, default_missing_value = "0", requires = "values", value_parser = finite, hide_short_help = true)]
    pub(crate) only_idle: Option<f64>,

    /// Pods that haven't been ready for minReadySeconds yet
    #[arg(long, hide_short_help = true)]
    not_available_first: bool,

    /// Pods whose deletion empties a node
    ///
    /// Starts with the nodes that need the fewest deletions. Pods in all namespaces count, except mirror pods and pods of DaemonSets. On by
    /// default with --prefer-nodes, unless you give --spread, too.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    empty_nodes: Option<bool>,

    /// Pods in the topology domain with the most pods
    ///
    /// Each value of the node label KEY, such as a zone, is a domain. Give the outermost label first.
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    spread: Vec<String>,

    /// The preferences in the order of the command line.
    #[arg(skip)]
    pub(crate) given: Vec<GivenPreference>,
}

/// A preference as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GivenPreference {
    Nodes(NodePreference),
    Pods(String),
    Values(PathBuf),
    Lowest(Metric),
    NotAvailable,
    /// Whether it was asked for. If not, what is not known of other pods is passed over.
    EmptyNodes {
        is_given: bool,
    },
    Spread(Vec<String>),
}

/// The heading of the options that few need.
const ADVANCED: &str = "Advanced";

/// How to do it.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(next_help_heading = "Execution")]
pub(crate) struct How {
    /// Namespace of the workload
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Show the plan and change nothing
    ///
    /// `client`, the default value, only shows the plan. `server` also lets the API server check each write.
    #[arg(long, value_name = "WHERE", hide_possible_values = true, num_args = 0..=1, default_missing_value = "client")]
    pub(crate) dry_run: Option<DryRun>,

    /// With --yes, continue without the lock if you may not use Leases
    ///
    /// Another run of podrank may then interfere.
    #[arg(long, hide_short_help = true, help_heading = ADVANCED)]
    pub(crate) no_lock: bool,

    /// Leave podrank's costs on the pods that are kept
    #[arg(long, hide_short_help = true, help_heading = ADVANCED)]
    pub(crate) keep_costs: bool,

    /// Deletion costs that other programs wrote: keep or override
    ///
    /// `keep` leaves them as they are, and they decide among pods that your preferences leave equal. `override` may replace the costs of
    /// pods to delete, and restores them if the pods are kept.
    #[arg(long, value_name = "MODE", default_value = "keep", value_parser = foreign_costs, hide_short_help = true)]
    foreign_costs: ForeignCosts,

    /// The same as --foreign-costs override
    #[arg(long, hide = true, conflicts_with = "foreign_costs")]
    force_conflicts: bool,

    /// Maximum time to wait, such as 30s or 5m
    ///
    /// It limits the wait for the barrier pod and the wait for the deletions. The lock lasts for twice this time for every 500 deletions, and a minute.
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration, hide_short_help = true)]
    pub(crate) timeout: Duration,

    /// Feature gates that differ from Kubernetes' defaults: PodDeletionCost, LogarithmicScaleDown
    #[arg(long, value_name = "NAME=BOOL", value_delimiter = ',', value_parser = gate, hide_short_help = true, help_heading = ADVANCED)]
    feature_gates: Vec<GivenGate>,

    /// table or json
    #[arg(
        help_heading = super::OUTPUT,
        short,
        long,
        value_name = "FORMAT",
        default_value = "table",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) output: SteerOutput,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    Client,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SteerOutput {
    /// What Kubernetes would delete without podrank, next to the plan
    Table,
    /// Everything, for programs
    Json,
}

/// A length of time as Go and kubectl write it: a number and ms, s, m or h.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("expected a number and ms, s, m or h, such as 30s".to_owned()),
    };
    let number: u32 = digits.parse().map_err(|_| "expected a whole number before the unit".to_owned())?;
    Ok(Duration::from_millis(milliseconds) * number)
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

fn foreign_costs(text: &str) -> Result<ForeignCosts, String> {
    match &*text.to_ascii_lowercase() {
        "keep" => Ok(ForeignCosts::Keep),
        "override" => Ok(ForeignCosts::Override),
        _ => Err("expected keep or override".to_owned()),
    }
}

impl Target {
    /// The workload that the user named.
    pub(crate) fn workload(&self) -> Result<Scalable, Error> {
        let words: Vec<_> = [&self.workload].into_iter().chain(&self.name).cloned().collect();
        Scalable::of_words(&words)
    }
}

impl ScaleArgs {
    /// Puts the preferences in the order of the command line, which clap knows.
    pub(super) fn read_order(&mut self, matches: &ArgMatches) {
        let preferences = &mut self.preferences;
        let flag = |is_given: bool, preference| if is_given { vec![preference] } else { Vec::new() };
        let keys = GivenPreference::Spread(preferences.spread.clone());
        let given = [
            ("prefer_nodes", preferences.prefer_nodes.iter().cloned().map(GivenPreference::Nodes).collect()),
            ("prefer_pods", preferences.prefer_pods.iter().cloned().map(GivenPreference::Pods).collect()),
            ("by_value", preferences.by_value.iter().cloned().map(GivenPreference::Values).collect()),
            ("lowest", preferences.lowest.iter().cloned().map(GivenPreference::Lowest).collect()),
            ("not_available_first", flag(preferences.not_available_first, GivenPreference::NotAvailable)),
            (
                "empty_nodes",
                flag(preferences.empty_nodes == Some(true), GivenPreference::EmptyNodes { is_given: true }),
            ),
            ("spread", flag(!preferences.spread.is_empty(), keys)),
        ];
        let placed =
            |(id, preferences): (_, Vec<_>)| matches.indices_of(id).into_iter().flatten().zip(preferences);
        let mut given: Vec<_> = given.into_iter().flat_map(placed).collect();
        given.sort_by_key(|(place, _)| *place);
        preferences.given = given.into_iter().map(|(_, preference)| preference).collect();
        if preferences.empty_nodes.is_none()
            && !preferences.prefer_nodes.is_empty()
            && preferences.spread.is_empty()
        {
            // That is what people mean.
            preferences.given.push(GivenPreference::EmptyNodes { is_given: false });
        }
    }
}

impl DropArgs {
    /// How many pods of a workload should stay.
    pub(crate) fn count(&self) -> PlanSize {
        if self.also { PlanSize::AllButNamedAndAhead } else { PlanSize::AllButNamed }
    }

    /// Returns an error for a word that names no pod, with the command that takes what it names.
    pub(super) fn check_names(&self) -> Result<(), Error> {
        let mut typed = self.pods.iter().filter_map(|word| Some((word, word.split_once('/')?)));
        let Some((word, (kind, name))) = typed.find(|(_, (kind, _))| !POD_TYPES.contains(kind)) else {
            return Ok(());
        };
        let error = Error::new(format!("{word} is not a pod"));
        Err(if NODE_TYPES.contains(&kind) {
            instead_of_node(error, name)
        } else if WorkloadKind::of_type(kind, &WorkloadKind::WITH_COSTS).is_ok() {
            error.advise(format!("Use: kubectl podrank scale {word} --replicas N"))
        } else {
            error.advise("Name pods as NAME or pod/NAME.")
        })
    }
}

impl How {
    pub(crate) fn foreign_costs(&self) -> ForeignCosts {
        if self.force_conflicts { ForeignCosts::Override } else { self.foreign_costs }
    }

    pub(crate) fn gates(&self) -> FeatureGates {
        order_gates(&self.feature_gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Task, command};

    fn task(words: &str) -> Result<Task, String> {
        let words = format!("kubectl-podrank {words}");
        let matches =
            command().try_get_matches_from(words.split_whitespace()).map_err(|error| error.to_string())?;
        match Args::from(&matches).map_err(|error| error.to_string())? {
            Args::Task(task) => Ok(task),
            Args::Preview(_) => Err("a preview".to_owned()),
        }
    }

    fn scale(words: &str) -> ScaleArgs {
        match task(&format!("scale deploy/web --replicas 3 {words}")) {
            Ok(Task::Scale(args)) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn preferences_are_in_the_order_of_the_command_line() {
        let implied = "EmptyNodes { is_given: false }";
        for (words, given) in [
            ("", ""),
            (
                "--prefer-nodes spot --prefer-pods idle --prefer-nodes=old",
                &*format!(r#"Nodes(Labels("spot")), Pods("idle"), Nodes(Labels("old")), {implied}"#),
            ),
            (
                "--prefer-nodes old --prefer-nodes spot",
                &format!(r#"Nodes(Labels("old")), Nodes(Labels("spot")), {implied}"#),
            ),
            ("--prefer-nodes spot --empty-nodes=false", r#"Nodes(Labels("spot"))"#),
            ("--prefer-nodes spot --spread zone", r#"Nodes(Labels("spot")), Spread(["zone"])"#),
            ("--empty-nodes --prefer-nodes spot", r#"EmptyNodes { is_given: true }, Nodes(Labels("spot"))"#),
            // Every key to spread by counts.
            ("--spread a --prefer-pods idle --spread b,c", r#"Spread(["a", "b", "c"]), Pods("idle")"#),
            ("--by-value - --pod a --not-available-first --pod b", r#"Values("-"), NotAvailable"#),
            ("--not-available-first --lowest metric/a", r#"NotAvailable, Lowest(Named("a"))"#),
        ] {
            assert_eq!(format!("{:?}", scale(words).preferences.given), format!("[{given}]"), "{words}");
        }
        assert_eq!(scale("--pod a --not-available-first --pod b").preferences.pod, ["a", "b"]);
    }

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("2m", 120), ("1h", 3600)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        // The longest does not overflow.
        assert_eq!(duration("4294967295h"), Ok(Duration::from_secs(4_294_967_295 * 3600)));
        for text in ["", "5", "s5", "5 s", "5d", "1m30s", "ms"] {
            assert!(duration(text).is_err(), "{text}");
        }
        for text in ["-5s", "1.5s", "4294967296s", "s"] {
            assert_eq!(duration(text), Err("expected a whole number before the unit".to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_asked_for_is_read() {
        let how = scale("").how;
        assert_eq!((how.yes, how.dry_run, how.no_lock), (false, None, false));
        assert_eq!((how.timeout, how.output), (Duration::from_secs(120), SteerOutput::Table));
        assert!(how.gates().pod_deletion_cost);
        let how = scale("-y --dry-run server --feature-gates PodDeletionCost=false").how;
        assert_eq!((how.yes, how.dry_run), (true, Some(DryRun::Server)));
        assert!(!how.gates().pod_deletion_cost);
        for wrong in [
            "scale --replicas 3",
            "scale sts/web --replicas 3",
            "scale web --replicas 3 --also",
            "scale web --replicas 3 --by eviction",
            "scale web --replicas 3 --timeout 5",
            "scale web --replicas 3 --barrier pod",
            "scale web --replicas 3 --feature-gates X=true",
            "drop",
            "drop --node worker-1",
            "drop web-a --replicas 3",
            "drop web-a --foreign-costs all",
            "drop web-a --foreign-costs follow",
            "drop web-a --exact",
            "scale web --replicas 3 --foreign-costs keep --force-conflicts",
            "drop web-a --prefer-pods idle",
            "undo sts/web",
            "undo web --yes",
        ] {
            assert!(task(wrong).is_err(), "{wrong}");
        }
        for (words, foreign_costs) in [
            ("", ForeignCosts::Keep),
            ("--foreign-costs keep", ForeignCosts::Keep),
            ("--foreign-costs Keep", ForeignCosts::Keep),
            ("--foreign-costs=OVERRIDE", ForeignCosts::Override),
            ("--force-conflicts", ForeignCosts::Override),
        ] {
            assert_eq!(scale(words).how.foreign_costs(), foreign_costs, "{words}");
        }
        let Ok(Task::Drop(args)) = task("drop web-a pod/web-b --also") else { panic!("a drop") };
        assert!(args.also && args.pods == ["web-a", "pod/web-b"]);
    }
}
