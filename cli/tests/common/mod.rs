//! Shared by the tests: the program, run on a dump, dumps with changes, and previews as lines.

#[cfg(unix)]
pub(crate) mod kubectl;

pub(crate) use podrank_laws::objects::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-podrank");
pub(crate) const ROLLOUT: &str = include_str!("../../../predict/examples/rollout.json");
pub(crate) const CONTESTED: &str = include_str!("../../../predict/examples/contested.yaml");
pub(crate) const STATEFUL_SET: &str = include_str!("../../../predict/examples/stateful-set.json");
pub(crate) const DAEMON_SET: &str = include_str!("../../../predict/examples/daemon-set.json");
pub(crate) const JOB: &str = include_str!("../../../predict/examples/job.json");
/// The time of the examples.
pub(crate) const NOON: [&str; 2] = ["--now", "2026-03-10T12:00:00Z"];

/// Runs a command with this input, which it may leave unread.
pub(crate) fn output(command: &mut Command, stdin: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdin.take().expect("a pipe").write_all(stdin));
    child.wait_with_output().expect("the program ends")
}

/// The exit status, and what was printed.
pub(crate) type Ran = (Option<i32>, String, String);

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs the program with these words alone.
pub(crate) fn plain(words: &str) -> Ran {
    ran(output(Command::new(PROGRAM).args(words.split(' ')), b""))
}

/// Runs the program on a dump, at the time of the examples.
pub(crate) fn run(words: &str, dump: impl AsRef<[u8]>) -> Ran {
    let mut command = Command::new(PROGRAM);
    ran(output(command.args(words.split_whitespace()).args(["-f", "-"]).args(NOON), dump.as_ref()))
}

/// Returns the standard output and standard error of a run, which must succeed.
#[track_caller]
pub(crate) fn fine(words: &str, dump: impl AsRef<[u8]>) -> (String, String) {
    let (status, stdout, stderr) = run(words, dump);
    assert_eq!(status, Some(0), "{stderr}");
    (stdout, stderr)
}

/// The error is this one, in which `…` stands for anything, and nothing else is printed.
#[track_caller]
pub(crate) fn fails(words: &str, dump: impl AsRef<[u8]>, error: &str) {
    let (status, stdout, stderr) = run(words, dump);
    assert_eq!((status, &*stdout), (Some(1), ""), "{stderr}");
    assert!(is_like(&stderr, &format!("error: standard input: {error}\n")), "{stderr}is not\n{error}");
}

pub(crate) fn is_like(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else { return text == pattern };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).any(|at| text.is_char_boundary(at) && is_like(&text[at..], rest))
}

/// An autoscaler `web` of this workload between these counts, which wants a count.
pub(crate) fn autoscaler(
    (kind, name): (&str, &str),
    least: Option<u32>,
    most: u32,
    wanted: Option<u32>,
) -> Value {
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": { "name": "web", "namespace": "default" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": kind, "name": name },
            "minReplicas": least,
            "maxReplicas": most,
        },
        "status": { "desiredReplicas": wanted },
    })
}

/// A preview.
pub(crate) struct Shown {
    pub(crate) json: Value,
    /// The notes, as they are on standard error.
    pub(crate) notes: String,
    /// The JSON as lines: the whole, each set, each pod, which pods wait for which, the rest, and the notes.
    pub(crate) lines: Vec<String>,
}

#[track_caller]
pub(crate) fn shown(words: &str, dump: impl AsRef<[u8]>) -> Shown {
    let (stdout, notes) = fine(&format!("{words} -o json"), dump);
    let json: Value = serde_json::from_str(&stdout).expect("JSON");
    let mut lines = vec![row(&json, "{delete} of {active} go, quota {quota}")];
    if json["path"].is_string() {
        lines = vec![row(&json, "{delete} of {active} go; {path}; goes on: {goesOn}; waits: {waits}")];
    }
    for set in list(&json["sets"]) {
        // What is written leads from the one size to the other. A new set is created with its size.
        let writes: Vec<_> = list(&set["writes"]).collect();
        let count = if set["reason"] == "unhealthy-and-available" { 2 } else { 1 };
        let is_written = set["from"] != set["to"] && !set["replicaSet"].is_null();
        assert_eq!(writes.len(), if is_written { count } else { 0 }, "{set}");
        assert!(!is_written || writes.last() == Some(&&set["to"]), "{set}");
        lines.push(row(set, "{replicaSet}: {from} to {to}, {delete} go; {reason}; {why}"));
        lines.extend(pods(set));
    }
    lines.extend(pods(&json));
    lines.extend(list(&json["blocked"]).map(|it| row(it, "{name} waits for {by}; {rule}; {why}")));
    lines.extend(json["rest"]["text"].as_str().map(|text| format!("rest: {text}")));
    lines.extend(notes.lines().map(str::to_owned));
    Shown { json, notes, lines }
}

impl Shown {
    /// It has these lines, in this order, in which `…` stands for anything.
    #[track_caller]
    pub(crate) fn says(&self, expected: &[&str]) -> &Self {
        let mut lines = self.lines.iter();
        for line in expected {
            assert!(lines.any(|said| is_like(said, line)), "{line}\nis not, or not there, in {self}");
        }
        self
    }

    /// No line has these words.
    #[track_caller]
    pub(crate) fn lacks(&self, words: &str) -> &Self {
        assert!(!self.lines.iter().any(|line| line.contains(words)), "{words}\nis in {self}");
        self
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.lines.join("\n"))
    }
}

/// Name, verdict, rule and why of each pod.
pub(crate) fn pods(preview: &Value) -> Vec<String> {
    list(&preview["pods"]).map(|pod| row(pod, "{name}; {verdict}; {rule}; {why}")).collect()
}

/// The text with the fields of an object that it names.
pub(crate) fn row(object: &Value, text: &str) -> String {
    let mut parts = text.split('{');
    let mut row = parts.next().unwrap_or_default().to_owned();
    for (field, rest) in parts.filter_map(|part| part.split_once('}')) {
        let value = &object[field];
        row += &value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        row += rest;
    }
    row
}

/// Adds the path to each field of an answer, in which `[]` stands for each item of a list.
pub(crate) fn add_paths(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    let is_known = ["featureGates", "within", "owner"].iter().any(|name| path.ends_with(name));
    let fields = value.as_object().filter(|fields| !is_known && !fields.contains_key("min"));
    for (name, value) in fields.into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        add_paths(value, &path, paths);
        paths.insert(path);
    }
    list(value).for_each(|item| add_paths(item, &format!("{path}[]"), paths));
}

/// The example without its rollout: 9 pods, all of one set.
pub(crate) fn idle() -> String {
    let is_old = |item: &Value| {
        item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("web-5d8c7f9b64"))
    };
    changed(
        &without(ROLLOUT, is_old),
        &[
            ("web", "spec replicas", json!(9)),
            ("web", "status replicas", json!(9)),
            ("web-7f6b9d5c48", "metadata annotations deployment.kubernetes.io/desired-replicas", json!("9")),
        ],
    )
}

/// The managers of a pod's deletion cost.
pub(crate) fn written_by(manager: &str, operation: &str) -> Value {
    let cost = json!({ "f:controller.kubernetes.io/pod-deletion-cost": {} });
    let fields = json!({ "f:metadata": { "f:annotations": cost } });
    json!([{ "manager": manager, "operation": operation, "fieldsType": "FieldsV1", "fieldsV1": fields }])
}
