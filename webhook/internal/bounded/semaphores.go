package bounded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Semaphores has a semaphore for each key that is in use, and a lock, for which callers wait in turn.
type Semaphores struct {
	// Most is how much of one semaphore can be held, and InAll how much of all, if it is not 0.
	Most, InAll int
	mu          sync.Mutex
	all         map[string]*keyed
}

type keyed struct {
	held int
	turn *semaphore.Weighted
}

// Hold acquires more of the semaphore of a key, if it can. Otherwise it is false.
func (s *Semaphores) Hold(key string, more int) bool { return s.hold(key, more) != nil }

func (s *Semaphores) hold(key string, more int) *keyed {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := more
	for _, other := range s.all {
		all += other.held
	}
	of := s.all[key]
	if of == nil {
		of = &keyed{turn: semaphore.NewWeighted(1)}
	}
	if all > cmp.Or(s.InAll, math.MaxInt) || of.held+more > cmp.Or(s.Most, math.MaxInt) {
		return nil
	}
	if s.all == nil {
		s.all = map[string]*keyed{}
	}
	of.held += more
	s.all[key] = of
	return of
}

// Release releases what Hold has acquired.
func (s *Semaphores) Release(key string, count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.all[key]; of == nil || of.held <= count {
		delete(s.all, key)
	} else {
		of.held -= count
	}
}

// ErrBusy is the error of Lock if too many wait.
var ErrBusy = errors.New("other scale-downs of the namespace already wait for their turn")

// Lock waits until earlier holders of the lock of a key have released it, or the context ends, which is then the error.
func (s *Semaphores) Lock(ctx context.Context, key string) (unlock func(), err error) {
	of := s.hold(key, 1)
	if of == nil {
		return nil, ErrBusy
	}
	if err := of.turn.Acquire(ctx, 1); err != nil {
		s.Release(key, 1)
		return nil, fmt.Errorf("other scale-downs of the namespace take long: %w", err)
	}
	return func() {
		of.turn.Release(1)
		s.Release(key, 1)
	}, nil
}

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
