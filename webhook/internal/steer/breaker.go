package steer

import (
	"maps"
	"sync"
	"time"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A breaker keeps namespaces whose decisions run out of time from delaying others: the client that scales waits for each of these decisions, and the Deployment
// controller has few workers for all namespaces. Its zero value is ready.
type breaker struct {
	mu   sync.Mutex
	late map[string]lateness
}

// lateness is how many decisions of a namespace ran out of time one after the other, and when the last of them ended, or one more began after a rest.
type lateness struct {
	count int
	last  time.Time
}

// isOpen reports whether nothing is decided in a namespace now. After a rest, it lets one request through.
func (b *breaker) isOpen(namespace string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.late[namespace]
	if known.count < bounded.DecisionFailures {
		return false
	}
	if now.Sub(known.last) < bounded.DecisionRest {
		return true
	}
	known.last = now
	b.late[namespace] = known
	return false
}

// note notes whether a decision ran out of time.
func (b *breaker) note(namespace string, isLate bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isLate {
		delete(b.late, namespace)
		return
	}
	if b.late == nil {
		b.late = map[string]lateness{}
	}
	maps.DeleteFunc(b.late, func(_ string, each lateness) bool { return now.Sub(each.last) > 10*bounded.DecisionRest })
	b.late[namespace] = lateness{b.late[namespace].count + 1, now}
}
