"""The sessions: what is run, what happens meanwhile, and what must have become of the pods. `sessions` starts this."""

import datetime
import os
import re
import subprocess
import sys
import threading
import time
import traceback
from rollout import Rollout
from world import COST, READY, Api, World, play, wait

NODES = {
    "spot-1": ("spot", "a"),
    "spot-2": ("spot", "b"),
    "reserved-1": ("reserved", "a"),
    "reserved-2": ("reserved", "b"),
}
PART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../part")
# What podrank asks, in the order of a run.
WRITE = r"^apply (?!.*--dry-run)"
UNCANARY = r"^delete --raw /apis/apps/v1/.*/replicasets/"
WATCH = r"^get --raw .*watch=1"
LOCK = r"^create --raw .*/leases "
CHECK = r"^replace --raw .*/leases/.*--request-timeout=5s"
UNLOCK = r"^delete --raw .*/leases/"
READ_NODES = r"^get nodes "
PUT_BACK = r"^patch pod"
SCALE = r"^scale (?!.*--dry-run)"

ALL = {}


def session(play):
    ALL[play.__name__.replace("_", "-")] = play
    return play


def five(api, name, kind="ReplicaSet", **options):
    """A ReplicaSet or Deployment of five pods on two nodes, in a namespace of its own."""
    return World(api, name, ["reserved-1", "reserved-2", "reserved-1", "reserved-2", "reserved-1"], kind=kind, **options)


def controllers(what):
    """Stops or starts kube-controller-manager."""
    subprocess.run([PART, what, os.environ["CLUSTER"], "kube-controller-manager"], check=True)


def in_json(world, *args):
    return [*args, "--namespace", world.namespace, "--yes", "--output", "json"]


def lease_path(world):
    return f"/apis/coordination.k8s.io/v1/namespaces/{world.namespace}/leases/podrank-{world.get()['metadata']['uid']}"


def budget(world, **spec):
    """A PodDisruptionBudget for the workload's pods; returns its path."""
    path = f"/apis/policy/v1/namespaces/{world.namespace}/poddisruptionbudgets"
    world.api("POST", path, {"metadata": {"name": "web"}, "spec": {**spec, "selector": {"matchLabels": {"app": "web"}}}})
    return path + "/web"


def full(world):
    """A quota of the five pods that are there. The status is written in place of a controller, which would count one less after an eviction."""
    path = f"/api/v1/namespaces/{world.namespace}/resourcequotas"
    world.api("POST", path, {"metadata": {"name": "full"}, "spec": {"hard": {"pods": "5"}}})
    world.api.patch(path + "/full/status", {"status": {"hard": {"pods": "5"}, "used": {"pods": "5"}}})


def expect(done, status, *parts):
    assert done.status == status, (done.status, done.out, done.err)
    for part in parts:
        assert part in done.message, (part, done.message)


def went(world, done, places, before=frozenset(), **results):
    """These pods went, and the outcome says so of those that had not gone before."""
    assert world.gone() == set(places), (world.gone(), places, done.message)
    places = set(places) - before
    named = {world.pods.index(pod["name"]) for pod in done.json["went"]}
    others = {world.pods.index(pod["name"]) for pod in done.json["others"]}
    assert (named | others, others) == (set(places), results.get("others", set())), done.json
    assert not world.has_traces(), world.annotations()


def takes(world, name, places, *args, hooks=(), stdin="", says="", before=frozenset()):
    """Runs podrank, after which these pods have gone, and no other but those before."""
    done = play(name, in_json(world, *args), hooks, stdin)
    expect(done, 0, says)
    went(world, done, places, before)
    return done


def unchanged(world, done, *parts, gone=()):
    """Nothing was scaled, and nothing is left."""
    expect(done, 1, *parts)
    assert world.replicas() == 5 and world.gone() == set(gone), (world.replicas(), world.gone())
    assert not world.has_traces(), world.annotations()


# The wish that counts the pods of all namespaces, while there are no others.

@session
def empty_nodes(api):
    world = World(api, "empty-nodes", ["spot-1", "spot-2", "spot-1", "spot-2", "spot-1"], kind="ReplicaSet")
    takes(world, "empty-nodes", {1, 3}, "scale", "rs/web", "--replicas", "3", "--empty-nodes")


@session
def node_gone(api):
    """A node goes with its pods once they have costs: what replaces them goes instead."""
    workers(api, "gone-1", "gone-2")
    world = World(api, "node-gone", ["gone-1", "gone-2", "gone-1", "gone-2", "gone-2"], kind="ReplicaSet")

    def leave():
        api("DELETE", "/api/v1/nodes/gone-1")
        for place in [0, 2]:
            world.remove(world.pods[place])
        wait("new pods", lambda: len(world.active()) == 5)

    done = play("node-gone", in_json(world, "scale", "rs/web", "--replicas", "3", "--empty-nodes"), [("after", WRITE, leave)])
    expect(done, 0, "the 2 wanted pods went, and no other")
    assert "What changed: " in done.err and all(f"-{world.pods[place]} " in done.err for place in (0, 2)), done.err
    assert world.gone() == {0, 2} and world.replicas() == 3 and not world.has_traces(), world.gone()
    assert done.json["nodes"] == [] and len(done.json["went"]) == 2, done.json


# What the documentation shows.

@session
def first_look(api):
    """What README.md shows. One pod is not ready, and three of five others go by chance: one has a node for itself."""
    # So short that the table fits there.
    for node in "base-1", "base-2":
        api("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": {"lifecycle": "reserved"}}})
    nodes = ["base-1", "spot-2", "base-2", "spot-1", "spot-2", "base-1", "spot-1"]
    world = World(api, "default", nodes, kind="Deployment", not_ready={3})
    done = play("first-look", ["deploy/web", "--replicas", "3"])
    expect(done, 0)
    done = play("first-look-scale", ["scale", "deploy/web", "--replicas", "3", "--prefer-nodes", "lifecycle=spot", "--yes"])
    expect(done, 0)
    # Both spot nodes are empty.
    assert world.replicas() == 3 and world.gone() == {1, 3, 4, 6}, world.gone()
    assert not world.has_traces()
    api("DELETE", world.path)
    for node in "base-1", "base-2":
        api("DELETE", f"/api/v1/nodes/{node}")


