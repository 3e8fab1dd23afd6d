//go:build controlplane

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// idleFirst wants pods with the lowest value of a metric to be deleted first.
func idleFirst(metric string) v1alpha1.ScaleDownPolicySpec {
	return v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{Metric: &v1alpha1.PodMetric{Name: metric}}}}}
}

// sessions gives the pods these numbers, and returns the pods in that order.
func (w *World) sessions(a *Adapter, numbers ...float64) []*corev1.Pod {
	of, pods := map[string]float64{}, w.Pods()
	for i, pod := range pods {
		if i < len(numbers) {
			of[pod.Name] = numbers[i]
		}
	}
	a.Set(w.Namespace, of)
	return pods
}

// The pods with the fewest sessions go, by a metric or by a resource, and the status says how many had a value.
func TestValues(t *testing.T) {
	a := NewAdapter(t)
	for name, spec := range map[string]v1alpha1.ScaleDownPolicySpec{
		"metric":   idleFirst("active_sessions"),
		"resource": {DeleteFirst: []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{Resource: "cpu", Container: "main"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			w, set := NewWorldOf(t, 4, spec, webDeployment, 8)
			idle := w.sessions(a, 0, 5, 0, 6, 0, 7, 3, 4)
			w.must(w.Scale(set, 4))
			last := w.Last("spot", 1)
			if last.Result != string(steer.Steered) || last.Valued == nil || *last.Valued != 8 || last.OldestValue == nil {
				t.Errorf("%+v", last)
			}
			var deleted []int
			for _, pod := range w.AwaitDeleted(4) {
				deleted = append(deleted, slices.IndexFunc(idle, func(old *corev1.Pod) bool { return old.UID == pod.UID }))
			}
			slices.Sort(deleted)
			if !slices.Equal(deleted, []int{0, 2, 4, 6}) {
				t.Errorf("%v went", deleted)
			}
			w.awaitEnd("spot", 4, 0)
			if reads := a.Reads(w.Namespace); len(reads) != len(w.Proxy.Calls(w.Namespace)) {
				t.Errorf("%d reads for %d requests", len(reads), len(w.Proxy.Calls(w.Namespace)))
			}
		})
	}
}

// Whatever an adapter does, the request is let through, the other preferences count, and the status and an event say why no value does.
func TestValuesUnread(t *testing.T) {
	a := NewAdapter(t)
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, c := range map[string]struct {
		metric, message string
		odd             http.HandlerFunc
	}{
		"no right":         {"secret", "podrank-webhook may not read it", nil},
		"no metric":        {"missing", "it has no such metric", nil},
		"none has a value": {"active_sessions", "0 of 6 pods have a value", nil},
		"down": {"active_sessions", "the status is 503", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := http.NewResponseController(w).Hijack()
			connection.Close()
		}},
		"hung": {"active_sessions", "it did not answer in time", hangs},
		"large": {"active_sessions", "the answer has more than 4 MiB", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"items":[],"x":"` + strings.Repeat("x", 50<<20)))
		}},
		"endless": {"active_sessions", "custom.metrics.k8s.io: ", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<10))); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}},
		"a redirect": {"active_sessions", "custom.metrics.k8s.io: ", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusFound)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := idleFirst(c.metric)
			// Without values, the other preferences count.
			isSpotFirst := name != "none has a value"
			if isSpotFirst {
				spec.DeleteFirst = append(SpotFirst.DeleteFirst[:1:1], spec.DeleteFirst...)
			}
			w, set := NewWorldOf(t, 4, spec, webSet, 6)
			a.Does(w.Namespace, c.odd)
			began := time.Now()
			w.must(w.Scale(set, 3))
			took := time.Since(began)
			last := w.Last("spot", 1)
			if last.Valued == nil || *last.Valued != 0 || !strings.Contains(last.Message, c.message) || !steer.Result(last.Result).Holds() || took > 2500*time.Millisecond {
				t.Errorf("after %v: %+v", took, last)
			}
			w.Await("an event", 10*time.Second, func() bool { return w.hasEvent(last.Result) })
			if isSpotFirst {
				w.AwaitSpots(3)
			}
		})
	}
	if w := NewWorld(t, 0); w.Metric(`podrank_webhook_valued_total{counted="false"}`) < 8 {
		t.Error("the metric does not count them")
	}
}

