//go:build controlplane

package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/app"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// often has the program find out 5 times a second whether the API server reaches it.
const often = "--probe-interval=200ms"

// awaitReachable waits until the metric and the policy say whether the API server reaches the program.
func (w *World) awaitReachable(state string) {
	w.Helper()
	w.Await("reachable "+state, 30*time.Second, func() bool {
		lines, err := w.MetricLines("podrank_webhook_reachable")
		w.must(err)
		return strings.TrimSpace(lines) == "podrank_webhook_reachable "+state
	})
	w.Await("told by the policy", 10*time.Second, func() bool {
		ready := meta.FindStatusCondition(w.Status("spot").Conditions, v1alpha1.Ready)
		return ready.Reason == map[string]string{"0": v1alpha1.NotReachable, "1": v1alpha1.Ready}[state]
	})
}

// configure changes the program's webhook configuration.
func (w *World) configure(change func(*admissionregistrationv1.WebhookClientConfig)) {
	w.Helper()
	w.Await("configured", 10*time.Second, func() bool {
		var configuration admissionregistrationv1.ValidatingWebhookConfiguration
		w.must(w.Get(w.ctx, client.ObjectKey{Name: app.Configuration}, &configuration))
		for i := range configuration.Webhooks {
			change(&configuration.Webhooks[i].ClientConfig)
		}
		return w.Update(w.ctx, &configuration) == nil // the leader may have written it since
	})
}

// The metric falls when the API server does not reach the program, and rises again, and policies say so.
func TestReachable(t *testing.T) {
	w, _ := web(t, 1)
	w.restart(often)
	t.Cleanup(func() {
		w.must(w.Plane.register())
		w.restart()
	})
	w.awaitReachable("1")
	other, _, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	w.must(err)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	nobody.Close()
	closed := "https://" + nobody.Addr().String() + admit.Path
	for what, change := range map[string]func(*admissionregistrationv1.WebhookClientConfig){
		"another authority": func(to *admissionregistrationv1.WebhookClientConfig) { to.CABundle = other },
		"nobody listens":    func(to *admissionregistrationv1.WebhookClientConfig) { to.URL = &closed },
	} {
		t.Run(what, func(t *testing.T) {
			w.configure(change)
			w.awaitReachable("0")
			w.must(w.Plane.register())
			w.awaitReachable("1")
		})
	}
	t.Run("no configuration", func(t *testing.T) {
		var configuration admissionregistrationv1.ValidatingWebhookConfiguration
		w.must(w.Get(w.ctx, client.ObjectKey{Name: app.Configuration}, &configuration))
		w.must(w.Delete(w.ctx, configuration.DeepCopy()))
		w.awaitReachable("0")
		configuration.ResourceVersion, configuration.UID = "", ""
		w.must(w.Create(w.ctx, &configuration))
		w.awaitReachable("1")
	})
}

// The account of the program may scale its own ReplicaSets in dry runs, and nothing else.
func TestAccountScale(t *testing.T) {
	w, set := web(t, 2)
	var sets appsv1.ReplicaSetList
	w.must(w.List(w.ctx, &sets, client.InNamespace(system), client.MatchingLabels{"app.kubernetes.io/name": "podrank-webhook"}))
	if len(sets.Items) == 0 {
		t.Fatal("the Deployment of podrank-webhook has no ReplicaSet")
	}
	scale := func(namespace, name string, dryRun ...string) error {
		_, err := w.asItself().AppsV1().ReplicaSets(namespace).Patch(w.ctx, name, types.MergePatchType, []byte(`{"spec":{"replicas":1}}`),
			metav1.PatchOptions{DryRun: dryRun}, "scale")
		return err
	}
	w.must(scale(system, sets.Items[0].Name, metav1.DryRunAll))
	denied(t, "a scale-down of itself", scale(system, sets.Items[0].Name))
	denied(t, "a scale-down of another workload", scale(set.GetNamespace(), set.GetName()))
	denied(t, "a dry run for another workload", scale(set.GetNamespace(), set.GetName(), metav1.DryRunAll))
}

