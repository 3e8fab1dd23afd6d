package judge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// silent is a logger: upstream has something to say of every deletion that is
// no longer waited for.
var silent klog.Logger

// A ledger is what a set expects, by upstream's account, where sets have names, and by ours.
type ledger struct {
	name      string
	theirs    *controller.UIDTrackingControllerExpectations
	ours      podrank.Expectations
	expecting []*v1.Pod // whose deletion was expected last, and another
}

// Random events happen to the expectations of two sets: upstream's and ours agree
// after every event, at every time.
func TestExpectations(t *testing.T) {
	t.Parallel()
	const sequences = 60_000
	tally := map[string]int{}
	// In a bubble, time is the test's: upstream reads time.Now.
	synctest.Test(t, func(t *testing.T) {
		var pods []*v1.Pod
		for i := range 8 {
			pod := &v1.Pod{}
			pod.Namespace, pod.Name, pod.UID = "shop", fmt.Sprint("p", i), uid(i)
			pods = append(pods, pod)
		}
		for round := range sequences {
			r, theirs := seeded(9, round), upstream.NewExpectations()
			ledgers := []*ledger{{name: "shop/web", theirs: theirs, expecting: pods}, {name: "shop/db", theirs: theirs, expecting: pods}}
			history := ""
			for range 4 + r.IntN(20) {
				l := pick(r, ledgers...)
				what, err := l.happen(r, pods, tally)
				history += fmt.Sprintf("%s: %s; ", l.name, what)
				for _, l := range ledgers {
					err = errors.Join(err, l.compare(tally))
				}
				if err != nil {
					t.Fatalf("round %d: %s%v", round, history, err)
				}
			}
		}
	})
	for _, what := range []string{"timed out", "more seen than expected", "counted: true", "counted: false"} {
		if tally[what] < sequences/10 {
			t.Errorf("only %d times: %s", tally[what], what)
		}
	}
}

// happen lets something happen to a set, or time pass, and says what.
func (l *ledger) happen(r *rand.Rand, pods []*v1.Pod, tally map[string]int) (string, error) {
	switch event := r.IntN(20); {
	case event < 2:
		count := pick(r, 0, 1, 1, 2, 3, 500)
		l.ours.ExpectCreations(count)
		return fmt.Sprintf("%d creations are expected", count), l.theirs.ExpectCreations(silent, l.name, count)
	case event < 5:
		var keys []string
		var victims []*v1.Pod
		for range r.IntN(6) {
			pod := pick(r, pods...)
			keys, victims = append(keys, controller.PodKey(pod)), append(victims, pod)
		}
		l.expecting = append(victims, pick(r, pods...))
		return fmt.Sprintf("the deletion of %v is expected", keys),
			errors.Join(l.theirs.ExpectDeletions(silent, l.name, keys), l.ours.ExpectDeletions(victims))
	case event < 9:
		count := pick(r, 1, 1, 1, 2, 3)
		for range count {
			l.theirs.CreationObserved(silent, l.name)
		}
		l.ours.CreationsObserved(count)
		return fmt.Sprintf("%d creations are seen", count), nil
	case event < 16:
		pod := pick(r, l.expecting...)
		key := controller.PodKey(pod)
		expected := l.theirs.GetUIDs(l.name).Has(key)
		l.theirs.DeletionObserved(silent, l.name, key)
		tally[fmt.Sprintf("counted: %t", expected)]++
		if got := l.ours.DeletionObserved(pod); got != expected {
			return "", fmt.Errorf("the deletion of %s counted: %t", key, got)
		}
		return fmt.Sprintf("the deletion of %s is seen", key), nil
	case event < 17:
		l.theirs.DeleteExpectations(silent, l.name)
		l.ours.Clear()
		return "the set is gone", nil
	}
	// Often until just before or after the timeout.
	wait := pick(r, 1, controller.ExpectationsTimeout-1, controller.ExpectationsTimeout, controller.ExpectationsTimeout+1,
		controller.ExpectationsTimeout/2, time.Duration(r.Int64N(int64(controller.ExpectationsTimeout))))
	time.Sleep(wait)
	return fmt.Sprint(wait, " pass"), nil
}

// compare compares what both say of the set.
func (l *ledger) compare(tally map[string]int) error {
	var creations, deletions int64
	e, ok, err := l.theirs.GetExpectations(l.name)
	if ok {
		creations, deletions = e.GetExpectations()
	}
	satisfied := l.theirs.SatisfiedExpectations(silent, l.name)
	if err != nil || l.ours.Creations() != creations || l.ours.Deletions() != deletions || l.ours.Satisfied() != satisfied {
		return fmt.Errorf("%s: upstream expects %d creations and %d deletions, satisfied: %t; podrank %d, %d, %t; %w", l.name,
			creations, deletions, satisfied, l.ours.Creations(), l.ours.Deletions(), l.ours.Satisfied(), err)
	}
	if satisfied && (creations > 0 || deletions > 0) {
		tally["timed out"]++
	}
	if creations < 0 || deletions < 0 {
		tally["more seen than expected"]++
	}
	return nil
}
