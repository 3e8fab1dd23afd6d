"""The sessions: the runs, the disturbances, and the pods that must have been deleted. `sessions` starts this."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import traceback

import metrics
from rollout import OVER, Rollout
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
UNBARRIER = r"^delete --raw /apis/apps/v1/.*/replicasets/"
WATCH = r"^get --raw .*watch=1"
LOCK = r"^create --raw .*/leases "
CHECK = r"^get --raw .*/leases/"
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


def on_five(**options):
    """A session on such a workload."""

    def decorate(play):
        name = play.__name__.replace("_", "-")
        ALL[name] = lambda api: play(five(api, name, **options))
        return play

    return decorate


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
    """A quota of the five pods that are there. The status is written in place of a controller."""
    path = f"/api/v1/namespaces/{world.namespace}/resourcequotas"
    world.api("POST", path, {"metadata": {"name": "full"}, "spec": {"hard": {"pods": "5"}}})
    world.api.patch(path + "/full/status", {"status": {"hard": {"pods": "5"}, "used": {"pods": "5"}}})


def run(name, args, status, *parts, **options):
    """Runs podrank, which ends so, and says all of this."""
    done = play(name, args, **options)
    assert done.status == status, (done.status, done.out, done.err)
    for part in parts:
        assert part in done.message, (part, done.message)
    return done


def went(world, done, places, before=frozenset(), **results):
    """Checks that these pods were deleted, and that the outcome names those that had not been deleted before."""
    assert world.gone() == set(places), (world.gone(), places, done.message)
    places = set(places) - before
    named = {world.pods.index(pod["name"]) for pod in done.json["deleted"]}
    others = {world.pods.index(pod["name"]) for pod in done.json["unexpected"]}
    assert (named | others, others) == (set(places), results.get("others", set())), done.json
    assert not world.has_traces(), world.annotations()


def takes(world, name, places, *args, hooks=(), stdin="", says="", before=frozenset()):
    """Runs podrank, and checks that exactly these pods have been deleted, and those before."""
    done = run(name, in_json(world, *args), 0, says, hooks=hooks, stdin=stdin)
    went(world, done, places, before)
    return done


def refuses(world, name, args, *parts, gone=(), **options):
    """Runs podrank, after which nothing was scaled, and nothing is left."""
    done = run(name, args, 1, *parts, **options)
    assert world.replicas() == 5 and world.gone() == set(gone), (world.replicas(), world.gone())
    assert not world.has_traces(), world.annotations()
    return done


# The preference that counts the pods of all namespaces, while no other namespace has pods.

@session
def empty_nodes(api):
    world = World(api, "empty-nodes", ["spot-1", "spot-2", "spot-1", "spot-2", "spot-1"], kind="ReplicaSet")
    takes(world, "empty-nodes", {1, 3}, "scale", "rs/web", "--replicas", "3", "--empty-nodes")


@session
def node_gone(api):
    """A node is removed with its pods once they have costs, so that it cannot become empty any more."""
    workers(api, "gone-1", "gone-2")
    world = World(api, "node-gone", ["gone-1", "gone-2", "gone-1", "gone-2", "gone-2"], kind="ReplicaSet")

    def leave():
        api("DELETE", "/api/v1/nodes/gone-1")
        for place in [0, 2]:
            world.remove(world.pods[place])
        wait("new pods", lambda: len(world.active()) == 5)

    refuses(world, "node-gone", in_json(world, "scale", "rs/web", "--replicas", "3", "--empty-nodes"),
        "gone-1 does not become empty", "Its deletion costs are restored.", gone={0, 2}, hooks=[("after", WRITE, leave)])


# What the documentation shows.

@session
def first_look(api):
    """What README.md shows. One pod is not ready, and three of five others go by chance: one has a node for itself."""
    # So short that the table fits there.
    for node in "base-1", "base-2":
        api("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": {"lifecycle": "reserved"}}})
    nodes = ["base-1", "spot-2", "base-2", "spot-1", "spot-2", "base-1", "spot-1"]
    world = World(api, "default", nodes, kind="Deployment", not_ready={3})
    run("first-look", ["deploy/web", "--replicas", "3"], 0)
    run("first-look-scale", ["scale", "deploy/web", "--replicas", "3", "--prefer-nodes", "lifecycle=spot", "--yes"], 0)
    # Both spot nodes are empty.
    assert world.replicas() == 3 and world.gone() == {1, 3, 4, 6}, world.gone()
    assert not world.has_traces()
    api("DELETE", world.path)
    for node in "base-1", "base-2":
        api("DELETE", f"/api/v1/nodes/{node}")


def as_documented(start, pod, *more):
    """Runs the command of docs/tutorial.md that starts like this, on this pod. It must print what the page shows."""
    with open(os.path.join(os.path.dirname(PART), "../../docs/tutorial.md")) as page:
        found = re.search(rf"^\$ (kubectl {start}[^\n]*)\n((?:[^$`\n][^\n]*\n)*)", page.read(), re.MULTILINE)
    command, output = (re.sub(r"web-\w+-\w+", pod, part) for part in found.groups())
    done = subprocess.run([*shlex.split(command), *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.stdout.replace(" (server dry run)", "") == output, (command, done.stdout)


@session
def tutorial(api):
    """What docs/tutorial.md shows, on the nodes of a cluster of kind."""
    nodes = ["kind-worker", "kind-worker2", "kind-worker3", "kind-worker4"]
    workers(api, *nodes)
    as_documented("label node", "")
    as_documented("create deployment", "", "--dry-run=server")
    world = World(api, "default", (nodes * 2)[:7])
    as_documented("rollout status", "")
    run("tutorial-preview", ["deploy/web", "--replicas", "4"], 0)
    run("tutorial-order", ["deploy/web"], 0)
    as_documented("annotate pod", world.pods[2])
    run("tutorial-keep", ["deploy/web", "--replicas", "4"], 0)
    run("tutorial-scale", ["scale", "deploy/web", "--replicas", "4", "--prefer-nodes", "lifecycle=spot", "--yes"], 0)
    assert world.gone() > {0, 4} or world.gone() > {1, 5} and not world.has_traces(), world.gone()
    run("tutorial-undo", ["undo", "deploy/web"], 0)
    api("DELETE", world.path)
    for node in nodes:
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
    done = run("night", args, 0)
    assert "hourly-1, hourly-2 become empty." in done.out and world.gone() == on("hourly-1", "hourly-2"), done.out


@session
def spot(api):
    world = World(api, "default", ["spot-1", "reserved-1", "reserved-2", "spot-2", "reserved-1", "spot-1"], kind="Deployment")
    args = ["scale", "deploy/web", "--replicas", "4", "--prefer-nodes", "lifecycle=spot"]
    run("spot-plan", [*args, "--dry-run", "client"], 0)
    assert world.replicas() == 6 and not world.costs()
    # The label's value is spot.
    run("spot-misspelt", ["scale", "deploy/web", "--replicas", "4", "--prefer-nodes", "lifecycle=Spot", "--yes"],
        1, "no node matches --prefer-nodes lifecycle=Spot", "The values of lifecycle are reserved, spot.")
    assert world.replicas() == 6 and not world.costs() and not world.gone()
    run("spot", [*args, "--yes"], 0)
    # spot-2 has one pod, and becomes empty; spot-1 has two.
    assert world.replicas() == 4 and len(world.gone()) == 2 and {3} < world.gone() < {0, 3, 5}, world.gone()
    assert not world.has_traces()
    run("drop", ["drop", world.pods[1], world.pods[2], "--yes"], 0)
    assert world.gone() >= {1, 2} and world.replicas() == 2, world.gone()
    # One that is not ready is in the way of the other.
    one, other = [name for place, name in enumerate(world.pods) if place not in world.gone()]
    world.api.patch(world.of_pod(one) + "/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    run("drop-blocked", ["drop", other, "--yes"], 1, f"{one} is not ready and goes first whatever its cost", "--also")
    api("DELETE", world.path)


@session
def count_owner(api):
    """Somebody else writes the count."""
    world = World(api, "count-owner", ["reserved-1", "reserved-2", "spot-1"])
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}}
    api("PATCH", world.path + "?fieldManager=argocd-controller&force=true", body, "application/apply-patch+yaml")
    args = ["scale", "deploy/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot", "--namespace", world.namespace]
    run("count-owner", [*args, "--yes"], 0, "note: argocd-controller owns spec.replicas and may write it back")
    assert world.gone() == {2}, world.gone()


# Nodes, and pods on them.

def workers(api, *names):
    for name in names:
        api("POST", "/api/v1/nodes", {"metadata": {"name": name}})


def pod_on(api, node, namespace, name, **metadata):
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "main"}]}
    api("POST", f"/api/v1/namespaces/{namespace}/pods", {"metadata": {"name": name, **metadata}, "spec": spec})


# An owner of ReplicaSets that podrank does not know.

@session
def owner(api):
    """A Rollout is scaled in place of its set."""
    nodes = ["spot-1", "reserved-1", "reserved-2", "spot-2"]
    world = Rollout(api, "rollouts", nodes)
    args = ["scale", "rollout/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot", "--namespace", "rollouts"]
    done = run("owner", [*args, "--yes"], 0)
    assert world.gone() == {0, 3} and world.replicas() == 2 and not world.has_traces(), (world.gone(), done.out)
    assert api("GET", world.set)["spec"]["replicas"] == 2
    run("owner-undo", ["undo", "ro/web", "--namespace", "rollouts"], 0)
    # podrank scales neither its set alone, nor the owner as long as it has a second set.
    run("owner-set", ["scale", "rs/web-1", "--replicas", "1", "--namespace", "rollouts", "--yes"],
        1, "scale it instead: kubectl podrank scale rollout.argoproj.io/web --replicas N")
    spec = api("GET", world.set)["spec"]
    world.add_set("web-2", {**spec, "replicas": 1})
    wait("a pod", lambda: len(world.active()) == 3)
    run("owner-rolling", ["scale", "rollout/web", "--replicas", "1", "--namespace", "rollouts", "--yes"],
        1, "Rollout rollouts/web uses several ReplicaSets: web-1, web-2")
    assert world.replicas() == 2 and not world.has_traces()


@session
def owner_drop(api):
    """A pod of a Rollout's set, by its name."""
    workers(api, "worker-9", "worker-10")
    world = Rollout(api, "owner-drop", ["worker-9", "worker-10", "worker-10", "worker-9", "worker-10"])
    done = takes(world, "owner-drop", {1}, "drop", world.pods[1])
    assert done.json["workload"] == {"kind": "Rollout", "name": "web"}, done.json["workload"]


