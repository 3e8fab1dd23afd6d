"""A Rollout, which owns a ReplicaSet as those of Argo do, and what its controller does with the count: it passes it on to its set,
and copies the status. Nothing is rolled out unless a session creates another set."""

import threading
import urllib.error
from world import World, wait

GROUP = "/apis/argoproj.io/v1alpha1"
TYPES = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

# Ends the controllers.
OVER = threading.Event()


def define(api):
    """Defines the type, with the subresource /scale. It may be there already."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": scale},
    }
    names = {"kind": "Rollout", "plural": "rollouts", "singular": "rollout", "shortNames": ["ro"]}
    spec = {"group": "argoproj.io", "names": names, "scope": "Namespaced", "versions": [version]}
    body = {"metadata": {"name": "rollouts.argoproj.io"}, "spec": spec}
    try:
        api("POST", TYPES, {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **body})
    except urllib.error.HTTPError as error:
        assert error.code == 409, error

    def is_served():
        try:
            return api("GET", GROUP + "/namespaces/default/rollouts")
        except urllib.error.HTTPError:
            return None

    wait("the type", is_served)


class Rollout(World):
    """A namespace with a Rollout `web`, which owns the ReplicaSet `web-1`, and its controller."""

    def __init__(self, api, namespace, nodes, **options):
        define(api)
        super().__init__(api, namespace, nodes, kind="Rollout", **options)

    def create(self, spec):
        path = f"{GROUP}/namespaces/{self.namespace}/rollouts"
        replicas = spec["replicas"]
        body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}, "spec": {"replicas": replicas}}
        self.uid = self.api("POST", path + "?fieldManager=kubectl-create", body)["metadata"]["uid"]
        self.set = self.add_set("web-1", spec)
        threading.Thread(target=self.control, args=(path + "/web",), daemon=True).start()
        return path + "/web"

    def add_set(self, name, spec):
        """Creates a set of the Rollout and returns its path."""
        owner = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": self.uid, "controller": True}
        path = f"/apis/apps/v1/namespaces/{self.namespace}/replicasets"
        self.api("POST", path + "?fieldManager=kubectl-create", {"metadata": {"name": name, "ownerReferences": [owner]}, "spec": spec})
        return f"{path}/{name}"

    def control(self, path):
        while not OVER.wait(0.05):
            own, its = self.api("GET", path), self.api("GET", self.set)
            if its["spec"]["replicas"] != own["spec"]["replicas"]:
                self.api.patch(self.set, {"spec": {"replicas": own["spec"]["replicas"]}}, "rollouts")
            counts = {key: its["status"].get(key, 0) for key in ("replicas", "availableReplicas")}
            status = {"observedGeneration": str(own["metadata"]["generation"]), **counts}
            if own.get("status") != status:
                self.api.patch(path + "/status", {"status": status}, "rollouts")

    def get(self):
        own = super().get()
        return own if "status" in own else {**own, "status": {}}