@session
def night(api):
    """At night, nodes that are paid by the hour become empty and are given back. One pod of another set keeps a node until that shrinks."""
    nodes = ["hourly-1", "hourly-2", "hourly-3", "yearly-1", "yearly-2"]
    for name in nodes:
        api("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"billing": name[:-2]}}})
    world = World(api, "night", nodes * 2)
    on = lambda *names: {place for place, node in enumerate(nodes * 2) if node in names}
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "db", "image": "db"}]}}
    spec = {"replicas": 3, "serviceName": "db", "podManagementPolicy": "Parallel", "selector": {"matchLabels": labels}, "template": template}
    sets = "/apis/apps/v1/namespaces/night/statefulsets"
    api("POST", sets, {"metadata": {"name": "db"}, "spec": spec})
    of_db = lambda: {pod["metadata"]["name"] for pod in api("GET", world.of_pod("") + "?labelSelector=app=db")["items"]}
    wait("the database", lambda: len(of_db()) == 3)
    for name, node in [("db-0", "yearly-1"), ("db-1", "yearly-2"), ("db-2", "hourly-3")]:
        world.run(name, node)
    args = ["scale", "deploy/web", "--replicas", "6", "--prefer-nodes", "billing=hourly", "--namespace", "night", "--yes"]
    done = play("night", args)
    expect(done, 0)
    assert "hourly-1, hourly-2 become empty." in done.out and world.gone() == on("hourly-1", "hourly-2"), done.out
    # A pod of the StatefulSet keeps the third.
    done = play("night-kept", ["drop", "--node", "hourly-3", "--yes"])
    expect(done, 1, "StatefulSet db, which has to shrink from 3 to 2 first: kubectl scale sts/db --replicas 2 -n night")
    assert world.gone() == on("hourly-1", "hourly-2") and world.replicas() == 6
    api.patch(sets + "/db", {"spec": {"replicas": 2}})
    wait("db-2 to be terminating", lambda: api("GET", world.of_pod("db-2"))["metadata"].get("deletionTimestamp"))
    world.remove("db-2")
    wait("db-2 to go", lambda: of_db() == {"db-0", "db-1"})
    done = play("night-drop", ["drop", "--node", "hourly-3", "--yes"])
    expect(done, 0)
    assert "hourly-3 becomes empty." in done.out and world.gone() == on("hourly-1", "hourly-2", "hourly-3"), done.out
    pods = api("GET", "/api/v1/pods")["items"]
    left = {pod["spec"].get("nodeName") for pod in pods if "deletionTimestamp" not in pod["metadata"]}
    assert not left & set(nodes[:3]), left


@session
def spot(api):
    world = World(api, "default", ["spot-1", "reserved-1", "reserved-2", "spot-2", "reserved-1", "spot-1"], kind="Deployment")
    args = ["scale", "deploy/web", "--replicas", "4", "--prefer-nodes", "lifecycle=spot"]
    done = play("spot-plan", [*args, "--dry-run", "client"])
    expect(done, 0)
    assert world.replicas() == 6 and not world.costs()
    # The label's value is spot.
    done = play("spot-misspelt", ["scale", "deploy/web", "--replicas", "4", "--prefer-nodes", "lifecycle=Spot", "--yes"])
    expect(done, 1, "no node matches --prefer-nodes lifecycle=Spot: the values of lifecycle are reserved, spot")
    assert world.replicas() == 6 and not world.costs() and not world.gone()
    done = play("spot", [*args, "--yes"])
    expect(done, 0)
    # spot-2 has one pod, and becomes empty; spot-1 has two.
    assert world.replicas() == 4 and len(world.gone()) == 2 and {3} < world.gone() < {0, 3, 5}, world.gone()
    assert not world.has_traces()
    done = play("drop", ["drop", world.pods[1], world.pods[2], "--yes"])
    expect(done, 0)
    assert world.gone() >= {1, 2} and world.replicas() == 2, world.gone()
    # One that is not ready is in the way of the other.
    one, other = [name for place, name in enumerate(world.pods) if place not in world.gone()]
    world.api.patch(world.of_pod(one) + "/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    done = play("drop-blocked", ["drop", other, "--yes"])
    expect(done, 1, f"{one} is not ready and goes first whatever its cost", "--also")
    api("DELETE", world.path)


@session
def count_owner(api):
    """Somebody else writes the count."""
    world = World(api, "count-owner", ["reserved-1", "reserved-2", "spot-1"])
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}}
    api("PATCH", world.path + "?fieldManager=argocd-controller&force=true", body, "application/apply-patch+yaml")
    args = ["scale", "deploy/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot", "--namespace", world.namespace]
    done = play("count-owner", [*args, "--yes"])
    expect(done, 0, "note: argocd-controller owns spec.replicas and may write it back")
    assert world.gone() == {2}, world.gone()


# All pods of a node.

def workers(api, *names):
    for name in names:
        api("POST", "/api/v1/nodes", {"metadata": {"name": name}})