# Preferences that few pods match, or none.

@session
def too_few(api):
    world = World(api, "too-few", ["spot-1", "reserved-1", "reserved-2", "reserved-1", "spot-2"], kind="ReplicaSet")
    done = run("too-few", in_json(world, "scale", "rs/web", "--replicas", "2", "--prefer-nodes", "lifecycle=spot"),
        0, "Deleted exactly the 3 selected pods; only 2 of these 3 match --prefer-nodes lifecycle=spot.")
    assert {0, 4} < world.gone() and len(world.gone()) == 3 and not world.has_traces(), world.gone()
    assert "warning: only 2 of the 3 selected pods match --prefer-nodes lifecycle=spot" in done.err, done.err
    reasons = [(pod["selectedBy"][0]["rule"], pod["selectedBy"][0]["text"]) for pod in done.json["pods"] if pod["selected"]]
    assert sorted(reasons) == [("empty-nodes", "whole node"), *[("prefer-nodes", "lifecycle=spot")] * 2], reasons
    # All spot pods have been deleted.
    done = run("no-pod-on-node", in_json(world, "scale", "rs/web", "--replicas", "1", "--prefer-nodes", "lifecycle=spot"), 1)
    assert "no active pod of rs/web is on a node that matches --prefer-nodes lifecycle=spot" in done.err, done.err
    none = ["scale", "rs/web", "--namespace", "too-few", "--yes", "--replicas"]
    for name, preference, text in [
        ("no-node-with-label", ["--prefer-nodes", "spot=true"], "None of the nodes has the label spot."),
        ("no-pod-with-label", ["--prefer-pods", "track=canary"], "None of these pods has the label track."),
        ("no-domain", ["--spread", "zone"], "Did you mean topology.kubernetes.io/zone?"),
    ]:
        run(name, [*none, "1", *preference], 1, text)
    run("no-value", [*none, "1", "--by-value", "-"], 1, "--by-value names no active pod of rs/web", "It names web-x.", stdin="web-x 1\n")
    assert world.replicas() == 2 and not world.has_traces() and len(world.active()) == 2
    # There is nothing to do, so a preference that matches nothing is not an error.
    done = run("same-count", [*none, "2", "--prefer-nodes", "lifecycle=spot"], 0)
    assert done.out == "rs/web has 2 replicas already. Nothing to do.\n", done.out
    run("same-count-json", in_json(world, "scale", "rs/web", "--replicas", "2"), 0, "rs/web has 2 replicas already")
    run("higher-count", [*none, "3"], 1, "rs/web has 2 replicas, so 3 would scale it up")


