"""Values of pods that the control plane passes on, as adapters of custom.metrics.k8s.io answer: `serve(api, metric, values)`."""

import http.server
import json
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

from world import wait

GROUP, VERSION = "custom.metrics.k8s.io", "v1beta2"


def serve(api, metric, values):
    """Registers a server that has a value of these pods, by name, and that ends with the process."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = urllib.parse.unquote(self.path.split("?")[0])
            if path.endswith(f"/pods/*/{metric}"):
                namespace = path.split("/")[5]
                items = [
                    {"describedObject": {"kind": "Pod", "namespace": namespace, "name": name, "apiVersion": "/v1"}, "metric": {"name": metric},
                     "timestamp": "2026-03-10T11:59:48Z", "value": value, "selector": None}
                    for name, value in values.items()
                ]  # fmt: skip
                answer = {"kind": "MetricValueList", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}, "items": items}
            else:
                answer = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/{VERSION}", "resources": []}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with tempfile.TemporaryDirectory() as where:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-keyout", f"{where}/key", "-out", f"{where}/cert"], check=True, capture_output=True)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{where}/cert", f"{where}/key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    api("POST", "/api/v1/namespaces/default/services", {
        "metadata": {"name": "adapter"}, "spec": {"type": "ExternalName", "externalName": "localhost"}})  # fmt: skip
    path = "/apis/apiregistration.k8s.io/v1/apiservices"
    name = f"{VERSION}.{GROUP}"
    api("POST", path, {"metadata": {"name": name}, "spec": {
        "group": GROUP, "version": VERSION, "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "adapter", "port": port}}})  # fmt: skip
    is_available = lambda: any(
        each["type"] == "Available" and each["status"] == "True" for each in api("GET", f"{path}/{name}").get("status", {}).get("conditions", []))
    wait("the adapter", is_available)