def pod_on(api, node, namespace, name, **metadata):
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "main"}]}
    api("POST", f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": name, **metadata}, "spec": spec})


@session
def drop_node(api):
    workers(api, "worker-1", "worker-2")
    blog = World(api, "blog", ["worker-1", "worker-2", "worker-2"], kind="ReplicaSet")
    shop = World(api, "shop", ["worker-1", "worker-2", "worker-1", "worker-2"])
    pod_on(api, "worker-1", "shop", "debug")
    pod_on(api, "worker-1", "kube-system", "proxy-worker-1", annotations={"kubernetes.io/config.mirror": "5f"})
    worlds = [blog, shop]
    done = play("drop-node-refused", ["drop", "--node", "worker-1", "--yes"])
    delete = "it belongs to no controller, and nothing replaces it: kubectl delete pod debug -n shop"
    expect(done, 1, f"error: debug in shop cannot be dropped: {delete}", "--skip-others takes the rest, 3 pods")
    assert not any(world.gone() or world.has_traces() for world in worlds)
    api("POST", "/apis/apps/v1/namespaces/kube-system/daemonsets", daemon_set("worker-1"))
    wait("the agent", lambda: len(api("GET", "/api/v1/namespaces/kube-system/pods")["items"]) == 2)
    done = play("drop-node-plan", ["drop", "--node", "worker-1", "--skip-others", "--dry-run", "server", "--output", "json"])
    expect_plan(done, {("blog", "web", 3, 2), ("shop", "web", 4, 2)})
    assert not any(world.gone() or world.has_traces() for world in worlds)
    done = play("drop-node", ["drop", "--node", "worker-1", "--skip-others", "--yes"])
    expect(done, 0)
    assert [world.gone() for world in worlds] == [{0}, {0, 2}], [world.gone() for world in worlds]
    assert [world.replicas() for world in worlds] == [2, 2] and not any(world.has_traces() for world in worlds)
    assert "worker-1 is not cordoned" in done.out, done.out
    assert "unschedulable" not in api("GET", "/api/v1/nodes/worker-1")["spec"]
    # The node has no other pods to drop.
    done = play("drop-node-again", ["drop", "--node", "worker-1", "--skip-others", "--yes"])
    expect(done, 0)
    assert "worker-1 has no pods to drop" in done.out, done.out


# An owner of ReplicaSets that podrank does not know.

@session
def owner(api):
    """A Rollout is scaled in place of its set."""
    nodes = ["spot-1", "reserved-1", "reserved-2", "spot-2"]
    world = Rollout(api, "rollouts", nodes)
    args = ["scale", "rollout/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot", "--namespace", "rollouts"]
    try:
        done = play("owner", [*args, "--yes"])
        expect(done, 0)
        assert world.gone() == {0, 3} and world.replicas() == 2 and not world.has_traces(), (world.gone(), done.out)
        assert api("GET", world.set)["spec"]["replicas"] == 2
        done = play("owner-undo", ["undo", "ro/web", "--namespace", "rollouts"])
        expect(done, 0)
        # Its set cannot be scaled by itself, and it cannot as long as it uses another one, too.
        done = play("owner-set", ["scale", "rs/web-1", "--replicas", "1", "--namespace", "rollouts", "--yes"])
        expect(done, 1, "scale it instead: kubectl podrank scale rollout.argoproj.io/web --replicas N")
        spec = api("GET", world.set)["spec"]
        world.add_set("web-2", {**spec, "replicas": 1})
        wait("a pod", lambda: len(world.active()) == 3)
        done = play("owner-rolling", ["scale", "rollout/web", "--replicas", "1", "--namespace", "rollouts", "--yes"])
        expect(done, 1, "Rollout/web uses several ReplicaSets (web-1, web-2)")
        assert world.replicas() == 2 and not world.has_traces()
    finally:
        world.end()


@session
def owner_drop(api):
    """Pods of a Rollout's set, by their names and by their node."""
    workers(api, "worker-9", "worker-10")
    world = Rollout(api, "owner-drop", ["worker-9", "worker-10", "worker-10", "worker-9", "worker-10"])
    try:
        done = takes(world, "owner-drop", {1}, "drop", world.pods[1])
        assert done.json["workload"] == {"kind": "Rollout", "name": "web"}, done.json["workload"]
        done = play("owner-drop-node", ["drop", "--node", "worker-9", "--yes"])
        expect(done, 0)
        assert world.gone() == {0, 1, 3} and world.replicas() == 2 and not world.has_traces(), (world.gone(), done.out)
    finally:
        world.end()


@session
def owner_eviction(api):
    """Evictions lower the count of the Rollout pod by pod."""
    world = Rollout(api, "owner-eviction", ["spot-1", "reserved-1", "spot-2"])
    try:
        args = ["scale", "rollout/web", "--replicas", "1", "--prefer-nodes", "lifecycle=spot", "--by", "eviction", "--timeout", "20s"]
        takes(world, "owner-eviction", {0, 2}, *args)
        assert world.replicas() == 1
    finally:
        world.end()


def daemon_set(node):
    labels = {"app": "agent"}
    spec = {"nodeName": node, "containers": [{"name": "agent", "image": "agent"}], "tolerations": [{"operator": "Exists"}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {"metadata": {"name": "agent"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def expect_plan(done, expected):
    assert (done.status, done.json["kind"]) == (0, "NodePlan"), (done.status, done.out, done.err)
    plans = {(it["namespace"], it["workload"]["name"], it["from"], it["replicas"]) for it in done.json["workloads"]}
    assert plans == expected, plans
    assert [it["pods"] for it in done.json["others"]] == [["debug"]], done.json["others"]
    assert len(done.json["passedOver"]) == 2, done.json["passedOver"]


@session
def drop_node_stops(api):
    """Somebody else scales the second of three workloads, so the third is not begun."""
    workers(api, "worker-3", "worker-4")
    names = ["stops-a", "stops-b", "stops-c"]
    worlds = [World(api, name, ["worker-3", "worker-4", "worker-4"], kind="ReplicaSet") for name in names]
    hooks = [("after", WRITE + ".*--namespace stops-b", lambda: api.patch(worlds[1].path, {"spec": {"replicas": 4}}))]
    done = play("drop-node-stops", ["drop", "--node", "worker-3", "--yes", "--exact", "--output", "json"], hooks)
    kinds = [it["kind"] for it in done.json["workloads"]]
    assert (done.status, kinds) == (1, ["ScaleOutcome", "ScaleOutcome", "ScalePlan"]), (done.status, kinds)
    assert "not as confirmed: rs/web was scaled to 4 by somebody else meanwhile" in done.json["workloads"][1]["message"], done.json
    assert [world.gone() for world in worlds] == [{0}, set(), set()], [world.gone() for world in worlds]
    assert [world.replicas() for world in worlds] == [2, 4, 3] and not any(world.has_traces() for world in worlds)


@session
def drop_node_interrupted(api):
    """Ctrl-C in the second of three workloads."""
    workers(api, "worker-5", "worker-6")
    names = ["ends-a", "ends-b", "ends-c"]
    worlds = [World(api, name, ["worker-5", "worker-6", "worker-6"], kind="ReplicaSet") for name in names]
    hooks = [("before", UNCANARY + ".*--namespace ends-b", "INT")]
    done = play("drop-node-interrupted", ["drop", "--node", "worker-5", "--yes"], hooks)
    expect(done, 1, "error: in ends-b, rs/web was not scaled: interrupted; all costs are put back", "error: not begun: rs/web in ends-c")
    assert [world.gone() for world in worlds] == [{0}, set(), set()], [world.gone() for world in worlds]
    assert [world.replicas() for world in worlds] == [2, 3, 3] and not any(world.has_traces() for world in worlds)


@session
def drop_node_eviction(api):
    """Evictions, workload by workload."""
    workers(api, "worker-7", "worker-8")
    worlds = [World(api, name, ["worker-7", "worker-8"], kind="ReplicaSet") for name in ["evict-a", "evict-b"]]
    args = ["drop", "--node", "worker-7", "--by", "eviction", "--timeout", "20s", "--yes"]
    done = play("drop-node-eviction", args)
    expect(done, 0)
    assert [world.gone() for world in worlds] == [{0}, {0}] and [world.replicas() for world in worlds] == [1, 1]
    assert not any(world.has_traces() for world in worlds)


# Wishes that few pods match, or none.

@session
def too_few(api):
    world = World(api, "too-few", ["spot-1", "reserved-1", "reserved-2", "reserved-1", "spot-2"], kind="ReplicaSet")
    done = play("too-few", in_json(world, "scale", "rs/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot"))
    expect(done, 0, "the 3 planned pods went, and no other; 2 of these 3 match --prefer-nodes lifecycle=spot.")
    assert {0, 4} < world.gone() and len(world.gone()) == 3 and not world.has_traces(), world.gone()
    assert "warning: 2 of the 3 that go match --prefer-nodes lifecycle=spot" in done.err, done.err
    reasons = [(pod["why"][0]["by"], pod["why"][0]["text"]) for pod in done.json["pods"] if pod["wanted"]]
    assert sorted(reasons) == [("empty-nodes", "whole node"), *[("prefer-nodes", "lifecycle=spot")] * 2], reasons
    # All spot pods have gone.
    done = play("no-pod-on-node", in_json(world, "scale", "rs/web", "--replicas", "1", "--prefer-nodes", "lifecycle=spot"))
    expect(done, 1)
    assert "no active pod of rs/web is on a node that matches --prefer-nodes lifecycle=spot" in done.err, done.err
    none = ["scale", "rs/web", "--namespace", "too-few", "--yes", "--replicas"]
    for name, wish, text in [
        ("no-node-with-label", ["--prefer-nodes", "spot=true"], "none of the nodes has the label spot"),
        ("no-pod-with-label", ["--prefer-pods", "track=canary"], "none of these pods has the label track"),
        ("no-domain", ["--spread", "zone"], "did you mean topology.kubernetes.io/zone?"),
    ]:
        done = play(name, [*none, "1", *wish])
        expect(done, 1, text)
    done = play("no-value", [*none, "1", "--by-value", "-"], stdin="web-x 1\n")
    expect(done, 1, "--by-value names no active pod of rs/web: it names web-x")
    assert world.replicas() == 2 and not world.has_traces() and len(world.active()) == 2
    # There is nothing to do, so that a wish that matches nothing is no error.
    done = play("same-count", [*none, "2", "--prefer-nodes", "lifecycle=spot"])
    expect(done, 0)
    assert done.out == "rs/web has 2 replicas already: there is nothing to do.\n", done.out
    done = play("same-count-json", in_json(world, "scale", "rs/web", "--replicas", "2"))
    expect(done, 0, "rs/web has 2 replicas already")
    done = play("higher-count", [*none, "3"])
    expect(done, 1, "rs/web has 2 replicas, so --replicas 3 would scale it up")


# What needs no writes.

@session
def no_writes(api):
    """Somebody else's cost makes the pod go already, and at 0 all pods go."""
    world = five(api, "no-writes")
    world.set_cost(world.pods[1], "-5", "keda")
    done = takes(world, "no-writes", {1}, "drop", world.pods[1])
    assert done.json["writes"] == 0 and "barrier" in done.json["steps"] and "write" not in done.json["steps"], done.json["steps"]
    done = takes(world, "to-zero", {0, 1, 2, 3, 4}, "scale", "rs/web", "--replicas", "0", before={1})
    assert done.json["writes"] == 0 and "barrier" not in done.json["steps"], done.json["steps"]


# Ways for pods to go.

def plain(name, places, *args, **options):
    """A session in which some of five pods are dropped, and go."""
    def play(api):
        world = five(api, name, **options)
        takes(world, name, places, "drop", *[world.pods[place] for place in sorted(places)], *args)
        assert world.replicas() == 5 - len(places)

    ALL[name] = play


plain("named", {1, 3})
plain("eviction-batch", {1, 2, 3}, "--by", "eviction", "--batch", "2", "--timeout", "20s")


@session
def eviction(api):
    world = five(api, "eviction", not_ready={0})
    path = budget(world, minAvailable=3)
    wait("the budget", lambda: api("GET", path).get("status", {}).get("disruptionsAllowed") == 1)
    takes(world, "eviction", {2}, "drop", world.pods[2], "--by", "eviction", "--timeout", "20s")
    done = play("eviction-never", ["scale", "rs/web", "--replicas", "1", "--by", "eviction", "--namespace", "eviction", "--yes"])
    expect(done, 1, "PodDisruptionBudget web (minAvailable 3) allows 0 disruptions now, and never lets evictions lower rs/web below 3")
    assert world.replicas() == 4 and world.gone() == {2}
    # Now the budget allows no more.
    before = world.gone()
    done = play("eviction-budget", in_json(world, "drop", world.pods[3], "--by", "eviction", "--timeout", "0s"))
    expect(done, 1, "disruption budget")
    assert world.replicas() == 4 and world.gone() == before


@session
def eviction_unreplaced(api):
    """A quota keeps the controller from replacing what was evicted."""
    world = five(api, "eviction-unreplaced")
    full(world)
    done = play("eviction-unreplaced", in_json(world, "drop", world.pods[2], "--by", "eviction", "--timeout", "1s"))
    unchanged(world, done, f"; it evicted {world.pods[2]}, which has not been replaced so far", gone={2})
    assert "put back" not in done.json["message"], done.json


@session
def budget_ignored(api):
    world = five(api, "budget-ignored")
    budget(world, maxUnavailable=0)
    done = takes(world, "budget-ignored", {2}, "scale", "rs/web", "--replicas", "4", "--pod", f"pod/{world.pods[2]}")
    assert "PodDisruptionBudget web (maxUnavailable 0) covers pods that go, but the controller ignores it" in done.err, done.err
    # Whoever may read autoscalers alone hears of these.
    allow(api, world.namespace, "all", *ALL_RIGHTS, ("autoscaling", "horizontalpodautoscalers", "list"))
    autoscaler = {"metadata": {"name": "web"}, "spec": {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}}}
    api("POST", "/apis/autoscaling/v2/namespaces/budget-ignored/horizontalpodautoscalers", autoscaler)
    done = takes(world, "budget-unread", {2, 3}, "drop", world.pods[3], "--as", "carol", before={2})
    assert "HorizontalPodAutoscaler web also sets this count" in done.err and "PodDisruptionBudget" not in done.err, done.err


@session
def eviction_no_room(api):
    world = five(api, "eviction-no-room")
    world.set_cost(world.pods[0], "-2147483648", "keda")
    takes(world, "eviction-no-room", {1}, "drop", world.pods[1], "--by", "eviction", "--timeout", "20s")
    assert world.costs() == {0: "-2147483648"}


@session
def not_available_first(api):
    world = five(api, "not-available-first", not_ready={1, 3})
    done = takes(world, "not-available-first", {1, 3}, "scale", "rs/web", "--replicas", "3", "--not-available-first")
    assert done.json["writes"] == 2


@session
def blocked(api):
    world = five(api, "blocked", not_ready={0})
    done = play("blocked", in_json(world, "drop", world.pods[2]))
    unchanged(world, done, f"{world.pods[0]} is not ready and goes first whatever its cost", "--also", "--by eviction")
    takes(world, "blocked-also", {0, 2}, "drop", world.pods[2], "--also")
    assert world.replicas() == 3


@session
def by_value(api):
    world = five(api, "by-value", not_ready={0})
    values = "".join(f"{world.pods[place]} {load}\n" for place, load in [(4, 0.25), (2, 1.5), (3, 80)])
    done = takes(world, "by-value", {0, 4}, "scale", "rs/web", "--replicas", "3", "--by-value", "-", stdin=values)
    assert [(ahead["name"], ahead["rule"]) for ahead in done.json["blocked"]] == [(world.pods[0], "not-ready")]


# Pods that change meanwhile.

@session
def others(api):
    world = five(api, "others")
    remove = lambda: world.remove(world.pods[0])
    done = play("others", in_json(world, "drop", world.pods[1]), [("after", SCALE, remove)])
    expect(done, 3, f"these went although they should have stayed: {world.pods[0]}")
    went(world, done, {0, 1}, others={0})


@session
def pod_gone(api):
    world = five(api, "pod-gone")
    hooks = [("before", WRITE, lambda: world.remove(world.pods[1]))]
    done = play("pod-gone", in_json(world, "drop", world.pods[1], world.pods[2]), hooks)
    unchanged(world, done, "is no active pod", gone={1})


@session
def pod_replaced(api):
    world = five(api, "pod-replaced", kind="ReplicaSet")

    def replace():
        # The controller must not see the gap.
        controllers("stop")
        owner = world.get()["metadata"]
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner["uid"], "controller": True}
        world.remove(world.pods[1])
        metadata = {"name": world.pods[1], "labels": {"app": "web"}, "ownerReferences": [reference]}
        spec = {"containers": [{"name": "web", "image": "web"}]}
        api("POST", world.of_pod("")[:-1], {"metadata": metadata, "spec": spec})
        world.run(world.pods[1], "reserved-1")
        controllers("start")

    done = play("pod-replaced", in_json(world, "drop", world.pods[1], world.pods[2]), [("before", WRITE, replace)])
    unchanged(world, done, f"{world.pods[1]} was named, and is gone or another pod now", gone={1})


# Costs of others.

@session
def foreign_fixed(api):
    world = five(api, "foreign-fixed")
    world.set_cost(world.pods[0], "-3", "karpenter")
    takes(world, "foreign-fixed", {1, 2}, "drop", world.pods[1], world.pods[2])
    assert world.costs() == {0: "-3"} and world.owners(world.pods[0]) == ["karpenter"]


@session
def foreign_no_room(api):
    world = five(api, "foreign-no-room")
    world.set_cost(world.pods[0], "50", "keda")
    world.set_cost(world.pods[1], "100", "karpenter")
    args = in_json(world, "drop", world.pods[1], world.pods[2])
    done = play("foreign-no-room", args)
    unchanged(world, done, f"{world.pods[1]} (cost 100, written by karpenter)", f"{world.pods[0]} (cost 50, written by keda)")
    assert world.costs() == {0: "50", 1: "100"}
    # Somebody scales just before podrank does, so that podrank ends and puts the cost back.
    other = lambda: api.patch(world.path, {"spec": {"replicas": 6}})
    done = play("foreign-forced-abort", [*args, "--force-conflicts", "--exact"], [("before", SCALE, other)])
    expect(done, 1, "was scaled to 6 by somebody else")
    assert not world.has_traces()
    assert world.costs() == {0: "50", 1: "100"} and world.owners(world.pods[1]) == ["karpenter"]


@session
def foreign_forced(api):
    world = five(api, "foreign-forced")
    world.set_cost(world.pods[0], "-2147483648", "keda")
    done = play("foreign-lowest", in_json(world, "drop", world.pods[1]))
    unchanged(world, done, "leave no room", "written by keda")
    takes(world, "foreign-forced", {1}, "drop", world.pods[1], "--force-conflicts")
    assert world.costs() == {0: "-2147483648"} and world.owners(world.pods[0]) == ["keda"]


@session
def equal_value(api):
    world = five(api, "equal-value")
    same = lambda: world.apply_cost(world.pods[1], "-1", "keda")
    other = lambda: api.patch(world.path, {"spec": {"replicas": 6}})
    done = play("equal-value", in_json(world, "drop", world.pods[1], world.pods[2], "--exact"), [("after", WRITE, same), ("before", SCALE, other)])
    expect(done, 1, "was scaled to 6 by somebody else")
    assert world.costs() == {1: "-1"} and world.owners(world.pods[1]) == ["keda"] and not world.has_traces()


@session
def template(api):
    world = five(api, "template", kind="ReplicaSet", annotations={COST: "5"})
    other = lambda: api.patch(world.path, {"spec": {"replicas": 6}})
    done = play("template-abort", in_json(world, "drop", world.pods[1], "--exact"), [("before", SCALE, other)])
    expect(done, 1, "was scaled to 6 by somebody else")
    assert all(world.costs()[place] == "5" for place in range(5)), world.costs()
    assert world.owners(world.pods[1]) == ["kube-controller-manager"] and not world.has_traces()
    api.patch(world.path, {"spec": {"replicas": 5}})
    wait("5 pods", lambda: len(world.active()) == 5)
    takes(world, "template", {1}, "drop", world.pods[1])


@session
def template_meanwhile(api):
    """Somebody sets a cost just before podrank overwrites the template's, and another one just before that is put back."""
    world = five(api, "template-meanwhile", kind="ReplicaSet", annotations={COST: "5"})
    wanted = lambda: world.set_cost(world.pods[1], "7", "karpenter")
    survivor = lambda: world.set_cost(world.pods[0], "3", "keda")
    hooks = [("before", WRITE, wanted), ("before", PUT_BACK, survivor)]
    takes(world, "template-meanwhile", {1}, "drop", world.pods[1], hooks=hooks)
    assert world.costs() == {0: "3", 2: "5", 3: "5", 4: "5"}, world.costs()
    assert world.owners(world.pods[0]) == ["keda"]


@session
def partly(api):
    world = five(api, "partly")
    conflict = lambda: world.set_cost(world.pods[2], "7", "karpenter")
    takes(world, "partly", {1, 2, 3}, "drop", *world.pods[1:4], hooks=[("before", WRITE, conflict)])
    assert world.costs() == {}


# Rights.

def rbac(namespace, resource):
    return f"/apis/rbac.authorization.k8s.io/v1/{namespace and f'namespaces/{namespace}/'}{resource}"


def allow(api, namespace, name, *rules, kind="Role"):
    """Gives carol these rights: (groups, resources, verbs), a word for each."""
    group, keys = "rbac.authorization.k8s.io", ("apiGroups", "resources", "verbs")
    rules = [{key: ["" if word == "core" else word for word in part.split()] for key, part in zip(keys, rule)} for rule in rules]
    api("POST", rbac(namespace, f"{kind.lower()}s"), {"metadata": {"name": name}, "rules": rules})
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": kind, "name": name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "carol"}],
    }
    api("POST", rbac(namespace, f"{kind.lower()}bindings"), binding)


# What docs/scale-reference.md says is needed.
READ = ("core apps", "pods deployments replicasets", "get list watch")
SCALING = ("apps", "deployments/scale replicasets/scale", "get update patch")
CANARIES = ("core apps", "pods replicasets", "create delete")
COSTS = ("core", "pods", "patch")
LEASES = ("coordination.k8s.io", "leases", "create get update delete")
ALL_RIGHTS = (READ, SCALING, CANARIES, COSTS, LEASES)


@session
def least_rights(api):
    """With all of them, and with all but one."""
    world = five(api, "least-rights", kind="Deployment")
    allow(api, world.namespace, "all", *ALL_RIGHTS)
    takes(world, "least-rights", {1}, "drop", world.pods[1], "--as", "carol")
    for name, lacks, text in [("no-right-to-patch", COSTS, "write deletion costs"), ("no-right-to-scale", SCALING, "scale")]:
        world = five(api, name)
        allow(api, world.namespace, "most", *[right for right in ALL_RIGHTS if right != lacks])
        done = play(name, [*in_json(world, "drop", world.pods[1]), "--as", "carol"])
        unchanged(world, done, f"nothing was changed: cannot {text}", "(Forbidden)")


@session
def no_right_to_patch_any_more(api):
    world = five(api, "no-right-to-patch-any-more")
    allow(api, world.namespace, "most", READ, SCALING, CANARIES, LEASES)
    allow(api, world.namespace, "costs", COSTS)

    def revoke():
        api("DELETE", rbac(world.namespace, "rolebindings/costs"))
        api.patch(world.path, {"spec": {"replicas": 6}})

    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]
    done = play("no-right-to-patch-any-more", args, [("before", SCALE, revoke)])
    expect(done, 4, "costs are left", "(Forbidden)", "kubectl podrank undo rs/web -n no-right-to-patch-any-more")
    assert world.costs() == {1: "-1"} and [pod["name"] for pod in done.json["left"]] == [world.pods[1]]


@session
def no_right_to_write(api):
    """The right to write costs is taken away before the first write."""
    world = five(api, "no-right-to-write")
    allow(api, world.namespace, "most", READ, SCALING, CANARIES, LEASES)
    allow(api, world.namespace, "costs", COSTS)
    revoke = lambda: api("DELETE", rbac(world.namespace, "rolebindings/costs"))
    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]

    def and_wait():
        revoke()
        time.sleep(2)

    done = play("no-right-to-write", args, [("before", WRITE, and_wait)])
    unchanged(world, done, "(Forbidden)")


