package barrier_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// pods is an API server with pods, and the watch of kube-controller-manager.
type pods struct {
	mu      sync.Mutex
	list    []corev1.Pod
	watches []*watch.RaceFreeFakeWatcher
}

// add adds a pod to those that a list begins with, and to the last watch unless that is the first one, which has stalled.
func (p *pods) add(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append([]corev1.Pod{*pod}, p.list...)
	if len(p.watches) > 1 {
		p.watches[len(p.watches)-1].Add(pod)
	}
}

// relist has the first watch end because its version is too old.
func (p *pods) relist() {
	p.mu.Lock()
	defer p.mu.Unlock()
	expired := apierrors.NewResourceExpired("too old").Status()
	p.watches[0].Error(&expired)
}

func (p *pods) watching() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.watches)
}

func (p *pods) listerWatcher() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: append([]corev1.Pod(nil), p.list...)}, nil
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.watches = append(p.watches, watch.NewRaceFreeFake())
			return p.watches[len(p.watches)-1], nil
		},
	}, unlisted{})
}

// unlisted says that these watches cannot stream lists.
type unlisted struct{}

func (unlisted) IsWatchListSemanticsUnSupported() bool { return true }

// A controller of a release before 1.36 has to relist while a barrier pod waits. It then applies all pods one after the
// other, the barrier pod first and the pod with the cost last. One barrier pod does not prove that it has observed the
// cost, and two do.
func TestRelist(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, false)
	featurestesting.SetFeatureDuringTest(t, features.InOrderInformersBatchProcess, false)
	for release, want := range map[string]bool{newest: false, "v1.34.4": true} {
		server := &pods{}
		for i := range 300 {
			server.list = append(server.list, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "q", Name: fmt.Sprint("pod-", i)}})
		}
		target := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		server.list = append(server.list, target)
		var f *standIn
		began := make(chan struct{})
		slow := cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			if pod := object.(*corev1.Pod); pod.Namespace == namespace {
				go adopt(f, pod.DeepCopy())
			}
		}, UpdateFunc: func(_, object any) { time.Sleep(time.Millisecond) }}
		observed, controller := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: server.listerWatcher(), ObjectType: &corev1.Pod{}, Handler: slow})
		f = newStandIn(t, func(f *standIn, pod *corev1.Pod) {
			pod.Namespace = namespace
			if server.add(pod); f.created.Load() == 1 {
				close(began)
			}
		}, func(f *standIn) { f.serve(release) })
		ctx, stop := context.WithCancel(context.Background())
		go controller.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), controller.HasSynced, func() bool { return server.watching() == 1 }) {
			t.Fatal("the controller does not watch")
		}
		server.mu.Lock()
		server.list[len(server.list)-1].Annotations = map[string]string{corev1.PodDeletionCost: "-1"}
		server.mu.Unlock()
		go func() { <-began; server.relist() }()
		fakeapi.Must(t, f.Wait(ctx))
		pod, _, err := observed.GetByKey("shop/web")
		fakeapi.Must(t, err)
		if got := pod.(*corev1.Pod).Annotations[corev1.PodDeletionCost] == "-1"; got != want {
			t.Errorf("%s: the controller has observed the cost: %t", release, got)
		}
		stop()
	}
}
