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

// One goroutine has the lock of a key at a time, and waiting ones get it in the order in which they came. Each key has
// its own lock.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m bounded.Semaphores
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
		// A goroutine that comes while others have the lock and wait for it waits, too.
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
		m := bounded.Semaphores{Most: 2}
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
	f := bounded.Semaphores{Most: 2, InAll: 3}
	for i, want := range []bool{true, true, false} {
		if got := f.Hold("a", 1); got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if !f.Hold("b", 1) {
		t.Error("another key waits")
	}
	if f.Hold("b", 1) {
		t.Error("more than of all keys")
	}
	f.Release("a", 1)
	if !f.Hold("b", 1) || f.Hold("a", 1) {
		t.Error("one is released")
	}
	f.Release("b", 2)
	f.Release("a", 1)
	if f.Len() != 0 {
		t.Errorf("%d keys are left", f.Len())
	}
}

// After so many failures, nothing is tried for a while, then once, and after a success always. Other keys have their own failures.
func TestBreaker(t *testing.T) {
	b, now := bounded.Breaker[string]{Failures: 2, Rest: time.Minute}, time.Unix(0, 0)
	isOpen := func(key string, want bool) {
		t.Helper()
		if got := b.IsOpen(key, now); got != want {
			t.Errorf("%v, not %v", got, want)
		}
	}
	b.Note("a", true, now)
	isOpen("a", false)
	b.Note("a", true, now)
	isOpen("a", true)
	isOpen("b", false)
	now = now.Add(time.Minute)
	isOpen("a", false)
	isOpen("a", true)
	b.Note("a", false, now)
	isOpen("a", false)
	b.Note("a", true, now)
	isOpen("a", false)
}