# The workload changes meanwhile.

@session
def precondition(api):
    world = five(api, "precondition", kind="Deployment")
    # The resource version moves, and the generation too.
    touch = lambda: api.patch(world.path, {"metadata": {"annotations": {"touched": "yes"}}})
    takes(world, "precondition", {1}, "drop", world.pods[1], hooks=[("before", SCALE, touch)])


@session
def rollout(api):
    world = five(api, "rollout", kind="Deployment")
    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
    done = play("rollout", in_json(world, "drop", world.pods[1], world.pods[2]), [("after", WRITE, lambda: api.patch(world.path, image))])
    expect(done, 1, "deploy/web was not scaled")
    assert world.replicas() == 5 and not world.has_traces()


@session
def in_rollout(api):
    """The rollout waits for its new pods, and an old one goes all the same."""
    world = five(api, "in-rollout", kind="Deployment")
    budget = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}
    image = {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}
    api.patch(world.path, {"spec": {"strategy": budget, "template": image}})
    wait("new pods", lambda: world.get()["status"].get("updatedReplicas") == 2 and len(world.active()) == 7)
    world.settle()
    takes(world, "in-rollout", {1}, "drop", world.pods[1])
    assert world.replicas() == 4


# What is done is what was confirmed.

def asked(world, *args):
    """Without --yes, at a terminal."""
    return [*args, "--namespace", world.namespace, "--output", "json"]


