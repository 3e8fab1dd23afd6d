package steer

import "context"

func (s *Steerer) Predict(o *Outcome) error { return s.predict(o) }

func (s *Steerer) Compare(ctx context.Context, o *Outcome) Comparison { return s.compare(ctx, o) }

// Held is how many pods of each namespace there is room taken for.
func (l *Limits) Held() map[string]int {
	held := map[string]int{}
	for _, counts := range []map[string]int{l.toDecide.Held(), l.toPredict.Held()} {
		for namespace, count := range counts {
			held[namespace] += count
		}
	}
	return held
}

// HoldTurn takes a place of those that decide for a namespace or wait for their turn, if there is one left.
func (l *Limits) HoldTurn(namespace string) bool { return l.turns.Hold(namespace, 1) }
