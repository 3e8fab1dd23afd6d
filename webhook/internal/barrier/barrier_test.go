package barrier_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podrank/podrank/webhook/internal/barrier"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

const namespace, name = "podrank-system", "podrank-barrier"

// standIn is a barrier, and a stand-in for the ReplicationController controller.
type standIn struct {
	*barrier.Barrier
	client *fake.Clientset
	// created is how many barrier pods there were.
	created atomic.Int64
	mu      sync.Mutex
	// react is what the controller does about a new barrier pod.
	react func(*standIn, *corev1.Pod)
}

func newStandIn(t *testing.T, react func(*standIn, *corev1.Pod), changes ...func(*standIn)) *standIn {
	t.Helper()
	labels, none := map[string]string{"podrank.dev/barrier": "webhook"}, int32(0)
	set := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "set"}}
	set.Spec.Replicas, set.Spec.Template = &none, &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	set.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "podrank.dev/barrier"}}
	f := &standIn{client: fake.NewClientset(set), react: react}
	f.serve(newest)
	f.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
		f.created.Add(1)
		if len(pod.Spec.SchedulingGates) == 0 || pod.Labels["podrank.dev/barrier"] == "" {
			t.Errorf("not of the template: %+v", pod)
		}
		go f.react(f, pod)
		return false, nil, nil
	})
	for _, change := range changes {
		change(f)
	}
	f.Barrier = barrier.New(f.client, types.NamespacedName{Namespace: namespace, Name: name}, func(time.Duration, error) {})
	return f
}

// newest is a release in which one barrier pod is proof.
const newest = "v1.37.1"

// serve makes the API server one of this release.
func (f *standIn) serve(release string) {
	f.client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: release}
}

// adopt does what the controller does.
func adopt(f *standIn, pod *corev1.Pod) {
	time.Sleep(20 * time.Millisecond)
	isController := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ReplicationController", Name: name, UID: "set", Controller: &isController}}
	pods := f.client.CoreV1().Pods(namespace)
	_, _ = pods.Update(context.Background(), pod, metav1.UpdateOptions{})
	_ = pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{})
}

// Many who wait share a few barrier pods, and nobody shares one that was made before it came.
func TestShared(t *testing.T) {
	f := newStandIn(t, adopt)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			before := f.created.Load()
			if err := f.Wait(context.Background()); err != nil {
				t.Error(err)
			}
			if before > 0 && f.created.Load() == before {
				t.Error("no barrier pod since")
			}
		})
	}
	group.Wait()
	if created := f.created.Load(); created > 10 {
		t.Errorf("%d barrier pods", created)
	}
}

// A barrier pod that is deleted without having been adopted proves nothing: another one is made.
func TestLost(t *testing.T) {
	drop := func(f *standIn, pod *corev1.Pod) {
		time.Sleep(20 * time.Millisecond)
		_ = f.client.CoreV1().Pods(namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{})
	}
	f := newStandIn(t, func(f *standIn, pod *corev1.Pod) {
		if f.created.Load() == 1 {
			drop(f, pod)
		} else {
			adopt(f, pod)
		}
	})
	if err := f.Wait(context.Background()); err != nil || f.created.Load() != 2 {
		t.Fatalf("%v after %d barrier pods", err, f.created.Load())
	}
	if err := newStandIn(t, drop).Wait(context.Background()); !errors.Is(err, barrier.ErrLost) {
		t.Fatal(err)
	}
}

// A watch that is refused or ends early proves nothing, and does not show that nothing was steered. One more barrier pod may prove it.
func TestUnwatched(t *testing.T) {
	closed := watch.NewFake()
	closed.Stop()
	for name, c := range map[string]struct {
		watch watch.Interface
		err   error
		times int64
		want  error
	}{
		"refused": {nil, errors.New("no watch"), 2, barrier.ErrLost}, "refused once": {nil, errors.New("no watch"), 1, nil},
		"closed": {closed, nil, 2, barrier.ErrLost}, "closed once": {closed, nil, 1, nil},
	} {
		var watches atomic.Int64
		f := newStandIn(t, adopt, func(f *standIn) {
			f.client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
				return watches.Add(1) <= c.times, c.watch, c.err
			})
		})
		if err := f.Wait(context.Background()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// As long as kube-controller-manager may apply a list object by object, a second barrier pod follows the first once that was adopted.
func TestReleases(t *testing.T) {
	for release, want := range map[string]int64{newest: 1, "v1.37.0-gke.1": 1, "v1.38.2": 1, "v1.36.3": 2, "v1.30.14-eks-1": 2, "": 2, "unknown": 2} {
		var adopted atomic.Int64
		f := newStandIn(t, func(f *standIn, pod *corev1.Pod) {
			if adopted.Load() != f.created.Load()-1 {
				t.Errorf("%q: another barrier pod before one was adopted", release)
			}
			adopted.Add(1)
			adopt(f, pod)
		}, func(f *standIn) { f.serve(release) })
		if err := f.Wait(context.Background()); err != nil || f.created.Load() != want {
			t.Errorf("%q: %v after %d barrier pods, not %d", release, err, f.created.Load(), want)
		}
	}
	f := newStandIn(t, adopt, func(f *standIn) {
		f.client.PrependReactor("get", "version", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
	})
	if err := f.Wait(context.Background()); err != nil || f.created.Load() != 2 {
		t.Errorf("unread: %v after %d barrier pods", err, f.created.Load())
	}
}

// Another leader of kube-controller-manager may not have observed what the barrier pods prove for the last one.
func TestLeader(t *testing.T) {
	lease := func(holder string, transitions int32) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager"},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseTransitions: &transitions}}
	}
	for what, after := range map[string]*coordinationv1.Lease{
		"the same": lease("a", 1), "another": lease("b", 2), "the same once more": lease("a", 3), "another of the same term": lease("b", 1),
	} {
		f := newStandIn(t, func(f *standIn, pod *corev1.Pod) {
			_, err := f.client.CoordinationV1().Leases("kube-system").Update(context.Background(), after, metav1.UpdateOptions{})
			fakeapi.Must(t, err)
			adopt(f, pod)
		})
		fakeapi.Must(t, f.client.Tracker().Add(lease("a", 1)))
		if err := f.Wait(context.Background()); errors.Is(err, barrier.ErrLeader) != (what != "the same") {
			t.Errorf("%s: %v", what, err)
		}
	}
	f := newStandIn(t, adopt)
	f.client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("forbidden")
	})
	if err := f.Wait(context.Background()); !errors.Is(err, barrier.ErrLeader) || f.created.Load() != 0 {
		t.Errorf("%v after %d barrier pods", err, f.created.Load())
	}
}

func TestDeadline(t *testing.T) {
	f := newStandIn(t, func(*standIn, *corev1.Pod) {})
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if err := f.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestNoSet(t *testing.T) {
	f := newStandIn(t, adopt)
	fakeapi.Must(t, f.client.CoreV1().ReplicationControllers(namespace).Delete(context.Background(), name, metav1.DeleteOptions{}))
	if err := f.Wait(context.Background()); err == nil || !strings.Contains(err.Error(), name) {
		t.Fatal(err)
	}
}
