//! Public reports about which pods Kubernetes deleted, each rebuilt as an input, with the answer that Kubernetes 1.37.1 gives.
//! A report is one file in `reports/`, so the next one needs no code:
//!
//! | field | what it holds |
//! |---|---|
//! | `source` | where the report is |
//! | `reported`, `explanation` | what the person saw, and which code of Kubernetes explains it |
//! | `now` | the time of the decision |
//! | `questions` | each with the words after `kubectl podrank`, what the answer must contain, and what the program must print (`has`) and must not (`lacks`) |
//! | `input` | what kubectl printed |
//!
//! An answer is compared by what a pod's verdict is and the code of the rule that decides. `cli/tests/reports.rs` compares the words.

use fastrand::Rng;
use podrank_predict::{
    DeletionOrder, Error, ErrorKind, Options, Overview, Preview, Replicas, Snapshot, Subject, Verdict,
    WorkloadId, WorkloadName, deletion_order, deletion_order_of_pod, explain_deletion, overview,
    preview_workload,
};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reports");

/// What a command asks.
#[derive(Default)]
struct Command {
    subject: Option<Subject>,
    replicas: Option<Replicas>,
    parallelism: Option<u32>,
    suspend: bool,
    partial: bool,
}

impl Command {
    fn parse(text: &str) -> Self {
        let mut command = Self::default();
        let mut words = text.split(' ');
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} has no value"));
            match word {
                "--replicas" => command.replicas = Some(value().parse().expect("a number of replicas")),
                "--parallelism" => command.parallelism = Some(value().parse().expect("a number")),
                "--suspend" => command.suspend = true,
                "--partial" => command.partial = true,
                "-A" => {}
                _ if word.starts_with('-') => panic!("no report has {word} yet"),
                _ => {
                    let subjects = Subject::of_words(&[word.to_owned()]).expect("a subject");
                    command.subject = subjects.into_iter().next();
                }
            }
        }
        command
    }

    fn has_count(&self) -> bool {
        self.replicas.is_some() || self.parallelism.is_some() || self.suspend
    }

    /// Answers as the program does.
    fn answer(&self, input: &Snapshot, now: &str) -> Result<Value, Error> {
        let mut options = Options::new(0, now.parse().expect("a time"));
        options.replicas = None;
        options.parallelism = self.parallelism;
        options.suspend = self.suspend;
        options.partial = self.partial;
        let mut pod = None;
        match &self.subject {
            None => return Ok(of_overview(&overview(input, &options, self.replicas, false, |_| true))),
            Some(Subject::Workload(name)) => options.workload = Some(name.clone()),
            Some(Subject::Pod(name)) => {
                let found = input.workloads_of_pod(name, None);
                if let (Err(_), Some((namespace, _))) = (&found, input.going_pod(name))
                    && let Some(cause) = explain_deletion(input, &namespace, name, &options).cause
                {
                    return Ok(json!({ "cause": cause }));
                }
                let (namespace, workloads) = found?;
                let has = |name: &&WorkloadName| input.workload(name).is_ok_and(|found| found.is_some());
                options.workload = workloads.iter().rev().find(has).or(workloads.first()).cloned();
                options.namespace = Some(namespace);
                pod = Some(name);
            }
            Some(Subject::Owner(owner)) => {
                let sets = input.sets_in_use(owner, None)?;
                let is_one = |id: &WorkloadId| sets.contains(id);
                return Ok(of_overview(&overview(input, &options, self.replicas, false, is_one)));
            }
            Some(other) => panic!("no report asks about {other} yet"),
        }
        if let Some(replicas) = self.replicas {
            options.replicas = Some(input.count(&options, replicas)?);
        }
        if self.has_count() || !input.has_count(&options)? {
            let mut answer = of_preview(&preview_workload(input, &options)?);
            if let Some(pod) = pod {
                answer.as_object_mut().expect("an object").retain(|_, pods| pods.get(pod).is_some());
            }
            return Ok(answer);
        }
        Ok(match pod {
            Some(pod) => of_order(&deletion_order_of_pod(input, &options, pod)?),
            None => of_order(&deletion_order(input, &options)?),
        })
    }
}

