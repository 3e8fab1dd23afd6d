package bounded

import (
	"maps"
	"sync"
	"time"
)

// A Breaker keeps what has failed several times one after the other from being tried for a while, and then lets one attempt through.
type Breaker[K comparable] struct {
	Failures int
	Rest     time.Duration
	mu       sync.Mutex
	failed   map[K]failures
}

// failures is how many attempts failed one after the other, and when the last of them ended, or one more began after a rest.
type failures struct {
	count int
	last  time.Time
}

// IsOpen reports whether nothing should be tried now.
func (b *Breaker[K]) IsOpen(key K, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.failed[key]
	if known.count < b.Failures {
		return false
	}
	if now.Sub(known.last) < b.Rest {
		return true
	}
	b.failed[key] = failures{known.count, now}
	return false
}

// Note notes whether an attempt failed.
func (b *Breaker[K]) Note(key K, isFailure bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := b.failed[key].count + 1
	maps.DeleteFunc(b.failed, func(each K, failed failures) bool { return each == key || now.Sub(failed.last) > 10*b.Rest })
	if b.failed == nil {
		b.failed = map[K]failures{}
	}
	if isFailure {
		b.failed[key] = failures{count, now}
	}
}
