package bounded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Shared has a value for each key that somebody uses. Its zero value is ready.
type Shared[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]*shared[V]
}

type shared[V any] struct {
	users int
	value V
}

// Use returns the value of a key, which is new if nobody else uses it. Whoever uses it leaves it at the end.
func (s *Shared[K, V]) Use(key K, make func() V) (value V, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[K]*shared[V]{}
	}
	of, ok := s.all[key]
	if !ok {
		of = &shared[V]{value: make()}
		s.all[key] = of
	}
	of.users++
	return of.value, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(s.all, key)
		}
	}
}

// Locks are one for each key that somebody holds or waits for, and none for others. Its zero value is ready. Who waits for one gets it in turn.
type Locks[K comparable] struct {
	// Others is who has them, for errors.
	Others string
	locks  Shared[K, *semaphore.Weighted]
}

// Lock waits for the lock of a key until the context ends, which is then the error.
func (m *Locks[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	held, leave := m.locks.Use(key, func() *semaphore.Weighted { return semaphore.NewWeighted(1) })
	if err := held.Acquire(ctx, 1); err != nil {
		leave()
		return nil, fmt.Errorf("%s take long: %w", cmp.Or(m.Others, "others"), err)
	}
	return func() {
		held.Release(1)
		leave()
	}, nil
}

// Few lets few in for each key. Its zero value is ready.
type Few[K comparable] struct {
	mu     sync.Mutex
	inside map[K]int
}

// Enter reports whether one more may come in, if so many may.
func (f *Few[K]) Enter(key K, most int) bool { return f.Hold(key, 1, most, math.MaxInt) }

// Leave ends what Enter began.
func (f *Few[K]) Leave(key K) { f.Release(key, 1) }

// Hold reports whether so many more may come in, if so many of a key may, and so many in all.
func (f *Few[K]) Hold(key K, more, most, inAll int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := more
	for _, each := range f.inside {
		all += each
	}
	if all > inAll || f.inside[key]+more > most {
		return false
	}
	if f.inside == nil {
		f.inside = map[K]int{}
	}
	f.inside[key] += more
	return true
}

// Release ends what Hold began.
func (f *Few[K]) Release(key K, count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inside[key] > count {
		f.inside[key] -= count
	} else {
		delete(f.inside, key)
	}
}

// Inside is how many are, by key.
func (f *Few[K]) Inside() map[K]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.inside)
}
