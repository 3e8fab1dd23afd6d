//! What people type first, each line of `first-guesses.txt`: it is answered, or refused with what works. The script `fake/cluster`
//! stands in for kubectl and a cluster.

use crate::common::{
    DAEMON_SET, JOB, PROGRAM, ROLLOUT, Ran, STATEFUL_SET, dump, items, output, owned_pod, owner, put, ran,
};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/cluster");

/// The objects of the examples, an autoscaler, a Rollout with its set, and a kind that deletes its pods itself.
fn objects() -> Vec<Value> {
    let mut all: Vec<_> = [ROLLOUT, STATEFUL_SET, DAEMON_SET, JOB].into_iter().flat_map(items).collect();
    let named = |api_version: &str, kind: &str, name: &str, spec: Value| json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "uid": name, "namespace": "default" }, "spec": spec });
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" });
    let bounds = json!({ "minReplicas": 8, "maxReplicas": 20, "scaleTargetRef": target });
    let mut autoscaler = named("autoscaling/v2", "HorizontalPodAutoscaler", "web", bounds);
    put(&mut autoscaler, "status", json!({ "desiredReplicas": 10 }));
    let mut set = named(
        "apps/v1",
        "ReplicaSet",
        "canary",
        json!({ "replicas": 3, "selector": { "matchLabels": { "app": "canary" } } }),
    );
    put(&mut set, "metadata ownerReferences", owner("argoproj.io/v1alpha1", "Rollout", "web"));
    put(&mut set, "metadata resourceVersion", json!("1"));
    put(&mut set, "status", json!({ "replicas": 3 }));
    let mut cloned = owned_pod(9_000, "cloned");
    put(&mut cloned, "metadata ownerReferences", owner("apps.kruise.io/v1alpha1", "CloneSet", "cloned"));
    all.extend((9_001..9_004).map(|number| owned_pod(number, "canary")).chain([autoscaler, set, cloned]));
    let mut rollout = named("argoproj.io/v1alpha1", "Rollout", "web", json!({ "replicas": 3 }));
    put(&mut rollout, "metadata resourceVersion", json!("1"));
    all.push(rollout);
    all.push(named("apps.kruise.io/v1alpha1", "CloneSet", "cloned", json!({ "replicas": 1 })));
    all.push(named("v1", "Namespace", "default", json!({})));
    all.push(named("v1", "Service", "web", json!({})));
    all.push(named("v1", "Node", "worker-1", json!({})));
    all
}

/// What comes of a line: a part of what is printed if it succeeds, or of what is said if it is refused.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Answer(&'static str),
    Refusal(&'static str),
}

use Expected::{Answer, Refusal};

const ORDER: Expected = Answer("deploy/web: 2 of 13 pods go now (its count is 10)");
const TO_FIVE: Expected = Answer("deploy/web to 5: 8 of 13 pods go, all certainly");
const TWO_FEWER: Expected = Answer("deploy/web to 8: ");
const POD: Expected = Answer("web-7f6b9d5c48-b7wfn (deploy/web, 13 pods): stays at the present count; ");
const ALL: Expected = Answer("\nsts/db ");
const HELP: Expected = Answer("Usage: kubectl podrank [OPTIONS] [TYPE/NAME]...");
const PLAN: Expected = Refusal("confirm with --yes, or see the plan with --dry-run client");

