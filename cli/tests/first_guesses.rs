//! What people type first, each line of `first-guesses.txt`: it is answered, or refused with what works. The script `fake/cluster`
//! stands in for kubectl and a cluster.

use crate::common::{
    DAEMON_SET, JOB, PROGRAM, ROLLOUT, Ran, STATEFUL_SET, dump, items, output, owned_pod, owner, put, ran,
    ready, with,
};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/cluster");

/// The objects of the examples, an autoscaler, a Rollout with its set, and a kind that deletes its pods itself.
fn objects() -> Vec<Value> {
    let mut all: Vec<_> = [ROLLOUT, STATEFUL_SET, DAEMON_SET, JOB].into_iter().flat_map(items).collect();
    let mut named = |api_version: &str, kind: &str, name: &str, more: Value| {
        let meta = json!({ "name": name, "uid": name, "namespace": "default", "resourceVersion": "1" });
        let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": meta });
        for (place, value) in more.as_object().expect("fields") {
            put(&mut object, place, value.clone());
        }
        all.push(object);
    };
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" });
    let bounds = json!({ "minReplicas": 8, "maxReplicas": 20, "scaleTargetRef": target });
    let wants = json!({ "spec": bounds, "status": { "desiredReplicas": 10 } });
    named("autoscaling/v2", "HorizontalPodAutoscaler", "web", wants);
    let of_rollout = json!({
        "metadata ownerReferences": owner("argoproj.io/v1alpha1", "Rollout", "web"),
        "spec": { "replicas": 3, "selector": { "matchLabels": { "app": "canary" } } },
        "status": { "replicas": 3 },
    });
    named("apps/v1", "ReplicaSet", "canary", of_rollout);
    named("argoproj.io/v1alpha1", "Rollout", "web", json!({ "spec": { "replicas": 3 } }));
    named("apps.kruise.io/v1alpha1", "CloneSet", "cloned", json!({ "spec": { "replicas": 1 } }));
    for (kind, name) in [("Namespace", "default"), ("Service", "web"), ("Node", "worker-1")] {
        named("v1", kind, name, json!({ "spec": {} }));
    }
    let owner = owner("apps.kruise.io/v1alpha1", "CloneSet", "cloned");
    all.push(with(owned_pod(9_000, "cloned"), "metadata ownerReferences", owner));
    all.extend((9_001..9_004).map(|number| owned_pod(number, "canary")));
    all
}

/// A file with the objects, which goes when this is dropped.
struct Cluster(PathBuf);

impl Cluster {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("podrank-{test}-{}.json", std::process::id()));
        fs::write(&path, dump(&objects())).expect("a file");
        Self(path)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs the program on the cluster. One that watches is ended as soon as it has printed `part`, or after a minute.
fn run(words: &str, cluster: &Path, part: &str) -> Ran {
    let watches = words.ends_with("-w") || words.ends_with("--watch");
    let mut command = if watches { Command::new("timeout") } else { Command::new(PROGRAM) };
    if watches {
        command.args(["60", PROGRAM]);
    }
    let words = words.split(' ').filter(|word| *word != "(nothing)");
    command.args(words).env("KUBECTL", CLUSTER).env("CLUSTER", cluster);
    if watches { watched(&mut command, part) } else { ran(output(&mut command, b"")) }
}

/// What is printed until it has `part`.
fn watched(command: &mut Command, part: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut text = String::new();
    while !text.contains(part) {
        let Some(Ok(line)) = lines.next() else { break };
        text += &(line + "\n");
    }
    // `timeout` passes the signal on, which it cannot do if it is killed.
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let (_, _, stderr) = ran(child.wait_with_output().expect("it ends"));
    // It ended by the signal, and has no status of its own.
    (Some(0), text, stderr)
}

/// A line, and whether it is answered or refused with what stands behind the mark.
fn guess(line: &str) -> (&str, bool, String) {
    let (words, mark, part) = [" => ", " =! "]
        .iter()
        .find_map(|mark| line.split_once(mark).map(|(words, part)| (words, *mark, part)))
        .expect("a mark");
    (words, mark == " => ", part.replace("\\n", "\n"))
}

#[test]
fn each_first_guess_is_answered_or_refused_with_what_works() {
    let list = include_str!("first-guesses.txt");
    let lines: Vec<_> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let cluster = Cluster::new("guesses");
    let wrong_of = |line: &&str| {
        let (words, is_answered, part) = guess(line);
        let (status, stdout, stderr) = run(words, &cluster.0, &part);
        let said = if is_answered { &stdout } else { &stderr };
        let is_right = (status == Some(0)) == is_answered && said.contains(&part);
        let is_wrong = !is_right || stderr.contains("panicked");
        is_wrong.then(|| format!("{line}\nbut {status:?}:\n{stdout}{stderr}"))
    };
    // Most of the time, they wait for each other.
    let wrong: Vec<String> = thread::scope(|scope| {
        let tries: Vec<_> = lines
            .chunks(8)
            .map(|some| scope.spawn(|| some.iter().filter_map(wrong_of).collect::<Vec<_>>()))
            .collect();
        tries.into_iter().flat_map(|tried| tried.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
    assert!(lines.len() > 100, "{} lines", lines.len());
}

/// As in `kubectl podrank -w | head -5`.
#[test]
fn a_watch_ends_when_nobody_reads_it_any_more() {
    let cluster = Cluster::new("watch");
    let mut command = Command::new("timeout");
    command.args(["60", PROGRAM, "sts/db", "-w"]).env("KUBECTL", CLUSTER).env("CLUSTER", &cluster.0);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_watch_prints_an_answer_again_if_it_is_another_one() {
    let cluster = Cluster::new("changes");
    let breaks = |name: &str| {
        let mut all = objects();
        let is_own =
            |it: &&mut Value| it["kind"] == "Pod" && it["metadata"]["ownerReferences"][0]["name"] == "canary";
        for pod in all.iter_mut().filter(is_own) {
            let is_ready = pod["metadata"]["name"] != name;
            put(pod, "status conditions", ready(is_ready, "2026-03-10T09:00:00Z"));
        }
        // In one step, so that nobody reads half of it.
        let next = cluster.0.with_extension("next");
        fs::write(&next, dump(&all)).expect("a file");
        fs::rename(next, &cluster.0).expect("a file");
    };
    breaks("canary-9001");
    let mut command = Command::new("timeout");
    command.args(["60", PROGRAM, "rs/canary", "--replicas", "2", "-w"]);
    command.env("KUBECTL", CLUSTER).env("CLUSTER", &cluster.0).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut rows = lines.filter(|line| line.starts_with("deleted "));
    assert!(rows.next().is_some_and(|row| row.contains("canary-9001")));
    // Two looks find nothing else.
    thread::sleep(Duration::from_secs(5));
    breaks("canary-9002");
    let next = rows.next();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    child.wait().expect("it ends");
    assert!(next.as_ref().is_some_and(|row| row.contains("canary-9002")), "{next:?}");
}
