//! Completions that only the cluster knows: names of workloads, namespaces and contexts. Runs kubectl.

use crate::args::connection::Connection;
use crate::args::{PROGRAM, command};
use crate::kubectl::Kubectl;
use clap::FromArgMatches;
use podrank_preview::WorkloadKind;
use std::iter;

/// What to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'w> {
    /// The name of a workload of the type that this word names, or of any if it is empty.
    Workload(&'w str),
    Namespace,
    Context,
}

/// Asks the cluster that the words so far name. Returns nothing if it does not answer, or if the type is unknown.
pub(crate) fn ask(wanted: Wanted<'_>, words: &[String]) -> Vec<String> {
    let words = iter::once(PROGRAM).chain(words.iter().map(String::as_str));
    let matches = command().ignore_errors(true).try_get_matches_from(words);
    let connection = matches.as_ref().ok().and_then(|matches| Connection::from_arg_matches(matches).ok());
    let kubectl = Kubectl::new(connection.unwrap_or_default().arguments());
    let flag = |name| matches.as_ref().ok()?.get_one::<String>(name).cloned();
    match wanted {
        Wanted::Workload(text) => {
            let resources = if text.is_empty() {
                WorkloadKind::ALL.map(WorkloadKind::resource).join(",")
            } else {
                let Ok(kind) = WorkloadKind::of_type(text) else { return Vec::new() };
                kind.resource()
            };
            let namespace = flag("namespace").map(|namespace| format!("--namespace={namespace}"));
            let words: Vec<_> = iter::once(&*resources).chain(namespace.as_deref()).collect();
            kubectl.names(&words).into_iter().map(|workload| workload.name).collect()
        }
        Wanted::Namespace => kubectl.lines(&["namespaces"]).iter().filter_map(|line| bare(line)).collect(),
        Wanted::Context => kubectl.contexts(),
    }
}

/// The name in `namespace/NAME`.
fn bare(line: &str) -> Option<String> {
    line.split_once('/').map(|(_, name)| name.to_owned())
}
