//! The decisions of an earlier commit, frozen: a change of the code that is to change no answer changes none of these.
//!
//! Of each case, `answers.txt.gz` holds a hash of the answer in numbers: of each pod, by UID, the verdict, the rule and the
//! probability, and how many pods are deleted. `DECISIONS=FILE cargo test -p podrank-predict decisions::` writes the answers
//! themselves: run it on both commits, and compare the two files. `DECISIONS=write` freezes the present answers.
//!
//! Only this file depends on the code that it guards: names of verdicts and rules may change if these tables change with them.

mod cases;
mod random;

use cases::{Case, Question, Subject, cases};
use flate2::{Compression, GzBuilder, read::GzDecoder};
use podrank_predict::gates::{GATES, STATEFUL_SET_GATES};
use podrank_predict::{
    DeletionOrder, Error, Options, Order, Overview, PodAnswer, Preview, Probability, Replicas, Snapshot,
    Verdict, Window, WorkloadName, deletion_order, deletion_order_of_pod, overview, preview_workload,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decisions/answers.txt.gz");

/// The rules by number. New ones are added at the end.
#[rustfmt::skip]
const RULES: [&str; 90] = [
    "unassigned", "phase", "not-ready", "tier", "deletion-cost", "rank", "preferred", "ready-time",
    "restarts", "sidecar-restarts", "creation-time", "uid", "kept", "not-wanted", "succeeded",
    "failed", "surplus", "old-not-ready", "replaced", "no-node", "old-unavailable",
    "old-available", "awaits-new", "not-startable", "not-startable-available", "unsettled",
    "on-delete", "after-first-part", "node-missing", "next-sync", "in-range", "terminating",
    "set-deleted", "recreate-off", "no-ordinal", "below-partition", "out-of-range", "finished",
    "old", "twins", "after-creation", "waits-for-missing", "waits-for-finished",
    "waits-for-termination", "waits-for-running", "waits-for-ready", "waits-for-available",
    "waits-for-either", "one-at-a-time", "after-scaling", "budget", "after-recreate", "suspended",
    "ending", "pod-failure-policy", "backoff-limit", "deadline", "max-failed-indexes",
    "failed-indexes", "success-policy", "no-index", "beyond-completions", "duplicate", "untouched",
    "only-active", "saturated", "share", "cut-share", "share-and-leftover", "used-up", "no-share",
    "not-rolling", "at-count", "to-count", "grows", "no-surge", "after-new-set", "unhealthy",
    "available", "unhealthy-and-available", "held-back", "recreated", "waits", "rejected", "lags",
    "not-reached", "orphaned", "being-deleted", "does-nothing", "foreground-deletion",
];

/// A pod that waits was `blocked` if it waits for another pod, and otherwise `later`.
fn verdict(pod: &PodAnswer<'_>) -> u32 {
    match pod.verdict {
        Verdict::Deleted => 0,
        Verdict::Possible => 1,
        Verdict::Waiting if pod.waits_for().is_some() => 2,
        Verdict::Waiting => 3,
        Verdict::Kept => 4,
    }
}

fn rule(rule: Option<&str>) -> usize {
    rule.map_or(0, |rule| {
        1 + RULES.iter().position(|name| *name == rule).unwrap_or_else(|| panic!("{rule} has no number"))
    })
}

/// Least, most and error, in ten-thousandths.
fn probability(probability: Option<Probability>) -> String {
    let number = |probability: f64| format!("{:.0}", probability * 1e4);
    probability.map_or("-".to_owned(), |probability| {
        [probability.min, probability.max.unwrap_or(probability.min), probability.error].map(number).join("/")
    })
}

fn options(question: &Question) -> Options {
    let mut options = Options::new(0, question.now.parse().expect("a time"));
    options.replicas = None;
    options.parallelism = question.parallelism;
    options.completions = question.completions;
    options.suspend = question.suspend;
    options.partial = question.is_partial;
    options.probabilities = question.has_probabilities;
    if question.is_total_order {
        options.order = Order::Total;
    }
    if question.is_window {
        options.within = Window::USUAL;
    }
    for (bit, (_, gate)) in GATES.iter().enumerate() {
        let changed = question.changed_gates >> bit & 1 == 1;
        *gate(&mut options.gates) ^= changed;
    }
    for ((_, gate), value) in STATEFUL_SET_GATES.iter().zip(question.stateful_set_gates) {
        *gate(&mut options.controller_gates) = value;
    }
    options
}

/// The answer in numbers.
fn answer(case: &Case) -> Result<String, Error> {
    let input = Snapshot::read(case.input.as_bytes())?;
    let (question, mut options) = (&case.question, options(&case.question));
    let replicas = question.replicas.as_deref().map(|it| it.parse::<Replicas>().expect("replicas"));
    let mut pod = None;
    match &question.subject {
        Subject::None => {}
        Subject::All => {
            return Ok(of_overview(&overview(&input, &options, replicas, false, |_| true)));
        }
        Subject::Workload(name) => options.workload = Some(name.parse().expect("a name")),
        Subject::Pod(name) => {
            let (namespace, workloads) = input.workloads_of_pod(name, None)?;
            let has = |name: &&WorkloadName| input.workload(name).is_ok_and(|found| found.is_some());
            options.workload = workloads.iter().rev().find(has).or(workloads.first()).cloned();
            options.namespace = Some(namespace);
            pod = Some(name);
        }
    }
    if let Some(replicas) = replicas {
        options.replicas = Some(input.count(&options, replicas)?);
    }
    match pod {
        _ if !question.is_order || !input.has_count(&options)? => {
            Ok(of_preview(&preview_workload(&input, &options)?))
        }
        Some(pod) => Ok(of_order(&deletion_order_of_pod(&input, &options, pod)?)),
        None => Ok(of_order(&deletion_order(&input, &options)?)),
    }
}

fn of_preview(preview: &Preview<'_>) -> String {
    let deletions = preview.deletions();
    let pods = preview.pods().map(|pod| {
        let (verdict, rule) = (verdict(pod), rule(pod.reason.rule()));
        format!("{} {verdict} {rule} {}", pod.uid(), probability(pod.probability))
    });
    listed(format!("{}-{}", deletions.min, deletions.max), pods)
}

fn of_order(order: &DeletionOrder<'_>) -> String {
    let count = |count: Option<u32>| count.map_or("-".to_owned(), |count| count.to_string());
    let pods = order.pods().map(|pod| {
        let (verdict, rule) = (verdict(&pod.pod), rule(pod.rule()));
        let (possible_at, deleted_at) = (count(pod.possible_at), count(pod.deleted_at));
        format!(
            "{} {verdict} {rule} {} {possible_at} {deleted_at}",
            pod.pod.uid(),
            probability(pod.pod.probability)
        )
    });
    listed("order".to_owned(), pods)
}

fn of_overview(all: &Overview<'_>) -> String {
    let workloads = all.workloads.iter().map(|line| {
        let (name, next, deletions) = (line.workload.name, line.next.unwrap_or("-"), line.delete);
        let error = if line.error.is_some() { " error" } else { "" };
        format!("{name} {} {}-{} {next}{error}", line.active, deletions.min, deletions.max)
    });
    listed("overview".to_owned(), workloads)
}

/// By UID, because the place in a list is none of the decision.
fn listed(head: String, parts: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<_> = parts.collect();
    parts.sort();
    parts.insert(0, head);
    parts.join("; ")
}

/// FNV-1a, which no library can change.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn frozen() -> BTreeMap<String, String> {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(FILE).expect("the answers")).read_to_string(&mut text).expect("gzip");
    text.lines()
        .map(|line| line.rsplit_once(' ').expect("a name and a hash"))
        .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
        .collect()
}