/// The pods by verdict, each with the rule that decides, and with its probability if it is possible.
fn of_preview(preview: &Preview<'_>) -> Value {
    let mut answer = json!({ "deleted": {}, "possible": {}, "waiting": {}, "kept": {} });
    for pod in preview.pods() {
        let chance = pod.probability.filter(|_| pod.verdict == Verdict::Possible);
        let percent = chance.map(|probability| json!((probability.min * 100.0).round()));
        answer[pod.verdict.name()][pod.name()] = match (percent, pod.reason.rule()) {
            (Some(percent), _) => percent,
            (None, rule) => json!(rule),
        };
    }
    let notes: Vec<_> = preview.notes.iter().map(|note| json!(note.code)).collect();
    let deletions = preview.deletions();
    answer["deletions"] = json!([deletions.min, deletions.max]);
    answer["notes"] = json!(notes);
    answer
}

/// The pods in deletion order, each with its verdict and rule, and the largest counts at which it may be and is deleted.
fn of_order(order: &DeletionOrder<'_>) -> Value {
    let pods = order.pods().map(|pod| {
        let value = json!({
            "verdict": pod.pod.verdict.name(), "rule": pod.rule(), "deletedAt": pod.deleted_at, "possibleAt": pod.possible_at,
        });
        (pod.pod.name().to_owned(), value)
    });
    let sequence: Vec<_> = order.pods().map(|pod| pod.pod.name()).collect();
    let notes: Vec<_> = order.now.notes.iter().map(|note| json!(note.code)).collect();
    json!({ "order": sequence, "pods": pods.collect::<Map<_, _>>(), "notes": notes })
}

/// The workloads, each with how many pods it has and the pod that is deleted first.
fn of_overview(all: &Overview<'_>) -> Value {
    let workloads = all.workloads.iter().map(|line| {
        let value = json!({
            "pods": line.active, "next": line.next, "deletions": [line.delete.min, line.delete.max],
            "hasAnswer": line.error.is_none(),
        });
        (format!("{}/{}", line.workload.kind.short(), line.workload.name), value)
    });
    json!({ "workloads": workloads.collect::<Map<_, _>>() })
}

/// Why there is no answer.
fn refused(error: &Error) -> Value {
    json!({ "refused": match error.kind {
        ErrorKind::Incomplete => "incomplete",
        ErrorKind::Ambiguous => "ambiguous",
        _ => "not-answered",
    } })
}

/// What of the expected answer the answer does not have. Of `notes` the answer has at least those that are expected.
fn differences(expected: &Value, answer: &Value) -> Vec<String> {
    let expected = expected.as_object().expect("an expected answer");
    let differs = |(key, expected): (&String, &Value)| {
        let got = answer.get(key).unwrap_or(&Value::Null);
        let is_same = match (key.as_str(), expected, got) {
            ("notes", Value::Array(expected), Value::Array(got)) => {
                expected.iter().all(|it| got.contains(it))
            }
            ("pods", Value::Object(expected), Value::Object(got)) => {
                expected.iter().all(|(pod, value)| got.get(pod) == Some(value))
            }
            _ => expected == got,
        };
        (!is_same).then(|| format!("{key}: expected {expected}, got {got}"))
    };
    expected.iter().filter_map(differs).collect()
}

