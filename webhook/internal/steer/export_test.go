package steer

import (
	"context"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

func (s *Steerer) Predict(o *Outcome) error { return s.predict(o) }

func (s *Steerer) Compare(ctx context.Context, o *Outcome) Comparison { return s.compare(ctx, o) }

// Held is how many pods of a namespace there is room taken for, if others have none: it takes the rest, and gives that
// back.
func (l *Limits) Held(namespace string) (held int) {
	for _, in := range []*bounded.Semaphores{&l.toDecide, &l.toPredict} {
		free := 0
		for in.Hold(namespace, 1) {
			free++
		}
		in.Release(namespace, free)
		held += in.Most - free
	}
	return held
}

// HoldTurn takes a place of those that decide for a namespace or wait for their turn, if there is one left.
func (l *Limits) HoldTurn(namespace string) bool { return l.turns.Hold(namespace, 1) }
