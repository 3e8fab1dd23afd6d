package podrank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestPlanTakesNoWrongNumbers(t *testing.T) {
	states := map[string]State{
		"State.Desired -1: it must be from 0 to 4294967295": {Desired: -1},
		"State.Active -7: it must be from 0 to 4294967295":  {Active: -7},
		"State.Burst -1: it must be from 0 to 4294967295":   {Desired: 3, Burst: -1},
	}
	// An int of 32 bits holds none that is too large.
	if strconv.IntSize > 32 {
		states[fmt.Sprintf("State.Desired %d: it must be from 0 to 4294967295", math.MaxInt)] = State{Desired: math.MaxInt}
	}
	for name, state := range states {
		creations, deletions, err := Plan(state, true)
		if !errors.Is(err, ErrOutOfRange) || err.Error() != "podrank: "+name || creations != 0 || deletions != 0 {
			t.Errorf("%s: %d, %d, %v", name, creations, deletions, err)
		}
	}
	// Without a burst, Kubernetes'.
	if creations, _, err := Plan(State{Desired: 7000}, true); creations != BurstReplicas || err != nil {
		t.Errorf("%d, %v", creations, err)
	}
	// Whether the set may act is a parameter, because a caller could forget a field.
	for satisfied, want := range map[bool]int{false: 0, true: 7} {
		if creations, deletions, err := Plan(State{Active: 7}, satisfied); creations != 0 || deletions != want || err != nil {
			t.Errorf("%v: %d, %d, %v", satisfied, creations, deletions, err)
		}
	}
}

func TestNoPodsAreCreated(t *testing.T) {
	for _, count := range []int{-1, math.MinInt, 0} {
		created, err := CreateInBatches(context.Background(), count, func(context.Context) error { panic("called") })
		if created != 0 || err != nil {
			t.Errorf("%d: %d, %v", count, created, err)
		}
	}
}

// The calls of a batch run concurrently, and the next batch starts after they have ended.
func TestABatchIsCalledAtOnce(t *testing.T) {
	var started, ended atomic.Int64
	arrived := make(chan struct{})
	created, err := CreateInBatches(context.Background(), 7, func(context.Context) error {
		// Read first, because other calls of its batch may end before this one continues.
		before := ended.Load()
		switch started.Add(1) {
		case 4: // The first of the third batch waits for the last of it.
			if before != 3 {
				t.Errorf("%d have ended before the third batch", before)
			}
			<-arrived
		case 7:
			close(arrived)
		}
		ended.Add(1)
		return nil
	})
	if created != 7 || err != nil {
		t.Errorf("%d, %v", created, err)
	}
}

// Once the context is done, no further batch begins, and the calls of the last one have ended.
func TestCreateInBatchesEndsWithItsContext(t *testing.T) {
	type key struct{}
	for _, c := range []struct{ cancelAt, calls int }{{0, 0}, {1, 1}, {2, 3}, {4, 7}, {8, 10}} {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "value"))
		if c.cancelAt == 0 {
			cancel()
		}
		var calls atomic.Int64
		created, err := CreateInBatches(ctx, 10, func(ctx context.Context) error {
			if ctx.Value(key{}) != "value" {
				t.Error("another context")
			}
			if int(calls.Add(1)) == c.cancelAt {
				cancel()
			}
			return nil
		})
		// If the last call cancels it, nothing is missing.
		want := context.Canceled
		if c.calls == 10 {
			want = nil
		}
		if created != c.calls || int(calls.Load()) != c.calls || err != want {
			t.Errorf("cancelled at %d: %d created in %d calls, %v", c.cancelAt, created, calls.Load(), err)
		}
		cancel()
	}
	// A failure says more than the context that ended because of it.
	ctx, cancel := context.WithCancel(context.Background())
	failed := errors.New("the quota is used up")
	created, err := CreateInBatches(ctx, 10, func(context.Context) error { cancel(); return failed })
	if created != 0 || err != failed {
		t.Errorf("%d, %v", created, err)
	}
}

func TestExpectationsOfANilPodAreAnError(t *testing.T) {
	var e Expectations
	if err := e.ExpectDeletions([]*corev1.Pod{keyed(1), keyed(2)}); err != nil {
		t.Fatal(err)
	}
	err := e.ExpectDeletions([]*corev1.Pod{keyed(3), keyed(4), nil})
	var wrong *PodError
	if !errors.As(err, &wrong) || wrong.List != "pods" || wrong.Index != 2 || !errors.Is(err, ErrNil) || e.Deletions() != 2 {
		t.Errorf("%v; %d are expected now", err, e.Deletions())
	}
	if e.DeletionObserved(nil) || e.DeletionObserved(keyed(3)) {
		t.Error("seen what was not expected")
	}
	if !e.DeletionObserved(keyed(2)) || !e.DeletionObserved(keyed(1)) || !e.Satisfied() {
		t.Error("not seen what was expected")
	}
}

