package judge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// silent is a logger: upstream has something to say of every deletion that is
// no longer waited for.
var silent klog.Logger

// expectingSets are the sets that expect, by the names under which upstream has them.
var expectingSets = [2]string{"shop/web", "shop/db"}

// A ledger has what both sets expect, by upstream's account and by ours, and tells what happened to it.
type ledger struct {
	t         *testing.T
	r         *rand.Rand
	tally     *ledgerTally
	theirs    *controller.UIDTrackingControllerExpectations
	ours      [2]podrank.Expectations
	pods      []*v1.Pod
	expecting [2][]*v1.Pod        // whose deletion was expected last
	seen      [2]map[*v1.Pod]bool // and counted
	history   string
}

// A ledgerTally counts what happened to all ledgers.
type ledgerTally struct{ events, timeouts, surpassed, counted, again, unexpected atomic.Int64 }

// Everything can happen to the expectations of two sets: upstream's and ours say
// the same of them after every event, at every moment.
func TestExpectations(t *testing.T) {
	const sequences = 120_000
	pods, tally := expectedPods(8), &ledgerTally{}
	t.Cleanup(func() { tally.report(t, sequences) })
	eachRound(t, sequences, func(t *testing.T, round int) bool {
		l := ledger{
			t: t, r: seeded(9, round), tally: tally, theirs: upstream.NewExpectations(), pods: pods,
			expecting: [2][]*v1.Pod{pods, pods}, seen: [2]map[*v1.Pod]bool{{}, {}},
		}
		for range 4 + l.r.IntN(20) {
			l.happen(l.r.IntN(len(expectingSets)))
			for set := range expectingSets {
				l.compare(set)
			}
			if t.Failed() {
				t.Error(l.history)
				return false
			}
		}
		return true
	})
}

// expectedPods makes so many pods. Upstream knows pods by their names, ours by their UIDs.
func expectedPods(count int) []*v1.Pod {
	pods := make([]*v1.Pod, count)
	for i := range pods {
		pods[i] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("p", i), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", i%2, i/2)),
		}}
	}
	return pods
}

// report says what happened, and fails if something happened too rarely.
func (c *ledgerTally) report(t *testing.T, sequences int64) {
	t.Logf("%d sequences, %d events; %d times timed out, %d times more seen than expected; %d deletions seen, %d again, %d unexpected",
		sequences, c.events.Load(), c.timeouts.Load(), c.surpassed.Load(), c.counted.Load(), c.again.Load(), c.unexpected.Load())
	for _, count := range []*atomic.Int64{&c.timeouts, &c.surpassed, &c.counted, &c.again, &c.unexpected} {
		if count.Load() < sequences/10 {
			t.Error("too few to tell")
		}
	}
}

// happen lets something happen to a set, or time pass.
func (l *ledger) happen(set int) {
	switch event := l.r.IntN(20); {
	case event < 2:
		l.expectCreations(set)
	case event < 5:
		l.expectDeletions(set)
	case event < 9:
		l.seeCreations(set)
	case event < 16:
		l.seeDeletion(set)
	case event < 17:
		l.tell("%s is gone", expectingSets[set])
		l.theirs.DeleteExpectations(silent, expectingSets[set])
		l.ours[set].Clear()
	default:
		l.wait()
	}
	l.tally.events.Add(1)
}

// tell adds to the history, which is printed on failure.
func (l *ledger) tell(format string, args ...any) { l.history += fmt.Sprintf("; "+format, args...) }

func (l *ledger) expectCreations(set int) {
	name, count := expectingSets[set], pick(l.r, 0, 1, 1, 2, 3, 500)
	l.tell("%s expects %d creations", name, count)
	if err := errors.Join(l.theirs.ExpectCreations(silent, name, count), l.ours[set].ExpectCreations(count)); err != nil {
		l.t.Error(err)
	}
}

func (l *ledger) expectDeletions(set int) {
	name := expectingSets[set]
	var keys []string
	var victims []*v1.Pod
	for range l.r.IntN(6) {
		pod := pick(l.r, l.pods...)
		keys, victims = append(keys, controller.PodKey(pod)), append(victims, pod)
	}
	clear(l.seen[set])
	l.expecting[set] = append(victims, pick(l.r, l.pods...))
	l.tell("%s expects the deletion of %v", name, keys)
	if err := errors.Join(l.theirs.ExpectDeletions(silent, name, keys), l.ours[set].ExpectDeletions(victims)); err != nil {
		l.t.Error(err)
	}
}

func (l *ledger) seeCreations(set int) {
	name, count := expectingSets[set], pick(l.r, 1, 1, 1, 2, 3)
	l.tell("%s sees %d creations", name, count)
	for range count {
		l.theirs.CreationObserved(silent, name)
	}
	l.ours[set].CreationsObserved(count)
}

// seeDeletion lets a deletion be seen, and compares whether it counts.
func (l *ledger) seeDeletion(set int) {
	name, pod := expectingSets[set], pick(l.r, l.expecting[set]...)
	key := controller.PodKey(pod)
	l.tell("%s sees the deletion of %s", name, key)
	expected := l.theirs.GetUIDs(name).Has(key)
	l.theirs.DeletionObserved(silent, name, key)
	if got := l.ours[set].DeletionObserved(pod); got != expected {
		l.t.Errorf("counted: %t, expected: %t", got, expected)
	}
	switch {
	case expected:
		l.seen[set][pod] = true
		l.tally.counted.Add(1)
	case l.seen[set][pod]:
		l.tally.again.Add(1)
	default:
		l.tally.unexpected.Add(1)
	}
}

// wait lets time pass, often until just before or after the timeout.
func (l *ledger) wait() {
	wait := pick(l.r, 1, controller.ExpectationsTimeout-1, controller.ExpectationsTimeout, controller.ExpectationsTimeout+1,
		controller.ExpectationsTimeout/2, time.Duration(l.r.Int64N(int64(controller.ExpectationsTimeout))))
	l.tell("%v pass", wait)
	time.Sleep(wait)
}

// compare compares what both say of a set.
func (l *ledger) compare(set int) {
	name, ours := expectingSets[set], &l.ours[set]
	var creations, deletions int64
	if e, ok, err := l.theirs.GetExpectations(name); err != nil {
		l.t.Error(err)
	} else if ok {
		creations, deletions = e.GetExpectations()
	}
	if ours.Creations() != creations || ours.Deletions() != deletions {
		l.t.Errorf("%s: upstream expects %d creations and %d deletions, podrank %d and %d",
			name, creations, deletions, ours.Creations(), ours.Deletions())
	}
	satisfied := l.theirs.SatisfiedExpectations(silent, name)
	if got := ours.Satisfied(); got != satisfied {
		l.t.Errorf("%s: upstream says satisfied %t, podrank %t", name, satisfied, got)
	}
	if satisfied && (creations > 0 || deletions > 0) {
		l.tally.timeouts.Add(1)
	}
	if creations < 0 || deletions < 0 {
		l.tally.surpassed.Add(1)
	}
}
