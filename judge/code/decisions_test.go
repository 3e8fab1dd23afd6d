package judge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// eachRound runs a check of the rounds on all cores, in bubbles of their own, in
// which time is the test's: upstream reads time.Now.
func eachRound(t *testing.T, rounds int, check func(t *testing.T, round int) bool) {
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for round := worker; round < rounds; round += workers {
					if !check(t, round) {
						t.Fatalf("round %d", round)
					}
				}
			})
		})
	}
}

// silent is a logger: upstream has something to say of every deletion that is
// no longer waited for.
var silent klog.Logger

// Everything can happen to the expectations of two sets: upstream's and ours say
// the same of them after every event, at every moment.
func TestExpectations(t *testing.T) {
	const sequences = 120_000
	sets, pods := []string{"shop/web", "shop/db"}, make([]*v1.Pod, 8)
	for i := range pods {
		// Upstream knows pods by their names, ours by their UIDs.
		pods[i] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("p", i), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", i%2, i/2)),
		}}
	}
	var events, timeouts, surpassed, counted, again, unexpected atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d sequences, %d events; %d times timed out, %d times more seen than expected; %d deletions seen, %d again, %d unexpected",
			sequences, events.Load(), timeouts.Load(), surpassed.Load(), counted.Load(), again.Load(), unexpected.Load())
		for _, count := range []*atomic.Int64{&timeouts, &surpassed, &counted, &again, &unexpected} {
			if count.Load() < sequences/10 {
				t.Error("too few to tell")
			}
		}
	})

	eachRound(t, sequences, func(t *testing.T, round int) bool {
		r := seeded(9, round)
		theirs, ours := upstream.NewExpectations(), [2]podrank.Expectations{}
		expecting := [2][]*v1.Pod{pods, pods} // whose deletion was expected last
		seen := [2]map[*v1.Pod]bool{{}, {}}   // and counted
		history := ""
		for range 4 + r.IntN(20) {
			set := r.IntN(len(sets))
			our, name := &ours[set], sets[set]
			switch event := r.IntN(20); {
			case event < 2:
				count := pick(r, 0, 1, 1, 2, 3, 500)
				history += fmt.Sprintf("; %s expects %d creations", name, count)
				if err := errors.Join(theirs.ExpectCreations(silent, name, count), our.ExpectCreations(count)); err != nil {
					t.Error(err)
				}
			case event < 5:
				var keys []string
				var victims []*v1.Pod
				for range r.IntN(6) {
					pod := pick(r, pods...)
					keys, victims = append(keys, controller.PodKey(pod)), append(victims, pod)
				}
				clear(seen[set])
				expecting[set] = append(victims, pick(r, pods...))
				history += fmt.Sprintf("; %s expects the deletion of %v", name, keys)
				if err := errors.Join(theirs.ExpectDeletions(silent, name, keys), our.ExpectDeletions(victims)); err != nil {
					t.Error(err)
				}
			case event < 9:
				count := pick(r, 1, 1, 1, 2, 3)
				history += fmt.Sprintf("; %s sees %d creations", name, count)
				for range count {
					theirs.CreationObserved(silent, name)
				}
				our.CreationsObserved(count)
			case event < 16:
				pod := pick(r, expecting[set]...)
				key := controller.PodKey(pod)
				history += fmt.Sprintf("; %s sees the deletion of %s", name, key)
				expected := theirs.GetUIDs(name).Has(key)
				theirs.DeletionObserved(silent, name, key)
				if got := our.DeletionObserved(pod); got != expected {
					t.Errorf("counted: %t, expected: %t", got, expected)
				}
				switch {
				case expected:
					seen[set][pod] = true
					counted.Add(1)
				case seen[set][pod]:
					again.Add(1)
				default:
					unexpected.Add(1)
				}
			case event < 17:
				history += fmt.Sprintf("; %s is gone", name)
				theirs.DeleteExpectations(silent, name)
				our.Clear()
			default:
				wait := pick(r, 1, controller.ExpectationsTimeout-1, controller.ExpectationsTimeout, controller.ExpectationsTimeout+1,
					controller.ExpectationsTimeout/2, time.Duration(r.Int64N(int64(controller.ExpectationsTimeout))))
				history += fmt.Sprintf("; %v pass", wait)
				time.Sleep(wait)
			}
			events.Add(1)
			for i, name := range sets {
				var creations, deletions int64
				if e, ok, err := theirs.GetExpectations(name); err != nil {
					t.Error(err)
				} else if ok {
					creations, deletions = e.GetExpectations()
				}
				if ours[i].Creations() != creations || ours[i].Deletions() != deletions {
					t.Errorf("%s: upstream expects %d creations and %d deletions, podrank %d and %d",
						name, creations, deletions, ours[i].Creations(), ours[i].Deletions())
				}
				satisfied := theirs.SatisfiedExpectations(silent, name)
				if got := ours[i].Satisfied(); got != satisfied {
					t.Errorf("%s: upstream says satisfied %t, podrank %t", name, satisfied, got)
				}
				if satisfied && (creations > 0 || deletions > 0) {
					timeouts.Add(1)
				}
				if creations < 0 || deletions < 0 {
					surpassed.Add(1)
				}
			}
			if t.Failed() {
				t.Error(history)
				return false
			}
		}
		return true
	})
}

// Whichever calls fail, upstream's slowStartBatch and ours make as many, and as
// many succeed; and so does the same step by step.
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

		start, err := podrank.NewSlowStart(count)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for start.Batch() > 0 {
			batch := 0
			for _, fail := range fails[calls : calls+start.Batch()] {
				if fail {
					batch++
				}
			}
			calls += start.Batch()
			start.Report(batch)
		}
		if int64(calls) != theirCalls.Load() || max(count, 0)-start.Missing() != successes {
			t.Fatalf("%d, of which %v fail: upstream %d in %d calls, podrank all but %d in %d calls, step by step",
				count, fails, successes, theirCalls.Load(), start.Missing(), calls)
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
			p := &v1.Pod{Status: v1.PodStatus{Phase: pick(r, phases...)}}
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