// 30 simultaneous scale-downs in one namespace send few reads, and all of them have values.
func TestValuesAtOnce(t *testing.T) {
	a := NewAdapter(t)
	const sets = 30
	w := NewWorld(t, 4)
	w.Policy("spot", idleFirst("active_sessions"))
	for i := range sets {
		w.must(w.Create(w.ctx, replicaSet(w.Namespace, fmt.Sprint("web-", i), 2)))
	}
	numbers := make([]float64, 2*sets)
	w.AwaitReady(2 * sets)
	w.sessions(a, numbers...)
	const valued, unread = `podrank_webhook_valued_total{counted="true"}`, `podrank_webhook_valued_total{counted="false"}`
	before, missed := w.Metric(valued), w.Metric(unread)
	var all sync.WaitGroup
	for i := range sets {
		all.Go(func() {
			if err := w.Scale(replicaSet(w.Namespace, fmt.Sprint("web-", i), 2), 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	results := map[string]int{}
	for _, call := range w.Proxy.Calls(w.Namespace) {
		results[call.Response.Response.AuditAnnotations["result"]]++
	}
	reads, counted, without := a.Reads(w.Namespace), w.Metric(valued)-before, w.Metric(unread)-missed
	fmt.Printf("%d simultaneous scale-downs: %v, %.0f with values, %.0f without, %d reads\n", sets, results, counted, without, len(reads))
	// On a slow machine, some are late for other reasons.
	if without > 0 || int(counted) < results["Steered"]+results["Unconfirmed"] || counted == 0 {
		t.Error("some had no values")
	}
	// Each replica reads once a second.
	for i := replicas; i < len(reads); i++ {
		if took := reads[i].At.Sub(reads[i-replicas].At); took < 900*time.Millisecond {
			t.Errorf("%d reads in %v", replicas+1, took)
		}
	}
}

// While an adapter hangs, scale-downs in other namespaces are as fast as beside as many while it answers.
func TestValuesHung(t *testing.T) {
	a := NewAdapter(t)
	const sets, falls = 2, 5
	slowest := map[bool]time.Duration{}
	for _, hangs := range []bool{false, true} {
		beside := NewWorld(t, 2)
		beside.Policy("spot", idleFirst("active_sessions"))
		for i := range sets {
			beside.must(beside.Create(beside.ctx, replicaSet(beside.Namespace, fmt.Sprint("web-", i), 2)))
		}
		beside.AwaitReady(2 * sets)
		w, set := NewWorldOf(t, 2, SpotFirst, webSet, falls+1)
		if hangs {
			a.Does(beside.Namespace, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}
		var all sync.WaitGroup
		for i := range sets {
			all.Go(func() { _ = beside.Scale(replicaSet(beside.Namespace, fmt.Sprint("web-", i), 2), 1) })
		}
		time.Sleep(50 * time.Millisecond)
		for i := range falls {
			began := time.Now()
			w.must(w.Scale(set, int32(falls-i)))
			slowest[hangs] = max(slowest[hangs], time.Since(began))
		}
		all.Wait()
	}
	fmt.Printf("the slowest of %d scale-downs beside %d others with values: %v, and %v if their adapter hangs\n", falls, sets,
		slowest[false].Round(time.Millisecond), slowest[true].Round(time.Millisecond))
	if slowest[true] > slowest[false]+500*time.Millisecond {
		t.Error(slowest)
	}
}

// The API server refuses what cannot be meant, and an older CRD that drops what it does not know makes a policy that steers nothing.
func TestValuesInvalid(t *testing.T) {
	w := NewWorld(t, 0)
	for entries, want := range map[string]string{
		`[{}]`:               "Required value",
		`[{"type":"Age"}]`:   "Unsupported value",
		`[{"type":"Nodes"}]`: "nodes is required when type is Nodes, and forbidden otherwise",
		`[{"type":"Nodes","nodes":{},"pods":{}}]`:                                                                                                     "pods is required when type is Pods, and forbidden otherwise",
		`[{"type":"Pods","taint":{"key":"a"}}]`:                                                                                                       "taint is required when type is Taint, and forbidden otherwise",
		`[{"type":"Lowest","condition":{"type":"Ready","status":"True"}}]`:                                                                            "condition is required when type is Condition, and forbidden otherwise",
		`[{"type":"Taint","taint":{"value":"a"}}]`:                                                                                                    "Required value",
		`[{"type":"Taint","taint":{"key":"a","effect":"Now"}}]`:                                                                                       "Unsupported value",
		`[{"type":"Condition","condition":{"type":"Ready"}}]`:                                                                                         "Required value",
		`[{"type":"Condition","condition":{"type":"Ready","status":"true"}}]`:                                                                         "Unsupported value",
		`[{"type":"Condition","condition":{"type":"Ready","status":"Unknown"}}]`:                                                                      "",
		`[{"type":"Taint","taint":{"key":"a","value":"","effect":"NoExecute"}}]`:                                                                      "",
		`[{"type":"Lowest","lowest":{"resource":"cpu"},"highest":{"resource":"cpu"}}]`:                                                                "highest is required when type is Highest, and forbidden otherwise",
		`[{"type":"Highest","lowest":{"resource":"cpu"}}]`:                                                                                            "lowest is required when type is Lowest, and forbidden otherwise",
		`[{"type":"Lowest","lowest":{"resource":"cpu"}},{"type":"Highest","highest":{"resource":"cpu"}}]`:                                             "at most one preference may be of type Lowest or Highest",
		`[{"type":"Lowest","lowest":{}}]`:                                                                                                             "exactly one of metric, resource, query and annotation is required",
		`[{"type":"Lowest","lowest":{"resource":"cpu","query":"a"}}]`:                                                                                 "exactly one of metric, resource, query and annotation is required",
		`[{"type":"Lowest","lowest":{"query":"a","container":"b"}}]`:                                                                                  "container is forbidden without resource",
		`[{"type":"Lowest","lowest":{"query":"a","annotation":{"key":"a.b/c"}}}]`:                                                                     "exactly one of metric, resource, query and annotation is required",
		`[{"type":"Lowest","lowest":{"annotation":{"key":"a.b/c"},"maxAge":"1m"}}]`:                                                                   "maxAge is forbidden with annotation",
		`[{"type":"Lowest","lowest":{"annotation":{"key":"a/b/c"}}}]`:                                                                                 "should match",
		`[{"type":"Lowest","lowest":{"annotation":{}}}]`:                                                                                              "Required value",
		`[{"type":"Lowest","lowest":{"annotation":{"key":"a.b/c"},"atMost":0}}]`:                                                                      "",
		`[{"type":"Lowest","lowest":{"resource":"gpu"}}]`:                                                                                             "Unsupported value",
		`[{"type":"Lowest","lowest":{"query":"a","step":0}}]`:                                                                                         "step must be greater than 0",
		`[{"type":"Lowest","lowest":{"query":"a","step":"-5m"}}]`:                                                                                     "step must be greater than 0",
		`[{"type":"Lowest","lowest":{"query":"a","step":"1e999999999"}}]`:                                                                             "should match",
		`[{"type":"Lowest","lowest":{"query":"a","atMost":"1e9"}}]`:                                                                                   "should match",
		`[{"type":"Lowest","lowest":{"query":"a","atMost":"000000000000000000000000000000001"}}]`:                                                     "may not be",
		`[{"type":"Highest","highest":{"query":"a","atMost":1}}]`:                                                                                     "atMost is forbidden in highest",
		`[{"type":"Lowest","lowest":{"query":"a","maxAge":"soon"}}]`:                                                                                  "should match",
		`[{"type":"Lowest","lowest":{"query":"a b"}}]`:                                                                                                "should match",
		`[{"type":"Lowest","lowest":{"metric":{"name":"../../secrets"}}}]`:                                                                            "should match",
		`[{"type":"Lowest","lowest":{"metric":{"name":".."}}}]`:                                                                                       "the name of a metric is neither . nor ..",
		`[{"type":"Lowest","lowest":{"metric":{"name":"a","selector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}}}}]`:                          "Unsupported value",
		`[{"type":"Lowest","lowest":{"metric":{"name":"a:b.c-d_e","selector":{"matchLabels":{"a":"b"}}},"atMost":3,"step":"500m","maxAge":"1m30s"}}]`: "",
		`[{"type":"Nodes","nodes":{}},{"type":"Highest","highest":{"resource":"memory","container":"main","step":64}}]`:                               "",
	} {
		policy := &unstructured.Unstructured{}
		w.must(json.Unmarshal([]byte(`{"apiVersion":"podrank.dev/v1alpha1","kind":"ScaleDownPolicy","spec":{"selector":{"matchLabels":{"app":"none"}},"deleteFirst":`+entries+`}}`), &policy.Object))
		policy.SetNamespace(w.Namespace)
		policy.SetGenerateName("p-")
		err := w.Create(w.ctx, policy)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entries, err)
		}
	}
}

// While an older CRD drops what it does not know, as after a rollback, nothing is steered: what is left of the entry does not mean all pods. With
// the CRD of this release, values count again.
func TestValuesRollback(t *testing.T) {
	a := NewAdapter(t)
	w, set := NewWorldOf(t, 4, idleFirst("active_sessions"), webSet, 6)
	restore := func() {
		w.must(w.Plane.Kubectl("apply", "--server-side", "--force-conflicts", "-f", "../chart/files/podrank.dev_scaledownpolicies.yaml"))
	}
	t.Cleanup(restore)
	const first = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/deleteFirst"
	w.must(w.Plane.Kubectl("patch", "crd", "scaledownpolicies.podrank.dev", "--type=json", "-p", `[{"op":"remove","path":"`+first+`/x-kubernetes-validations"},
		{"op":"remove","path":"`+first+`/items/x-kubernetes-validations"},
		{"op":"remove","path":"`+first+`/items/properties/lowest"},{"op":"remove","path":"`+first+`/items/properties/highest"}]`))
	entry := func() *v1alpha1.Preference {
		var policy v1alpha1.ScaleDownPolicy
		w.must(w.Get(w.ctx, client.ObjectKey{Namespace: w.Namespace, Name: "spot"}, &policy))
		return &policy.Spec.DeleteFirst[0]
	}
	w.Await("dropped", 20*time.Second, func() bool { return entry().Lowest == nil })
	w.must(w.Scale(set, 5))
	w.AwaitDeleted(1)
	if calls := w.Proxy.Calls(w.Namespace); len(calls) == 0 || w.CostChanges() > 0 || len(w.Status("spot").Workloads) > 0 {
		t.Errorf("%d requests, %d costs, %+v", len(calls), w.CostChanges(), w.Status("spot"))
	}
	restore()
	w.Await("there again", 20*time.Second, func() bool { return entry().Lowest != nil })
	pods := w.sessions(a, 3, 3, 0, 3, 3)
	w.must(w.Scale(set, 4))
	if last := w.Last("spot", 1); last.Valued == nil || *last.Valued != 5 {
		t.Errorf("%+v", last)
	}
	if deleted := w.AwaitDeleted(2)[1]; deleted.UID != pods[2].UID {
		t.Errorf("%s went, not %s", deleted.Name, pods[2].Name)
	}
}

// autoscale has a HorizontalPodAutoscaler keep so many sessions for each pod, without waiting before it lowers the count, and do what more
// metrics want.
func (w *World) autoscale(set client.Object, most int32, sessions string, more ...autoscalingv2.MetricSpec) {
	w.Helper()
	two, none, target := int32(2), int32(0), resource.MustParse(sessions)
	w.must(w.Create(w.ctx, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: set.GetName()},
			MinReplicas:    &two, MaxReplicas: most,
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &none}},
			Metrics: append(more, autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "active_sessions"},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &target},
			}}),
		},
	}))
}

