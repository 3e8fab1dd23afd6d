//! The stand-in for kubectl.

use super::{Output, PROGRAM, dump, output, owner, ready};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The script that stands in for kubectl.
pub(crate) const KUBECTL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/kubectl");

/// The directory with its answers and the recorded requests. Dropping this removes it.
pub(crate) struct Kubectl(PathBuf);

impl Kubectl {
    /// Each answer is a few files: their suffixes, and what is in them.
    pub(crate) fn with<'a>(answers: impl IntoIterator<Item = Vec<(&'a str, String)>>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("podrank-kubectl-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        for (number, files) in (1..).zip(answers) {
            for (suffix, text) in files {
                fs::write(directory.join(format!("{number}.{suffix}")), text).expect("a file");
            }
        }
        Self(directory)
    }

    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Output {
        output(Command::new(PROGRAM).args(args).env("KUBECTL", KUBECTL).env("ANSWERS", &self.0), stdin)
    }

    /// With standard input at a terminal, at which these lines are typed.
    pub(crate) fn run_at_terminal(&self, args: &[&str], typed: &[&str]) -> Output {
        let terminal = nix::pty::openpty(None, None).expect("a terminal");
        let mut command = Command::new(PROGRAM);
        command.args(args).env("KUBECTL", KUBECTL).env("ANSWERS", &self.0).stdin(terminal.slave);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = typed.join("\n") + "\n";
        fs::File::from(terminal.master.try_clone().expect("a handle"))
            .write_all(lines.as_bytes())
            .expect("a terminal");
        child.wait_with_output().expect("it ends")
    }

    /// Returns what a terminal of so many lines shows of a run, without colours.
    pub(crate) fn shown_at_terminal(&self, args: &[&str]) -> String {
        let size = nix::pty::Winsize { ws_row: 24, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let nix::pty::OpenptyResult { master, slave } =
            nix::pty::openpty(Some(&size), None).expect("a terminal");
        let mut command = Command::new(PROGRAM);
        command.args(args).env("KUBECTL", KUBECTL).env("ANSWERS", &self.0).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(slave.try_clone().expect("a handle")).stderr(slave);
        let mut child = command.spawn().expect("it starts");
        // It has the handles of the other side until it is dropped.
        drop(command);
        let mut shown = Vec::new();
        // A terminal that everybody has closed is an error.
        let _ = fs::File::from(master).read_to_end(&mut shown);
        child.wait().expect("it ends");
        String::from_utf8(shown).expect("UTF-8").replace("\r\n", "\n")
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// What it was asked so far, a line each, with `|` between the words.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }
}

impl Drop for Kubectl {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What kubectl says, to standard output and standard error, and its exit status.
pub(crate) type Answer = (String, &'static str, u8);

pub(crate) fn list(items: &[Value]) -> Answer {
    (dump(items), "", 0)
}

pub(crate) fn says(object: &Value) -> Answer {
    (object.to_string(), "", 0)
}

pub(crate) fn nothing() -> Answer {
    (String::new(), "", 0)
}

pub(crate) fn refused(error: &'static str) -> Answer {
    (String::new(), error, 1)
}

/// A stand-in that gives these answers in turn.
pub(crate) fn answering(answers: &[Answer]) -> Kubectl {
    Kubectl::with(answers.iter().map(|(out, error, status)| {
        vec![("out", out.clone()), ("err", (*error).to_owned()), ("status", status.to_string())]
    }))
}

/// The exit status, standard output and standard error, and what was asked.
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) asked: Vec<String>,
}

/// Runs the program with these words and answers. All answers must have been asked for.
#[track_caller]
pub(crate) fn run(words: &str, answers: &[Answer]) -> Run {
    let kubectl = answering(answers);
    let output = kubectl.run(&words.split(' ').collect::<Vec<_>>(), b"");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let [stdout, stderr] = [output.stdout, output.stderr].map(text);
    let ran = Run { status: output.status.code(), stdout, stderr, asked: kubectl.asked() };
    assert_eq!(ran.asked.len(), answers.len(), "{:?} {}", ran.asked, ran.stderr);
    ran
}

/// None of the requests writes.
#[track_caller]
pub(crate) fn writes_nothing(ran: &Run) {
    let starts = ["get|", "create|--validate=false|"];
    let is_read = |line: &&String| {
        starts.iter().any(|start| line.starts_with(start)) || line.contains("|--dry-run=server")
    };
    assert_eq!(ran.asked.iter().find(|line| !is_read(line)), None);
}

/// A user who scales an object with this UID is authorized for the lock and the barrier pod.
pub(crate) fn authorized(uid: &str) -> Answer {
    let review = |verb: &str, group: &str, resource: &str, name: &str| {
        json!({
            "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": { "verb": verb, "group": group, "resource": resource, "name": name } },
            "status": { "allowed": true },
        })
    };
    let lease = format!("podrank-{uid}");
    let leases = ["create", "get", "delete"]
        .map(|verb| review(verb, "coordination.k8s.io", "leases", &lease).to_string());
    let barrier = [
        review("watch", "", "pods", "").to_string(),
        review("delete", "apps", "replicasets", "").to_string(),
        review("delete", "", "pods", "").to_string(),
    ];
    ([&leases[..], &barrier[..]].concat().join("\n"), "", 0)
}

/// What the API server says of a Lease that this run has.
pub(crate) fn leased() -> Answer {
    says(&json!({ "metadata": { "resourceVersion": "1" }, "spec": { "holderIdentity": "podrank-run-mine" } }))
}

/// A ready pod `web-LETTER` of this `ReplicaSet`.
pub(crate) fn pod(namespace: &str, set: &str, letter: char, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("web-{letter}"),
            "namespace": namespace,
            "uid": format!("00000000-0000-4000-8000-{:012x}", u32::from(letter)),
            "labels": { "app": "web" },
            "ownerReferences": owner("apps/v1", "ReplicaSet", set),
            "creationTimestamp": "2026-03-10T10:00:00Z",
        },
        "spec": { "nodeName": node, "containers": [] },
        "status": { "phase": "Running", "conditions": ready(true, "2026-03-10T11:00:00Z") },
    })
}

/// Three of them, of which two are on a node.
pub(crate) fn three(namespace: &str, set: &str) -> [Value; 3] {
    [('a', "worker-1"), ('b', "worker-1"), ('c', "worker-2")]
        .map(|(letter, node)| pod(namespace, set, letter, node))
}

/// Their `ReplicaSet`, which the controller has brought to this count.
pub(crate) fn set(namespace: &str, name: &str, replicas: usize) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": { "name": name, "namespace": namespace, "uid": name, "generation": 1, "resourceVersion": "7" },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": {} },
        "status": { "replicas": replicas, "observedGeneration": 1 },
    })
}
