package steer

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/time/rate"

	"github.com/podrank/podrank/webhook/internal/locks"
)

const (
	// burst is how many seconds' worth of decisions a namespace may have at once, after it had none for as long.
	burst = 5
	// room is how many pods may be in memory for decisions and predictions, and share those of one namespace. Each takes one to two kilobytes.
	room, share = 40_000, 10_000
)

// Limits keep a namespace from taking what the others need. Whoever may make sets and policies there decides how large they are and, by
// forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// One decision of a namespace is made at a time, so that one of each waits to read.
	turns locks.Map[string]

	mu    sync.Mutex
	rates map[string]*rate.Limiter
	// held are the pods in memory.
	held map[string]int
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	return &Limits{perSecond: perSecond, rates: map[string]*rate.Limiter{}, held: map[string]int{}}
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have policies should.
func (l *Limits) allow(namespace string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter, ok := l.rates[namespace]
	if !ok {
		limiter = rate.NewLimiter(rate.Limit(l.perSecond), burst*l.perSecond)
		l.rates[namespace] = limiter
	}
	return limiter.Allow()
}

// turn waits until no other decision of the namespace is being made.
func (l *Limits) turn(ctx context.Context, namespace string) (end func(), err error) {
	end, err = l.turns.Lock(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("other scale-downs of the namespace take long: %w", err)
	}
	return end, nil
}

// hold reports whether there is room for so many more pods of a namespace.
func (l *Limits) hold(namespace string, pods int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := pods
	for _, held := range l.held {
		all += held
	}
	if all > room || l.held[namespace]+pods > share {
		return false
	}
	l.held[namespace] += pods
	return true
}

// release ends what hold began.
func (l *Limits) release(namespace string, pods int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[namespace] -= pods; l.held[namespace] == 0 {
		delete(l.held, namespace)
	}
}