# What needs no writes.

@on_five()
def no_writes(world):
    """Somebody else's cost makes the pod go already, and at 0 all pods go."""
    world.set_cost(world.pods[1], "-5", "keda")
    done = takes(world, "no-writes", {1}, "drop", world.pods[1])
    assert done.json["newCosts"] == 0 and "barrier" in done.json["steps"] and "write" not in done.json["steps"], done.json["steps"]
    done = takes(world, "to-zero", {0, 1, 2, 3, 4}, "scale", "rs/web", "--replicas", "0", before={1})
    assert done.json["newCosts"] == 0 and "barrier" not in done.json["steps"], done.json["steps"]


# Ways for pods to go.

def plain(name, places, *args, **options):
    """A session in which some of five pods are dropped, and go."""
    def play(api):
        world = five(api, name, **options)
        takes(world, name, places, "drop", *[world.pods[place] for place in sorted(places)], *args)
        assert world.replicas() == 5 - len(places)

    ALL[name] = play


plain("named", {1, 3})


@on_five()
def budget_ignored(world):
    budget(world, maxUnavailable=0)
    done = takes(world, "budget-ignored", {2}, "scale", "rs/web", "--replicas", "4", "--pod", f"pod/{world.pods[2]}")
    assert "PodDisruptionBudget web (maxUnavailable 0) covers selected pods, but the controller ignores it" in done.err, done.err
    # A user who may read autoscalers, but not budgets, is told about the autoscalers.
    allow(world.api, world.namespace, "all", *ALL_RIGHTS, ("autoscaling", "horizontalpodautoscalers", "list"))
    autoscaler = {"metadata": {"name": "web"}, "spec": {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}}}
    world.api("POST", "/apis/autoscaling/v2/namespaces/budget-ignored/horizontalpodautoscalers", autoscaler)
    done = takes(world, "budget-unread", {2, 3}, "drop", world.pods[3], "--as", "carol", before={2})
    assert "HorizontalPodAutoscaler web also sets this replica count" in done.err and "PodDisruptionBudget" not in done.err, done.err


@on_five(not_ready={1, 3})
def not_available_first(world):
    done = takes(world, "not-available-first", {1, 3}, "scale", "rs/web", "--replicas", "3", "--not-available-first")
    assert done.json["newCosts"] == 2


@on_five(not_ready={0})
def blocked(world):
    refuses(world, "blocked", in_json(world, "drop", world.pods[2]),
        f"{world.pods[0]} is not ready and goes first whatever its cost", "--also")
    takes(world, "blocked-also", {0, 2}, "drop", world.pods[2], "--also")
    assert world.replicas() == 3


@on_five(not_ready={0})
def by_value(world):
    values = "".join(f"{world.pods[place]} {load}\n" for place, load in [(4, 0.25), (2, 1.5), (3, 80)])
    done = takes(world, "by-value", {0, 4}, "scale", "rs/web", "--replicas", "3", "--by-value", "-", stdin=values)
    assert [(ahead["name"], ahead["reason"]["rule"]) for ahead in done.json["unsteerable"]] == [(world.pods[0], "not-ready")]


@session
def lowest(api):
    """Before there are metrics, when too few pods have a value, and then with those of most."""
    world, values = five(api, "lowest"), {}
    args = ["scale", "rs/web", "--replicas", "3", "--lowest", "metric/sessions"]
    refuses(world, "lowest-missing", in_json(world, *args), "cannot read the values for --lowest metric/sessions")
    metrics.serve(api, "sessions", values)
    values.update({world.pods[0]: "0", world.pods[1]: "1"})
    refuses(world, "lowest-of-few", in_json(world, *args), "only 2 of the 5 active pods of rs/web have a value")
    values.update({world.pods[3]: "500m", world.pods[4]: "7"})
    done = takes(world, "lowest", {0, 3}, *args)
    assert "note: the oldest value of metric/sessions is from " in done.err, done.err
    assert [pod["selectedBy"][0]["text"] for pod in done.json["pods"] if pod["selected"]] == ["sessions 0", "sessions 0.5"]