/// The reports by the names of their files, with the questions that have an answer in data.
fn reports() -> Vec<(String, Value)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(FOLDER).expect("a folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let mut report: Value = serde_json::from_slice(&fs::read(&file).expect("a report")).expect("JSON");
        let questions = report["questions"].as_array_mut().expect("questions");
        questions.retain(|question| question["answer"].is_object());
        (file.file_name().expect("a name").to_string_lossy().into_owned(), report)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn answers_to_public_reports_are_those_of_kubernetes() {
    let (mut wrong, mut questions) = (Vec::new(), 0);
    let reports = reports();
    for (name, report) in &reports {
        for key in ["source", "reported", "explanation", "now"] {
            assert!(report[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
        let input = Snapshot::read(report["input"].to_string().as_bytes()).expect("an input");
        for question in report["questions"].as_array().expect("questions") {
            let command = question["command"].as_str().expect("a command");
            assert!(
                question["answer"].as_object().is_some_and(|it| !it.is_empty()),
                "{name}: {command}: no answer"
            );
            let now = report["now"].as_str().expect("a time");
            let answer = Command::parse(command).answer(&input, now).unwrap_or_else(|error| refused(&error));
            let differences = differences(&question["answer"], &answer);
            wrong.extend(differences.iter().map(|difference| format!("{name}: {command}: {difference}")));
            questions += 1;
        }
    }
    assert!(questions >= 60, "only {questions} questions in {} reports", reports.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value that a field may have by mistake.
fn odd(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1e300),
        json!(i64::MAX),
        json!(""),
        json!("x"),
        json!("-7"),
        json!("9999-12-31T23:59:59Z"),
        json!("\u{202e}"),
        json!([]),
        json!({}),
        json!([null]),
    ];
    values[rng.usize(..values.len())].clone()
}

/// Changes one place at random: replaces a value, removes it, or puts another one of the input there.
fn mutate(value: &mut Value, other: &Value, rng: &mut Rng) {
    let children = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if children == 0 || rng.u8(..12) == 0 {
        *value = if rng.u8(..4) == 0 { other.clone() } else { odd(rng) };
        return;
    }
    let place = rng.usize(..children);
    let is_removed = rng.u8(..24) == 0;
    match value {
        Value::Array(items) if is_removed => drop(items.remove(place)),
        Value::Array(items) => mutate(&mut items[place], other, rng),
        Value::Object(fields) => {
            let key = fields.keys().nth(place).expect("a field").clone();
            if is_removed {
                fields.remove(&key);
            } else {
                mutate(fields.get_mut(&key).expect("a field"), other, rng);
            }
        }
        _ => {}
    }
}

/// Some node of the input.
fn anywhere<'v>(value: &'v Value, rng: &mut Rng) -> &'v Value {
    let children: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => return value,
    };
    match children.len() {
        0 => value,
        _ if rng.u8(..6) == 0 => value,
        number => anywhere(children[rng.usize(..number)], rng),
    }
}

/// Neither odd values nor damaged text of other people's files make a panic, or take long.
#[test]
fn changed_reports_have_an_answer_or_an_error() {
    let mut rng = Rng::with_seed(89);
    // The largest inputs take most of the time, and have nothing that others lack.
    let mut reports = reports();
    reports.retain(|(_, report)| report["input"].to_string().len() < 20_000);
    let (mut read, mut answers) = (0, 0);
    for _ in 0..1_500 {
        let (_, report) = &reports[rng.usize(..reports.len())];
        let mut input = report["input"].clone();
        for _ in 0..rng.usize(1..6) {
            let other = anywhere(&report["input"], &mut rng).clone();
            // A list that is none any more has nothing to read, so most changes are within an item.
            let items = input["items"].as_array().map_or(0, Vec::len);
            let is_item = items > 0 && rng.u8(..8) > 0;
            let part = if is_item { &mut input["items"][rng.usize(..items)] } else { &mut input };
            mutate(part, &other, &mut rng);
        }
        let mut text = input.to_string().into_bytes();
        if rng.u8(..4) == 0 && !text.is_empty() {
            let place = rng.usize(..text.len());
            if rng.bool() { text.truncate(place) } else { text[place] = rng.u8(..) }
        }
        let Ok(input) = Snapshot::read(&text) else { continue };
        read += 1;
        for question in report["questions"].as_array().expect("questions") {
            let command = Command::parse(question["command"].as_str().expect("a command"));
            answers += usize::from(command.answer(&input, report["now"].as_str().expect("a time")).is_ok());
        }
    }
    assert!(read > 700 && answers > 300, "{read} inputs were read, and {answers} questions had an answer");
}