// Expectations accept a UID that is not a UUID, and distinguish pods by its text. Fakes have no UID, so namespace and
// name distinguish them, which are not joined without a separator.
func TestExpectationsOfOddPods(t *testing.T) {
	pod := func(namespace, name, uid string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid)}}
	}
	for _, c := range []struct{ expected, strangers, seen []*corev1.Pod }{
		{
			[]*corev1.Pod{pod("shop", "a", "x"), pod("shop", "a", "y"), pod("shop", "b", "x"), keyed(7)},
			// No text of a UID is the hash of another's name.
			[]*corev1.Pod{pod("shop", "a", ""), pod("shop", "a", "shop/a"), pod("shop", "x", "UID x"), pod("shop", "a", "X")},
			[]*corev1.Pod{pod("shop", "c", "y"), pod("shop", "c", "x"), keyed(7)},
		},
		{
			[]*corev1.Pod{pod("a", "x", ""), pod("b", "x", ""), pod("a", "y", ""), pod("a", "x", "")},
			// Nor is a text of a UID the name of a pod without one.
			[]*corev1.Pod{pod("b", "y", ""), pod("c", "z", "a/x")},
			[]*corev1.Pod{pod("a", "y", ""), pod("a", "x", ""), pod("b", "x", "")},
		},
		{
			[]*corev1.Pod{pod("shop", "web-1", ""), pod("shopweb", "-1", "")},
			[]*corev1.Pod{pod("sho", "pweb-1", ""), pod("", "shopweb-1", "")},
			[]*corev1.Pod{pod("shop", "web-1", ""), pod("shopweb", "-1", "")},
		},
	} {
		var e Expectations
		if err := e.ExpectDeletions(c.expected); err != nil || int(e.Deletions()) != len(c.seen) {
			t.Fatal(e.Deletions(), err)
		}
		for _, stranger := range c.strangers {
			if e.DeletionObserved(stranger) {
				t.Errorf("%s/%s %q is seen", stranger.Namespace, stranger.Name, stranger.UID)
			}
		}
		for _, pod := range c.seen {
			if e.Satisfied() || !e.DeletionObserved(pod) || e.DeletionObserved(pod) {
				t.Errorf("%s/%s %q", pod.Namespace, pod.Name, pod.UID)
			}
		}
		if !e.Satisfied() || len(e.deletions) != 0 {
			t.Errorf("not satisfied: %+v", e.state)
		}
	}
}

// Twice as many pods take about twice as long, not four times: of 100,000, quadratic work would take minutes.
func TestManyDeletionsAreExpected(t *testing.T) {
	pods := make([]*corev1.Pod, 100_000)
	for i := range pods {
		pods[i] = keyed(i)
	}
	start := time.Now()
	var e Expectations
	if err := e.ExpectDeletions(pods); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		if !e.DeletionObserved(pod) {
			t.Fatal("not expected")
		}
	}
	if !e.Satisfied() || time.Since(start) > time.Minute {
		t.Errorf("%v, %v", e.Satisfied(), time.Since(start))
	}
}

// By default, Expectations read the clock. A clock that is set back does not satisfy them.
func TestExpectationsByTheClock(t *testing.T) {
	var e Expectations
	e.ExpectCreations(1)
	if e.Satisfied() {
		t.Error("satisfied immediately")
	}
	e.Clock = func() time.Time { return time.Now().Add(ExpectationsTimeout) }
	if !e.Satisfied() {
		t.Error("not satisfied after 5 minutes")
	}
	e.Clock = func() time.Time { return time.Unix(1, 0) }
	if e.Satisfied() {
		t.Error("satisfied long before")
	}
	for far, want := range map[time.Time]bool{
		time.Unix(-1<<60, 0): false, time.Date(-290000000, 1, 1, 0, 0, 0, 0, time.UTC): false, time.Unix(1<<60, 0): true,
	} {
		e.Clock = func() time.Time { return far }
		if got := e.Satisfied(); got != want {
			t.Errorf("at %v, satisfied: %t", far, got)
		}
	}
}

func TestNothingIsAllocatedByObserving(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled memory at random")
	}
	var e Expectations
	pod := keyed(1)
	if allocated := testing.AllocsPerRun(100, func() {
		e.CreationsObserved(1)
		e.DeletionObserved(pod)
		e.Satisfied()
		if _, _, err := Plan(State{Desired: 3}, true); err != nil {
			t.Fatal(err)
		}
	}); allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// While one goroutine uses expectations, each use of another waits.
func TestExpectationsAreLocked(t *testing.T) {
	var e Expectations
	pods := some(20)
	uses := map[string]func(){
		"ExpectDeletions":   func() { _ = e.ExpectDeletions(pods) },
		"ExpectCreations":   func() { e.ExpectCreations(3) },
		"CreationsObserved": func() { e.CreationsObserved(1) },
		"DeletionObserved":  func() { e.DeletionObserved(pods[3]) },
		"Satisfied":         func() { e.Satisfied() },
		"Creations":         func() { e.Creations() },
		"Deletions":         func() { e.Deletions() },
		"Clear":             func() { e.Clear() },
	}
	e.mutex.Lock()
	used := make(chan string, len(uses))
	var group sync.WaitGroup
	for name, use := range uses {
		group.Add(1)
		go func() {
			defer group.Done()
			use()
			used <- name
		}()
	}
	time.Sleep(50 * time.Millisecond)
	if len(used) > 0 {
		t.Errorf("%s does not wait", <-used)
	}
	e.mutex.Unlock()
	group.Wait()
}

// keyed is a pod with the key of this number.
func keyed(number int) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.UID = types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012x", number))
	return pod
}