# Pods that change during a run.

@on_five()
def others(world):
    remove = lambda: world.remove(world.pods[0])
    done = run("others", in_json(world, "drop", world.pods[1]),
        3, f"deleted although not selected: {world.pods[0]}", hooks=[("after", SCALE, remove)])
    went(world, done, {0, 1}, others={0})


@on_five()
def pod_gone(world):
    hooks = [("before", WRITE, lambda: world.remove(world.pods[1]))]
    refuses(world, "pod-gone", in_json(world, "drop", world.pods[1], world.pods[2]), "is not an active pod", gone={1}, hooks=hooks)


@on_five(kind="ReplicaSet")
def pod_replaced(world):

    def replace():
        # The controller must not see the gap.
        controllers("stop")
        owner = world.get()["metadata"]
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner["uid"], "controller": True}
        world.remove(world.pods[1])
        metadata = {"name": world.pods[1], "labels": {"app": "web"}, "ownerReferences": [reference]}
        spec = {"containers": [{"name": "web", "image": "web"}]}
        world.api("POST", world.of_pod("")[:-1], {"metadata": metadata, "spec": spec})
        world.run(world.pods[1], "reserved-1")
        controllers("start")

    refuses(world, "pod-replaced", in_json(world, "drop", world.pods[1], world.pods[2]),
        f"{world.pods[1]} is gone", gone={1}, hooks=[("before", WRITE, replace)])


# Foreign costs.

@on_five()
def foreign_fixed(world):
    world.set_cost(world.pods[0], "-3", "karpenter")
    takes(world, "foreign-fixed", {1, 2}, "drop", world.pods[1], world.pods[2])
    assert world.costs() == {0: "-3"} and world.owners(world.pods[0]) == ["karpenter"]


@on_five()
def foreign_no_room(world):
    world.set_cost(world.pods[0], "50", "keda")
    world.set_cost(world.pods[1], "100", "karpenter")
    args = in_json(world, "drop", world.pods[1], world.pods[2])
    refuses(world, "foreign-no-room", args, f"{world.pods[1]} (cost 100, written by karpenter)", f"{world.pods[0]} (cost 50, written by keda)")
    assert world.costs() == {0: "50", 1: "100"}


@on_five()
def foreign_forced(world):
    """podrank overwrites no cost of a kept pod. It overwrites that of a selected one, and again if its writer writes again."""
    world.set_cost(world.pods[0], "-2147483648", "keda")
    args = in_json(world, "drop", world.pods[1], "--foreign-costs", "override")
    refuses(world, "foreign-lowest", args, "existing deletion costs conflict", "written by keda")
    world.set_cost(world.pods[0], "-5", "keda")
    world.set_cost(world.pods[1], "3", "karpenter")
    again = lambda: world.set_cost(world.pods[1], "7", "karpenter")
    takes(world, "foreign-forced", {1}, "drop", world.pods[1], "--foreign-costs", "override", hooks=[("after", WRITE, again)])
    assert world.costs() == {0: "-5"} and world.owners(world.pods[0]) == ["keda"]


@on_five()
def foreign_just_before(world):
    """Somebody writes the first cost of a pod just before the API server is asked whether podrank may."""
    first = lambda: world.set_cost(world.pods[1], "7", "karpenter")
    takes(world, "foreign-just-before", {1}, "drop", world.pods[1], "--foreign-costs", "override", hooks=[("before", r"^apply .*--dry-run", first)])


@on_five()
def foreign_again(world):
    """Somebody overwrites podrank's cost whenever podrank has written it."""
    again = lambda: world.set_cost(world.pods[1], "7", "karpenter")
    # Otherwise, the other pods could have higher costs.
    world.set_cost(world.pods[0], "5", "keda")
    over = threading.Event()

    def overwrite():
        while not over.wait(0.05):
            if world.owners(world.pods[1]) == ["podrank"]:
                again()

    writer = threading.Thread(target=overwrite)
    writer.start()
    try:
        refuses(world, "foreign-again-always", in_json(world, "drop", world.pods[1], "--foreign-costs", "override"),
                "somebody else keeps changing the deletion costs of ", ", written by karpenter")
    finally:
        over.set()
        writer.join()
    assert world.costs() == {0: "5", 1: "7"} and world.owners(world.pods[1]) == ["karpenter"]


@session
def karpenter(api):
    """Costs that Karpenter has written for each node, and nodes that are about to go."""
    world = World(api, "karpenter", ["spot-1", "spot-1", "spot-2", "spot-2", "reserved-1", "reserved-2"], kind="ReplicaSet")
    for place, cost in enumerate(["-1", "-1", "-2", "-2", "-4", "-3"]):
        world.set_cost(world.pods[place], cost, "karpenter")
    scale = ["scale", "rs/web", "--replicas", "4", "--namespace", "karpenter"]
    done = run("karpenter-preview", ["rs/web", "--replicas", "4", "--namespace", "karpenter"], 0)
    assert "6 pods have deletion costs, written by karpenter" in done.out + done.err, done.err
    done = run("karpenter-order", ["rs/web", "--namespace", "karpenter"], 0)
    assert "6 pods have deletion costs, written by karpenter" in done.out + done.err, done.err
    run("karpenter-keep", [*scale, "--prefer-nodes", "lifecycle=spot", "--empty-nodes=false", "--yes"], 1, "existing deletion costs conflict", "--foreign-costs override")
    assert not world.has_traces()
    going = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    api.patch("/api/v1/nodes/reserved-2", {"spec": {"taints": [going]}})
    try:
        run("karpenter-no-taint", [*scale, "--prefer-nodes", "taint:karpenter.sh/disrupt", "--yes"], 1,
            "no node matches --prefer-nodes taint:karpenter.sh/disrupt", "The taints of the nodes are ", "karpenter.sh/disrupted:NoSchedule")
        run("karpenter-taint", ["scale", "rs/web", "--replicas", "5", "--namespace", "karpenter", "--prefer-nodes", "taint:karpenter.sh/disrupted",
            "--foreign-costs", "override", "--yes"], 0)
    finally:
        api.patch("/api/v1/nodes/reserved-2", {"spec": {"taints": None}})
    assert world.gone() == {5} and not world.has_traces(), world.gone()