// When kube-controller-manager gets another leader between the costs and the answer, the scale-down is let through, and says so.
func TestControllerLeader(t *testing.T) {
	w, set := web(t, 6)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-controller-manager"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new("first"), LeaseTransitions: new(int32(3))}}
	w.must(w.Create(w.ctx, lease))
	t.Cleanup(func() { _ = w.Delete(context.Background(), lease) })
	w.must(w.Scale(set, 5))
	if last := w.Last("spot", 1); last.Result != string(steer.Steered) {
		t.Errorf("under one leader: %+v", last)
	}
	w.AwaitReady(5)
	w.AwaitClean()
	// A controller that was stopped may need more than the deadline to continue: then nothing is known of leaders.
	for to := int32(4); !w.changesLeader(set, lease, to); to-- {
		if to == 2 {
			t.Fatal("the deadline always came first")
		}
	}
}

// changesLeader scales down while another kube-controller-manager becomes the leader, and reports whether that was before the deadline.
func (w *World) changesLeader(set client.Object, lease *coordinationv1.Lease, to int32) bool {
	w.Helper()
	changes, before := w.CostChanges(), len(w.Proxy.Calls(w.Namespace))
	w.signal(syscall.SIGSTOP, "kube-controller-manager")
	answer := async(func() error { return w.Scale(set, to) })
	w.awaitCosts(changes + 1)
	w.Await("a barrier pod that waits", 2*time.Second, func() bool {
		var pods corev1.PodList
		w.must(w.List(w.ctx, &pods, client.InNamespace(system), client.HasLabels{"podrank.dev/barrier"}))
		return slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return len(pod.OwnerReferences) == 0 })
	})
	*lease.Spec.HolderIdentity += "-next"
	*lease.Spec.LeaseTransitions++
	w.must(w.Update(w.ctx, lease))
	w.signal(syscall.SIGCONT, "kube-controller-manager")
	w.must(<-answer)
	// If the ReplicaSet has changed, the API server asks again. The status then has the last result, if the leader is
	// the same.
	var results []string
	isLate := false
	for _, call := range w.Proxy.Calls(w.Namespace)[before:] {
		result := call.Response.Response.AuditAnnotations["result"]
		if result == string(steer.Stale) {
			// The API server asked about the ReplicaSet as it was before its controller had written the status.
			continue
		}
		results = append(results, result)
		isLate = isLate || result == string(steer.Unconfirmed) && call.Took > 1900*time.Millisecond
	}
	if len(results) == 0 || results[0] != string(steer.Unconfirmed) {
		w.Errorf("under another leader: %v", results)
	}
	w.AwaitReady(int(to))
	w.AwaitClean()
	return !isLate
}

// other is a webhook for pods of another program.
type other struct {
	// wait is how long it takes, and refuses whether it refuses the barrier pods.
	wait    time.Duration
	refuses bool
	asked   atomic.Int64
}

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	_ = json.NewDecoder(r.Body).Decode(&review)
	o.asked.Add(1)
	time.Sleep(o.wait)
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !o.refuses}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// install has the API server ask it about new pods in the namespace of the program.
func (o *other) install(w *World) {
	w.Helper()
	dir := filepath.Dir(w.Dir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	w.must(err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	w.must(err)
	go func() { _ = http.Serve(listener, o) }()
	address, none, fail, longest := "https://"+listener.Addr().String(), admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail, int32(10)
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	configuration.Webhooks = []admissionregistrationv1.ValidatingWebhook{{
		Name: "pods.example.com", SideEffects: &none, FailurePolicy: &fail, TimeoutSeconds: &longest, AdmissionReviewVersions: []string{"v1"},
		ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: w.ca},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: system}},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}},
	}}
	w.must(w.Create(w.ctx, configuration))
	w.Cleanup(func() {
		_ = w.Delete(context.Background(), configuration)
		listener.Close()
	})
	var set corev1.ReplicationController
	w.must(w.Get(w.ctx, client.ObjectKey{Namespace: system, Name: app.BarrierSet}, &set))
	w.Await("asked about pods", 30*time.Second, func() bool {
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: set.Spec.Template.Spec}
		pod.Namespace, pod.Name = system, "trial"
		_ = w.Create(w.ctx, pod, client.DryRunAll)
		return o.asked.Load() > 0
	})
}

