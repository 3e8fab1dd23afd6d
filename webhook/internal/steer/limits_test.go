package steer

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// begin takes a turn, or returns why there is none within some time.
func begin(l *Limits, namespace string) (end func(), err error) {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	return l.turn(ctx, namespace)
}

// One decision of a namespace runs at a time, and few in all.
func TestTurns(t *testing.T) {
	l := NewLimits(1)
	ends := map[string]func(){}
	for _, namespace := range []string{"a", "b", "c", "d"} {
		end, err := begin(l, namespace)
		if err != nil {
			t.Fatal(err)
		}
		ends[namespace] = end
	}
	if _, err := begin(l, "a"); err == nil || !strings.Contains(err.Error(), "other scale-downs of the namespace") {
		t.Errorf("%v", err)
	}
	if _, err := begin(l, "e"); err == nil || !strings.Contains(err.Error(), "other namespaces") {
		t.Errorf("%v", err)
	}
	ends["b"]()
	for _, namespace := range []string{"e", "f", "b"} {
		end, err := begin(l, namespace)
		if err != nil {
			t.Fatalf("%s: %v", namespace, err)
		}
		end()
	}
}

// However many requests some namespaces have, another one waits for few of them.
func TestFair(t *testing.T) {
	l := NewLimits(1)
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	var served atomic.Int64
	for _, hostile := range []string{"a", "b", "c", "d", "e", "f"} {
		for range 50 {
			group.Go(func() {
				for ctx.Err() == nil {
					if end, err := l.turn(ctx, hostile); err == nil {
						served.Add(1)
						time.Sleep(time.Millisecond)
						end()
					}
				}
			})
		}
	}
	for range 20 {
		time.Sleep(5 * time.Millisecond)
		before := served.Load()
		end, err := l.turn(context.Background(), "victim")
		if err != nil {
			t.Fatal(err)
		}
		// At most one of each waited before, and as many had just begun or may begin while this counts.
		if waited := served.Load() - before; waited > 12 {
			t.Errorf("it waited for %d others", waited)
		}
		end()
	}
	stop()
	group.Wait()
	if served.Load() < 100 {
		t.Errorf("%d turns, so this shows nothing", served.Load())
	}
}

// A namespace has its share of what waits for predictions, and all have no more than there is.
func TestHold(t *testing.T) {
	l := NewLimits(1)
	for _, c := range []struct {
		namespace string
		bytes     int
		want      bool
	}{
		{"a", share + 1, false}, {"a", share, true}, {"a", 1, false}, {"b", share, true}, {"c", share, true}, {"d", share - 1, true},
		{"e", 2, false}, {"e", 1, true}, {"d", 1, false},
	} {
		if got := l.hold(c.namespace, c.bytes); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	l.release("a", share)
	if !l.hold("e", share-1) || len(l.held) != 4 {
		t.Errorf("%v", l.held)
	}
}
