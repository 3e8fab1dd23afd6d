//! Every error of a plan, with its text.

use crate::steer::dump::{self, dump, input, not_ready, old_set, pod, refusal, request, set, with_cost};
use jiff::Timestamp;
use podrank_predict::WorkloadName;
use podrank_predict::plan::{
    ForeignCosts, Metric, PlanSize, Preference, Selected, TopologyLevel, Values, check_whole, no_domain,
    no_node, nothing_to_do, plan, state,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

fn three() -> Vec<Value> {
    dump(&[pod('a', "n1"), pod('b', "n2"), pod('c', "n3")])
}

#[test]
fn counts_that_do_not_fit() {
    let to =
        |replicas, named: &[&str]| refusal(&three(), &request(PlanSize::To(replicas), named, Vec::new()));
    assert_eq!(
        to(4, &[]),
        "podrank only scales down\n  rs/web has 3 replicas, so 4 would scale it up.\n  Use kubectl scale."
    );
    assert_eq!(
        to(3, &["web-a"]),
        "1 pod is named, but none would be deleted\n  rs/web already has 3 replicas.\n  Lower --replicas."
    );
    assert_eq!(
        to(2, &["web-a", "web-b"]),
        "2 pods are named, but only 1 is deleted\n  Lower --replicas, or name fewer."
    );
    assert_eq!(
        to(1, &["web-a", "web-b", "web-c"]),
        "3 pods are named, but only 2 are deleted\n  Lower --replicas, or name fewer."
    );
    let to_1 = request(PlanSize::To(1), &[], Vec::new());
    assert_eq!(
        refusal(&with_set(|set| set["spec"]["replicas"] = json!(4)), &to_1),
        "the controller of ReplicaSet shop/web is still working\n  ReplicaSet shop/web has 3 active pods, but its spec.replicas is 4.\n  Try again soon."
    );
    assert_eq!(
        refusal(&[&three()[..2], &[set(3)]].concat(), &to_1),
        "only 2 pods of ReplicaSet shop/web are listed, while its status counts 3\n  Try again soon."
    );
}

/// In any state of the workload and with any preferences, which may be for pods that were deleted before.
#[test]
fn a_count_that_is_there_already_needs_nothing() {
    let preference = Preference::Values(Values::given(HashMap::from([("web-z".to_owned(), 1.0)])));
    let none = |items: &[Value], count, named: &[&str]| {
        nothing_to_do(&input(items), &request(count, named, vec![preference.clone()])).expect("sound")
    };
    let plan = none(&three(), PlanSize::To(3), &[]).expect("nothing to do");
    assert_eq!((plan.target.to_string(), plan.from, plan.replicas), ("rs/web".into(), 3, 3));
    assert_eq!((plan.delete, plan.writes, plan.pods.len(), plan.sets.len()), (0, 0, 0, 0));
    assert!(plan.notes.is_empty());
    let told = |items: &[Value]| none(items, PlanSize::To(3), &[]).expect("nothing to do").notes;
    for (items, pods) in [
        (with_set(|set| set["metadata"]["generation"] = json!(2)), "3 active pods"),
        ([&three()[..], &[pod('d', "n1")]].concat(), "4 active pods"),
        (vec![pod('a', "n1"), set(3)], "1 active pod"),
    ] {
        let texts: Vec<_> = told(&items).into_iter().map(|note| note.text).collect();
        assert_eq!(texts, [format!("rs/web has {pods}, so its controllers are still working")]);
    }
    assert!(none(&three(), PlanSize::To(2), &[]).is_none());
    assert!(none(&three(), PlanSize::To(4), &[]).is_none());
    assert!(none(&three(), PlanSize::To(3), &["web-a"]).is_none());
    assert!(none(&three(), PlanSize::AllButNamed, &["web-a"]).is_none());
}

#[test]
fn wishes_that_match_nothing() {
    let mut items = three();
    items[0]["metadata"]["labels"]["track"] = json!("stable");
    items[1]["metadata"]["labels"]["track"] = json!("Canary");
    let refused = |preference: Preference| {
        refusal(&items, &request(PlanSize::To(1), &[], vec![Preference::NotAvailable, preference]))
    };
    let selected = |selector: &str, names: &[&str]| Selected {
        selector: selector.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(
        refused(Preference::Nodes(selected("lifecycle=spot", &["n9", "n8"]))),
        "no active pod of rs/web is on a node that matches --prefer-nodes lifecycle=spot\n  The nodes that match are n8, n9."
    );
    // Labels of other workloads' pods do not count.
    assert_eq!(
        refused(Preference::Pods(selected("track=canary", &["api-a"]))),
        "no active pod of rs/web matches --prefer-pods track=canary\n  The values of track are Canary, stable.\n  \
         Did you mean track=Canary?"
    );
    for (selector, why) in [
        ("color", "\n  None of these pods has the label color."),
        ("Track=stable", "\n  None of these pods has the label Track.\n  Did you mean track?"),
        ("app=web,track in (x, y)", "\n  The values of track are Canary, stable."),
        ("app==api", "\n  The only value of app is web."),
        ("track=stable,track=Canary", ""),
        ("app!=web", ""),
        ("!app", ""),
        ("app notin (web,api)", ""),
    ] {
        assert_eq!(
            refused(Preference::Pods(selected(selector, &[]))),
            format!("no active pod of rs/web matches --prefer-pods {selector}{why}")
        );
    }
    let values = |names: &[&str]| {
        let values = names.iter().map(|name| ((*name).to_owned(), 1.0));
        refused(Preference::Values(Values::given(values.collect())))
    };
    assert_eq!(
        values(&["web-z", "api-a"]),
        "--by-value names no active pod of rs/web\n  It names api-a, web-z."
    );
    assert_eq!(values(&[]), "--by-value names no pod");
    let measured = |names: &[&str]| {
        let sessions = Metric::Named("sessions".to_owned());
        let pod = |name| {
            json!({"describedObject": {"kind": "Pod", "namespace": "shop", "name": name},
                "value": "1", "timestamp": "1970-01-01T00:00:00Z"})
        };
        let list = json!({"items": names.iter().map(pod).collect::<Vec<_>>()});
        refused(Preference::Values(
            sessions.read(&list.to_string(), "shop", Timestamp::UNIX_EPOCH).expect("values"),
        ))
    };
    assert_eq!(measured(&["web-z"]), "--lowest metric/sessions: no active pod of rs/web has a value");
    assert_eq!(
        measured(&["web-a", "web-z"]),
        "--lowest metric/sessions: too few pods have a value\n  Only 1 of the 3 active pods of rs/web has a value.\n  Make sure that at least half of the pods have one."
    );
    let level = |key: &str, node: &str| TopologyLevel {
        key: key.to_owned(),
        domains: HashMap::from([(node.to_owned(), "a".to_owned())]),
    };
    assert_eq!(
        refused(Preference::Spread(vec![level("zone", "n1"), level("rack", "n9")])),
        "--spread rack: no active pod of rs/web is on a node that has this label"
    );
}

#[test]
fn labels_that_no_node_has() {
    let node = |lifecycle: &str| {
        let labels = [("lifecycle", lifecycle), ("topology.kubernetes.io/zone", "a")];
        BTreeMap::from(labels.map(|(key, value)| (key.to_owned(), value.to_owned())))
    };
    let nodes = [node("spot"), node("reserved")];
    let nodes: Vec<_> = nodes.iter().collect();
    for (selector, why) in [
        ("lifecycle=Spot", "The values of lifecycle are reserved, spot.\n  Did you mean lifecycle=spot?"),
        ("lifecycle=gpu", "The values of lifecycle are reserved, spot."),
        ("spot=true", "None of the nodes has the label spot."),
        ("lifecycel", "None of the nodes has the label lifecycel.\n  Did you mean lifecycle?"),
    ] {
        let expected = format!("no node matches --prefer-nodes {selector}\n  {why}");
        assert_eq!(no_node(selector, &nodes).to_string(), expected);
    }
    assert_eq!(
        no_node("lifecycle=spot,!lifecycle", &nodes).to_string(),
        "no node matches --prefer-nodes lifecycle=spot,!lifecycle"
    );
    assert_eq!(
        no_domain("zone", &nodes).to_string(),
        "no node matches --spread zone\n  None of the nodes has the label zone.\n  Did you mean topology.kubernetes.io/zone?"
    );
}

#[test]
fn names_that_are_none_of_the_sets() {
    let named = |names: &[&str]| refusal(&three(), &request(PlanSize::AllButNamed, names, Vec::new()));
    assert_eq!(named(&["web-a", "api-x"]), "api-x is not an active pod of ReplicaSet shop/web");
    assert_eq!(named(&["api-x", "api-y"]), "api-x, api-y are not active pods of ReplicaSet shop/web");
}

#[test]
fn named_pods_that_others_go_before() {
    let one = dump(&[pod('a', "n1"), not_ready(pod('b', "n2")), pod('c', "n3")]);
    assert_eq!(
        refusal(&one, &request(PlanSize::AllButNamed, &["web-a"], Vec::new())),
        "cannot delete web-a: web-b would be deleted instead\n  web-b is not ready.\n  Kubernetes deletes such pods first, \
         whatever their deletion costs.\n  To delete it, too, use --also. Otherwise, wait until that has changed."
    );
    assert_eq!(
        refusal(&one, &request(PlanSize::To(2), &["web-a"], Vec::new())),
        "cannot delete web-a: web-b would be deleted instead\n  web-b is not ready.\n  Kubernetes deletes such pods first, \
         whatever their deletion costs.\n  To delete it, too, lower --replicas. Otherwise, wait until that has changed."
    );
    let mut unassigned = pod('b', "n2");
    unassigned["spec"] = json!({});
    unassigned["status"] = json!({ "phase": "Pending" });
    let mut pending = pod('b', "n2");
    pending["status"]["phase"] = json!("Pending");
    for (first, is) in [(&unassigned, "is not assigned to a node"), (&pending, "is not running")] {
        let dump = dump(&[pod('a', "n1"), first.clone(), pod('c', "n3")]);
        let refusal = refusal(&dump, &request(PlanSize::AllButNamed, &["web-a"], Vec::new()));
        assert!(refusal.contains(&format!("\n  web-b {is}.\n")), "{refusal}");
    }
    let two = dump(&[pod('a', "n1"), unassigned, not_ready(pod('c', "n3")), pod('d', "n4")]);
    let also = plan(&input(&two), &request(PlanSize::AllButNamedAndAhead, &["web-a"], Vec::new()));
    let also = also.expect("a plan");
    assert_eq!((also.replicas, also.delete), (1, 3));
}

#[test]
fn costs_that_leave_no_room() {
    let pods = [
        with_cost(pod('a', "n1"), "100", "karpenter", "Update"),
        with_cost(pod('b', "n2"), "50", "keda", "Update"),
        pod('c', "n3"),
    ];
    let mut request = request(PlanSize::AllButNamed, &["web-a"], Vec::new());
    assert_eq!(
        refusal(&dump(&pods), &request),
        "existing deletion costs conflict with your choice\n  web-a (to delete) has cost 100, written by karpenter.\n  \
         web-b (to keep) has cost 50, written by keda.\n  --foreign-costs override replaces the costs of pods to delete, \
         and restores them if the pods are kept."
    );
    request.foreign_costs = ForeignCosts::Override;
    assert_eq!(plan(&input(&dump(&pods)), &request).expect("a plan").writes, 1);
}

#[test]
fn gates_that_are_off() {
    let mut request = request(PlanSize::To(1), &[], Vec::new());
    request.options.gates.pod_deletion_cost = false;
    assert_eq!(
        refusal(&three(), &request),
        "deletion costs have no effect\n  The feature gate PodDeletionCost is off."
    );
}

fn with_set(change: impl Fn(&mut Value)) -> Vec<Value> {
    let mut items = three();
    change(items.last_mut().expect("the set"));
    items
}

#[test]
fn sets_that_somebody_else_scales() {
    let owned = |version: &str, kind: &str| {
        with_set(|set| {
            set["metadata"]["ownerReferences"] = json!([{ "apiVersion": version, "kind": kind, "name": "web", "uid": "o", "controller": true }]);
        })
    };
    let mut request = request(PlanSize::To(1), &[], Vec::new());
    request.options.workload = Some("rs/web".parse::<WorkloadName>().expect("a name"));
    assert_eq!(
        refusal(&owned("apps/v1", "Deployment"), &request),
        "Deployment web controls ReplicaSet shop/web\n  It would reset the replica count.\n  Scale it instead: kubectl podrank scale deploy/web -n shop --replicas N"
    );
    assert_eq!(
        refusal(&owned("x/v1", "Rollout"), &request),
        "Rollout web controls ReplicaSet shop/web\n  It would reset the replica count.\n  Scale it instead: kubectl podrank scale rollout.x/web -n shop --replicas N"
    );
    // Another's Deployment is none of Kubernetes'.
    assert_eq!(
        refusal(&owned("x/v1", "Deployment"), &request),
        "Deployment web controls ReplicaSet shop/web\n  It would reset the replica count.\n  Scale it instead: kubectl podrank scale deployment.x/web -n shop --replicas N"
    );
}

/// Runs of podrank are on the Deployment, and so are their locks.
#[test]
fn what_a_run_left_on_a_set_of_a_deployment() {
    let set = with_set(|set| {
        set["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "o", "controller": true }]);
    });
    let mut options = request(PlanSize::To(1), &[], Vec::new()).options;
    options.workload = Some("rs/web".parse::<WorkloadName>().expect("a name"));
    assert_eq!(
        check_whole(&input(&set), &options).expect_err("it is refused").to_string(),
        "Deployment web controls ReplicaSet shop/web\n  Runs are on that object.\n  Name it instead: kubectl podrank undo deploy/web -n shop"
    );
}

#[test]
fn sets_that_are_busy() {
    let to_1 = request(PlanSize::To(1), &[], Vec::new());
    assert_eq!(
        refusal(&with_set(|set| set["metadata"]["generation"] = json!(2)), &to_1),
        "the controller of ReplicaSet shop/web is still working\n  It has not acted on the latest change yet.\n  Try again soon."
    );
    let gone = |set: &mut Value| set["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
    assert_eq!(refusal(&with_set(gone), &to_1), "ReplicaSet shop/web is being deleted");
}

fn of_deployment() -> Vec<Value> {
    dump::of_deployment(&three()[..3])
}

#[test]
fn deployments_in_the_middle_of_something() {
    let mut to_1 = request(PlanSize::To(1), &[], Vec::new());
    to_1.options.workload = Some("deploy/web".parse::<WorkloadName>().expect("a name"));
    let fine = plan(&input(&of_deployment()), &to_1).expect("a plan");
    assert_eq!(
        (fine.target.to_string(), &*fine.sets[0].replica_set, fine.delete),
        ("deploy/web".into(), "web", 2)
    );

    for lagging in [3, 4] {
        let mut lags = of_deployment();
        lags[lagging]["metadata"]["generation"] = json!(2);
        assert_eq!(
            refusal(&lags, &to_1),
            "the controller of Deployment shop/web is still working\n  It has not acted on the latest change yet.\n  Try again soon."
        );
    }
    let mut gone = of_deployment();
    gone[4]["metadata"]["deletionTimestamp"] = json!("2026-03-10T11:59:00Z");
    assert_eq!(refusal(&gone, &to_1), "Deployment shop/web is being deleted");

    // An old set without pods is not in use.
    let mut idle = of_deployment();
    idle.push(old_set(&idle[3]));
    assert_eq!(plan(&input(&idle), &to_1).expect("a plan").sets[0].replica_set, "web");
}

/// It lags as long as the Deployment or one of its sets does.
#[test]
fn a_deployment_lags_with_its_sets() {
    let mut options = request(PlanSize::To(1), &[], Vec::new()).options;
    options.workload = Some("deploy/web".parse::<WorkloadName>().expect("a name"));
    let state = |lagging: &[usize]| {
        let mut items = of_deployment();
        for &item in lagging {
            items[item]["metadata"]["generation"] = json!(2);
        }
        state(&input(&items), &options).expect("sound")
    };
    assert_eq!((state(&[]).lags, state(&[]).replicas, state(&[]).pods.len()), (false, 3, 3));
    assert!(state(&[3]).lags && state(&[4]).lags);
}

/// Above 500 deletions, a note says that the controller counts ranks again in each sync.
#[test]
fn several_syncs_are_noted() {
    let pods: Vec<_> = (0..1_001)
        .map(|number: u32| {
            let mut pod = pod('a', "n1");
            pod["metadata"]["name"] = json!(format!("web-{number}"));
            pod["metadata"]["uid"] = json!(format!("00000000-0000-4000-8000-{number:012x}"));
            pod
        })
        .collect();
    let notes = |stay| {
        let mut asked = request(PlanSize::To(stay), &[], Vec::new());
        asked.options.probabilities = false;
        let plan = plan(&input(&dump(&pods)), &asked).expect("a plan");
        plan.notes.iter().map(|note| note.text.clone()).collect::<Vec<_>>()
    };
    assert!(notes(1)[0].starts_with("1000 deletions take 2 syncs of at most 500"), "{:?}", notes(1));
    assert!(notes(500)[0].starts_with("501 deletions take 2 syncs of at most 500"), "{:?}", notes(500));
    assert_eq!(notes(501), [""; 0]);
}