def unready(world, place, status="False"):
    """A pod turns unready, so that it goes before all that are ready; or ready again."""
    conditions = [{"type": "Ready", "status": status, "lastTransitionTime": READY}]
    return lambda: world.api.patch(world.of_pod(world.pods[place]) + "/status", {"status": {"conditions": conditions}}, "kubelet")


@session
def confirmed(api):
    """Nothing changes while it asks."""
    world = five(api, "confirmed")
    done = play("confirmed", asked(world, "scale", "rs/web", "--replicas", "3", "--pod", world.pods[1]), answers=[(None, "y")])
    expect(done, 0, "the 2 wanted pods went, and no other.")
    assert 1 in world.gone() and len(world.gone()) == 2 and not world.has_traces(), world.gone()
    done = play("confirmed-not", asked(world, "scale", "rs/web", "--replicas", "1"), answers=[(None, "")])
    expect(done, 1, "nothing was changed")
    assert world.replicas() == 3 and not world.has_traces()


@session
def changed_at_prompt(api):
    """A pod turns unready while it asks. It asks again, and does what was confirmed then."""
    world = World(api, "changed-at-prompt", ["reserved-1", "spot-1", "reserved-2", "spot-2", "reserved-1"], kind="ReplicaSet")
    args = asked(world, "scale", "rs/web", "--replicas", "3", "--prefer-nodes", "lifecycle=spot", "--empty-nodes=false")
    done = play("changed-at-prompt-no", args, answers=[(unready(world, 0), "y"), (None, "n")])
    unchanged(world, done, "you said no")
    assert re.search(f"What changed: -(web-\\w+) \\+{world.pods[0]}: {world.pods[0]} is no longer ready", done.err), done.err
    done = play("changed-at-prompt", args, answers=[(unready(world, 2), "y"), (None, "y")])
    expect(done, 0, "the 2 planned pods went, and no other")
    went(world, done, {0, 2})
    assert f"+{world.pods[2]}: {world.pods[2]} is no longer ready" in done.err, done.err


