package fakeapi

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// Now is when tests take place.
var Now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// UID makes a UUID.
func UID(kind, number int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, number))
}

// Key names an object of the shop.
func Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// Shop is the set "web" of so many ready pods, every other one on the spot node node-1, and the policy "spot" for all sets.
func Shop(count int32) (*appsv1.ReplicaSet, *v1alpha1.ScaleDownPolicy, []*corev1.Pod) {
	labels := map[string]string{"app": "web"}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: UID(1, 0), Generation: 1}}
	set.Spec.Replicas, set.Spec.Selector = &count, &metav1.LabelSelector{MatchLabels: labels}
	set.Spec.Template.Labels = labels
	set.Status = appsv1.ReplicaSetStatus{Replicas: count, ObservedGeneration: 1}
	hourAgo := metav1.NewTime(Now.Add(-time.Hour))
	var pods []*corev1.Pod
	for i := range int(count) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("web-", i), UID: UID(3, i), Labels: labels, CreationTimestamp: hourAgo,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		}}
		pod.Spec.NodeName, pod.Status.Phase = fmt.Sprint("node-", i%2), corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo}}
		pods = append(pods, pod)
	}
	spot := &v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "spot", UID: UID(2, 0), CreationTimestamp: metav1.NewTime(Now),
	}}
	spot.Spec.DeleteFirst = []v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"lifecycle": "spot"}}}}
	spot.Spec.Selector = &v1alpha1.LabelSelector{}
	return set, spot, pods
}

// Must ends a test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Make adds objects to the server.
func (a *API) Make(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		Must(t, a.Create(context.Background(), object))
	}
}

// All returns the objects and the pods in one list.
func All(pods []*corev1.Pod, objects ...client.Object) []client.Object {
	for _, pod := range pods {
		objects = append(objects, pod)
	}
	return objects
}

// Reads are those of a reader.
type Reads struct {
	now, most atomic.Int64
	// Count is how many there were, and Pods how many of these listed pods.
	Count, Pods atomic.Int64
}

// Most is how many there were at a time since it was last asked.
func (r *Reads) Most() int64 { return r.most.Swap(0) }

func (r *Reads) during(read func() error) error {
	defer r.now.Add(-1)
	if now := r.now.Add(1); now > r.most.Load() {
		r.most.Store(now)
	}
	r.Count.Add(1)
	time.Sleep(time.Millisecond)
	return read()
}

// Counted reads from the server, and counts that.
func (a *API) Counted() (*bounded.Reader, *Reads) {
	reads := &Reads{}
	return bounded.NewReader(interceptor.NewClient(a, interceptor.Funcs{
		Get: func(ctx context.Context, live client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			return reads.during(func() error { return live.Get(ctx, key, object, options...) })
		},
		List: func(ctx context.Context, live client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*corev1.PodList); ok {
				reads.Pods.Add(1)
			}
			return reads.during(func() error { return live.List(ctx, list, options...) })
		},
	}), 3), reads
}

// Read returns an object of the shop as it is now.
func Read[T any, P interface {
	*T
	client.Object
}](t testing.TB, api client.Reader, name string) P {
	t.Helper()
	object := P(new(T))
	Must(t, api.Get(context.Background(), Key(name), object))
	return object
}

// Bounded reads from the server.
func (a *API) Bounded() *bounded.Reader { return bounded.NewReader(a, 3) }

// NewReporter reports to the server, and events to a recorder.
func (a *API) NewReporter() (*report.Reporter, *events.FakeRecorder) {
	recorder := events.NewFakeRecorder(1000)
	return &report.Reporter{Statuses: a.Statuses(), Events: recorder, Log: logr.Discard()}, recorder
}

// Statuses writes to the server.
func (a *API) Statuses() *policy.Statuses { return &policy.Statuses{Live: a.Bounded(), Client: a} }

// NewSteerer steers what is on the server, where no node is cordoned.
func (a *API) NewSteerer(barrier func(context.Context) error, now time.Time) *steer.Steerer {
	return &steer.Steerer{Cache: a, Live: a.Bounded(), Later: a.Bounded(), Costs: cost.NewWriter(a, a), Barrier: barrier, Now: func() time.Time { return now },
		Limits: steer.NewLimits(1000)}
}
