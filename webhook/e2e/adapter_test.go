//go:build controlplane

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Adapter serves metrics of pods behind the API server, as adapters for Prometheus do: the metric active_sessions by custom.metrics.k8s.io, and a
// thousandth of it as cpu by metrics.k8s.io. By external.metrics.k8s.io, it serves busy_pods, the number of pods whose number is not 0.
type Adapter struct {
	mu sync.Mutex
	// numbers are by namespace and pod.
	numbers map[string]map[string]float64
	// odd are namespaces about which it answers in another way.
	odd map[string]http.HandlerFunc
	// reads are what it answered, by namespace.
	reads map[string][]Answered
}

// Answered is what an adapter answered.
type Answered struct {
	At      time.Time
	Numbers map[string]float64
}

const services = `apiVersion: v1
kind: Service
metadata: {name: adapter, namespace: podrank-system}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[1]d}]}
---
apiVersion: v1
kind: Service
metadata: {name: library, namespace: podrank-system}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %[2]d}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta2.custom.metrics.k8s.io}
spec:
  {group: custom.metrics.k8s.io, version: v1beta2, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
   service: {namespace: podrank-system, name: library, port: %[2]d}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
   service: {namespace: podrank-system, name: adapter, port: %[1]d}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  {group: external.metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
   service: {namespace: podrank-system, name: adapter, port: %[1]d}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: idle}
rules:
- {apiGroups: [custom.metrics.k8s.io], resources: [pods/active_sessions, pods/missing], verbs: [get]}
- {apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: idle}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: idle}
subjects: [{kind: ServiceAccount, name: podrank-webhook, namespace: podrank-system}]
`

// adapter is the one that all tests share. The program may read what it serves.
var adapter = sync.OnceValues(func() (*Adapter, error) {
	a := &Adapter{numbers: map[string]map[string]float64{}, odd: map[string]http.HandlerFunc{}, reads: map[string][]Answered{}}
	dir := filepath.Dir(plane.Dir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", "localhost:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		return nil, err
	}
	go func() { _ = http.Serve(listener, a) }()
	own := listener.Addr().(*net.TCPAddr).Port
	other := own
	if *isReal {
		if other, err = a.launch(dir); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(dir, "services.yaml")
	text := fmt.Sprintf(services, own, other)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if err := plane.Kubectl("apply", "-f", file); err != nil {
		return nil, err
	}
	return a, plane.Kubectl("wait", "--for=condition=Available", "--timeout=60s", "apiservice/v1beta2.custom.metrics.k8s.io", "apiservice/v1beta1.metrics.k8s.io", "apiservice/v1beta1.external.metrics.k8s.io")
})

// launch has a program that is made of the library of adapters serve the metric. Building it takes minutes the first time.
func (a *Adapter) launch(dir string) (port int, err error) {
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "adapter"), ".")
	build.Dir = "adapter"
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	source, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	go func() { _ = http.Serve(source, http.HandlerFunc(a.numbersOf)) }()
	log, err := os.Create(filepath.Join(dir, "adapter.log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	port = freePort()
	program := exec.Command(filepath.Join(dir, "adapter"), "--secure-port", fmt.Sprint(port), "--source", "http://"+source.Addr().String(),
		"--tls-cert-file", filepath.Join(dir, "tls.crt"), "--tls-private-key-file", filepath.Join(dir, "tls.key"),
		"--lister-kubeconfig", plane.Kubeconfig, "--authentication-kubeconfig", plane.Kubeconfig, "--authorization-kubeconfig", plane.Kubeconfig)
	program.Stdout, program.Stderr = log, log
	plane.beside = program
	return port, program.Start()
}

// numbersOf tells that program the numbers of a namespace.
func (a *Adapter) numbersOf(w http.ResponseWriter, r *http.Request) {
	namespace := r.URL.Query().Get("namespace")
	a.mu.Lock()
	numbers := maps.Clone(a.numbers[namespace])
	a.reads[namespace] = append(a.reads[namespace], Answered{time.Now(), numbers})
	a.mu.Unlock()
	_ = json.NewEncoder(w).Encode(numbers)
}

// NewAdapter returns the adapter.
func NewAdapter(t testing.TB) *Adapter {
	t.Helper()
	a, err := adapter()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Set sets the numbers of pods.
func (a *Adapter) Set(namespace string, numbers map[string]float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.numbers[namespace] = maps.Clone(numbers)
}

// Does has it answer about a namespace in another way, or no longer.
func (a *Adapter) Does(namespace string, what http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.odd[namespace] = what
}

// Reads are what it answered about a namespace.
func (a *Adapter) Reads(namespace string) []Answered {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Answered(nil), a.reads[namespace]...)
}

func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	if len(parts) < 6 {
		a.discover(w, r, parts)
		return
	}
	group, namespace := parts[1], parts[4]
	a.mu.Lock()
	odd, numbers := a.odd[namespace], maps.Clone(a.numbers[namespace])
	if odd == nil {
		a.reads[namespace] = append(a.reads[namespace], Answered{time.Now(), numbers})
	}
	a.mu.Unlock()
	if odd != nil {
		odd(w, r)
		return
	}
	if group == "custom.metrics.k8s.io" && (len(parts) != 8 || parts[6] != "*" || parts[7] != "active_sessions") {
		http.NotFound(w, r)
		return
	}
	var items []any
	now := time.Now().UTC().Format(time.RFC3339)
	if group == "external.metrics.k8s.io" {
		busy := 0
		for _, number := range numbers {
			if number != 0 {
				busy++
			}
		}
		items, numbers = append(items, map[string]any{"metricName": "busy_pods", "metricLabels": map[string]string{}, "timestamp": now, "value": fmt.Sprint(busy)}), nil
	}
	for pod, number := range numbers {
		if group == "metrics.k8s.io" {
			usage := map[string]string{"cpu": fmt.Sprintf("%gm", number), "memory": "1Mi"}
			items = append(items, map[string]any{"metadata": map[string]string{"namespace": namespace, "name": pod}, "timestamp": now, "window": "15s",
				"containers": []any{map[string]any{"name": "main", "usage": usage}}})
			continue
		}
		items = append(items, map[string]any{"describedObject": map[string]string{"kind": "Pod", "namespace": namespace, "name": pod, "apiVersion": "/v1"},
			"metric": map[string]string{"name": "active_sessions"}, "timestamp": now, "value": fmt.Sprintf("%g", number)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "MetricValueList", "apiVersion": group + "/" + parts[2], "items": items})
}

// discover says what there is.
func (a *Adapter) discover(w http.ResponseWriter, r *http.Request, parts []string) {
	if len(parts) != 3 || parts[0] != "apis" {
		http.NotFound(w, r)
		return
	}
	resource := map[string]any{"name": "pods", "namespaced": true, "kind": "PodMetrics", "verbs": []string{"get", "list"}}
	if parts[1] == "custom.metrics.k8s.io" {
		resource = map[string]any{"name": "pods/active_sessions", "namespaced": true, "kind": "MetricValueList", "verbs": []string{"get"}}
	}
	if parts[1] == "external.metrics.k8s.io" {
		resource = map[string]any{"name": "busy_pods", "namespaced": true, "kind": "ExternalMetricValueList", "verbs": []string{"get"}}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": parts[1] + "/" + parts[2], "resources": []any{resource}})
}