@session
def kept_changing(api):
    """Somebody lowers the count each time it asks. After the fourth answer it gives up."""
    world = World(api, "kept-changing", ["reserved-1", "reserved-2"] * 3, kind="ReplicaSet")

    def to(count):
        def do():
            api.patch(world.path, {"spec": {"replicas": count}})
            wait("pods", lambda: len(world.active()) == count)
            world.settle()
        return do

    args = asked(world, "scale", "rs/web", "--replicas", "1")
    done = play("kept-changing", args, answers=[(to(count), "y") for count in (5, 4, 3, 2)])
    expect(done, 1, "what was confirmed kept changing: ")
    assert world.replicas() == 2 and len(world.gone()) == 4 and not world.has_traces(), (done.out, done.err)


@session
def changed_exact(api):
    """With --exact, the first difference ends it, before the first write and after it."""
    world = five(api, "changed-exact")
    args = in_json(world, "scale", "rs/web", "--replicas", "4", "--pod", world.pods[1], "--exact")
    done = play("changed-exact", args, [("before", LOCK, unready(world, 0))])
    unchanged(world, done, "not as confirmed: ", f"{world.pods[0]} is not ready and goes first")
    done = play("changed-exact-written", in_json(world, "scale", "rs/web", "--replicas", "3", "--pod", world.pods[3], "--exact"), [("after", WRITE, unready(world, 4))])
    expect(done, 1, "not as confirmed: ", "all costs are put back")
    assert world.replicas() == 5 and not world.gone() and not world.has_traces()


@session
def changed_yes(api):
    """With --yes, wishes are planned anew: before the first write, and after it."""
    world = World(api, "changed-yes", ["reserved-1", "spot-1", "reserved-2", "spot-2", "reserved-1", "spot-1"], kind="ReplicaSet")
    wish = ["--prefer-nodes", "lifecycle=spot", "--empty-nodes=false"]
    done = takes(world, "changed-yes", {0}, "scale", "rs/web", "--replicas", "5", *wish, hooks=[("before", LOCK, unready(world, 0))])
    assert f"+{world.pods[0]}: {world.pods[0]} is no longer ready" in done.err, done.err
    done = takes(world, "changed-yes-written", {0, 2}, "scale", "rs/web", "--replicas", "4", *wish, hooks=[("after", WRITE, unready(world, 2))], before={0})
    assert f"+{world.pods[2]}: {world.pods[2]} is no longer ready" in done.err, done.err
    done = play("changed-named", in_json(world, "drop", world.pods[1]), [("before", LOCK, unready(world, 4))])
    expect(done, 1, f"{world.pods[4]} is not ready and goes first whatever its cost")
    assert world.replicas() == 4 and not world.has_traces()
    # Another count is no reason to take other pods than the named ones.
    unready(world, 4, "True")()
    world.settle()
    world.set_cost(world.pods[4], "-9", "keda")

    def lower():
        api.patch(world.path, {"spec": {"replicas": 3}})
        wait("the pod to go", lambda: 4 in world.gone())
        world.settle()

    done = play("changed-count", in_json(world, "drop", world.pods[1]), [("before", LOCK, lower)])
    expect(done, 0, "rs/web was scaled from 3 to 2: the wanted pod went, and no other.")
    assert "What changed: rs/web has 3 replicas now and gets 2" in done.err, done.err
    assert 1 in world.gone() and not world.has_traces()


@session
def promised(api):
    """A pod comes to a node that was to become empty: while it asks, and once the count has fallen."""
    workers(api, "full-1", "full-2")
    world = World(api, "promised", ["full-1", "full-2", "full-2", "full-2", "full-2"], kind="ReplicaSet")
    args = ["scale", "rs/web", "--replicas", "4", "--empty-nodes"]
    come = lambda name: lambda: (pod_on(api, "full-1", "promised", name), api.patch(world.of_pod(name) + "/status", {"status": {"phase": "Running"}}))
    done = play("promised", asked(world, *args), answers=[(come("guest"), "y"), (None, "n")])
    unchanged(world, done, "you said no")
    assert "full-1 does not become empty" in done.err, done.err
    world.remove("guest")
    done = play("promised-late", in_json(world, *args), [("after", SCALE, come("guest"))])
    expect(done, 3, "but full-1 keeps pod guest")
    assert world.gone() == {0} and not world.has_traces()
    world.remove("guest")


