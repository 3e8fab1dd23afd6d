//! Shared by the tests: the program, run on a dump, dumps with changes, and previews as lines.

#[cfg(unix)]
pub(crate) mod kubectl;

pub(crate) use podrank_laws::objects::*;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
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
    let output = child.wait_with_output().expect("the program ends");
    if let Some(file) = std::env::var_os("JSON_OUTPUT") {
        collect(Path::new(&file), &output.stdout);
    }
    output
}

/// Adds JSON that was printed to a file, a line each, for `.ci/schemas`.
fn collect(file: &Path, stdout: &[u8]) {
    let is_ours = |value: &Value| value["apiVersion"] == podrank_predict::API_VERSION;
    if let Some(value) = serde_json::from_slice(stdout).ok().filter(is_ours) {
        let mut file = OpenOptions::new().create(true).append(true).open(file).expect("a file");
        file.write_all(format!("{value}\n").as_bytes()).expect("a line");
    }
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
    let most = json["deletions"]["max"].as_u64().unwrap_or(0);
    let open = most.saturating_sub(json["certainDeletions"].as_u64().unwrap_or(0));
    let mut lines = vec![row(&json, &format!("{most} of {{activePods}} go, quota {open}"))];
    if json["nextSync"].is_object() {
        lines = vec![row(&json, "{nextSync.deletions.max} of {activePods} go; {nextSync.path}")];
    }
    for group in list(&json["groups"]) {
        if group["reason"].is_object() {
            // What is written leads from the one size to the other. A new set is created with its size.
            let writes: Vec<_> = list(&group["writes"]).collect();
            let count = if group["reason"]["rule"] == "unhealthy-and-available" { 2 } else { 1 };
            let is_written = group["from"] != group["to"] && !group["replicaSet"].is_null();
            assert_eq!(writes.len(), if is_written { count } else { 0 }, "{group}");
            assert!(!is_written || writes.last() == Some(&&group["to"]), "{group}");
            lines.push(row(group, "{replicaSet}: {from} to {to}; {reason.rule}; {reason.text}"));
        }
        lines.extend(pods(group));
    }
    let waiting = all_pods(&json).filter(|pod| pod["reason"]["waitsFor"]["pod"].is_string());
    lines.extend(
        waiting.map(|pod| row(pod, "{name} waits for {reason.waitsFor.pod}; {reason.rule}; {reason.text}")),
    );
    lines.extend(json["waitsFor"].is_object().then(|| row(&json, "waits: {waitsFor.text}")));
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

/// Name, verdict and reason of each pod.
pub(crate) fn pods(group: &Value) -> Vec<String> {
    list(&group["pods"]).map(|pod| row(pod, "{name}; {verdict}; {reason.rule}; {reason.text}")).collect()
}

/// The pods of all groups.
pub(crate) fn all_pods(answer: &Value) -> impl Iterator<Item = &Value> {
    list(&answer["groups"]).flat_map(|group| list(&group["pods"]))
}

/// The text with the fields of an object that it names.
pub(crate) fn row(object: &Value, text: &str) -> String {
    let mut parts = text.split('{');
    let mut row = parts.next().unwrap_or_default().to_owned();
    for (field, rest) in parts.filter_map(|part| part.split_once('}')) {
        let value = field.split('.').fold(object, |value, field| &value[field]);
        row += &value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        row += rest;
    }
    row
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