fn write(answers: &BTreeMap<String, String>) {
    let lines = answers.iter().fold(String::new(), |mut lines, (name, answer)| {
        writeln!(lines, "{name} {:08x}", hash(answer)).expect("a string");
        lines
    });
    let mut file = GzBuilder::new().write(fs::File::create(FILE).expect("a file"), Compression::best());
    file.write_all(lines.as_bytes()).expect("gzip");
    file.finish().expect("gzip");
}

#[test]
fn no_decision_has_changed() {
    // Half of the cases each, on the two processors that there are at least.
    let (cases, parts) = (cases(), 2);
    let answered = |part: usize| {
        let own = cases.iter().skip(part).step_by(parts);
        own.map(|case| (case.name.clone(), answer(case).unwrap_or_else(|_| "no answer".to_owned())))
            .collect::<Vec<_>>()
    };
    let answers: BTreeMap<_, _> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..parts).map(|part| scope.spawn(move || answered(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("answers")).collect()
    });
    assert_eq!(answers.len(), cases.len(), "two cases have the same name");
    match std::env::var("DECISIONS") {
        Ok(word) if word == "write" => write(&answers),
        Ok(file) => {
            let lines: Vec<_> = answers.iter().map(|(name, answer)| format!("{name}: {answer}\n")).collect();
            fs::write(file, lines.concat()).expect("a file");
        }
        Err(_) => {}
    }
    let frozen = frozen();
    let mut wrong: Vec<_> = answers
        .iter()
        .filter(|(name, answer)| frozen.get(*name).is_none_or(|it| *it != format!("{:08x}", hash(answer))))
        .map(|(name, answer)| format!("{name}: {answer}"))
        .collect();
    wrong.extend(
        frozen.keys().filter(|name| !answers.contains_key(*name)).map(|name| format!("{name} has gone")),
    );
    assert!(
        wrong.is_empty(),
        "{} decisions are others:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    let distinct = answers.values().collect::<BTreeSet<_>>().len();
    assert!(
        answers.len() > 7_500 && distinct > 4_500,
        "{distinct} of {} answers are distinct",
        answers.len()
    );
}