@on_five(kind="ReplicaSet", annotations={COST: "5"})
def template(world):
    takes(world, "template", {1}, "drop", world.pods[1])


@on_five(kind="ReplicaSet", annotations={COST: "5"})
def template_meanwhile(world):
    """Somebody sets a cost just before podrank overwrites the template's, and another one just before that is put back."""
    wanted = lambda: world.set_cost(world.pods[1], "7", "karpenter")
    survivor = lambda: world.set_cost(world.pods[0], "3", "keda")
    hooks = [("before", WRITE, wanted), ("before", PUT_BACK, survivor)]
    takes(world, "template-meanwhile", {1}, "drop", world.pods[1], hooks=hooks)
    assert world.costs() == {0: "3", 2: "5", 3: "5", 4: "5"}, world.costs()
    assert world.owners(world.pods[0]) == ["keda"]


@on_five()
def partly(world):
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


# What docs/scale.md says is needed.
READ = ("core apps", "pods deployments replicasets", "get list watch")
SCALING = ("apps", "deployments/scale replicasets/scale", "get update patch")
BARRIERS = ("core apps", "pods replicasets", "create delete")
COSTS = ("core", "pods", "patch")
LEASES = ("coordination.k8s.io", "leases", "create get delete")
ALL_RIGHTS = (READ, SCALING, BARRIERS, COSTS, LEASES)


@session
def least_rights(api):
    """With all of them, and with all but one."""
    world = five(api, "least-rights", kind="Deployment")
    allow(api, world.namespace, "all", *ALL_RIGHTS)
    takes(world, "least-rights", {1}, "drop", world.pods[1], "--as", "carol")
    for name, lacks, text in [("no-right-to-patch", COSTS, "write deletion costs"), ("no-right-to-scale", SCALING, "scale")]:
        world = five(api, name)
        allow(api, world.namespace, "most", *[right for right in ALL_RIGHTS if right != lacks])
        refuses(world, name, [*in_json(world, "drop", world.pods[1]), "--as", "carol"], f"cannot {text}", "(Forbidden)", "Nothing was changed.")


@on_five()
def no_right_to_patch_any_more(world):
    allow(world.api, world.namespace, "most", READ, SCALING, BARRIERS, LEASES)
    allow(world.api, world.namespace, "costs", COSTS)

    def revoke():
        world.api("DELETE", rbac(world.namespace, "rolebindings/costs"))
        world.api.patch(world.path, {"spec": {"replicas": 6}})

    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]
    done = run("no-right-to-patch-any-more", args,
        4, "Deletion costs are left", "(Forbidden)", "kubectl podrank undo rs/web -n no-right-to-patch-any-more", hooks=[("before", SCALE, revoke)])
    assert world.costs() == {1: "-1"} and [pod["name"] for pod in done.json["leftovers"]] == [world.pods[1]]


@on_five()
def no_right_to_write(world):
    """The right to write costs is taken away before the first write."""
    allow(world.api, world.namespace, "most", READ, SCALING, BARRIERS, LEASES)
    allow(world.api, world.namespace, "costs", COSTS)
    revoke = lambda: world.api("DELETE", rbac(world.namespace, "rolebindings/costs"))
    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]

    def and_wait():
        revoke()
        time.sleep(2)

    refuses(world, "no-right-to-write", args, "(Forbidden)", hooks=[("before", WRITE, and_wait)])


# Workloads that change during a run.

@on_five(kind="Deployment")
def precondition(world):
    # The resource version moves, and the generation too.
    touch = lambda: world.api.patch(world.path, {"metadata": {"annotations": {"touched": "yes"}}})
    takes(world, "precondition", {1}, "drop", world.pods[1], hooks=[("before", SCALE, touch)])


@on_five(kind="Deployment")
def rollout(world):
    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
    run("rollout", in_json(world, "drop", world.pods[1], world.pods[2]),
        1, "deploy/web was not scaled", hooks=[("after", WRITE, lambda: world.api.patch(world.path, image))])
    assert world.replicas() == 5 and not world.has_traces()


@on_five(kind="Deployment")
def in_rollout(world):
    """The rollout waits for its new pods, but an old one is deleted all the same."""
    budget = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}
    image = {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}
    world.api.patch(world.path, {"spec": {"strategy": budget, "template": image}})
    wait("new pods", lambda: world.get()["status"].get("updatedReplicas") == 2 and len(world.active()) == 7)
    world.settle()
    takes(world, "in-rollout", {1}, "drop", world.pods[1])
    assert world.replicas() == 4


# A run does what the user confirmed, and nothing else.

def asked(world, *args):
    """Without --yes, at a terminal."""
    return [*args, "--namespace", world.namespace, "--output", "json"]


def unready(world, place, status="False"):
    """Makes a pod unready, so that Kubernetes deletes it before all that are ready, or ready again."""
    conditions = [{"type": "Ready", "status": status, "lastTransitionTime": READY}]
    return lambda: world.api.patch(world.of_pod(world.pods[place]) + "/status", {"status": {"conditions": conditions}}, "kubelet")


