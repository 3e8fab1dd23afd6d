//! The preview of a cluster: how the program calls kubectl, and what it does with answers and failures. The script
//! `fake/kubectl` stands in for kubectl.

use crate::common::kubectl::{Answer, Kubectl, answering as kubectl, list, nothing, says};
use crate::common::{self, DAEMON_SET, JOB, NOON, PROGRAM, ROLLOUT, fine as of_file, items, owner, with};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};

fn run(kubectl: &Kubectl, words: &str) -> Output {
    kubectl.run(&words.split(' ').collect::<Vec<_>>(), b"")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[track_caller]
fn fine(output: &Output) -> (&str, &str) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Asserts that the program failed, and what it said.
#[track_caller]
fn fails(output: &Output, stderr: &str) {
    let said = text(&output.stderr);
    assert!(common::is_like(said, stderr), "{said}");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
}

/// Runs it with the words and these answers, and asserts what it asked.
#[track_caller]
fn asks(words: &str, answers: &[Answer], asked: &[&str]) -> Output {
    let kubectl = kubectl(answers);
    let output = run(&kubectl, words);
    assert_eq!(kubectl.asked(), asked, "{}", text(&output.stderr));
    output
}

/// The objects of this kind in an example.
fn of(example: &str, kind: &str) -> Vec<Value> {
    items(example).into_iter().filter(|item| item["kind"] == kind).collect()
}

/// The Deployment, the sets and the pods of the example, of which one has a deletion cost: so they are read again with its manager.
fn workload() -> [Answer; 4] {
    let [deployment] = &*of(ROLLOUT, "Deployment") else { panic!("one Deployment") };
    let pods = list(&of(ROLLOUT, "Pod"));
    [says(deployment), list(&of(ROLLOUT, "ReplicaSet")), pods.clone(), pods]
}

/// Neither autoscalers nor budgets, and no podrank-webhook.
fn alone() -> [Answer; 2] {
    [
        list(&[]),
        (
            String::new(),
            "Error from server (NotFound): the server could not find the requested resource\n",
            1,
        ),
    ]
}

/// All that is read of the example.
fn example() -> Vec<Answer> {
    [&workload()[..], &alone()].concat()
}

/// What is asked about a workload's surroundings.
fn around(namespace: &str) -> [String; 2] {
    [
        format!(
            "get|horizontalpodautoscalers.autoscaling,poddisruptionbudgets.policy|--output=json|--namespace|{namespace}"
        ),
        format!("get|--raw|/apis/podrank.dev/v1alpha1/namespaces/{namespace}/scaledownpolicies"),
    ]
}

fn controller(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": { "name": name, "namespace": "shop", "uid": name },
        "spec": { "replicas": replicas, "selector": { "app": name, "tier": "" } },
        "status": { "replicas": replicas },
    })
}

fn controllers_pods() -> Answer {
    let pod = |number: u32| {
        let pod = with(common::owned_pod(number, "old"), "metadata namespace", json!("shop"));
        let pod = with(pod, "metadata labels", json!({ "app": "old", "tier": "" }));
        with(pod, "metadata ownerReferences", owner("v1", "ReplicationController", "old"))
    };
    list(&[pod(1), pod(2)])
}

// The requests.

#[test]
fn the_decision_is_younger_than_all_answers() {
    let kubectl = kubectl(&example());
    let output = run(&kubectl, "deploy/web -n shop --replicas 4 -o json");
    let json: Value = serde_json::from_str(fine(&output).0).expect("JSON");
    let now: jiff::Timestamp = json["now"].as_str().expect("a time").parse().expect("a time");
    let last = fs::metadata(kubectl.path("asked")).and_then(|asked| asked.modified()).expect("a time");
    assert!(now >= jiff::Timestamp::try_from(last).expect("a time"));
}

