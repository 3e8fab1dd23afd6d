// Package nodepods knows which sets have pods on which nodes, of the whole cluster: of each pod it keeps its node and its controller,
// and nothing else. It begins once a policy needs that, and only reads.
package nodepods

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/decide"
)

// longestUID is how long a UID is.
const longestUID = 36

// Pods are those of a cluster.
type Pods struct {
	// Need makes it begin.
	Need func()

	// live reads from the API server, and watches follows what changes.
	live    *bounded.Reader
	watches client.WithWatch
	// listed are those of a list that is being read.
	listed map[types.UID]decide.NodePod
	mu     sync.Mutex
	all    map[types.UID]decide.NodePod
	// needed ends when the first policy needs them, and known, by read, when all have been read.
	needed, known context.Context
	read          func()
	// isReady is whether Check has passed.
	isReady atomic.Bool
}

// New makes Pods that nobody needs yet.
func New(live *bounded.Reader, watches client.WithWatch) *Pods {
	p := &Pods{live: live, watches: watches}
	p.needed, p.Need = context.WithCancel(context.Background())
	p.known, p.read = context.WithCancel(context.Background())
	return p
}

// NeedLeaderElection says that every replica needs them.
func (p *Pods) NeedLeaderElection() bool { return false }

// Start watches until the context ends.
func (p *Pods) Start(ctx context.Context) error {
	select {
	case <-p.needed.Done():
	case <-ctx.Done():
		return nil
	}
	follow := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return p.watches.Watch(ctx, &corev1.PodList{}, &client.ListOptions{Raw: &options})
	}
	// A list by a watch would have something of each pod in memory once more.
	from := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: p.list, WatchFuncWithContext: follow}, inPages{})
	cache.NewReflector(from, &corev1.Pod{}, store{p}, 0).RunWithContext(ctx)
	return nil
}

// inPages is a client that lists only by requests.
type inPages struct{}

// IsWatchListSemanticsUnSupported says so.
func (inPages) IsWatchListSemanticsUnSupported() bool { return true }

// Check fails until the pods that the first policies need are known. areSeen reports whether the policies have been
// read. Once Check has passed, it always passes: if a later policy is the first to need pods, requests are still
// answered.
func (p *Pods) Check(areSeen func() bool) error {
	switch {
	case p.isReady.Load():
	case !areSeen():
		return errors.New("the policies are not known yet")
	case p.needed.Err() != nil && p.known.Err() == nil:
		return errNotKnown
	}
	p.isReady.Store(true)
	return nil
}

var errNotKnown = errors.New("the pods of the cluster are not known yet")

// Wait waits until they are known, or the context ends.
func (p *Pods) Wait(ctx context.Context) error {
	p.Need()
	select {
	case <-p.known.Done():
		return nil
	case <-ctx.Done():
		return errNotKnown
	}
}

// Excluding returns the pods of all other sets than this one, as far as they are known.
func (p *Pods) Excluding(set types.UID) []decide.NodePod {
	p.mu.Lock()
	defer p.mu.Unlock()
	pods := slices.AppendSeq(make([]decide.NodePod, 0, len(p.all)), maps.Values(p.all))
	return slices.DeleteFunc(pods, func(pod decide.NodePod) bool { return pod.Set == set })
}

// list reads all pods, and keeps what counts of them until the store is replaced. The list that it returns has only a version: with the pods of a
// large cluster, it would take gigabytes.
func (p *Pods) list(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	p.listed = map[types.UID]decide.NodePod{}
	list := &corev1.PodList{}
	return list, bounded.Each(ctx, p.live, list, func(pod *corev1.Pod) error {
		put(p.listed, pod)
		return nil
	}, client.Limit(bounded.Page))
}

// store is what a reflector keeps up to date.
type store struct{ *Pods }

// Add adds a pod.
func (s store) Add(pod any) error { return s.Update(pod) }

// Update replaces a pod.
func (s store) Update(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := object.(*corev1.Pod)
	delete(s.all, pod.UID)
	put(s.all, pod)
	return nil
}

// Delete deletes a pod.
func (s store) Delete(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, object.(*corev1.Pod).UID)
	return nil
}

// Replace replaces all pods by those that were listed.
func (s store) Replace([]any, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.listed = s.listed, nil
	s.read()
	return nil
}

// Resync has nothing to do.
func (store) Resync() error { return nil }

// put puts a pod in, if it keeps its node from being empty.
func put(all map[types.UID]decide.NodePod, pod *corev1.Pod) {
	for _, nodePod := range decide.NodePods(pod) {
		if len(nodePod.Set) > longestUID {
			// Such an owner does not exist.
			nodePod.Set = pod.UID
		}
		// Many have the same, whose memory they share.
		nodePod.Node, nodePod.Set = bounded.Once(nodePod.Node), bounded.Once(nodePod.Set)
		all[pod.UID] = nodePod
	}
}
