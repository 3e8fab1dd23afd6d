//go:build controlplane

package e2e

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

var isReal = flag.Bool("real", false, "whether values come from an adapter that is made of their library, from metrics-server and from Prometheus, too")

// beside runs another program until the test ends, and its log is in the test's if that fails.
func (w *World) beside(name string, arguments ...string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "log")
	log, err := os.Create(file)
	w.must(err)
	program := exec.Command(name, arguments...)
	program.Stdout, program.Stderr = log, log
	w.must(program.Start())
	w.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
		log.Close()
		if text, _ := os.ReadFile(file); w.Failed() {
			w.Log(string(text[max(0, len(text)-4000):]))
		}
	})
}

// exposed are samples of pods in the format of Prometheus.
func (w *World) exposed(sample func(pod *corev1.Pod) string) (text string) {
	for _, pod := range w.Pods() {
		text += sample(pod)
	}
	return text
}

// goesFirst scales down. Exactly the pods for which isIdle is true have to be deleted.
func (w *World) goesFirst(by map[string]float64, isIdle func(float64) bool) {
	w.Helper()
	idle := 0
	for _, number := range by {
		if isIdle(number) {
			idle++
		}
	}
	w.must(w.Scale(webSet(w.Namespace, 0), int32(len(by)-idle)))
	last := w.Last("idle", 1)
	if last.Valued == nil || int(*last.Valued) != len(by) {
		w.Fatalf("%+v", last)
	}
	for _, pod := range w.AwaitDeleted(idle) {
		if !isIdle(by[pod.Name]) {
			w.Errorf("%s went with %v", pod.Name, by[pod.Name])
		}
	}
}

// Prometheus answers the query that the administrator has named.
func TestPrometheus(t *testing.T) {
	if !*isReal {
		t.Skip("without -real")
	}
	w := NewWorld(t, 2)
	numbers := map[string]float64{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	w.Cleanup(func() { listener.Close() })
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(out, w.exposed(func(pod *corev1.Pod) string {
				return fmt.Sprintf("active_sessions{namespace=%q,pod=%q} %v\n", pod.Namespace, pod.Name, numbers[pod.Name])
			}))
		}))
	}()
	w.must(w.Create(w.ctx, webSet(w.Namespace, 8)))
	for i, pod := range w.AwaitReady(8) {
		numbers[pod.Name] = float64(i % 2 * (i + 1))
	}
	dir := w.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	w.must(os.WriteFile(config, fmt.Appendf(nil, `{global: {scrape_interval: 1s},
scrape_configs: [{job_name: web, honor_labels: true, static_configs: [{targets: [%q]}]}]}`, listener.Addr()), 0o600))
	address := fmt.Sprintf("127.0.0.1:%d", freePort())
	w.beside("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	query := `sum by (pod) (active_sessions{namespace="$namespace"} and time() - timestamp(active_sessions{namespace="$namespace"}) < 60)`
	w.Cleanup(func() {
		_ = w.Stop()
		w.must(w.Run())
	})
	w.must(w.Stop())
	w.must(w.Run("--prometheus=http://"+address, "--prometheus-query=sessions="+query))
	w.Policy("idle", v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{Query: "sessions"}}}})
	w.Await("scraped", 30*time.Second, func() bool {
		response, err := http.Get("http://" + address + "/api/v1/query?query=count(active_sessions)")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return strings.Contains(string(text), `"8"`)
	})
	w.goesFirst(numbers, func(number float64) bool { return number == 0 })
}

// metrics-server measures what the stand-in of a kubelet says: processor time that grows, more on busy pods.
func TestMetricsServer(t *testing.T) {
	if !*isReal {
		t.Skip("without -real")
	}
	NewAdapter(t)
	dir := filepath.Dir(plane.Dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "metrics-server"), "sigs.k8s.io/metrics-server/cmd/metrics-server")
	build.Dir = "metricsserver"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := NewWorld(t, 1)
	cores, began := map[string]float64{}, time.Now()
	kubelet := func(out http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		at, seconds := now.UnixMilli(), now.Sub(began).Seconds()
		fmt.Fprintf(out, "node_cpu_usage_seconds_total %v %d\nnode_memory_working_set_bytes 1e9 %d\n", 100+seconds, at, at)
		fmt.Fprint(out, w.exposed(func(pod *corev1.Pod) string {
			labels := fmt.Sprintf(`{container="main",namespace=%q,pod=%q}`, pod.Namespace, pod.Name)
			return fmt.Sprintf("container_cpu_usage_seconds_total%[1]s %[2]v %[3]d\ncontainer_memory_working_set_bytes%[1]s 1e7 %[3]d\ncontainer_start_time_seconds%[1]s %[4]d %[3]d\n",
				labels, 10+cores[pod.Name]*seconds, at, began.Add(-time.Hour).Unix())
		}))
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	w.must(err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	w.must(err)
	w.Cleanup(func() { listener.Close() })
	node := w.Nodes[0]
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(listener.Addr().(*net.TCPAddr).Port)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	w.must(w.Client.Status().Update(w.ctx, node))
	w.must(w.Create(w.ctx, webSet(w.Namespace, 6)))
	for i, pod := range w.AwaitReady(6) {
		cores[pod.Name] = .01 + float64(i%2)/2
	}
	go func() { _ = http.Serve(listener, http.HandlerFunc(kubelet)) }()
	port := freePort()
	w.beside(filepath.Join(dir, "metrics-server"), "--kubeconfig="+w.Kubeconfig, "--authentication-kubeconfig="+w.Kubeconfig, "--authorization-kubeconfig="+w.Kubeconfig,
		fmt.Sprint("--secure-port=", port), "--tls-cert-file="+filepath.Join(dir, "tls.crt"), "--tls-private-key-file="+filepath.Join(dir, "tls.key"),
		"--kubelet-insecure-tls", "--kubelet-use-node-status-port", "--kubelet-preferred-address-types=InternalIP", "--metric-resolution=10s", "--kubelet-request-timeout=5s")
	w.redirect("v1beta1.metrics.k8s.io", port)
	w.Policy("idle", v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{Resource: "cpu"}}}})
	pods := w.Pods()
	w.Await("measured", time.Minute, func() bool {
		answer, err := w.Clients.RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces", w.Namespace, "pods").DoRaw(w.ctx)
		return err == nil && !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !strings.Contains(string(answer), pod.Name) })
	})
	w.goesFirst(cores, func(number float64) bool { return number < .1 })
}

// redirect has an API served at another port until the test ends.
func (w *World) redirect(api string, port int) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "service.yaml")
	w.must(os.WriteFile(file, fmt.Appendf(nil, `apiVersion: v1
kind: Service
metadata: {name: real, namespace: podrank-system}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %d}]}`, port), 0o600))
	w.must(w.Plane.Kubectl("apply", "-f", file))
	before, err := exec.Command("kubectl", "--kubeconfig", w.Kubeconfig, "get", "apiservice", api, "-o", "jsonpath={.spec.service}").Output()
	w.must(err)
	set := func(service string) error {
		return w.Plane.Kubectl("patch", "apiservice", api, "--type=merge", "-p", `{"spec":{"service":`+service+`}}`)
	}
	w.must(set(fmt.Sprintf(`{"namespace":"podrank-system","name":"real","port":%d}`, port)))
	w.Cleanup(func() { w.must(set(string(before))) })
	time.Sleep(time.Second)
	w.must(w.Plane.Kubectl("wait", "--for=condition=Available", "--timeout=90s", "apiservice/"+api))
}
