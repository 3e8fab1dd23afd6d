package judge

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// Whichever calls fail, Kubernetes' slowStartBatch and CreateInBatches make as many, and as many succeed.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	const starts = 60_000
	wrong, failed, whole := errors.New("wrong"), 0, 0
	for round := range starts {
		r := seeded(10, round)
		count := pick(r, r.IntN(5), r.IntN(40), 1<<r.IntN(7)+r.IntN(3)-1, -1)
		if round%1000 == 0 {
			count = 490 + r.IntN(20)
		}
		fails := failures(r, max(count, 0))
		// calls counts them, and fails those that are to.
		create := func(calls *atomic.Int64) func(context.Context) error {
			return func(context.Context) error {
				if fails[calls.Add(1)-1] {
					return wrong
				}
				return nil
			}
		}
		var theirCalls, ourCalls atomic.Int64
		theirs := func() error { return create(&theirCalls)(context.Background()) }
		successes, theirErr := upstream.SlowStartBatch(count, controller.SlowStartInitialBatchSize, theirs)
		created, ourErr := podrank.CreateInBatches(context.Background(), count, create(&ourCalls))
		if created != successes || ourCalls.Load() != theirCalls.Load() || ourErr != theirErr {
			t.Fatalf("%d, of which %v fail: upstream %d in %d calls, %v; podrank %d in %d calls, %v",
				count, fails, successes, theirCalls.Load(), theirErr, created, ourCalls.Load(), ourErr)
		}
		if theirErr != nil {
			failed++
		} else if count > 0 {
			whole++
		}
	}
	t.Logf("%d slow starts, %d with a failure, %d without", starts, failed, whole)
	if failed < starts/10 || whole < starts/10 {
		t.Error("too few to tell")
	}
}

// failures says of each of so many calls whether it fails: none, one, some or
// all after one.
func failures(r *rand.Rand, count int) []bool {
	fails := make([]bool, count)
	if count == 0 {
		return fails
	}
	first, share := r.IntN(count), r.IntN(4)
	switch r.IntN(4) {
	case 0:
		fails[first] = true
	case 1:
		for i := range fails {
			fails[i] = r.IntN(8) < share
		}
	case 2:
		for i := range fails[first:] {
			fails[first+i] = true
		}
	}
	return fails
}

// Which pods count, which are available, and when to look again.
func TestAvailability(t *testing.T) {
	t.Parallel()
	const lists = 100_000
	phases := []v1.PodPhase{v1.PodPending, v1.PodRunning, v1.PodUnknown, v1.PodSucceeded, v1.PodFailed, "", "Paused"}
	waits, counts := 0, 0
	for round := range lists {
		r := seeded(11, round)
		now := time.Unix(1e9+r.Int64N(4e9), r.Int64N(1e9))
		seconds := pick(r, 0, 1, 10, 3600, r.Int32())
		var active []*v1.Pod
		for range r.IntN(7) {
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "odd"}, Status: v1.PodStatus{Phase: pick(r, phases...)}}
			if r.IntN(8) == 0 {
				p.DeletionTimestamp = &metav1.Time{Time: now}
			}
			for _, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodReady, v1.PodReady}[r.IntN(4)%3:] {
				due := pick(r, -1, 0, 1, time.Duration(r.Int64N(1e11)), -time.Duration(r.Int64N(1e11)))
				since := metav1.NewTime(now.Add(due - time.Duration(seconds)*time.Second))
				if r.IntN(8) == 0 {
					since.Reset()
				}
				status := pick(r, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionTrue, v1.ConditionFalse, v1.ConditionUnknown)
				p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: kind, Status: status, LastTransitionTime: since})
			}
			if got, want := podrank.IsActive(p), upstream.IsActive(p); got != want {
				t.Fatalf("upstream says active: %t\n%+v", want, p)
			} else if want {
				active = append(active, p)
			}
		}
		ready, available, next := upstream.Availability(active, seconds, now)
		gotReady, gotAvailable, lookAgain, err := podrank.Availability(active, seconds, now)
		var want time.Duration
		if next != nil {
			want = *next
			waits++
		}
		if err != nil || gotReady != ready || gotAvailable != available || lookAgain != want {
			t.Fatalf("round %d: upstream has %d ready and %d available and waits %v, podrank %d, %d and %v, %v",
				round, ready, available, want, gotReady, gotAvailable, lookAgain, err)
		}
		counts += available
	}
	t.Logf("%d lists with %d available pods, %d with something to wait for", lists, counts, waits)
	if waits < lists/10 || counts < lists/10 {
		t.Error("too few to tell")
	}
}