# One run at a time.

class Other:
    """Another run, which holds the Lease of a workload and renews it, if it is alive."""

    def __init__(self, world, is_alive):
        self.world, self.path = world, lease_path(world)
        # An hour behind.
        times = {"acquireTime": "2026-03-10T12:00:00.000000Z", "renewTime": "2026-03-10T12:00:00.000000Z"}
        spec = {"holderIdentity": "podrank-run-0123abcd", "leaseDurationSeconds": 30, **times}
        leases, name = self.path.rsplit("/", 1)
        world.api("POST", leases, {"metadata": {"name": name}, "spec": spec})
        self.stop = threading.Event()
        if is_alive:
            threading.Thread(target=self.renew, daemon=True).start()

    def renew(self):
        while not self.stop.wait(1):
            renewed = {"spec": {"renewTime": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}}
            self.world.api.patch(self.path, renewed)

    def end(self):
        self.stop.set()
        self.world.api("DELETE", self.path)


@session
def held(api):
    """Another run is alive."""
    world = five(api, "held")
    other = Other(world, is_alive=True)
    done = play("held", [*in_json(world, "drop", world.pods[1])])
    expect(done, 1, "nothing was changed: rs/web: run 0123abcd works on it since 2026-03-10T12:00:00Z")
    assert not world.gone() and world.replicas() == 5
    done = play("undo-held", ["undo", "rs/web", "--namespace", "held"])
    expect(done, 1, "run 0123abcd works on it since", "--force")
    other.stop.set()
    # It is killed: whoever waits for 30 s takes the Lease over. How often it looks depends on the machine, so this is not recorded.
    subprocess.run([os.environ["PODRANK"], *in_json(world, "drop", world.pods[1])], check=True, stdout=subprocess.DEVNULL)
    assert world.gone() == {1} and not world.has_traces()


@session
def lost(api):
    """Another run takes the Lease away before the count falls, or somebody deletes it."""
    world = five(api, "lost")

    def steal():
        api.patch(lease_path(world), {"spec": {"holderIdentity": "podrank-run-0123abcd"}})

    done = play("lost-early", in_json(world, "drop", world.pods[1]), [("before", CHECK, steal)])
    expect(done, 1, "rs/web was not scaled: run 0123abcd has taken the Lease over")
    assert world.replicas() == 5 and not world.gone() and not world.costs()
    api("DELETE", lease_path(world))
    done = play("lost", in_json(world, "drop", world.pods[1]), [("after", UNCANARY, steal)])
    expect(done, 4, "run 0123abcd has taken the Lease over; costs are left: ", "run: kubectl podrank undo rs/web -n lost")
    assert world.replicas() == 5 and not world.gone() and world.costs() == {1: "-1"}
    done = play("undo-lost", ["undo", "rs/web", "--namespace", "lost", "--force"])
    expect(done, 0)
    assert not world.has_traces()
    delete = lambda: api("DELETE", lease_path(world))
    done = play("lock-deleted", in_json(world, "drop", world.pods[1]), [("after", UNCANARY, delete)])
    expect(done, 4, "somebody has deleted the Lease")
    # Whoever undoes a run that is alive has taken its costs off, too.
    undone = lambda: subprocess.run([os.environ["PODRANK"], "undo", "rs/web", "--namespace", "lost", "--force"], check=True)
    undone()
    done = play("undone", in_json(world, "drop", world.pods[1]), [("after", UNCANARY, undone)])
    unchanged(world, done, "somebody has deleted the Lease")


@session
def not_locked(api):
    """Whoever may not lock says so, and leaves the costs of other runs as they are."""
    world = five(api, "not-locked")
    allow(api, world.namespace, "all", READ, SCALING, CANARIES, COSTS, ("coordination.k8s.io", "leases", "create get update"))
    done = play("not-locked-refused", [*in_json(world, "drop", world.pods[1]), "--as", "carol"])
    unchanged(world, done, "nothing was changed: not locked, so other runs of podrank may interfere: you may not delete leases.coordination.k8s.io; --no-lock goes on all the same")
    world.apply_cost(world.pods[0], "-7", "podrank")
    done = play("not-locked", [*in_json(world, "drop", world.pods[1]), "--no-lock", "--as", "carol"])
    expect(done, 0, "the wanted pod went, and no other")
    assert world.gone() == {1} and world.costs() == {0: "-7"} and not world.leases(), world.costs()


@session
def drop_node_held(api):
    """Another run works on one of two workloads, so that none is begun."""
    workers(api, "worker-11", "worker-12")
    worlds = [World(api, name, ["worker-11", "worker-12"], kind="ReplicaSet") for name in ["held-a", "held-b"]]
    other = Other(worlds[1], is_alive=True)
    done = play("drop-node-held", ["drop", "--node", "worker-11", "--yes"])
    expect(done, 1, "nothing was changed: rs/web in held-b: run 0123abcd works on it")
    other.end()
    assert [world.gone() for world in worlds] == [set(), set()] and not any(world.has_traces() for world in worlds)


@session
def drop_node_changed(api):
    """One of two workloads changes while it asks: both are asked about again."""
    workers(api, "worker-13", "worker-14")
    worlds = [World(api, name, ["worker-13", "worker-14", "worker-14"], kind="ReplicaSet") for name in ["turns-a", "turns-b"]]
    raise_it = lambda: (worlds[1].api.patch(worlds[1].path, {"spec": {"replicas": 2}}), wait("2 pods", lambda: len(worlds[1].active()) == 2), worlds[1].settle())
    done = play("drop-node-changed", ["drop", "--node", "worker-13"], answers=[(raise_it, "y"), (None, "n")])
    expect(done, 1)
    assert "What changed: " in done.err and not worlds[0].gone() and not any(world.has_traces() for world in worlds), done.err


# The count rises again.

@session
def raised_again(api):
    """Somebody raises the count once the wanted pods have gone, and before they could go."""
    world = five(api, "raised-again")
    back = lambda: api.patch(world.path, {"spec": {"replicas": 5}}, "flux")

    def later():
        wait("the pods to go", lambda: world.gone() == {1, 2})
        back()

    done = play("raised-again", in_json(world, "drop", world.pods[1], world.pods[2]), [("after", SCALE, later)])
    expect(done, 0, "the 2 wanted pods went, and no other; the count is 5 again, written by flux.")
    went(world, done, {1, 2})
    # Other pods: those that have come just now would be younger, and what goes by itself would depend on when this is replayed.
    world = five(api, "raised-at-once")
    hooks = [("before", SCALE, lambda: controllers("stop")), ("after", SCALE, lambda: (back(), controllers("start"), world.settle()))]
    done = play("raised-at-once", in_json(world, "drop", world.pods[3]), hooks)
    expect(done, 3, f"these stayed: {world.pods[3]}; the count is 5 again, written by flux")
    assert not world.gone() and not world.has_traces()


