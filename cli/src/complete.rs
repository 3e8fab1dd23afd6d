//! Completions that only the cluster knows: names of workloads, pods, namespaces and contexts. Runs kubectl.

use crate::args::connection::Connection;
use crate::args::steer::POD_TYPES;
use crate::args::{PROGRAM, command};
use crate::kubectl::Kubectl;
use clap::FromArgMatches;
use podrank_predict::WorkloadKind;
use std::iter;

/// What to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'w> {
    /// The name of a workload of the type that this word names, or of any if it is empty.
    Workload(&'w str),
    Pod,
    Namespace,
    Context,
}

/// Asks the cluster that the words so far name. Returns nothing if it does not answer, or if the type is unknown.
pub(crate) fn ask(wanted: Wanted<'_>, words: &[String]) -> Vec<String> {
    let line = iter::once(PROGRAM).chain(words.iter().map(String::as_str));
    let matches = command().ignore_errors(true).try_get_matches_from(line).ok();
    let task = matches.as_ref().and_then(|matches| matches.subcommand());
    let matches = task.map(|(_, task)| task).or(matches.as_ref());
    let connection = matches.and_then(|matches| Connection::from_arg_matches(matches).ok());
    let kubectl = Kubectl::new(connection.unwrap_or_default().arguments());
    let namespace = matches.and_then(|matches| matches.try_get_one::<String>("namespace").ok()?.cloned());
    let namespace = namespace.map(|namespace| format!("--namespace={namespace}"));
    let within = |resources| iter::once(resources).chain(namespace.as_deref()).collect::<Vec<_>>();
    let bare = |line: &String| line.split_once('/').map(|(_, name)| name.to_owned());
    match wanted {
        Wanted::Workload(text) => {
            let resources = if POD_TYPES.contains(&text) {
                "pods".into()
            } else if text.is_empty() {
                let kinds = if task.is_none() { &WorkloadKind::ALL[..] } else { &WorkloadKind::WITH_COSTS };
                kinds.iter().map(|kind| kind.resource()).collect::<Vec<_>>().join(",")
            } else {
                let Ok(kind) = WorkloadKind::of_type(text, &WorkloadKind::ALL) else { return Vec::new() };
                kind.resource()
            };
            kubectl.lines(&within(&resources)).iter().filter_map(bare).collect()
        }
        // No pod is named twice.
        Wanted::Pod => {
            let pods = kubectl.lines(&within("pods"));
            pods.iter().filter_map(bare).filter(|pod| !words.contains(pod)).collect()
        }
        Wanted::Namespace => kubectl.lines(&["namespaces"]).iter().filter_map(bare).collect(),
        Wanted::Context => kubectl.lines_of(&["config", "get-contexts"]),
    }
}
