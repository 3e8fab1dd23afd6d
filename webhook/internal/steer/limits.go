package steer

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

var (
	// toDecide are pods in memory for decisions, and toPredict those for predictions and comparisons.
	toDecide  = room{all: bounded.AllDecisionPods, share: bounded.DecisionPods}
	toPredict = room{all: bounded.AllPredictionPods, share: bounded.PredictionPods}
)

// room is how many pods there may be in all, and how many of one namespace.
type room struct{ all, share int }

// Limits keep a namespace from taking what the others need. Anyone who may make sets and policies there decides how large they are and, by
// forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// One decision of a namespace is made at a time, while one other request waits for that, and one comparison.
	turns, comparing bounded.Semaphores[string]
	// late opens for namespaces whose decisions run out of time, and slow for those whose waits for the controller do.
	late, slow breaker
	// emptying is for decisions about whole nodes, which compute with all pods of the cluster, and predicting for predictions.
	emptying   bounded.Semaphores[string]
	predicting sync.Mutex
	// recent has, by the UIDs of their sets, what this replica has just decided.
	recent *cache.LRUExpireCache

	// rates has a rate.Limiter for each namespace.
	rates sync.Map
	// held are the pods in memory.
	held map[room]*bounded.Semaphores[string]
	// observed are the scale-downs that are not over.
	observed bounded.Semaphores[string]
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	const namespace = "other scale-downs of the namespace"
	l := &Limits{perSecond: perSecond, recent: cache.NewLRUExpireCache(bounded.Repeats), held: map[room]*bounded.Semaphores[string]{toDecide: {}, toPredict: {}}}
	l.turns.Holders, l.comparing.Holders, l.emptying.Holders = namespace, namespace, "decisions about whole nodes"
	l.turns.Most = 2
	return l
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have sets should.
func (l *Limits) allow(namespace string) bool {
	limiter, _ := l.rates.LoadOrStore(namespace, rate.NewLimiter(rate.Limit(l.perSecond), bounded.DecisionsBurst*l.perSecond))
	return limiter.(*rate.Limiter).Allow()
}

// allowUnknown reports the same of a set that the cache does not know. Since it may not exist, it does not count with the others.
func (l *Limits) allowUnknown(namespace string) bool { return l.allow("/" + namespace) }

// empty decides about whole nodes while no one else does.
func (l *Limits) empty(ctx context.Context, decide func() error) error {
	end, err := l.emptying.Lock(ctx, "")
	if err != nil {
		return err
	}
	defer end()
	return decide()
}

// hold reports whether there is room for so many more pods of a namespace.
func (l *Limits) hold(in room, namespace string, pods int) bool {
	return l.held[in].Hold(namespace, pods, in.share, in.all)
}