@on_five()
def confirmed(world):
    """Nothing changes while it asks."""
    run("confirmed", asked(world, "scale", "rs/web", "--replicas", "3", "--pod", world.pods[1]),
        0, "Deleted exactly the 2 selected pods.", answers=[(None, "y")])
    assert 1 in world.gone() and len(world.gone()) == 2 and not world.has_traces(), world.gone()
    run("confirmed-not", asked(world, "scale", "rs/web", "--replicas", "1"), 1, "Cancelled. Nothing was changed.", answers=[(None, "")])
    assert world.replicas() == 3 and not world.has_traces()


@session
def changed_at_prompt(api):
    """A pod turns unready while it asks. It asks again, and does what was confirmed then."""
    world = World(api, "changed-at-prompt", ["reserved-1", "spot-1", "reserved-2", "spot-2", "reserved-1"], kind="ReplicaSet")
    args = asked(world, "scale", "rs/web", "--replicas", "3", "--prefer-nodes", "lifecycle=spot", "--empty-nodes=false")
    done = refuses(world, "changed-at-prompt-no", args, "cancelled", answers=[(unready(world, 0), "y"), (None, "n")])
    assert re.search(f"The plan changed: no longer selected: web-\\w+; now selected: {world.pods[0]}; {world.pods[0]} is no longer ready", done.err), done.err
    done = run("changed-at-prompt", args, 0, "Deleted exactly the 2 selected pods", answers=[(unready(world, 2), "y"), (None, "y")])
    went(world, done, {0, 2})
    assert f"now selected: {world.pods[2]}; {world.pods[2]} is no longer ready" in done.err, done.err


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
    done = run("kept-changing", args, 1, "rs/web was not scaled: ", answers=[(to(count), "y") for count in (5, 4, 3, 2)])
    assert world.replicas() == 2 and len(world.gone()) == 4 and not world.has_traces(), (done.out, done.err)


@session
def changed_yes(api):
    """With --yes, it plans again if only pods differ that nobody named: before the first write, and after it."""
    world = World(api, "changed-yes", ["reserved-1", "spot-1", "reserved-2", "spot-2", "reserved-1", "spot-1"], kind="ReplicaSet")
    preference = ["--prefer-nodes", "lifecycle=spot", "--empty-nodes=false"]
    done = takes(world, "changed-yes", {0}, "scale", "rs/web", "--replicas", "5", *preference, hooks=[("before", LOCK, unready(world, 0))])
    assert "The plan changed" not in done.err and "it does not match --prefer-nodes lifecycle=spot" in done.message, done.err
    done = takes(world, "changed-yes-written", {0, 2}, "scale", "rs/web", "--replicas", "4", *preference, hooks=[("after", WRITE, unready(world, 2))], before={0})
    assert "The plan changed" not in done.err and done.json["steps"].count("write") == 2, done.json["steps"]
    run("changed-named", in_json(world, "drop", world.pods[1]),
        1, f"{world.pods[4]} is not ready and goes first whatever its cost", hooks=[("before", LOCK, unready(world, 4))])
    assert world.replicas() == 4 and not world.has_traces()
    # A run does not go on just because the replica count changed.
    unready(world, 4, "True")()
    world.settle()
    world.set_cost(world.pods[4], "-9", "keda")

    def lower():
        api.patch(world.path, {"spec": {"replicas": 3}})
        wait("the pod to go", lambda: 4 in world.gone())
        world.settle()

    done = run("changed-count", in_json(world, "drop", world.pods[1]),
        1, "rs/web was not scaled: rs/web has 3 replicas now and gets 2", hooks=[("before", LOCK, lower)])
    assert world.replicas() == 3 and 1 not in world.gone() and not world.has_traces()


@session
def promised(api):
    """A pod comes to a node that was to become empty: while it asks, and once the count has fallen."""
    workers(api, "full-1", "full-2")
    world = World(api, "promised", ["full-1", "full-2", "full-2", "full-2", "full-2"], kind="ReplicaSet")
    args = ["scale", "rs/web", "--replicas", "4", "--empty-nodes"]
    come = lambda name: lambda: (pod_on(api, "full-1", "promised", name), api.patch(world.of_pod(name) + "/status", {"status": {"phase": "Running"}}))
    done = refuses(world, "promised", asked(world, *args), "cancelled", answers=[(come("guest"), "y"), (None, "n")])
    assert "full-1 does not become empty" in done.err, done.err
    world.remove("guest")
    run("promised-late", in_json(world, *args), 3, "full-1 keeps pod guest", hooks=[("after", SCALE, come("guest"))])
    assert world.gone() == {0} and not world.has_traces()
    world.remove("guest")


# One run at a time.

def lock(world, seconds):
    """Another run locks the workload, for so long."""
    leases, name = lease_path(world).rsplit("/", 1)
    spec = {"holderIdentity": "podrank-run-0123abcd", "leaseDurationSeconds": seconds}
    world.api("POST", leases, {"metadata": {"name": name}, "spec": spec})


@on_five()
def held(world):
    """Another run has the Lease, which expires. Then `undo` removes it, and nobody takes it over."""
    lock(world, 60)
    run("held", [*in_json(world, "drop", world.pods[1])], 1, "rs/web is locked by another podrank run (0123abcd, since 20", "undo rs/web -n held --force")
    run("undo-held", ["undo", "rs/web", "--namespace", "held"], 1, "rs/web is locked by another podrank run (0123abcd, since 20")
    world.api("DELETE", lease_path(world))
    lock(world, 1)
    time.sleep(3)
    run("held-expired", [*in_json(world, "drop", world.pods[1])], 1, "rs/web is locked by another podrank run (0123abcd, since 20")
    assert not world.gone() and world.replicas() == 5
    run("undo-expired", ["undo", "rs/web", "--namespace", "held"], 0)
    assert not world.has_traces()


