package steer

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// locks has a lock for each set, so that two requests of one set do not write at the same time.
type locks struct {
	mu   sync.Mutex
	held map[types.UID]chan struct{}
}

// lock waits for the set's lock until the context ends.
func (l *locks) lock(ctx context.Context, set types.UID) (unlock func(), err error) {
	for {
		l.mu.Lock()
		held, ok := l.held[set]
		if !ok {
			if l.held == nil {
				l.held = map[types.UID]chan struct{}{}
			}
			free := make(chan struct{})
			l.held[set] = free
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.held, set)
				l.mu.Unlock()
				close(free)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, fmt.Errorf("another scale-down of the set takes long: %w", ctx.Err())
		}
	}
}
