// Package neighbours knows which sets have pods on which nodes, of the whole cluster: of each pod it keeps its node and its controller,
// and nothing else. It begins once a policy needs that, and only reads.
package neighbours

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/decide"
)

const (
	// pause is how long it waits after an error.
	pause = time.Second
	// longestUID is how long a UID is.
	longestUID = 36
)

// Pods are those of a cluster.
type Pods struct {
	// Want makes it begin.
	Want func()

	// live reads from the API server, and watches follows what changes.
	live    *bounded.Reader
	watches client.WithWatch
	mu      sync.Mutex
	all     map[types.UID]decide.Neighbour
	// wanted ends when the first policy needs them, and known, by read, when all have been read.
	wanted, known context.Context
	read          func()
	// isReady is whether Check has passed.
	isReady atomic.Bool
}

// New makes Pods that nobody needs yet.
func New(live *bounded.Reader, watches client.WithWatch) *Pods {
	p := &Pods{live: live, watches: watches}
	p.wanted, p.Want = context.WithCancel(context.Background())
	p.known, p.read = context.WithCancel(context.Background())
	return p
}

// NeedLeaderElection says that every replica needs them.
func (p *Pods) NeedLeaderElection() bool { return false }

// Start watches until the context ends.
func (p *Pods) Start(ctx context.Context) error {
	select {
	case <-p.wanted.Done():
	case <-ctx.Done():
		return nil
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := p.follow(ctx); err != nil && ctx.Err() == nil {
			logf.FromContext(ctx).Error(err, "the pods of the cluster are read anew")
		}
	}, pause)
	return nil
}

// Check fails until the pods are known that the first policies need; areSeen is whether these have been seen. Once it has passed it always
// does: if a later policy is the first to need pods, that is no reason to answer no requests.
func (p *Pods) Check(areSeen func() bool) error {
	switch {
	case p.isReady.Load():
	case !areSeen():
		return errors.New("the policies are not known yet")
	case p.wanted.Err() != nil && p.known.Err() == nil:
		return errNotKnown
	}
	p.isReady.Store(true)
	return nil
}

var errNotKnown = errors.New("the pods of the cluster are not known yet")

// Wait waits until they are known, or the context ends.
func (p *Pods) Wait(ctx context.Context) error {
	p.Want()
	select {
	case <-p.known.Done():
		return nil
	case <-ctx.Done():
		return errNotKnown
	}
}

// Others returns the pods of all other sets than this one, as far as they are known.
func (p *Pods) Others(set types.UID) []decide.Neighbour {
	p.mu.Lock()
	defer p.mu.Unlock()
	others := make([]decide.Neighbour, 0, len(p.all))
	for _, pod := range p.all {
		if pod.Set != set {
			others = append(others, pod)
		}
	}
	return others
}

// follow reads all pods and then what changes, until the watch ends or something fails.
func (p *Pods) follow(ctx context.Context) error {
	all, list := map[types.UID]decide.Neighbour{}, &corev1.PodList{}
	err := bounded.Each(ctx, p.live, list, func(pod *corev1.Pod) error {
		put(all, pod)
		return nil
	}, client.Limit(bounded.Page))
	if err != nil {
		return err
	}
	version := list.ResourceVersion
	p.mu.Lock()
	p.all = all
	p.mu.Unlock()
	p.read()
	for ctx.Err() == nil {
		changes, err := p.watches.Watch(ctx, &corev1.PodList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, changes.Stop)
		for change := range changes.ResultChan() {
			pod, ok := change.Object.(*corev1.Pod)
			if !ok {
				changes.Stop()
				return apierrors.FromObject(change.Object)
			}
			version = pod.ResourceVersion
			if change.Type == watch.Bookmark {
				continue
			}
			p.mu.Lock()
			if delete(p.all, pod.UID); change.Type != watch.Deleted {
				put(p.all, pod)
			}
			p.mu.Unlock()
		}
		stop()
	}
	return nil
}

// put puts a pod in, if it keeps its node from being empty.
func put(all map[types.UID]decide.Neighbour, pod *corev1.Pod) {
	if neighbour, ok := decide.NeighbourOf(pod); ok {
		if len(neighbour.Set) > longestUID {
			// Such an owner does not exist.
			neighbour.Set = pod.UID
		}
		// Many have the same, whose memory they share.
		neighbour.Node, neighbour.Set = bounded.Once(neighbour.Node), types.UID(bounded.Once(string(neighbour.Set)))
		all[pod.UID] = neighbour
	}
}