// A HorizontalPodAutoscaler on the same metric scales down once, to as many pods as have work, and not below, because
// the deleted pods had none.
func TestValuesAutoscaler(t *testing.T) {
	a := NewAdapter(t)
	w, set := NewWorldOf(t, 4, idleFirst("active_sessions"), webDeployment, 10)
	pods := w.sessions(a, 3, 0, 0, 3, 0, 3, 0, 0, 3, 0)
	sessions := map[string]float64{}
	for _, i := range []int{0, 3, 5, 8} {
		sessions[pods[i].Name] = 3
	}
	// Pods that have been deleted have no metric.
	go func() {
		for w.ctx.Err() == nil {
			now := map[string]float64{}
			for _, pod := range w.Pods() {
				now[pod.Name] = sessions[pod.Name]
			}
			a.Set(w.Namespace, now)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	w.autoscale(set, 10, "3")
	w.AwaitDeleted(6)
	// It looks again some times.
	time.Sleep(35 * time.Second)
	for _, pod := range w.Deleted() {
		if sessions[pod.Name] > 0 {
			t.Errorf("%s went with sessions", pod.Name)
		}
	}
	if left := w.Pods(); len(left) != 4 {
		t.Errorf("%d pods are left", len(left))
	}
	if last := w.Last("spot", 1); last.Valued == nil || *last.Valued != 10 {
		t.Errorf("%+v", last)
	}
}