// Webhooks of other programs may slow down or refuse barrier pods: scale-downs are let through in time, and say what became of them.
func TestPodWebhooks(t *testing.T) {
	for what, c := range map[string]struct {
		other  *other
		result steer.Result
		spots  int
	}{
		"slow":     {&other{wait: 200 * time.Millisecond}, steer.Steered, 2},
		"too slow": {&other{wait: 4 * time.Second}, steer.Unconfirmed, 2},
		"refusing": {&other{refuses: true}, steer.Unsettled, 0},
	} {
		t.Run(what, func(t *testing.T) {
			w, set := web(t, 8)
			c.other.install(w)
			began := time.Now()
			w.must(w.Scale(set, 6))
			if took := time.Since(began); took > 2500*time.Millisecond || took < c.other.wait && c.result == steer.Steered {
				t.Errorf("it took %v", took)
			}
			last := w.let(c.result, 6)
			if c.other.refuses && !strings.Contains(last.Message, "pods.example.com") {
				t.Errorf("it does not say who refused: %+v", last)
			}
			if deleted := w.AwaitDeleted(2); c.spots > 0 && w.Spots(deleted) != c.spots {
				t.Errorf("%d of 2 on spot nodes", w.Spots(deleted))
			}
		})
	}
}

// With a new certificate authority, the API server reaches the program by its Service again. Until then, no scale-down
// is refused or delayed.
func TestAuthority(t *testing.T) {
	w, set := web(t, 8)
	dir := t.TempDir()
	ctx, stop := context.WithCancel(w.ctx)
	mounting := async(func() error {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			w.mount(dir)
		}
		return nil
	})
	w.must(w.Stop())
	w.byService(t)
	reached := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-mounting
		w.Kill()
		w.must(w.Run())
		w.must(w.Plane.register())
	})
	rotate := []string{"--rotate-certificates", "--cert-dir", dir, often}
	w.must(w.Run(rotate...))
	w.awaitReachable("1")
	before := w.authority()
	w.must(w.trusts(before))
	w.must(w.Scale(set, 7))
	if last := w.Last("spot", 1); last.Result != string(steer.Steered) {
		t.Errorf("under the first authority: %+v", last)
	}
	w.must(w.Plane.Kubectl("-n", system, "patch", "secret", app.Secret, "--type=json", `--patch=[{"op":"remove","path":"/data"}]`))
	scaling := async(func() error {
		for ctx.Err() == nil {
			began := time.Now()
			if err := w.Scale(set, 6, client.DryRunAll); err != nil {
				return err
			} else if took := time.Since(began); took > 3500*time.Millisecond {
				t.Errorf("a scale-down took %v", took)
			}
			time.Sleep(50 * time.Millisecond)
			select {
			case <-reached:
				return nil
			default:
			}
		}
		return nil
	})
	w.must(w.Stop())
	w.must(w.Run(rotate...))
	w.awaitReachable("1")
	close(reached)
	w.must(<-scaling)
	after := w.authority()
	w.must(w.trusts(after))
	if string(before) == string(after) || w.trusts(before) == nil {
		t.Error("the authority is the same")
	}
	w.AwaitReady(7)
	w.must(w.Scale(set, 6))
	if last := w.Last("spot", 2); last.Result != string(steer.Steered) {
		t.Errorf("under the next authority: %+v", last)
	}
}

// byService has the API server send requests to the Service of the program, as in a cluster, which stands for this machine.
func (w *World) byService(t *testing.T) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: app.Service}}
	w.must(w.Delete(w.ctx, service.DeepCopy()))
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
	w.must(w.Create(w.ctx, service.DeepCopy()))
	t.Cleanup(func() {
		w.must(w.Delete(context.Background(), service))
		w.must(w.Plane.Install("--show-only", "templates/service.yaml"))
	})
	path, port := admit.Path, int32(w.port)
	w.configure(func(to *admissionregistrationv1.WebhookClientConfig) {
		to.URL, to.CABundle = nil, nil
		to.Service = &admissionregistrationv1.ServiceReference{Namespace: system, Name: app.Service, Path: &path, Port: &port}
	})
}