/// Each kind needs other objects, and the preview is that of a file with all of them.
#[test]
fn what_a_workload_needs_is_asked_for() {
    let daemon_set = ["ControllerRevision", "Node", "Pod"].map(|kind| list(&of(DAEMON_SET, kind)));
    let daemon_set = [&[says(&of(DAEMON_SET, "DaemonSet")[0])], &daemon_set[..], &[list(&[])]].concat();
    let [common, policies] = around("default");
    for (words, file, answers, asked) in [
        (
            "deploy/web --replicas 5 -o json",
            ROLLOUT,
            &example()[..],
            &[
                "get|deployments.apps|web|--ignore-not-found|--show-managed-fields|--output|json",
                "get|replicasets.apps|--namespace|default|--output|json",
                "get|pods|--selector|app=web|--namespace|default|--output|json",
                "get|pods|--selector|app=web|--namespace|default|--show-managed-fields|--output|json",
                &common,
                &policies,
            ][..],
        ),
        (
            "ds/agent -o json",
            DAEMON_SET,
            &daemon_set,
            &[
                "get|daemonsets.apps|agent|--ignore-not-found|--show-managed-fields|--output|json",
                "get|controllerrevisions.apps|--selector|app=agent|--namespace|default|--output|json",
                "get|nodes|--output|json",
                "get|pods|--selector|app=agent|--namespace|default|--output|json",
                "get|poddisruptionbudgets.policy|--output=json|--namespace|default",
            ],
        ),
    ] {
        let live = asks(&format!("{words} {}", NOON.join(" ")), answers, asked);
        let (json, notes) = of_file(words, file);
        assert_eq!(fine(&live), (&*json, &*notes));
    }
    // A file needs no cluster.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../predict/examples/rollout.json");
    fine(&asks(&format!("deploy/web --replicas 5 -f {file}"), &[], &[]));
}

#[test]
fn connection_flags_are_passed_on() {
    let kubectl = kubectl(&example());
    let flags = "--kubeconfig /k --cluster c --user u --as x --as-group g --as-group h --request-timeout 5s -s https://s \
                 --token t --tls-server-name n --insecure-skip-tls-verify --certificate-authority /ca -n shop";
    let words = ["deploy/web", "--rollout", "--context", "a b"].into_iter().chain(flags.split(' '));
    // The answers are of the namespace default.
    fine(&kubectl.run(&words.collect::<Vec<_>>(), b""));
    let passed = "--context=a b|--kubeconfig=/k|--cluster=c|--user=u|--as=x|--request-timeout=5s|--server=https://s|\
         --token=t|--tls-server-name=n|--insecure-skip-tls-verify=true|--certificate-authority=/ca|--as-group=g|--as-group=h";
    let asked = kubectl.asked();
    let first =
        "get|deployments.apps|web|--ignore-not-found|--namespace|shop|--show-managed-fields|--output|json";
    assert_eq!(asked[0], format!("{first}|{passed}"));
    assert!(asked.len() == 6 && asked.iter().all(|line| line.ends_with(passed)), "{asked:?}");
}

#[test]
fn a_set_of_a_deployment_needs_its_siblings() {
    let sets = of(ROLLOUT, "ReplicaSet");
    let words = format!("rs/web-7f6b9d5c48 --replicas 3 -o name {}", NOON.join(" "));
    let [common, policies] = &around("default");
    let asked = [
        "get|replicasets.apps|web-7f6b9d5c48|--ignore-not-found|--show-managed-fields|--output|json",
        "get|replicasets.apps|--namespace|default|--output|json",
        "get|pods|--selector|app=web|--namespace|default|--output|json",
        "get|pods|--selector|app=web|--namespace|default|--show-managed-fields|--output|json",
        common,
        policies,
    ];
    let pods = list(&of(ROLLOUT, "Pod"));
    let answers = [&[says(&sets[1]), list(&sets), pods.clone(), pods], &alone()[..]].concat();
    let output = asks(&words, &answers, &asked);
    let (victims, notes) = fine(&output);
    assert_eq!(victims.lines().count(), 6, "{victims}");
    assert!(notes.contains("Deployment web is in the middle of a rollout"), "{notes}");
}

#[test]
fn a_replication_controller_needs_its_own_pods() {
    let controller = controller("old", 2);
    let types = "deployments.apps,replicasets.apps,replicationcontrollers,statefulsets.apps,daemonsets.apps,jobs.batch";
    for (name, answer, first) in [
        (
            "rc/old",
            says(&controller),
            "get|replicationcontrollers|old|--ignore-not-found|--show-managed-fields|--output|json",
        ),
        (
            "old",
            list(std::slice::from_ref(&controller)),
            &*format!("get|{types}|--field-selector|metadata.name=old|--show-managed-fields|--output|json"),
        ),
        (
            "rc/old -A",
            list(std::slice::from_ref(&controller)),
            "get|replicationcontrollers|--field-selector|metadata.name=old|--all-namespaces|--show-managed-fields|--output|json",
        ),
    ] {
        let second = "get|pods|--selector|app=old,tier=|--namespace|shop|--output|json";
        let words = format!("{name} --replicas 0 -o name");
        let [common, policies] = &around("shop");
        let answers = [&[answer, controllers_pods()], &alone()[..]].concat();
        let output = asks(&words, &answers, &[first, second, common, policies]);
        assert_eq!(fine(&output), ("pod/old-1\npod/old-2\n", ""));
    }
}

