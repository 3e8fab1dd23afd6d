package steer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// One decision of a namespace is made at a time, whatever other namespaces do.
func TestTurns(t *testing.T) {
	l := NewLimits(1)
	begin := func(namespace string) (func(), error) {
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer stop()
		return l.turns.Lock(ctx, namespace)
	}
	end, err := begin("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin("a"); err == nil || !strings.Contains(err.Error(), "other scale-downs of the namespace") {
		t.Errorf("%v", err)
	}
	if _, err := begin("b"); err != nil {
		t.Error(err)
	}
	end()
	if _, err := begin("a"); err != nil {
		t.Error(err)
	}
}

// A namespace has its share of the room for pods, and all have no more than there is. Requests that wait for
// predictions do not use the share of decisions.
func TestHold(t *testing.T) {
	l := NewLimits(1)
	for _, in := range []*bounded.Semaphores{&l.toDecide, &l.toPredict} {
		for _, c := range []struct {
			namespace string
			pods      int
			want      bool
		}{
			{"a", in.Most + 1, false}, {"a", in.Most, true}, {"a", 1, false}, {"b", in.Most, true}, {"c", in.Most, true}, {"d", in.Most - 1, true},
			{"e", 2, false}, {"e", 1, true}, {"d", 1, false},
		} {
			if got := in.Hold(c.namespace, c.pods); got != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		}
		in.Release("a", in.Most)
		if !in.Hold("e", in.Most-1) || !in.Hold("a", 1) || in.Hold("a", 1) {
			t.Error("not as many in all as there may be")
		}
	}
}