// authority is what the API server trusts.
func (w *World) authority() []byte {
	w.Helper()
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	w.must(w.Get(w.ctx, client.ObjectKey{Name: app.Configuration}, &configuration))
	return configuration.Webhooks[0].ClientConfig.CABundle
}

// compact makes etcd forget all earlier revisions.
func (w *World) compact() {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, "kube-apiserver.sh"))
	w.must(err)
	found := regexp.MustCompile(`--etcd-servers\W+(http://[0-9.:]+)`).FindSubmatch(text)
	if found == nil {
		w.Fatal("the API server has no etcd")
	}
	post := func(what, body string, into any) {
		response, err := http.Post(string(found[1])+"/v3/kv/"+what, "application/json", strings.NewReader(body))
		w.must(err)
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			w.Fatalf("etcd: %s: %s", what, response.Status)
		}
		w.must(json.NewDecoder(response.Body).Decode(into))
	}
	var now struct{ Header struct{ Revision string } }
	post("range", `{"key":"AA=="}`, &now)
	post("compaction", fmt.Sprintf(`{"revision":%q}`, now.Header.Revision), &struct{}{})
}

// isForgotten reports whether a client that has seen pods at this version has to list them again.
func (w *World) isForgotten(version string) bool {
	ctx, stop := context.WithTimeout(w.ctx, 10*time.Second)
	defer stop()
	events, err := w.Clients.CoreV1().Pods(w.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	}
	defer events.Stop()
	event := <-events.ResultChan()
	status, isStatus := event.Object.(*metav1.Status)
	return isStatus && status.Code == http.StatusGone
}

// A controller that was stopped while etcd forgot what it has not seen lists all pods again: it sees costs before the barrier pod.
func TestRelist(t *testing.T) {
	w, set := web(t, 60)
	t.Cleanup(func() {
		w.Kill()
		w.must(w.Run())
	})
	steered, spotsBefore := 0, 0
	for round := range 2 {
		left := 60 - 2*round
		w.AwaitReady(left)
		w.AwaitClean()
		w.signal(syscall.SIGSTOP, "kube-controller-manager")
		pods, err := w.Clients.CoreV1().Pods(w.Namespace).List(w.ctx, metav1.ListOptions{})
		w.must(err)
		w.flap(w.Pods()[0])
		w.Await("not ready", 10*time.Second, func() bool { return !w.areReady(left) })
		w.heal()
		w.part("stop", "kube-apiserver")
		w.compact()
		w.part("start", "kube-apiserver")
		w.Await("allowed again", time.Minute, func() bool {
			_, err := w.Clients.CoreV1().Pods(w.Namespace).List(w.ctx, metav1.ListOptions{Limit: 1})
			return err == nil
		})
		// The leader ends if it cannot renew its lease.
		w.Kill()
		w.must(w.Run())
		if !w.isForgotten(pods.ResourceVersion) {
			t.Error("the controller need not list pods again, so this shows nothing")
		}
		changes, before := w.CostChanges(), len(w.Proxy.Calls(w.Namespace))
		answer := async(func() error { return w.Scale(set, int32(left-2)) })
		w.awaitCosts(changes + 2)
		w.signal(syscall.SIGCONT, "kube-controller-manager")
		w.must(<-answer)
		spots := w.Spots(w.AwaitDeleted(2*(round+1))) - spotsBefore
		var result string
		for _, call := range w.Proxy.Calls(w.Namespace)[before:] {
			result = call.Response.Response.AuditAnnotations["result"]
			t.Logf("round %d: %s after %v", round, result, call.Took.Round(time.Millisecond))
		}
		// On a busy machine, the controller can need longer for its list than the answer may take.
		if result == string(steer.Steered) {
			steered++
			if spots != 2 {
				t.Errorf("round %d: %d of 2 on spot nodes", round, spots)
			}
		}
		spotsBefore += spots
	}
	if steered == 0 {
		t.Error("nothing was steered, so this shows nothing")
	}
}
