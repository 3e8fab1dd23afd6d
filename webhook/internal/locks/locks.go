// Package locks has a lock for each key that somebody waits for, and none for others, and counts of who is inside.
package locks

import (
	"context"
	"maps"
	"math"
	"sync"
)

// A Map has the locks. Its zero value is ready. Who waits for one gets it in turn.
type Map[K comparable] struct {
	mu    sync.Mutex
	locks map[K]*lock
}

type lock struct {
	// users are those who have it or wait for it.
	users int
	held  chan struct{}
}

// Lock waits for the lock of a key until the context ends, which is then the error.
func (m *Map[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	m.mu.Lock()
	if m.locks == nil {
		m.locks = map[K]*lock{}
	}
	of, ok := m.locks[key]
	if !ok {
		of = &lock{held: make(chan struct{}, 1)}
		m.locks[key] = of
	}
	of.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(m.locks, key)
		}
	}
	select {
	case of.held <- struct{}{}:
		return func() {
			<-of.held
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// Slots let as many in at a time as they have room for, in the order in which they come.
type Slots chan struct{}

// Do does something once there is a slot, or returns the error of the context.
func (s Slots) Do(ctx context.Context, do func() error) error {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s }()
	return do()
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
	if f.inside[key] -= count; f.inside[key] == 0 {
		delete(f.inside, key)
	}
}

// Inside is how many are, by key.
func (f *Few[K]) Inside() map[K]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.inside)
}
