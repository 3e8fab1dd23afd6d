package bounded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Semaphores has a semaphore for each key that is in use, and a lock, for which callers wait in turn. Its zero value is ready.
type Semaphores[K comparable] struct {
	// Holders are named in errors, if they are not "others".
	Holders string
	// Most may have a lock or wait for it, if it is not 0.
	Most int
	mu   sync.Mutex
	all  map[K]*keyed
}

type keyed struct {
	held int
	turn *semaphore.Weighted
}

// Hold acquires more of the semaphore of a key if then at most `most` of it is held, and at most inAll of all semaphores. Otherwise it is false.
func (s *Semaphores[K]) Hold(key K, more, most, inAll int) bool {
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
	if all > inAll || of.held+more > most {
		return false
	}
	if s.all == nil {
		s.all = map[K]*keyed{}
	}
	of.held += more
	s.all[key] = of
	return true
}

// Release releases what Hold has acquired.
func (s *Semaphores[K]) Release(key K, count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.all[key]; of == nil || of.held <= count {
		delete(s.all, key)
	} else {
		of.held -= count
	}
}

// Enter acquires one, if then at most `most` are held.
func (s *Semaphores[K]) Enter(key K, most int) bool { return s.Hold(key, 1, most, math.MaxInt) }

// Leave releases what Enter has acquired.
func (s *Semaphores[K]) Leave(key K) { s.Release(key, 1) }

// ErrBusy is the error of Lock if too many wait.
var ErrBusy = errors.New("already wait for their turn")

// Lock waits until earlier holders of the lock of a key have released it, or the context ends, which is then the error.
func (s *Semaphores[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	holders := cmp.Or(s.Holders, "others")
	if !s.Enter(key, cmp.Or(s.Most, math.MaxInt)) {
		return nil, fmt.Errorf("%s %w", holders, ErrBusy)
	}
	s.mu.Lock()
	turn := s.all[key].turn
	s.mu.Unlock()
	if err := turn.Acquire(ctx, 1); err != nil {
		s.Leave(key)
		return nil, fmt.Errorf("%s take long: %w", holders, err)
	}
	return func() {
		turn.Release(1)
		s.Leave(key)
	}, nil
}

// Held is how much is held, by key.
func (s *Semaphores[K]) Held() map[K]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := map[K]int{}
	for key, of := range s.all {
		held[key] = of.held
	}
	return held
}