// Failures.

#[test]
fn unknown_and_ambiguous_names_get_a_suggestion() {
    let set = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "old", "namespace": "shop" } });
    for (words, answers, error) in [
        (
            "old",
            vec![list(&[controller("old", 2), set])],
            "old is ambiguous\n  There are rs/old in shop, rc/old in shop.\n  Name one as TYPE/NAME, with its namespace.",
        ),
        (
            "web",
            vec![
                list(&[]),
                ("shop".to_owned(), "", 0),
                (String::new(), "no right", 1),
                (String::new(), "no right", 1),
            ],
            "no Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet or Job is named web in the context's namespace, shop\n  There is no workload at all.",
        ),
        (
            "web",
            vec![list(&[]), ("other".to_owned(), "", 0), nothing(), list(&[controller("web", 2)])],
            "no Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet or Job is named web in the context's namespace, other\n  There is one in namespace shop.\n  Use -n shop.",
        ),
    ] {
        fails(&run(&kubectl(&answers), &format!("{words} --replicas 0")), &format!("error: {error}\n"));
    }
    // Those of other types, pods among them, and those of other namespaces are looked up for a hint.
    let everything = "deployments.apps,replicasets.apps,replicationcontrollers,statefulsets.apps,daemonsets.apps,jobs.batch,pods";
    let asked = [
        "get|deployments.apps|wep|--ignore-not-found|--namespace|shop|--show-managed-fields|--output|json",
        &format!("get|{everything}|--namespace|shop|--output|name"),
    ];
    let answers = [nothing(), ("pod/wep\ndeployment.apps/web\n".to_owned(), "", 0)];
    let output = asks("deploy/wep --replicas 0 -n shop", &answers, &asked);
    let hint = "A pod has this name.\n  Ask about the pod: kubectl podrank pod/wep -n shop";
    fails(&output, &format!("error: no Deployment is named wep in namespace shop\n  {hint}\n"));
}

#[test]
fn a_namespace_that_cannot_be_read_is_not_said_to_be_missing() {
    let forbidden = (String::new(), "Error from server (Forbidden): namespaces \"shop\" is forbidden", 1);
    let kubectl = kubectl(&[nothing(), nothing(), forbidden, nothing()]);
    let unknown = "no Deployment is named web in namespace shop\n  There is no workload at all.";
    fails(&run(&kubectl, "deploy/web --replicas 0 -n shop"), &format!("error: {unknown}\n"));
    assert_eq!(kubectl.asked()[2], "get|namespace|shop|--output=name");
}

#[test]
fn what_kubectl_says_on_failure_is_shown() {
    let refusal =
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n";
    let kubectl_refuses = kubectl(&[(String::new(), refusal, 1)]);
    let error = format!(
        "{refusal}error: cannot reach the cluster\n  To read a file instead, use: kubectl podrank TYPE/NAME -f FILE\n"
    );
    fails(&run(&kubectl_refuses, "deploy/web --replicas 0 --token secret"), &error);

    let [deployment, sets, (pods, ..), _] = workload();
    let broken = &pods[..pods.len() / 2];
    let forbidden =
        "Error from server (Forbidden): pods is forbidden: User \"x\" cannot list resource \"pods\"\n";
    for (out, said, status, expected) in [
        // No right to list pods, once all else is known.
        ("", forbidden, 1, &*format!("{forbidden}error: `…")),
        // A list that breaks off is an error, whether or not kubectl reports a failure.
        (broken, "gone\n", 1, "gone\nerror: `…"),
        (broken, "", 0, "error: /…cut off…"),
    ] {
        let kubectl = kubectl(&[deployment.clone(), sets.clone(), (out.to_owned(), said, status)]);
        fails(&run(&kubectl, "deploy/web --replicas 0"), expected);
    }
}

#[test]
fn without_kubectl_the_error_says_what_to_do() {
    for (program, error) in [
        (
            "/nowhere/kubectl",
            "/nowhere/kubectl: not found\n  Install kubectl, name it in the environment variable KUBECTL, or read a file with -f.\n",
        ),
        ("/", "/: Permission denied (os error 13)\n"),
        // An empty variable is none.
        ("", "kubectl: not found\n…"),
    ] {
        let mut command = Command::new(PROGRAM);
        command.args(["web", "--replicas", "1"]).env("KUBECTL", program).env("PATH", "");
        fails(&command.output().expect("it runs"), &format!("error: {error}"));
    }
}

// Rights that are missing.

const JOBS: &str =
    "Error from server (Forbidden): jobs.batch is forbidden: User \"x\" cannot list resource \"jobs\"\n";

