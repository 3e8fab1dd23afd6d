package steer

import (
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// Limits keep a namespace from using what other namespaces need. Anyone who may make sets and policies there decides
// how large they are and, by forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// One decision of a namespace is made at a time, while one other request waits for that.
	turns bounded.Semaphores
	// late opens for namespaces whose decisions run out of time, and slow for those whose waits for the controller do: the client that scales waits for each of
	// these decisions, and the Deployment controller has few workers for all namespaces.
	late, slow bounded.Breaker[string]
	// wholeNodes is for decisions about whole nodes, which compute with all pods of the cluster. It reads nothing.
	wholeNodes *bounded.Reader
	// predicting is for predictions, and comparing for one comparison of a namespace, since several would have more pods in memory than one needs.
	predicting sync.Mutex
	comparing  bounded.Semaphores
	// recent has, by the UIDs of their sets, what this replica has just decided.
	recent *cache.LRUExpireCache

	// rates has a rate.Limiter for each namespace.
	rates sync.Map
	// toDecide are pods in memory for decisions, and toPredict those for predictions and comparisons.
	toDecide, toPredict bounded.Semaphores
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	l := &Limits{perSecond: perSecond, wholeNodes: bounded.NewReader(nil, 1), recent: cache.NewLRUExpireCache(bounded.Repeats)}
	l.turns.Most = 2
	l.toDecide.Most, l.toDecide.InAll = bounded.DecisionPods, bounded.AllDecisionPods
	l.toPredict.Most, l.toPredict.InAll = bounded.PredictionPods, bounded.AllPredictionPods
	for _, breaker := range []*bounded.Breaker[string]{&l.late, &l.slow} {
		breaker.Failures, breaker.Rest = bounded.DecisionFailures, bounded.DecisionRest
	}
	return l
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have policies should.
func (l *Limits) allow(namespace string) bool {
	limiter, _ := l.rates.LoadOrStore(namespace, rate.NewLimiter(rate.Limit(l.perSecond), bounded.DecisionsBurst*l.perSecond))
	return limiter.(*rate.Limiter).Allow()
}
