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
	// atATime is how many namespaces are read and decided about at a time.
	atATime = 4
	// room is how many bytes of pods may wait for predictions, and share those of one namespace.
	room, share = 32 << 20, 8 << 20
)

// Limits keep a namespace from taking what the others need. Whoever may make sets and policies there decides how large they are and, by
// forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// Those who wait for their turn: one of each namespace waits for one of a few, who are served in their order.
	each locks.Map[string]
	all  chan struct{}

	mu    sync.Mutex
	rates map[string]*rate.Limiter
	// held are the bytes that wait for predictions.
	held map[string]int
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	return &Limits{perSecond: perSecond, all: make(chan struct{}, atATime), rates: map[string]*rate.Limiter{}, held: map[string]int{}}
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

// turn waits until the namespace may read what it has made, and compute with it.
func (l *Limits) turn(ctx context.Context, namespace string) (end func(), err error) {
	unlock, err := l.each.Lock(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("other scale-downs of the namespace take long: %w", err)
	}
	select {
	case l.all <- struct{}{}:
		return func() {
			<-l.all
			unlock()
		}, nil
	case <-ctx.Done():
		unlock()
		return nil, fmt.Errorf("scale-downs of other namespaces take long: %w", ctx.Err())
	}
}

// hold reports whether so many more bytes of a namespace may wait for a prediction.
func (l *Limits) hold(namespace string, bytes int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := bytes
	for _, held := range l.held {
		all += held
	}
	if all > room || l.held[namespace]+bytes > share {
		return false
	}
	l.held[namespace] += bytes
	return true
}

// release ends what hold began.
func (l *Limits) release(namespace string, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[namespace] -= bytes; l.held[namespace] == 0 {
		delete(l.held, namespace)
	}
}