#[test]
fn what_may_be_read_is_shown_without_the_rest() {
    let all = (
        common::dump(&[of(ROLLOUT, "Deployment"), of(ROLLOUT, "ReplicaSet"), of(ROLLOUT, "Pod")].concat()),
        JOBS,
        1,
    );
    let output = run(&kubectl(&[all.clone(), list(&[])]), "-n default");
    let (table, notes) = fine(&output);
    assert!(table.contains("\ndeploy/web  13 "), "{table}");
    assert_eq!(notes, format!("note: not all types are shown: {JOBS}"));
    let output = run(&kubectl(&[all.clone(), list(&[])]), "-n default -o json");
    let json: Value = serde_json::from_str(fine(&output).0).expect("JSON");
    assert_eq!(json["unread"], json!([JOBS.trim_end()]));
    // A name alone may be that of a workload that can be read.
    let [deployment, sets, pods, again] = workload();
    let found = (list(&of(ROLLOUT, "Deployment")).0, JOBS, 1);
    let output = run(&kubectl(&[&[found, sets, pods, again][..], &alone()].concat()), "web --replicas 5");
    let (table, notes) = fine(&output);
    assert!(
        table.starts_with("Scaling deploy/web to 5 deletes ") && notes.starts_with(JOBS),
        "{table}{notes}"
    );
    // What failed for another reason is not an answer.
    let gone = "Error from server (Forbidden): jobs.batch is forbidden\nerror: the server is gone\n";
    let output = run(&kubectl(&[(all.0, gone, 1)]), "-n default");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(gone.lines().last().expect("a line")), "{}", text(&output.stderr));
    // Nor is a list without pods.
    let pods = "Error from server (Forbidden): pods is forbidden: User \"x\" cannot list resource \"pods\"\n";
    fails(&run(&kubectl(&[(deployment.0, pods, 1)]), "-n default"), &format!("error: {pods}"));
}

// Statuses that lag behind.

/// The example just after the old set was scaled, when its status is still the old one.
fn lagging() -> [Answer; 4] {
    let [deployment, _, pods, again] = workload();
    let mut sets = of(ROLLOUT, "ReplicaSet");
    sets[0]["metadata"]["generation"] = json!(10);
    [deployment, list(&sets), pods, again]
}

#[test]
fn statuses_that_lag_are_read_again_a_few_times_and_then_noted() {
    // Fewer pods than the status says may come yet as well.
    let [deployment, sets, ..] = workload();
    let pods = list(&of(ROLLOUT, "Pod")[2..]);
    let few = [deployment, sets, pods.clone(), pods];
    let for_good = [&lagging()[..], &lagging(), &lagging(), &lagging(), &alone()].concat();
    for (answers, lags) in [
        ([&lagging()[..], &example()].concat(), false),
        ([&few[..], &example()].concat(), false),
        (for_good.clone(), true),
    ] {
        let cluster = kubectl(&answers);
        let output = run(&cluster, "deploy/web --replicas 5 -o json");
        let (preview, notes) = fine(&output);
        assert_eq!(cluster.asked().len(), answers.len());
        let note = "the status of ReplicaSet default/web-5d8c7f9b64 is for an earlier spec";
        assert_eq!((notes.contains(note), preview.contains("\"code\": \"controller-busy\"")), (lags, lags));
        // It replays: a cluster takes no --partial.
        assert!(preview.contains("\"partial\": false"), "{preview}");
    }
    let output = run(&kubectl(&for_good), "deploy/web --replicas 5 -o wide");
    let again = fine(&output).0.lines().nth(1).expect("a line");
    assert!(again.ends_with(" --order kubernetes"), "{again}");
}

// Completion.

