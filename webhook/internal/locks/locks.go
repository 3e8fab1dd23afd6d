// Package locks has a lock for each key that somebody waits for, and none for others.
package locks

import (
	"context"
	"sync"
)

// A Map has the locks. Its zero value is ready.
type Map[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{}
}

// Lock waits for the lock of a key until the context ends, which is then the error.
func (m *Map[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	for {
		m.mu.Lock()
		held, ok := m.held[key]
		if !ok {
			if m.held == nil {
				m.held = map[K]chan struct{}{}
			}
			free := make(chan struct{})
			m.held[key] = free
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, key)
				m.mu.Unlock()
				close(free)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