const GUESSES: &[(&str, Expected)] = &[
    ("(nothing)", ALL),
    ("help", HELP),
    ("--help", HELP),
    ("-h", HELP),
    ("version", Answer("kubectl-podrank ")),
    ("--version", Answer("kubectl-podrank ")),
    ("-V", Answer("kubectl-podrank ")),
    ("scale", Refusal("kubectl podrank scale --replicas <N> <TYPE/NAME>")),
    ("drop", Refusal("kubectl podrank drop <POD|--node <NODE>>")),
    ("undo", Refusal("kubectl podrank undo <TYPE/NAME>")),
    ("explain", Refusal("is named explain in the context's namespace, default")),
    ("deploy/web", ORDER),
    ("deployment/web", ORDER),
    ("deployments web", ORDER),
    ("deployment.apps/web", ORDER),
    ("web", ORDER),
    ("deploy web", ORDER),
    ("deploy", Answer("deploy/web  13")),
    ("pods", Refusal("pods is a type: write pods/NAME")),
    ("rs/web-7f6b9d5c48", Answer("\n8        web-7f6b9d5c48-hq8zt  -         has no node\n")),
    ("rs", Answer("rs/web-7f6b9d5c48  ")),
    ("sts/db", Answer("\n4        db-4")),
    ("ds/agent", Answer("ds/agent: 2 of 6 pods go (1 certainly, 1 of 4 by chance)")),
    ("job/import", Answer("\nnow      import-7-a  node-1  beyond completions")),
    ("cronjob/import", Refusal("supported are deploy, rs, rc, sts, ds and job")),
    ("rollout/web", Answer("rs/canary of Rollout web: 3 pods")),
    ("rollouts.argoproj.io/web", Answer("rs/canary of Rollout web: 3 pods")),
    ("ro/web", Answer("rs/canary of Rollout web: 3 pods")),
    ("cloneset/web", Refusal("CloneSet \"web\" not found")),
    ("svc/web", Refusal("service/web is of no kind that podrank knows, and no ReplicaSet belongs to it")),
    ("ns/shop", Refusal("ask about its workloads: kubectl podrank -n shop")),
    ("ns shop", Refusal("ask about its workloads: kubectl podrank -n shop")),
    ("hpa/web", Answer("hpa/web (8 to 20): it wants 10\ndeploy/web to 10: ")),
    ("hpa web", Answer("\ndeploy/web to 8: ")),
    ("pod/web-7f6b9d5c48-b7wfn", POD),
    ("po web-7f6b9d5c48-b7wfn", POD),
    ("pod web-7f6b9d5c48-b7wfn --replicas 5", Answer("web-7f6b9d5c48-b7wfn goes: deletion cost -10, ")),
    ("web-7f6b9d5c48-b7wfn", POD),
    ("node/worker-1", Answer("worker-1 has no pods to drop")),
    ("node/worker-1 -o json", Answer("\"kind\": \"NodePreview\"")),
    ("node/worker-1 -o name", Answer("pod/web-7f6b9d5c48-b7wfn\n")),
    ("node/worker-1 -o wide", Answer("worker-1: the counts of their workloads could drop")),
    ("node/worker-1 --replicas 3", Refusal("node/worker-1 is no workload: leave out --replicas")),
    ("node/worker-9 -o json", Refusal("there is no node worker-9; did you mean worker-1?")),
    ("deploy/web --replicas 5", TO_FIVE),
    ("deploy/web --replicas=5", TO_FIVE),
    ("deploy/web 5", Refusal("type kubectl podrank deploy/web --replicas 5")),
    ("deploy/web --replicas 0", Answer("deploy/web to 0: 13 of 13 pods go")),
    (
        "deploy/web --replicas 13",
        Answer("deploy/web to 13: that scales up, and none of 13 pods goes yet\nThen it waits"),
    ),
    ("deploy/web --replicas 20", Answer("deploy/web to 20: that scales up, and none of 13 pods goes yet")),
    ("deploy/web --replicas -2", TWO_FEWER),
    ("deploy/web --replicas=-2", TWO_FEWER),
    ("deploy/web --replicas -30%", Answer("deploy/web to 7: ")),
    (
        "deploy/web --replicas 30%",
        Refusal("for 30 % fewer pods write -30%, and for 30 % of the pods write their number"),
    ),
    ("deploy/web --replicas +2", Refusal("write the number of pods to scale to")),
    ("deploy/web --replicas five", Refusal("such as 5, or how many fewer, such as -2 or -30%")),
    ("deploy/web --scale 5", Refusal("tip: the count is --replicas N")),
    ("deploy/web -r 5", Refusal("tip: the count is --replicas N")),
    (
        "sts/db --replicas 2",
        Answer("sts/db to 2: none of 5 pods goes yet\nIt waits for db-1; 3 pods go only after that."),
    ),
    ("sts/db --replicas -1", Answer("sts/db to 4: ")),
    ("job/import --parallelism 2", Answer("job/import at parallelism 2: 4 of 6 pods go, all certainly")),
    ("job/import --replicas 2", Refusal("use --parallelism N or --suspend")),
    ("ds/agent --replicas 2", Refusal("leave out --replicas")),
    ("hpa/web --replicas 5", TO_FIVE),
    ("deploy/web deploy/api", Refusal("nothing is named deploy/api in the context's namespace, default")),
    ("deploy web api", Refusal("nothing is named deploy/api in the context's namespace, default")),
    (
        "deploy/web deploy/api --replicas 3",
        Refusal("nothing is named deploy/api in the context's namespace, default"),
    ),
    ("-l app=web", Answer("deploy/web  13")),
    ("deploy -l app=web", Answer("deploy/web  13")),
    ("-n shop", Refusal("there is no namespace shop")),
    ("-A", ALL),
    ("-A deploy/web", ORDER),
    ("-n nowhere", Refusal("there is no namespace nowhere")),
    ("deploy/web -n nowhere", Refusal("there is no namespace nowhere")),
    ("-l app=nothing", Refusal("no workload has the labels app=nothing in the context's namespace, default")),
    ("deploy/wbe", Refusal("did you mean deploy/web?")),
    ("deploymnet/web", Refusal("did you mean deployment?")),
    ("deploy/web-7f6b9d5c48", Refusal("but there is rs/web-7f6b9d5c48")),
    ("rs/web", Refusal("but there is deploy/web")),
    ("sts/web", Refusal("but there is deploy/web")),
    ("Deploy/Web", Refusal("Kubernetes allows lower-case letters")),
    ("deploy/web --replicas 5 -o wide", TO_FIVE),
    ("deploy/web --replicas 5 -o yaml", Answer("kind: ScaleDownPreview\n")),
    (
        "deploy/web --replicas 5 -o markdown",
        Answer("**deploy/web to 5: 8 of 13 pods go, all certainly**\n\n| goes | pod |"),
    ),
    ("deploy/web --replicas 5 -o md", Answer("\n| no | 4 more pods (--all lists them) |")),
    ("deploy/web --replicas 5 -o json", Answer("\"kind\": \"ScaleDownPreview\"")),
    ("deploy/web --replicas 5 -ojson", Answer("\"kind\": \"ScaleDownPreview\"")),
    ("deploy/web --replicas 5 -o jsonpath={.delete}", Refusal("tip: -o json prints everything")),
    ("deploy/web --replicas 5 -o name", Answer("pod/web-7f6b9d5c48-b7wfn\n")),
    ("deploy/web --replicas 5 --all", TO_FIVE),
    ("deploy/web --replicas 5 -v", TO_FIVE),
    ("deploy/web --replicas 5 --watch", TO_FIVE),
    ("deploy/web --replicas 5 -w", TO_FIVE),
    ("deploy/web --replicas 5 --dry-run", TO_FIVE),
    ("deploy/web --replicas 5 --dry-run=client", TO_FIVE),
    ("deploy/web --replicas 5 --explain", Refusal("tip: -o wide shows what decides about each pod")),
    (
        "deploy/web --replicas 5 --no-color",
        Refusal("tip: the environment variable NO_COLOR=1 turns colours off"),
    ),
    ("deploy/web --replicas 5 --verbose", TO_FIVE),
    (
        "deploy/web --replicas 5 --empty-nodes",
        Refusal("kubectl podrank scale deploy/web --replicas 5 --empty-nodes --dry-run"),
    ),
    (
        "deploy/web --replicas 5 --spread zone --context c",
        Refusal("kubectl podrank scale deploy/web --replicas 5 --spread zone --context c --dry-run"),
    ),
    (
        "deploy/web --prefer-nodes lifecycle=spot",
        Refusal("kubectl podrank scale deploy/web --prefer-nodes lifecycle=spot --replicas N --dry-run"),
    ),
    ("--spread zone", Refusal("kubectl podrank scale TYPE/NAME --replicas N --spread ... --dry-run")),
    ("scale deploy/web --replicas 5", PLAN),
    ("scale deploy/web 5", Refusal("kubectl podrank scale --replicas <N> <TYPE/NAME>")),
    ("-n default scale deploy/web --replicas 5", PLAN),
    ("--context=c -ndefault scale deploy/web --replicas 5", PLAN),
    (
        "--kubeconfig k --namespace default drop web-7f6b9d5c48-b7wfn",
        Refusal("name that many, or wait for it to end"),
    ),
    ("scale --help", Answer("--replicas <N> <TYPE/NAME>\n")),
    (
        "scale rollout/web --replicas -5%",
        Refusal("-5% of 3 replicas is less than one, so the count stays: -34% takes one"),
    ),
    ("scale deploy/web --replicas -2 --dry-run", Refusal("wait for it to end")),
    ("scale deploy/web --replicas 5 --dry-run", Answer("deploy/web from 10 to 5: 8 pods to go")),
    ("scale deploy/web --replicas 5 --pod web-7f6b9d5c48-b7wfn", PLAN),
    ("scale sts/db --replicas 2", Refusal("use deploy, rs or rc")),
    ("scale rollout/web --replicas 5", Refusal("podrank only scales down; use kubectl scale")),
    ("drop web-7f6b9d5c48-b7wfn", Refusal("name that many, or wait for it to end")),
    ("drop pod/web-7f6b9d5c48-b7wfn --dry-run", Refusal("name that many, or wait for it to end")),
    ("drop deploy/web", Refusal("use kubectl podrank scale deploy/web --replicas N")),
    ("drop --node worker-1", Refusal("cannot be dropped: deploy/web is in the middle of a rollout")),
    ("drop --node worker-1 --skip-others", Answer("worker-1 has no pods to drop")),
    ("drop node/worker-1", Refusal("use kubectl podrank drop --node worker-1")),
    ("drop worker-1", Refusal("worker-1 is a node: its pods go with kubectl podrank drop --node worker-1")),
    ("drop worker-7", Refusal("pods \"worker-7\" not found")),
    ("delete pod/web-7f6b9d5c48-b7wfn", Refusal("type kubectl podrank drop pod/web-7f6b9d5c48-b7wfn")),
];

