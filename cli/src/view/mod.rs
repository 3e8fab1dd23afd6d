//! An answer as sentences and tables, for a terminal, a page or a document: each view makes them from an answer. No view reads
//! anything, and none knows where the tables are shown.

pub mod answer;
pub mod order;
pub mod overview;
pub mod plan;
mod remaining;
pub mod wide;

use podrank_predict::{
    CountRange, Details, Note, NoteCode, Order, Owner, Probability, Reason, Verdict, WorkloadKind,
    WorkloadRef, count, is,
};
use std::borrow::Cow;

/// The most rows of a table that is to be pasted.
const MOST_IN_MARKDOWN: usize = 10;

/// An answer: sentences, and then rows in columns.
#[derive(Debug, Default)]
pub struct Table {
    /// Sentences before the rows.
    pub sentences: Vec<String>,
    /// The names of the columns.
    pub header: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Sentences after the rows.
    pub below: Vec<String>,
    /// The columns that a narrow terminal does without, the first one first.
    pub optional: Vec<&'static str>,
    /// Whether the last column is rather cut than done without.
    pub is_cut: bool,
    /// The rows before which a line is drawn.
    pub ruled: Vec<usize>,
    /// The `ReplicaSets` whose names have a colour each. Empty unless there are several.
    pub sets: Vec<String>,
}

/// A row.
#[derive(Debug)]
pub struct Row {
    /// What becomes of those that it is about.
    pub verdict: Verdict,
    /// A text for each column.
    pub cells: Vec<String>,
}

impl Row {
    /// In an order that Kubernetes does not follow, nothing is said to be deleted.
    fn new(verdict: Verdict, order: Order, cells: Vec<String>) -> Self {
        Self { verdict: if order == Order::Kubernetes { verdict } else { Verdict::Kept }, cells }
    }
}

impl Table {
    /// An answer in sentences alone.
    pub fn of_sentences(sentences: impl IntoIterator<Item = String>) -> Self {
        Self { sentences: sentences.into_iter().collect(), ..Self::default() }
    }

    /// The answer to paste into a page or a channel, with the first of the rows.
    pub fn markdown(&self) -> String {
        let [first, rest @ ..] = &*self.sentences else { return String::new() };
        let mut text = format!("**{}**\n", plain(first));
        text.extend(rest.iter().map(|sentence| format!("{}\n", plain(sentence))));
        let cell = |text: &str| plain(text).replace('|', "\\|");
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        if !self.rows.is_empty() {
            text.push('\n');
            text += &line(self.header.iter().map(|name| name.to_lowercase()).collect());
            text += &line(vec!["---".to_owned(); self.header.len()]);
        }
        for Row { cells, .. } in self.rows.iter().take(MOST_IN_MARKDOWN) {
            text += &line(cells.iter().map(|text| cell(text)).collect());
        }
        let more = self.rows.len().saturating_sub(MOST_IN_MARKDOWN);
        if more > 0 {
            text.extend(["\n… and ", &more.to_string(), " more\n"]);
        }
        text.extend(self.below.iter().map(|sentence| format!("\n{}\n", plain(sentence))));
        text
    }
}

/// The flag that names a namespace, unless it is the usual one.
fn namespace_flag(namespace: &str) -> String {
    if namespace == "default" { String::new() } else { format!(" -n {namespace}") }
}

/// Returns `text` on one line and as a reader should see it: hidden characters, such as those of a terminal's escape codes and those that
/// change the order of text, become escapes. No Kubernetes name has them, but a file may.
pub fn plain(text: &str) -> Cow<'_, str> {
    plain_but(text, &[])
}

/// The same, but these characters stay as they are.
pub fn plain_but<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    podrank_predict::escaped(text, kept, |char| char.escape_default().to_string())
}

/// The workload as people type it: `deploy/web`, with its namespace unless that is `default`.
fn named(workload: WorkloadRef<'_>, owner: Option<Owner<'_>>) -> String {
    let WorkloadRef { namespace, kind, name } = workload;
    let owner = owner.map_or_else(String::new, |owner| format!(" of {} {}", owner.kind, owner.name));
    let place = if namespace == "default" { String::new() } else { format!(" in namespace {namespace}") };
    format!("{}/{name}{owner}{place}", kind.short())
}

/// That an answer is about the other order.
fn in_order(order: Order) -> &'static str {
    match order {
        Order::Kubernetes => "",
        Order::Total => " (in podrank's total order, which Kubernetes does not follow)",
    }
}

/// How many pods are deleted, if that is open: `2 to 3`, or `up to 3` if perhaps none.
fn amount(delete: CountRange) -> String {
    match delete {
        CountRange { min: 0, max: 1.. } => format!("up to {}", delete.max),
        _ => delete.text(),
    }
}

/// That a workload has no pods, if nothing says that the input lacks some.
fn no_pods(notes: &[Note]) -> &'static str {
    if notes.iter().any(|note| note.code == NoteCode::Incomplete) {
        "none of its pods are listed"
    } else {
        "it has no pods"
    }
}

/// What else deletes a pod of such a workload, kept or deleted for this reason.
fn also_deleted(kind: WorkloadKind, notes: &[Note], reason: &Reason<'_>) -> Option<&'static str> {
    match kind {
        // Paused, or without its ReplicaSets.
        WorkloadKind::Deployment if notes.iter().any(|note| note.code == NoteCode::ControllerIdle) => None,
        WorkloadKind::Deployment => Some("A new pod template replaces it, too, whatever the replica count."),
        WorkloadKind::StatefulSet if reason.outlasts_template() => {
            Some("A new pod template does not replace it, by the update strategy.")
        }
        WorkloadKind::StatefulSet => Some("A new pod template replaces it, too, in the order of ordinals."),
        WorkloadKind::DaemonSet => {
            Some("It is also deleted if its node is removed or no longer fits the DaemonSet.")
        }
        WorkloadKind::Job => Some("It is also deleted when the Job completes, fails or is suspended."),
        WorkloadKind::ReplicaSet | WorkloadKind::ReplicationController => None,
    }
}

const COST: &str = "COST";

/// What the rules read of a pod, a column each.
const READ: [&str; 4] = ["READY", "AGE", COST, "RESTARTS"];

/// The cells of [`READ`].
fn read(details: &Details) -> [String; 4] {
    let ready = match details {
        Details { is_ready: true, ready_age, .. } => ready_age.as_deref().unwrap_or("yes"),
        Details { phase: "Running", .. } => "no",
        Details { phase, .. } => phase,
    };
    let age = details.age.as_deref().unwrap_or("-");
    [ready.to_owned(), age.to_owned(), details.deletion_cost.to_string(), details.restarts.to_string()]
}

/// A verdict in a word, with the probability if chance decides and that is known: `possible 33%`.
fn verdict_cell(verdict: Verdict, probability: Option<Probability>) -> String {
    match probability.filter(|_| verdict == Verdict::Possible) {
        Some(probability) => format!("{} {}", verdict.name(), probability.text()),
        None => verdict.name().to_owned(),
    }
}