@on_five()
def lost(world):
    """Before the count is lowered, somebody deletes the Lease, and another run creates its own."""
    delete = lambda: world.api("DELETE", lease_path(world))
    steal = lambda: (delete(), lock(world, 60))
    run("lost-early", in_json(world, "drop", world.pods[1]),
        1, "rs/web was not scaled: run 0123abcd has the Lease now", hooks=[("before", CHECK, steal)])
    assert world.replicas() == 5 and not world.gone() and not world.costs()
    delete()
    run("lost", in_json(world, "drop", world.pods[1]),
        4, "run 0123abcd has the Lease now", "Deletion costs are left: ", "Run: kubectl podrank undo rs/web -n lost", hooks=[("after", UNBARRIER, steal)])
    assert world.replicas() == 5 and not world.gone() and world.costs() == {1: "-1"}
    run("undo-lost", ["undo", "rs/web", "--namespace", "lost", "--force"], 0)
    assert not world.has_traces()
    run("lock-deleted", in_json(world, "drop", world.pods[1]), 4, "somebody has deleted the Lease", hooks=[("after", UNBARRIER, delete)])
    # Who undoes a run that is alive has removed its costs, too.
    undone = lambda: subprocess.run([os.environ["PODRANK"], "undo", "rs/web", "--namespace", "lost", "--force"], check=True)
    undone()
    refuses(world, "undone", in_json(world, "drop", world.pods[1]), "somebody has deleted the Lease", hooks=[("after", UNBARRIER, undone)])


@on_five()
def late(world):
    """A run that has taken longer than its Lease lasts writes nothing more."""
    # A replay would have to wait as long, so this is not recorded.
    args = in_json(world, "drop", world.pods[1], "--timeout", "1s")
    process = subprocess.Popen([os.environ["PODRANK"], *args], stdout=subprocess.PIPE, text=True)
    wait("the Lease", world.leases)
    process.send_signal(signal.SIGSTOP)
    time.sleep(64)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate()
    assert process.returncode == 1 and "the run has taken longer than its Lease lasts" in out, (process.returncode, out)
    assert world.replicas() == 5 and not world.gone() and not world.has_traces(), world.annotations()


@on_five()
def not_locked(world):
    """A run that may not lock says so, and leaves the costs of other runs as they are."""
    allow(world.api, world.namespace, "all", READ, SCALING, BARRIERS, COSTS, ("coordination.k8s.io", "leases", "create get"))
    refuses(world, "not-locked-refused", [*in_json(world, "drop", world.pods[1]), "--as", "carol"],
        "cannot lock rs/web: you may not delete leases.coordination.k8s.io", "Nothing was changed.", "--no-lock continues without the lock.")
    world.apply_cost(world.pods[0], "-7", "podrank")
    run("not-locked", [*in_json(world, "drop", world.pods[1]), "--no-lock", "--as", "carol"], 0, "Deleted exactly the selected pod")
    assert world.gone() == {1} and world.costs() == {0: "-7"} and not world.leases(), world.costs()


# The count rises again.

@session
def raised_again(api):
    """Somebody scales up again after the selected pods have been deleted, and before they could be."""
    world = five(api, "raised-again")
    back = lambda: api.patch(world.path, {"spec": {"replicas": 5}}, "flux")

    def later():
        wait("the pods to go", lambda: world.gone() == {1, 2})
        back()

    done = run("raised-again", in_json(world, "drop", world.pods[1], world.pods[2]),
        0, "Deleted exactly the 2 selected pods; the replica count is 5 again, written by flux.", hooks=[("after", SCALE, later)])
    went(world, done, {1, 2})
    # On new pods: after the replacements of just now, which are younger, Kubernetes' choice would depend on when this
    # is replayed.
    world = five(api, "raised-at-once")
    hooks = [("before", SCALE, lambda: controllers("stop")), ("after", SCALE, lambda: (back(), controllers("start"), world.settle()))]
    run("raised-at-once", in_json(world, "drop", world.pods[3]),
        3, f"these stayed: {world.pods[3]}; the replica count is 5 again, written by flux", hooks=hooks)
    assert not world.gone() and not world.has_traces()


@on_five()
def count_of_other(world):
    """Somebody sets the confirmed count right before podrank does: the pods go by podrank's costs all the same."""
    hooks = [("before", SCALE, lambda: world.api.patch(world.path, {"spec": {"replicas": 4}}, "flux"))]
    done = run("count-of-other", in_json(world, "drop", world.pods[3]),
        0, "Somebody else scaled rs/web from 5 to 4. Deleted exactly the selected pod.", hooks=hooks)
    went(world, done, {3})


# The barrier pod.

@on_five()
def barrier_rights(world):
    """Without the right to delete the barrier pod, none is made."""
    allow(world.api, world.namespace, "all", READ, SCALING, COSTS, LEASES, ("core apps", "pods replicasets", "create"))
    args = [*in_json(world, "drop", world.pods[1]), "--as", "carol"]
    refuses(world, "barrier-rights", args, "you may not delete replicasets.apps", "The barrier pod needs that.", "Nothing was changed.")
    refuses(world, "barrier-rights-dry-run", [arg for arg in args if arg != "--yes"] + ["--dry-run", "server"],
        "you may not delete replicasets.apps", "The barrier pod needs that.")


