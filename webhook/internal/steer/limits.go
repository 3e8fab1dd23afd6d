package steer

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/time/rate"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

var (
	// toDecide are pods in memory for decisions, and toPredict those for predictions and comparisons.
	toDecide  = room{all: bounded.AllDecisionPods, share: bounded.DecisionPods}
	toPredict = room{all: bounded.AllPredictionPods, share: bounded.PredictionPods}
)

// room is how many pods there may be in all, and how many of one namespace.
type room struct{ all, share int }

// Limits keep a namespace from taking what the others need. Whoever may make sets and policies there decides how large they are and, by
// forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// One decision of a namespace is made at a time, one comparison, and the costs of one scale-down are written, so that one of each waits.
	turns, comparing, writing bounded.Locks[string]
	// emptying is for decisions about whole nodes, which compute with all pods of the cluster.
	emptying bounded.Locks[string]

	// rates has a rate.Limiter for each namespace.
	rates sync.Map
	// held are the pods in memory.
	held map[room]*bounded.Few[string]
	// observed are the scale-downs that are not over.
	observed bounded.Few[string]
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	return &Limits{perSecond: perSecond, held: map[room]*bounded.Few[string]{toDecide: {}, toPredict: {}}}
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have sets should.
func (l *Limits) allow(namespace string) bool {
	limiter, _ := l.rates.LoadOrStore(namespace, rate.NewLimiter(rate.Limit(l.perSecond), bounded.DecisionsBurst*l.perSecond))
	return limiter.(*rate.Limiter).Allow()
}

// turn waits until no other decision of the namespace is being made.
func (l *Limits) turn(ctx context.Context, namespace string) (end func(), err error) {
	end, err = l.turns.Lock(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("other scale-downs of the namespace take long: %w", err)
	}
	return end, nil
}

// empty waits until no other decision about whole nodes is being made.
func (l *Limits) empty(ctx context.Context, decide func() error) error {
	end, err := l.emptying.Lock(ctx, "")
	if err != nil {
		return fmt.Errorf("decisions about whole nodes take long: %w", err)
	}
	defer end()
	return decide()
}

// hold reports whether there is room for so many more pods of a namespace.
func (l *Limits) hold(in room, namespace string, pods int) bool {
	return l.held[in].Hold(namespace, pods, in.share, in.all)
}

// release ends what hold began.
func (l *Limits) release(in room, namespace string, pods int) { l.held[in].Release(namespace, pods) }