#[test]
fn names_of_the_cluster_complete() {
    let deployments = "deployment.apps/api\ndeployment.apps/web\n";
    let controllers = "deployment.apps/web\nreplicationcontroller/web-1\n";
    let pods = "pod/web-a\npod/web-b\n";
    let of_deployments = "get|deployments.apps|--output|name";
    let in_shop = "get|deployments.apps|--namespace=shop|--output|name";
    let sets = "get|deployments.apps,replicasets.apps,replicationcontrollers";
    for (words, answer, completed, asked) in [
        (
            "--context c -n shop deploy/",
            deployments,
            "deploy/api deploy/web :4",
            &*format!("{in_shop}|--context=c"),
        ),
        ("Deployment w", deployments, "api web :4", of_deployments),
        (
            "w",
            controllers,
            "deploy/ rs/ rc/ sts/ ds/ job/ pod/ web web-1 scale drop undo completion help :6",
            &format!("{sets},statefulsets.apps,daemonsets.apps,jobs.batch|--output|name"),
        ),
        (
            "drop --context c -n shop web-a web",
            pods,
            "web-b :4",
            "get|pods|--namespace=shop|--output|name|--context=c",
        ),
        ("scale deploy/web --pod ", pods, "web-a web-b :4", "get|pods|--output|name"),
        ("undo -n shop deploy w", deployments, "api web :4", in_shop),
        ("scale w", "deployment.apps/web\n", "deploy/ rs/ rc/ web :6", &format!("{sets}|--output|name")),
        ("scale deploy/", deployments, "deploy/api deploy/web :4", of_deployments),
        ("--namespace ", "namespace/shop\n", "shop :4", "get|namespaces|--output|name"),
        ("--context ", "a\nb\n", "a b :4", "config|get-contexts|--output|name"),
        // A type that is none asks nobody.
        ("x/", "", ":4", ""),
    ] {
        let asked: Vec<_> = Some(asked).filter(|asked| !asked.is_empty()).into_iter().collect();
        let output = asks(&format!("__complete {words}"), &[(answer.to_owned(), "", 0)], &asked);
        let words = fine(&output).0.lines().map(|line| line.split('\t').next().expect("a word"));
        assert_eq!(words.collect::<Vec<_>>().join(" "), completed);
    }
}

/// Releases differ in what they do with Jobs.
#[test]
fn the_release_of_the_cluster_is_asked_for_a_job() {
    let kubectl = kubectl(&[says(&of(JOB, "Job")[0]), list(&of(JOB, "Pod")), list(&[])]);
    fs::write(kubectl.path("version"), r#"{"gitVersion":"v1.36.3"}"#).expect("a file");
    let output = run(&kubectl, "job/import --parallelism 2 -o json");
    let json: Value = serde_json::from_str(fine(&output).0).expect("JSON");
    assert_eq!(json["kubernetesVersion"], "1.36.3");
}

/// That of an autoscaler that may scale to 0 differs.
#[test]
fn the_release_is_asked_for_a_count_of_zero_unless_it_is_given() {
    for (words, release) in [
        ("--replicas 0", "1.36.3"),
        ("--replicas -10", "1.36.3"),
        ("--replicas 0 --kubernetes-version 1.35.2", "1.35.2"),
    ] {
        let kubectl = kubectl(&example());
        fs::write(kubectl.path("version"), r#"{"gitVersion":"v1.36.3"}"#).expect("a file");
        let output = run(&kubectl, &format!("deploy/web {words} -o json"));
        let json: Value = serde_json::from_str(fine(&output).0).expect("JSON");
        assert_eq!(json["kubernetesVersion"], release, "{words}");
    }
}

#[test]
fn a_cluster_without_pods_says_where_it_looked() {
    for (words, place) in [("-A", "in any namespace"), ("-n shop", "in namespace shop"), ("-o wide", "here")]
    {
        let output = run(&kubectl(&[list(&[controller("old", 0)]), list(&[])]), words);
        assert_eq!(fine(&output), ("", &*format!("no workload has pods {place}\n")));
    }
}

#[test]
fn a_pod_of_any_namespace_is_asked_about_in_its_own() {
    let answers =
        [&[controllers_pods(), says(&controller("old", 2)), controllers_pods()][..], &alone()[..]].concat();
    let [common, policies] = &around("shop");
    let asked = [
        "get|pods|--field-selector|metadata.name=old-1|--all-namespaces|--output|json",
        "get|replicationcontrollers|old|--ignore-not-found|--namespace|shop|--show-managed-fields|--output|json",
        "get|pods|--selector|app=old,tier=|--namespace|shop|--output|json",
        common,
        policies,
    ];
    fine(&asks("pod/old-1 -A", &answers, &asked));
}

#[test]
fn the_namespace_is_that_of_the_context() {
    let cluster = kubectl(&[list(&[]), ("shop".to_owned(), "", 0), nothing(), nothing()]);
    run(&cluster, "web --replicas 0 --context c");
    assert_eq!(cluster.asked()[1], "config|view|--minify|--output=jsonpath={..namespace}|--context=c");
}

/// A command to copy asks the same cluster, and names the default namespace if that was named.
#[test]
fn commands_to_copy_have_the_context() {
    let kubectl = kubectl(&example());
    let words = ["deploy/web", "--replicas", "9", "--context=prod", "--token=secret", "-n", "default"];
    let shown = kubectl.shown_at_terminal(&words);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = "kubectl podrank scale deploy/web --replicas 9 --pod NAME -n default --context=prod";
    assert!(shown.ends_with(end), "{shown}");
}