@on_five()
def barrier_left(world):
    """An admission policy keeps everybody from deleting barrier pods."""
    group = "/apis/admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}
    barriers = {"name": "barriers", "expression": "has(oldObject.metadata.labels) && 'podrank.dev/barrier' in oldObject.metadata.labels"}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "matchConditions": [barriers], "validations": [{"expression": "request.userInfo.username.startsWith('system:')"}]}
    world.api("POST", f"{group}/validatingadmissionpolicies", {"metadata": {"name": "barriers"}, "spec": spec})
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "barrier-left"}}}
    binding = {"policyName": "barriers", "validationActions": ["Deny"], "matchResources": here}
    world.api("POST", f"{group}/validatingadmissionpolicybindings", {"metadata": {"name": "barriers"}, "spec": binding})
    probe = {"metadata": {"name": "probe", "labels": {"podrank.dev/barrier": "probe"}}, "spec": {"schedulingGates": [{"name": "podrank.dev/barrier"}], "containers": [{"name": "probe", "image": "probe"}]}}
    world.api("POST", world.of_pod("")[:-1], probe)

    def is_denied():
        try:
            world.api("DELETE", world.of_pod("probe") + "?dryRun=All")
            return False
        except OSError:
            return True

    wait("the policy", is_denied)
    run("barrier-left", in_json(world, "drop", world.pods[1]), 4, "Deleted exactly the selected pod", "The barrier pod podrank-barrier-",
        "An administrator can remove it with: kubectl delete replicasets.apps,pods -l podrank.dev/barrier=podrank-barrier-")
    assert world.gone() == {1} and not world.costs() and not world.leases()
    world.api("DELETE", f"{group}/validatingadmissionpolicybindings/barriers")
    world.api("DELETE", f"{group}/validatingadmissionpolicies/barriers")


@on_five()
def quota_full(world):
    """A quota leaves no room for the barrier pod."""
    full(world)
    refuses(world, "quota-full", in_json(world, "drop", world.pods[1]), "cannot create the barrier pod: ", "exceeded quota")


# The end comes early.

@on_five()
def interrupted(world):
    refuses(world, "interrupted", in_json(world, "drop", world.pods[1]), "interrupted", hooks=[("before", UNBARRIER, "INT")])


@on_five()
def interrupted_late(world):
    hooks = [("before", SCALE, lambda: controllers("stop")), ("after", SCALE, "INT")]
    run("interrupted-late", in_json(world, "drop", world.pods[1]),
        4, "interrupted: 0 of the 1 wanted pods have gone so far", "kubectl podrank undo rs/web -n interrupted-late", hooks=hooks)
    assert world.replicas() == 4
    controllers("start")
    wait("the pod to go", lambda: world.gone() == {1})


@on_five()
def killed(world):
    done = play("killed", in_json(world, "drop", world.pods[1]), [("before", WATCH, "KILL")])
    assert done.status == -9 and world.costs() == {1: "-1"} and world.has_traces()
    run("undo", ["undo", "rs/web", "--namespace", "killed", "--force"], 0)
    assert world.replicas() == 5 and not world.gone() and not world.costs() and not world.has_traces()
    run("undo-nothing", ["undo", "rs/web", "--namespace", "killed"], 0)


@session
def killed_in_each_step(api):
    """Killed with the lock, once the count has fallen, and before the Lease is deleted: undo removes what is left."""
    for step, hook, gone, left in [
        ("locked", ("after", LOCK, "KILL"), set(), {}),
        ("written", ("after", WRITE, "KILL"), set(), {1: "-1"}),
        ("proved", ("after", UNBARRIER, "KILL"), set(), {1: "-1"}),
        ("scaled", ("after", SCALE, "KILL"), {1}, {}),
        ("cleaned", ("before", UNLOCK, "KILL"), {1}, {}),
    ]:
        world = five(api, f"killed-{step}")
        done = play(f"killed-{step}", in_json(world, "drop", world.pods[1]), [hook])
        assert done.status == -9, done.status
        wait("the pod to go", lambda: world.gone() == gone)
        assert world.costs() == left and world.has_traces(), (step, world.costs())
        run(f"undo-{step}", ["undo", "rs/web", "--namespace", world.namespace, "--force"], 0)
        assert world.gone() == gone and not world.costs() and not world.has_traces(), step


@on_five()
def killed_forced(world):
    world.set_cost(world.pods[0], "50", "keda")
    world.set_cost(world.pods[1], "100", "karpenter")
    args = in_json(world, "drop", world.pods[1], world.pods[2], "--force-conflicts")
    done = play("killed-forced", args, [("before", WATCH, "KILL")])
    assert done.status == -9 and world.owners(world.pods[1]) == ["podrank"], world.costs()
    done = run("undo-forced", ["undo", "rs/web", "--namespace", "killed-forced", "--force"], 0)
    assert "Removed podrank's deletion cost from 1 pod, and restored the earlier deletion cost of 1 pod" in done.out, done.out
    assert world.costs() == {0: "50", 1: "100"} and world.owners(world.pods[1]) == ["karpenter"]


# What took a pod.

@on_five(kind="Deployment", not_ready=(2,))
def taken(world):
    """A pod that is being deleted, and that no longer exists a moment later."""
    world.api.patch(world.path, {"spec": {"replicas": 4}}, "kubectl")
    wait("a pod to go", lambda: world.gone())
    assert world.gone() == {2}, world.gone()
    name = world.pods[2]
    for session, args, *says in [
        ("taken-going", [f"pod/{name}"], f"pod/{name} is being deleted, because rs/", " was scaled from 5 to 4 by kubectl.\nWhy this pod: not ready, but "),
        ("taken-gone", [name], f"pod/{name} was deleted, because rs/", "Why this pod: no longer known."),
        ("taken-json", [f"pod/{name}", "-o", "json"], '"by": "scaleDown"', '"going": false'),
    ]:
        done = run(session, [*args, "--namespace", "taken"], 0)
        assert all(part in done.out for part in says), done.out
        if session == "taken-going":
            world.remove(name)


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
        OVER.set()
        api.close()


sys.exit(main(sys.argv[1:]))
