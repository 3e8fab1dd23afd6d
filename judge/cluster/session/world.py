"""A workload on a control plane, and podrank run on it with all requests recorded. Reaches the API through `kubectl proxy`."""

import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SESSIONS = HERE.parents[2] / "cli/tests/sessions"
RECORDER = HERE / "kubectl"
COST = "controller.kubernetes.io/pod-deletion-cost"
PREVIOUS = "podrank.dev/previous-cost"
# All pods are ready since then, so that their ages decide nothing whenever the session is replayed.
READY = "2026-03-10T11:00:00Z"
PLURALS = {"Deployment": "deployments", "ReplicaSet": "replicasets"}


class Api:
    def __init__(self):
        self.proxy = subprocess.Popen(["kubectl", "proxy", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.base = "http://" + self.proxy.stdout.readline().rsplit(" ", 1)[1].strip()

    def __call__(self, method, path, body=None, kind="application/json"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": kind}, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def patch(self, path, body, manager="somebody"):
        return self("PATCH", f"{path}?fieldManager={manager}", body, "application/merge-patch+json")

    def close(self):
        self.proxy.terminate()


def wait(what, check, seconds=60):
    end = time.monotonic() + seconds
    while not (value := check()):
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)
    return value


class World:
    """A namespace with a Deployment or ReplicaSet `web`, whose pods are on these nodes, in the order of their names."""

    def __init__(self, api, namespace, nodes, kind="Deployment", annotations=None, not_ready=()):
        self.api, self.namespace, self.kind = api, namespace, kind
        if namespace != "default":
            api("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        labels = {"app": "web"}
        pod = {
            "metadata": {"labels": labels, **({"annotations": annotations} if annotations else {})},
            "spec": {"containers": [{"name": "web", "image": "web"}]},
        }
        spec = {"replicas": len(nodes), "selector": {"matchLabels": labels}, "template": pod}
        self.path = self.create(spec)
        # Of one second, so that no age tells them apart.
        while True:
            pods = wait("pods", lambda: len(p := self.active()) == len(nodes) and p)
            if len({pod["metadata"]["creationTimestamp"] for pod in pods}) == 1:
                break
            time.sleep(1.02 - time.time() % 1)
            for pod in pods:
                self.remove(pod["metadata"]["name"])
            old = {pod["metadata"]["uid"] for pod in pods}
            wait("new pods", lambda: not old & set(self.uids()))
        self.pods = sorted(pod["metadata"]["name"] for pod in pods)
        for index, (name, node) in enumerate(zip(self.pods, nodes)):
            self.run(name, node, index not in not_ready)
        ready = len(nodes) - len(not_ready)
        wait("the status", lambda: self.get()["status"].get("availableReplicas", 0) == ready)
        self.settle()
        self.first = self.active()

    def create(self, spec):
        """Creates the workload and returns its path."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/{PLURALS[self.kind]}"
        body = {"apiVersion": "apps/v1", "kind": self.kind, "metadata": {"name": "web"}, "spec": spec}
        self.api("POST", path + "?fieldManager=kubectl-create", body)
        return path + "/web"

    def settle(self):
        """Waits until no controller writes its status any more."""
        version = lambda: self.get()["metadata"]["resourceVersion"]
        wait("quiet", lambda: version() == (time.sleep(0.7), version())[1])

    def get(self):
        return self.api("GET", self.path)

    def replicas(self):
        return self.get()["spec"]["replicas"]

    def of_pod(self, name):
        return f"/api/v1/namespaces/{self.namespace}/pods/{name}"

    def active(self):
        pods = self.api("GET", self.of_pod("") + "?labelSelector=app=web")["items"]
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def uids(self):
        return [pod["metadata"]["uid"] for pod in self.active()]

    def gone(self):
        """The places of the first pods that are no longer there."""
        left = self.uids()
        gone = [pod["metadata"]["name"] for pod in self.first if pod["metadata"]["uid"] not in left]
        return {self.pods.index(name) for name in gone}

    def run(self, name, node, ready=True):
        path = self.of_pod(name)
        self.api("POST", path + "/binding", {"target": {"apiVersion": "v1", "kind": "Node", "name": node}, "metadata": {"name": name}})
        status = "True" if ready else "False"
        condition = {"type": "Ready", "status": status, "lastTransitionTime": READY}
        self.api.patch(path + "/status", {"status": {"phase": "Running", "conditions": [condition]}}, "kubelet")

    def remove(self, name):
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
        self.api("DELETE", self.of_pod(name), options)

    def set_cost(self, name, cost, manager):
        self.api.patch(self.of_pod(name), {"metadata": {"annotations": {COST: cost}}}, manager)

    def apply_cost(self, name, cost, manager):
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {COST: cost}}}
        self.api("PATCH", f"{self.of_pod(name)}?fieldManager={manager}", body, "application/apply-patch+yaml")

    def annotations(self):
        return {pod["metadata"]["name"]: pod["metadata"].get("annotations", {}) for pod in self.active()}

    def costs(self):
        """The deletion costs by the places of the first pods."""
        costs = self.annotations().items()
        return {self.pods.index(name): a[COST] for name, a in costs if COST in a and name in self.pods}

    def owners(self, name):
        """Who has written the deletion cost of a pod."""
        fields = self.api("GET", self.of_pod(name))["metadata"]["managedFields"]
        return [f["manager"] for f in fields if f"f:{COST}" in f["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})]

    def has_traces(self):
        """Whether podrank has left anything."""
        fields = [f for pod in self.active() for f in pod["metadata"]["managedFields"] if f["manager"] == "podrank"]
        notes = [a for a in self.annotations().values() if PREVIOUS in a]
        barriers = self.api("GET", self.of_pod("") + "?labelSelector=podrank.dev/barrier")["items"]
        return bool(fields or notes or barriers or self.leases())

    def leases(self):
        return self.api("GET", f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases")["items"]


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.json = json.loads(out) if out.startswith("{") else None

    @property
    def message(self):
        return self.json["message"] if self.json else self.err


def play(name, args, hooks=(), stdin="", answers=()):
    """Runs podrank and stores the session. A hook is (when, pattern of the request, what to do or a signal's name). With answers, it
    runs at a terminal: each is what happens while it asks, or None, and what is typed then."""
    # What a killed run asked may still be answered.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as record:
        record = pathlib.Path(record)
        listed = [{"when": when, "at": at, **({"signal": act} if isinstance(act, str) else {})} for when, at, act in hooks]
        (record / "hooks.json").write_text(json.dumps(listed))
        environment = {**os.environ, "KUBECTL": str(RECORDER), "RECORD": str(record)}
        with open(record / "stdin", "w+") as given, open(record / "stdout", "w+") as out, open(record / "stderr", "w+") as err:
            given.write(stdin)
            given.seek(0)
            terminal, its = pty.openpty() if answers else (None, given)
            process = subprocess.Popen([os.environ["PODRANK"], *args], stdin=its, stdout=out, stderr=err, env=environment)
            left = list(answers)
            while process.poll() is None:
                if left and (record / "stderr").read_text().count("[y/N]") > len(answers) - len(left):
                    act, answer = left.pop(0)
                    if act:
                        act()
                    os.write(terminal, f"{answer}\n".encode())
                for index, (_, _, act) in enumerate(hooks):
                    if callable(act) and (record / f"hook-{index}").exists() and not (record / f"hook-{index}.done").exists():
                        act()
                        (record / f"hook-{index}.done").touch()
                time.sleep(0.02)
        assert not left, f"{name}: {left} was never asked for"
        for index in range(len(hooks)):
            assert (record / f"hook-{index}").exists(), f"{name}: {hooks[index][:2]} was never asked"
        text = {part: (record / part).read_text().replace(str(RECORDER), "kubectl") for part in ("stdout", "stderr")}
        typed = [answer for _, answer in answers]
        session = {"args": args, "stdin": stdin, "typed": typed, "status": process.returncode, **text}
        store(name, session, record)
        return Done(process.returncode, text["stdout"], text["stderr"])


def store(name, session, record):
    """Writes a session as JSON. Each version of an object stands there once."""
    objects, requests = {}, []

    def key(item):
        meta = item["metadata"]
        # podrank looks at who has written annotations and counts.
        for entry in meta.get("managedFields", []):
            fields = entry["fieldsV1"]
            entry["fieldsV1"] = {"f:metadata": fields["f:metadata"]} if "f:metadata" in fields else {}
            if "f:replicas" in fields.get("f:spec", {}):
                entry["fieldsV1"]["f:spec"] = {"f:replicas": {}}
        key = f"{item['kind']}/{meta['name']}@{meta['resourceVersion']}" + ("+managers" if "managedFields" in meta else "")
        assert objects.setdefault(key, item) == item, key
        return key

    def documents(text):
        decoder, documents, text = json.JSONDecoder(), [], text.strip()
        while text:
            document, end = decoder.raw_decode(text)
            documents.append(document)
            text = text[end:].strip()
        return documents

    given = [path.read_text() for path in record.glob("*.in")]
    runs = {run for text in given for run in re.findall('"holderIdentity": ?"(podrank-run-[0-9a-f]{8})"', text)}

    def anonymous(text):
        """With this run's id replaced, which is another one in each replay."""
        for run in runs:
            text = text.replace(run, "podrank-run-mine")
        return text

    for number in range(1, 1 + len(list(record.glob("*.words")))):
        read = lambda suffix, default="": anonymous(path.read_text()) if (path := record / f"{number}.{suffix}").exists() else default
        words = json.loads(read("words"))
        # A watch that podrank ended has no status.
        request = {"words": words, "status": int(read("status", "0"))}
        if read("in"):
            request["in"] = json.loads(read("in"))
        if read("signal"):
            request["signal"] = read("signal")
        if read("err"):
            request["err"] = read("err")
        out = read("out")
        if "--raw" in words or not out.startswith("{"):
            request.update({"out": out} if out else {})
        else:
            found = documents(out)
            if found[0]["kind"] == "SelfSubjectAccessReview":
                request["out"] = out
            elif found[0]["kind"] == "List":
                request["list"] = [key(item) for item in found[0]["items"]]
            else:
                request["documents"] = [key(item) for item in found]
        requests.append(request)
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    text = lambda lines: "[" + ",".join("\n  " + compact(line) for line in lines.splitlines()) + "]"
    head = "".join(f"{compact(part)}: {compact(session[part])},\n" for part in ("args", "stdin", "typed", "status"))
    head += "".join(f"{compact(part)}: {text(session[part])},\n" for part in ("stdout", "stderr"))
    body = '"requests": [' + ",".join("\n  " + compact(request) for request in requests) + "],\n"
    body += '"objects": {' + ",".join(f"\n  {compact(k)}: {compact(v)}" for k, v in objects.items()) + "}\n"
    (SESSIONS / f"{name}.json").write_text("{\n" + head + body + "}\n")