/// A file with the objects, which goes when this is dropped.
struct Cluster(PathBuf);

impl Cluster {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("podrank-cluster-{}.json", std::process::id()));
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

#[test]
fn each_first_guess_is_answered_or_refused_with_what_works() {
    let list = include_str!("first-guesses.txt");
    let lines: Vec<_> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(
        GUESSES.iter().map(|(guess, _)| *guess).collect::<Vec<_>>(),
        lines,
        "every line has its answer"
    );
    let cluster = Cluster::new();
    let wrong_of = |(guess, expected): &(&str, Expected)| {
        let (Answer(part) | Refusal(part)) = expected;
        let (status, stdout, stderr) = run(guess, &cluster.0, part);
        let (said, is_ok) = match expected {
            Answer(_) => (&stdout, true),
            Refusal(_) => (&stderr, false),
        };
        let is_wrong = (status == Some(0)) != is_ok || !said.contains(part) || stderr.contains("panicked");
        is_wrong.then(|| format!("{guess}: {expected:?}, but {status:?}:\n{stdout}{stderr}"))
    };
    // Most of the time, they wait for each other.
    let wrong: Vec<String> = thread::scope(|scope| {
        let tries: Vec<_> = GUESSES
            .chunks(8)
            .map(|some| scope.spawn(|| some.iter().filter_map(wrong_of).collect::<Vec<_>>()))
            .collect();
        tries.into_iter().flat_map(|tried| tried.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), GUESSES.len(), wrong.join("\n"));
}
