package canary_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podrank/podrank/webhook/internal/canary"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

const namespace, name = "podrank-system", "podrank-canary"

// flock is a barrier, and a stand-in for the ReplicaSet controller.
type flock struct {
	*canary.Barrier
	client *fake.Clientset
	// created is how many canaries there were.
	created atomic.Int64
	mu      sync.Mutex
	// react is what the controller does about a new canary.
	react func(*flock, *corev1.Pod)
}

func newFlock(t *testing.T, react func(*flock, *corev1.Pod)) *flock {
	t.Helper()
	labels, none := map[string]string{"podrank.dev/canary": "webhook"}, int32(0)
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "set"}}
	set.Spec.Replicas, set.Spec.Template.Labels = &none, labels
	set.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "podrank.dev/canary"}}
	f := &flock{client: fake.NewClientset(set), react: react}
	f.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
		f.created.Add(1)
		if len(pod.Spec.SchedulingGates) == 0 || pod.Labels["podrank.dev/canary"] == "" {
			t.Errorf("not of the template: %+v", pod)
		}
		go f.react(f, pod)
		return false, nil, nil
	})
	f.Barrier = canary.New(f.client, types.NamespacedName{Namespace: namespace, Name: name}, func(time.Duration, error) {})
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	f.Start(ctx)
	for !f.Synced() {
		time.Sleep(time.Millisecond)
	}
	return f
}

// adopt does what the controller does.
func adopt(f *flock, pod *corev1.Pod) {
	time.Sleep(20 * time.Millisecond)
	isController := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: "set", Controller: &isController}}
	pods := f.client.CoreV1().Pods(namespace)
	_, _ = pods.Update(context.Background(), pod, metav1.UpdateOptions{})
	_ = pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{})
}

// Many who wait share a few canaries, and nobody shares one that flew before it came.
func TestShared(t *testing.T) {
	f := newFlock(t, adopt)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			before := f.created.Load()
			if err := f.Wait(context.Background()); err != nil {
				t.Error(err)
			}
			if before > 0 && f.created.Load() == before {
				t.Error("no canary since")
			}
		})
	}
	group.Wait()
	if created := f.created.Load(); created > 10 {
		t.Errorf("%d canaries", created)
	}
}

// A canary that goes without having been adopted proves nothing: another one flies.
func TestLost(t *testing.T) {
	drop := func(f *flock, pod *corev1.Pod) {
		time.Sleep(20 * time.Millisecond)
		_ = f.client.CoreV1().Pods(namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{})
	}
	f := newFlock(t, func(f *flock, pod *corev1.Pod) {
		if f.created.Load() == 1 {
			drop(f, pod)
		} else {
			adopt(f, pod)
		}
	})
	if err := f.Wait(context.Background()); err != nil || f.created.Load() != 2 {
		t.Fatalf("%v after %d canaries", err, f.created.Load())
	}
	if err := newFlock(t, drop).Wait(context.Background()); !errors.Is(err, canary.ErrLost) {
		t.Fatal(err)
	}
}

func TestDeadline(t *testing.T) {
	f := newFlock(t, func(*flock, *corev1.Pod) {})
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if err := f.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestNoSet(t *testing.T) {
	f := newFlock(t, adopt)
	fakeapi.Must(t, f.client.AppsV1().ReplicaSets(namespace).Delete(context.Background(), name, metav1.DeleteOptions{}))
	if err := f.Wait(context.Background()); err == nil || !strings.Contains(err.Error(), name) {
		t.Fatal(err)
	}
}

// A set that could not serve is an error that says why.
func TestUnfit(t *testing.T) {
	for why, change := range map[string]func(*appsv1.ReplicaSet){
		"0 replicas":         func(set *appsv1.ReplicaSet) { *set.Spec.Replicas = 1 },
		"scheduling gate":    func(set *appsv1.ReplicaSet) { set.Spec.Template.Spec.SchedulingGates = nil },
		"podrank.dev/canary": func(set *appsv1.ReplicaSet) { set.Spec.Template.Labels = nil },
	} {
		f := newFlock(t, adopt)
		sets := f.client.AppsV1().ReplicaSets(namespace)
		set, err := sets.Get(context.Background(), name, metav1.GetOptions{})
		fakeapi.Must(t, err)
		change(set)
		if _, err := sets.Update(context.Background(), set, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Wait(context.Background()); err == nil || !strings.Contains(err.Error(), why) || f.created.Load() != 0 {
			t.Errorf("%s: %v", why, err)
		}
	}
}
