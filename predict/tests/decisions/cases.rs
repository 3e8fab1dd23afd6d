//! The cases: inputs with questions. Made without the code that they guard, and without its test tools.

use super::random;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors");

/// What a question is about.
#[derive(Clone, Debug, Default)]
pub(super) enum Subject {
    /// The only workload.
    #[default]
    None,
    /// Every workload.
    All,
    Workload(String),
    Pod(String),
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(super) struct Question {
    pub(super) subject: Subject,
    pub(super) now: String,
    pub(super) replicas: Option<String>,
    pub(super) parallelism: Option<u32>,
    pub(super) completions: Option<u32>,
    pub(super) suspend: bool,
    pub(super) is_partial: bool,
    pub(super) is_total_order: bool,
    /// Whether the controller may decide a little earlier or later.
    pub(super) is_window: bool,
    /// Whether it asks for the deletion order, if the workload has one, and not for what is deleted.
    pub(super) is_order: bool,
    pub(super) has_probabilities: bool,
    /// Bits, of `PodDeletionCost`, `LogarithmicScaleDown` and `PreferForScaleDown`.
    pub(super) changed_gates: u32,
    /// `MaxUnavailableStatefulSet` and `StatefulSetRecreateStrategy`.
    pub(super) stateful_set_gates: [Option<bool>; 2],
}

impl Question {
    pub(super) fn at(now: &str) -> Self {
        Self { now: now.to_owned(), has_probabilities: true, ..Self::default() }
    }
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) question: Question,
    pub(super) input: String,
}

fn unzipped(path: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).expect("a file")).read_to_string(&mut text).expect("gzip");
    text
}

/// The objects that were at hand when this was frozen.
pub(super) fn inputs() -> BTreeMap<String, String> {
    serde_json::from_str(&unzipped(&format!("{TESTS}/decisions/inputs.json.gz"))).expect("JSON")
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = recorded("rounds.jsonl.gz", "set");
    cases.extend(recorded("workload-rounds.jsonl.gz", "workload"));
    cases.extend(recorded("ends.jsonl.gz", ""));
    cases.extend(examples());
    cases.extend(reports());
    cases.extend(random::cases());
    cases
}

/// The rounds of a file, each with what is asked of it.
fn recorded(file: &str, subject: &str) -> Vec<Case> {
    let number = |value: &Value| value.as_u64().map(|it| u32::try_from(it).expect("a number"));
    let mut cases = Vec::new();
    for (index, line) in unzipped(&format!("{VECTORS}/{file}")).lines().enumerate() {
        let mut round: Value = serde_json::from_str(line).expect("JSON");
        let input = json!({ "apiVersion": "v1", "kind": "List", "items": round["items"].take() }).to_string();
        let mut question = Question::at(round["now"].as_str().expect("a time"));
        question.subject = Subject::Workload(round[subject].as_str().unwrap_or("deploy/web").to_owned());
        question.replicas = number(&round["replicas"]).map(|it| it.to_string());
        question.parallelism = number(&round["parallelism"]);
        question.is_partial = round["partial"] == true;
        if subject.is_empty() {
            (question.is_window, question.has_probabilities) = (true, false);
        }
        let mut add = |what: &str, question: Question| {
            cases.push(Case { name: format!("{file}/{index}{what}"), question, input: input.clone() });
        };
        if subject == "set" {
            let order = Question { is_order: true, replicas: None, ..question.clone() };
            add("/order", order);
            add("/total", Question { is_total_order: true, ..question.clone() });
        }
        add("", question);
    }
    cases
}

fn examples() -> Vec<Case> {
    let mut cases = Vec::new();
    for (file, input) in inputs() {
        let mut add = |what: &str, question: Question| {
            cases.push(Case { name: format!("{file}/{what}"), question, input: input.clone() });
        };
        let question = Question::at("2026-03-10T12:00:00Z");
        add("all", Question { subject: Subject::All, ..question.clone() });
        add("present", question.clone());
        add("order", Question { is_order: true, ..question.clone() });
        for count in 0..10_u32 {
            let replicas = Some(count.to_string());
            add(&format!("replicas {count}"), Question { replicas, ..question.clone() });
            add(&format!("parallelism {count}"), Question { parallelism: Some(count), ..question.clone() });
        }
    }
    cases
}

/// The questions of public reports, each with its input.
fn reports() -> Vec<Case> {
    let mut cases = Vec::new();
    for file in fs::read_dir(format!("{TESTS}/reports")).expect("a folder") {
        let file = file.expect("a file");
        let report: Value = serde_json::from_slice(&fs::read(file.path()).expect("a report")).expect("JSON");
        let questions = report["questions"].as_array().expect("questions").iter();
        for question in questions.filter(|question| question["answer"].is_object()) {
            let command = question["command"].as_str().expect("a command");
            let name = format!("{}/{}", file.file_name().to_string_lossy(), command.replace(' ', "_"));
            let question = asked(command, report["now"].as_str().expect("a time"));
            cases.push(Case { name, question, input: report["input"].to_string() });
        }
    }
    cases
}

/// What a report's command asks.
fn asked(command: &str, now: &str) -> Question {
    let mut question = Question { subject: Subject::All, ..Question::at(now) };
    let mut words = command.split(' ');
    let mut has_count = false;
    while let Some(word) = words.next() {
        has_count |= ["--replicas", "--parallelism", "--suspend"].contains(&word);
        match word {
            "--replicas" => question.replicas = Some(words.next().expect("a value").to_owned()),
            "--parallelism" => {
                question.parallelism = Some(words.next().expect("a value").parse().expect("a number"));
            }
            "--suspend" => question.suspend = true,
            "--partial" => question.is_partial = true,
            "-A" => {}
            _ => {
                question.subject = match word.strip_prefix("pod/") {
                    Some(pod) => Subject::Pod(pod.to_owned()),
                    None => Subject::Workload(word.to_owned()),
                };
            }
        }
    }
    question.is_order = !has_count;
    question
}
