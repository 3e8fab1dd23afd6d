//go:build controlplane

package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	cycles = flag.Int("cycles", 0, "how often TestCycles has load come and go, in each of six namespaces")
	period = flag.Duration("period", 5*time.Second, "how often HorizontalPodAutoscalers look")
)

// ways are by which pods are deleted in cycles.
var ways = []way{{"Kubernetes alone", false, 0}, {"podrank-webhook", true, 0}}

const (
	cyclePods = 12
	busyPods  = 4
)

// swings is what came of cycles.
type swings struct {
	tally
	// changes is how often a count was lowered.
	changes int
}

// Again and again, load begins and then ends on most pods, but not on all, and a HorizontalPodAutoscaler follows it. If
// the scale-down deletes pods that still have load, the load is lost, and the autoscaler scales down once more. With
// idle pods first, it does not scale down more often than with Kubernetes alone.
func TestCycles(t *testing.T) {
	if *cycles == 0 {
		t.Skip("only if asked to, with -cycles N")
	}
	NewAdapter(t)
	var mu sync.Mutex
	all := map[bool]*swings{false: {}, true: {}}
	t.Run("cycles", func(t *testing.T) {
		for _, by := range ways {
			for seed := range uint64(3) {
				t.Run(fmt.Sprint(by.name, ", ", seed), func(t *testing.T) {
					t.Parallel()
					s := by.cycle(t, seed)
					mu.Lock()
					defer mu.Unlock()
					sum := all[by.isSteered]
					sum.changes += s.changes
					sum.deleted, sum.busy = sum.deleted+s.deleted, sum.busy+s.busy
					sum.unvalued, sum.exceptions = sum.unvalued+s.unvalued, sum.exceptions+s.exceptions
				})
			}
		}
	})
	for _, by := range ways {
		s := all[by.isSteered]
		fmt.Printf("%d cycles, %s: the count was lowered %d times; %d of %d pods that were deleted were busy; %d cycles without values, %d exceptions\n", 3**cycles, by.name, s.changes, s.busy,
			s.deleted, s.unvalued, s.exceptions)
	}
	if all[true].changes > all[false].changes || all[true].exceptions > 0 {
		t.Error("it swings more often, or a busy pod was deleted before an idle one")
	}
}

func (by way) cycle(t *testing.T, seed uint64) (all swings) {
	w := NewWorld(t, 4)
	if by.isSteered {
		w.Policy("spot", idleFirst("active_sessions"))
	}
	set := deployment(w.Namespace, "web", cyclePods)
	w.must(w.Create(w.ctx, set))
	w.AwaitReady(cyclePods)
	work := &work{}
	go work.follow(w)
	w.autoscale(set, cyclePods, "2")
	random := rand.New(rand.NewPCG(1, seed))
	for range *cycles {
		w.Await("at most", 5**period+time.Minute, func() bool { return w.areReady(cyclePods) })
		before, earlier, kept := w.Pods(), len(w.Deleted()), map[string]float64{}
		for _, i := range random.Perm(cyclePods)[:busyPods] {
			kept[before[i].Name] = 4
		}
		work.ends(kept)
		changes := w.awaitLow(set)
		work.ends(nil)
		all.changes += changes
		deleted := w.Deleted()[earlier:]
		for _, pod := range deleted {
			all.deleted++
			if kept[pod.Name] > 0 {
				all.busy++
			}
		}
		switch {
		case !by.isSteered:
		case changes == 1:
			by.compare(w, before, deleted, &all.tally)
		default:
			all.unvalued++
		}
	}
	return all
}

// awaitLow waits until a Deployment has been scaled down and no longer changes, and returns how often it was scaled
// down.
func (w *World) awaitLow(set client.Object) (changes int) {
	w.Helper()
	count, since := int32(cyclePods), time.Now()
	w.Await("low", 20**period, func() bool {
		var now appsv1.Deployment
		w.must(w.Get(w.ctx, client.ObjectKeyFromObject(set), &now))
		if *now.Spec.Replicas < count {
			count, since = *now.Spec.Replicas, time.Now()
			changes++
		}
		return changes > 0 && time.Since(since) > 2**period+2*time.Second
	})
	return changes
}

// work is the sessions of pods: three for each while load comes, and then those that are kept.
type work struct {
	mu   sync.Mutex
	kept map[string]float64
}

func (l *work) ends(kept map[string]float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = kept
}

// follow tells the adapter of it.
func (l *work) follow(w *World) {
	a, _ := adapter()
	for w.ctx.Err() == nil {
		l.mu.Lock()
		kept := maps.Clone(l.kept)
		l.mu.Unlock()
		now := map[string]float64{}
		for _, pod := range w.Pods() {
			if now[pod.Name] = kept[pod.Name]; kept == nil {
				now[pod.Name] = 3
			}
		}
		a.Set(w.Namespace, now)
		time.Sleep(100 * time.Millisecond)
	}
}