@session
def count_of_other(api):
    """Somebody sets the confirmed count right before podrank does: the pods go by podrank's costs all the same."""
    world = five(api, "count-of-other")
    hooks = [("before", SCALE, lambda: api.patch(world.path, {"spec": {"replicas": 4}}, "flux"))]
    done = play("count-of-other", in_json(world, "drop", world.pods[3]), hooks)
    expect(done, 0, "rs/web was scaled from 5 to 4 by somebody else: the wanted pod went, and no other.")
    went(world, done, {3})


# The canary.

@session
def canary_rights(api):
    """Without the right to delete the canary, none is made. With --by eviction, none is needed."""
    world = five(api, "canary-rights")
    allow(api, world.namespace, "all", READ, SCALING, COSTS, LEASES, ("core apps", "pods replicasets", "create"), ("core", "pods/eviction", "create"))
    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]
    done = play("canary-rights", args)
    unchanged(world, done, "nothing was changed: you may not delete replicasets.apps, which the canary needs; use --by eviction")
    done = play("canary-rights-dry-run", [arg for arg in args if arg != "--yes"] + ["--dry-run", "server"])
    unchanged(world, done, "you may not delete replicasets.apps, which the canary needs")
    done = play("canary-rights-eviction", [*args, "--by", "eviction", "--timeout", "20s"])
    expect(done, 0, "the wanted pod went, and no other.")
    went(world, done, {1})


@session
def canary_left(api):
    """An admission policy keeps everybody from deleting canaries."""
    world = five(api, "canary-left")
    group = "/apis/admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}
    canaries = {"name": "canaries", "expression": "has(oldObject.metadata.labels) && 'podrank.dev/canary' in oldObject.metadata.labels"}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "matchConditions": [canaries], "validations": [{"expression": "request.userInfo.username.startsWith('system:')"}]}
    api("POST", f"{group}/validatingadmissionpolicies", {"metadata": {"name": "canaries"}, "spec": spec})
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "canary-left"}}}
    binding = {"policyName": "canaries", "validationActions": ["Deny"], "matchResources": here}
    api("POST", f"{group}/validatingadmissionpolicybindings", {"metadata": {"name": "canaries"}, "spec": binding})
    probe = {"metadata": {"name": "probe", "labels": {"podrank.dev/canary": "probe"}}, "spec": {"schedulingGates": [{"name": "podrank.dev/canary"}], "containers": [{"name": "probe", "image": "probe"}]}}
    api("POST", world.of_pod("")[:-1], probe)

    def is_denied():
        try:
            api("DELETE", world.of_pod("probe") + "?dryRun=All")
            return False
        except OSError:
            return True

    wait("the policy", is_denied)
    done = play("canary-left", in_json(world, "drop", world.pods[1]))
    expect(done, 4, "the wanted pod went, and no other; the canary podrank-canary-", "whoever may removes it with: kubectl delete replicasets.apps,pods -l podrank.dev/canary=podrank-canary-")
    assert world.gone() == {1} and not world.costs() and not world.leases()
    api("DELETE", f"{group}/validatingadmissionpolicybindings/canaries")
    api("DELETE", f"{group}/validatingadmissionpolicies/canaries")


@session
def quota_full(api):
    """A quota leaves no room for the canary."""
    world = five(api, "quota-full")
    full(world)
    done = play("quota-full", in_json(world, "drop", world.pods[1]))
    unchanged(world, done, "cannot create the canary: ", "exceeded quota", "use --by eviction")


# The end comes early.

@session
def interrupted(api):
    world = five(api, "interrupted")
    done = play("interrupted", in_json(world, "drop", world.pods[1]), [("before", UNCANARY, "INT")])
    unchanged(world, done, "interrupted")


@session
def interrupted_late(api):
    world = five(api, "interrupted-late")
    hooks = [("before", SCALE, lambda: controllers("stop")), ("after", SCALE, "INT")]
    done = play("interrupted-late", in_json(world, "drop", world.pods[1]), hooks)
    expect(done, 4, "interrupted: 0 of the 1 wanted pods have gone so far", "kubectl podrank undo rs/web -n interrupted-late")
    assert world.replicas() == 4
    controllers("start")
    wait("the pod to go", lambda: world.gone() == {1})


@session
def killed(api):
    world = five(api, "killed")
    done = play("killed", in_json(world, "drop", world.pods[1]), [("before", WATCH, "KILL")])
    assert done.status == -9 and world.costs() == {1: "-1"} and world.has_traces()
    done = play("undo", ["undo", "rs/web", "--namespace", "killed", "--force"])
    expect(done, 0)
    assert world.replicas() == 5 and not world.gone() and not world.costs() and not world.has_traces()
    done = play("undo-nothing", ["undo", "rs/web", "--namespace", "killed"])
    expect(done, 0)


@session
def killed_in_each_step(api):
    """Killed with the lock, once the count has fallen, and before the lock is given back: undo removes what is left."""
    for step, hook, gone, left in [
        ("locked", ("after", LOCK, "KILL"), set(), {}),
        ("written", ("after", WRITE, "KILL"), set(), {1: "-1"}),
        ("proved", ("after", UNCANARY, "KILL"), set(), {1: "-1"}),
        ("scaled", ("after", SCALE, "KILL"), {1}, {}),
        ("cleaned", ("before", UNLOCK, "KILL"), {1}, {}),
    ]:
        world = five(api, f"killed-{step}")
        done = play(f"killed-{step}", in_json(world, "drop", world.pods[1]), [hook])
        assert done.status == -9, done.status
        wait("the pod to go", lambda: world.gone() == gone)
        assert world.costs() == left and world.has_traces(), (step, world.costs())
        done = play(f"undo-{step}", ["undo", "rs/web", "--namespace", world.namespace, "--force"])
        expect(done, 0)
        assert world.gone() == gone and not world.costs() and not world.has_traces(), step


@session
def killed_forced(api):
    world = five(api, "killed-forced")
    world.set_cost(world.pods[0], "50", "keda")
    world.set_cost(world.pods[1], "100", "karpenter")
    args = in_json(world, "drop", world.pods[1], world.pods[2], "--force-conflicts")
    done = play("killed-forced", args, [("before", WATCH, "KILL")])
    assert done.status == -9 and world.owners(world.pods[1]) == ["podrank"], world.costs()
    done = play("undo-forced", ["undo", "rs/web", "--namespace", "killed-forced", "--force"])
    expect(done, 0)
    assert "took podrank's deletion cost off 1 pod, and put the earlier deletion cost back on 1 pod" in done.out, done.out
    assert world.costs() == {0: "50", 1: "100"} and world.owners(world.pods[1]) == ["karpenter"]


def main(names):
    api = Api()
    try:
        for node, (lifecycle, zone) in NODES.items():
            labels = {"lifecycle": lifecycle, "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": node}
            try:
                api("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
            except OSError:
                pass  # it is there
        failed = 0
        for name in names or ALL:
            try:
                ALL[name](api)
                print(f"{name}: ok", flush=True)
            except Exception as error:
                failed += 1
                line = traceback.extract_tb(error.__traceback__)[-1].lineno
                print(f"{name}: FAILED in line {line}: {type(error).__name__}: {error}", flush=True)
        return failed > 0
    finally:
        api.close()


sys.exit(main(sys.argv[1:]))
