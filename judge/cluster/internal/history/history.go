// Package history follows the pods and sets of a whole control plane over one watch per kind. It keeps their current state,
// and records deleted pods.
package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Set is a ReplicaSet or a ReplicationController.
type Set struct {
	Name             string
	Replicas, Ready  int32 // Replicas of the spec, Ready of the status
	Current          int32 // replicas of the status
	Generation, Seen int64
}

// Gone says that a pod began to terminate, or was deleted immediately.
type Gone struct {
	Pod *corev1.Pod // as it was before
	At  time.Time   // when the news came
}

// Namespace is what is known of one namespace.
type Namespace struct {
	Pods        map[types.UID]*corev1.Pod
	Sets        map[types.UID]*Set
	Deployments map[types.UID]*appsv1.Deployment
	Gone        []Gone // in order
	Changed     time.Time
	news        chan struct{}
}

// History is what is known of all namespaces.
type History struct {
	// Patience is how long Await and AwaitQuiet wait at most.
	Patience time.Duration

	mutex      sync.Mutex
	namespaces map[string]*Namespace
}

// Follow starts to watch all namespaces but the excluded ones, and returns once all that exists is known.
func Follow(ctx context.Context, client kubernetes.Interface, excluded ...string) *History {
	h := &History{Patience: 30 * time.Second, namespaces: map[string]*Namespace{}}
	var selector []string
	for _, namespace := range excluded {
		selector = append(selector, "metadata.namespace!="+namespace)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) {
			options.FieldSelector = strings.Join(selector, ",")
		}))
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().Pods().Informer(), factory.Core().V1().ReplicationControllers().Informer(),
		factory.Apps().V1().ReplicaSets().Informer(), factory.Apps().V1().Deployments().Informer(),
	} {
		must.Get(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: h.put, UpdateFunc: func(_, object any) { h.put(object) }, DeleteFunc: h.remove,
		}))
	}
	factory.Start(ctx.Done())
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			must.Do(fmt.Errorf("cannot watch %v", kind))
		}
	}
	return h
}

// Look calls f with the namespace as it is now. f must not keep it.
func (h *History) Look(namespace string, f func(*Namespace)) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	f(h.of(namespace))
}

// Await waits until f is true of the namespace.
func (h *History) Await(ctx context.Context, namespace, what string, f func(*Namespace) bool) {
	h.AwaitQuiet(ctx, namespace, what, 0, f)
}

// AwaitSettled waits until there are sets, and the controllers have made what the workloads want.
func (h *History) AwaitSettled(ctx context.Context, namespace string) {
	h.Await(ctx, namespace, "settled", func(n *Namespace) bool { return len(n.Sets) > 0 && n.IsSettled() })
}

// AwaitQuiet waits until f is true of the namespace and nothing has happened in it for a while.
func (h *History) AwaitQuiet(ctx context.Context, namespace, what string, quiet time.Duration, f func(*Namespace) bool) {
	deadline := time.After(h.Patience)
	for {
		h.mutex.Lock()
		n := h.of(namespace)
		holds, news, rest := f(n), n.news, quiet-time.Since(n.Changed)
		h.mutex.Unlock()
		var later <-chan time.Time
		if holds {
			if quiet == 0 || rest <= 0 {
				return
			}
			later = time.After(rest)
		}
		select {
		case <-news:
		case <-later:
		case <-deadline:
			must.Do(fmt.Errorf("%s: not %s after %s", namespace, what, h.Patience))
		case <-ctx.Done():
			must.Do(ctx.Err())
		}
	}
}

// Active returns the active pods of all sets of a namespace, by name.
func (h *History) Active(namespace string) (active []*corev1.Pod) {
	h.Look(namespace, func(n *Namespace) {
		for uid := range n.Sets {
			active = append(active, n.Active(uid)...)
		}
	})
	slices.SortFunc(active, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return active
}

// Forget drops a namespace.
func (h *History) Forget(namespace string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.namespaces, namespace)
}

// ClearEvents forgets what happened, not what is there.
func (h *History) ClearEvents(namespace string) {
	h.Look(namespace, func(n *Namespace) { n.Gone = nil })
}

// IsActive says whether a ReplicaSet counts the pod.
func IsActive(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil
}

// IsReady says whether its first condition Ready is true.
func IsReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Active returns the active pods that a set owns.
func (n *Namespace) Active(set types.UID) []*corev1.Pod {
	var active []*corev1.Pod
	for _, pod := range n.Pods {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.UID == set && IsActive(pod) {
			active = append(active, pod)
		}
	}
	return active
}

// IsSettled says whether every set has as many active pods as it wants, and says so in its status.
func (n *Namespace) IsSettled() bool {
	for uid, set := range n.Sets {
		active, ready := n.Active(uid), int32(0)
		for _, pod := range active {
			if IsReady(pod) {
				ready++
			}
		}
		count := int32(len(active))
		if count != set.Replicas || set.Seen < set.Generation || set.Current != count || set.Ready != ready {
			return false
		}
	}
	return n.HasObserved(0)
}

// HasObserved says whether the controller has seen the latest generation of each Deployment, which is this one or a later one.
func (n *Namespace) HasObserved(generation int64) bool {
	for _, deployment := range n.Deployments {
		if deployment.Status.ObservedGeneration < max(generation, deployment.Generation) {
			return false
		}
	}
	return true
}

func (h *History) of(namespace string) *Namespace {
	n := h.namespaces[namespace]
	if n == nil {
		n = &Namespace{map[types.UID]*corev1.Pod{}, map[types.UID]*Set{}, map[types.UID]*appsv1.Deployment{},
			nil, time.Now(), make(chan struct{})}
		h.namespaces[namespace] = n
	}
	return n
}

func (n *Namespace) tell() {
	n.Changed = time.Now()
	close(n.news)
	n.news = make(chan struct{})
}

func (h *History) put(object any) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	n := h.of(object.(metav1.Object).GetNamespace())
	defer n.tell()
	switch object := object.(type) {
	case *corev1.Pod:
		if old := n.Pods[object.UID]; old != nil && old.DeletionTimestamp == nil && object.DeletionTimestamp != nil {
			n.gone(old)
		}
		n.Pods[object.UID] = object
	case *appsv1.ReplicaSet:
		n.Sets[object.UID] = &Set{object.Name, *object.Spec.Replicas, object.Status.ReadyReplicas,
			object.Status.Replicas, object.Generation, object.Status.ObservedGeneration}
	case *corev1.ReplicationController:
		n.Sets[object.UID] = &Set{object.Name, *object.Spec.Replicas, object.Status.ReadyReplicas,
			object.Status.Replicas, object.Generation, object.Status.ObservedGeneration}
	case *appsv1.Deployment:
		n.Deployments[object.UID] = object
	}
}

func (n *Namespace) gone(pod *corev1.Pod) { n.Gone = append(n.Gone, Gone{pod, time.Now()}) }

func (h *History) remove(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	n := h.of(object.(metav1.Object).GetNamespace())
	defer n.tell()
	uid := object.(metav1.Object).GetUID()
	if old := n.Pods[uid]; old != nil && old.DeletionTimestamp == nil {
		n.gone(old)
	}
	delete(n.Pods, uid)
	delete(n.Sets, uid)
	delete(n.Deployments, uid)
}
