package bounded_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podrank/podrank/webhook/internal/bounded"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// One has the lock of a key at a time, and the others get it in the order in which they came. Other keys have their own.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m bounded.Semaphores[string]
		ctx := context.Background()
		first, err := m.Lock(ctx, "a")
		fakeapi.Must(t, err)
		other, err := m.Lock(ctx, "b")
		fakeapi.Must(t, err)
		other()
		var group sync.WaitGroup
		var order []int
		for i := range 50 {
			group.Go(func() {
				unlock, err := m.Lock(ctx, "a")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				unlock()
			})
			synctest.Wait() // until it waits
		}
		short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
		defer stop()
		if _, err := m.Lock(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if len(order) != 0 {
			t.Error("two have the lock")
		}
		first()
		// Who comes while others have it and wait for it waits, too.
		var inside, most atomic.Int64
		for range 50 {
			group.Go(func() {
				unlock, err := m.Lock(ctx, "a")
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inside.Add(1)))
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				unlock()
			})
		}
		group.Wait()
		if most.Load() != 1 {
			t.Errorf("%d have the lock", most.Load())
		}
		if len(order) != 50 || !slices.IsSorted(order) {
			t.Errorf("%v", order)
		}
		again, err := m.Lock(ctx, "a")
		fakeapi.Must(t, err)
		again()
		if m.Len() != 0 {
			t.Errorf("%d locks are left", m.Len())
		}
	})
}

// A lock that has been taken refuses callers beyond those that may wait.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded.Semaphores[string]{Most: 2}
		holds, err := m.Lock(t.Context(), "a")
		fakeapi.Must(t, err)
		var group sync.WaitGroup
		group.Go(func() {
			if waits, err := m.Lock(t.Context(), "a"); err != nil {
				t.Error(err)
			} else {
				waits()
			}
		})
		synctest.Wait()
		if _, err := m.Lock(t.Context(), "a"); !errors.Is(err, bounded.ErrBusy) {
			t.Errorf("a third one: %v", err)
		}
		holds()
		group.Wait()
		if m.Len() != 0 {
			t.Errorf("%d locks are left", m.Len())
		}
	})
}

// Of each key, and of all keys, only so much is held.
func TestHold(t *testing.T) {
	var f bounded.Semaphores[string]
	for i, want := range []bool{true, true, false} {
		if got := f.Enter("a", 2); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if !f.Enter("b", 2) {
		t.Error("another key waits")
	}
	f.Leave("b")
	f.Leave("a")
	if !f.Enter("a", 2) || f.Enter("a", 2) {
		t.Error("one has left")
	}
	if f.Hold("b", 3, 4, 4) || !f.Hold("b", 2, 4, 4) || f.Hold("b", 3, 4, 9) {
		t.Errorf("of all keys: %v", f.Held())
	}
	f.Release("b", 2)
	f.Leave("a")
	f.Leave("a")
	if len(f.Held()) != 0 {
		t.Error(f.Held())
	}
}
