//go:build controlplane

package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
)

var moving = flag.Int("moving", 3, "scale-downs of TestMoving for each way in which pods move")

const (
	movingPods, movingTo = 150, 75
	// longestDelay is what a policy adds to a scale-down at most, with all requests about it.
	longestDelay = 2500 * time.Millisecond
	// mostWrites is how often a pod is written to for a scale-down.
	mostWrites = 3
)

// A movement changes pods or their replica count until the context ends.
type movement struct {
	name     string
	workload func(namespace string, count int32) client.Object
	// move moves once, pause apart.
	move  func(w *World, r *rand.Rand, set client.Object)
	pause time.Duration
	// changes is whether the replica count changes, too.
	changes bool
}

var movements = []movement{
	// 24 changes of the status in a second.
	{"flapping", webSet, func(w *World, r *rand.Rand, _ client.Object) { w.flap(w.Pods()[r.IntN(4)]) }, 40 * time.Millisecond, false},
	{"churn", webSet, func(w *World, r *rand.Rand, _ client.Object) {
		pods := w.Pods()
		_ = w.Delete(w.ctx, pods[r.IntN(len(pods))], client.GracePeriodSeconds(0))
	}, 40 * time.Millisecond, false},
	{"autoscaler", webDeployment, func(w *World, r *rand.Rand, set client.Object) { _ = w.Scale(set, movingTo+5*r.Int32N(5)) }, 150 * time.Millisecond, true},
}

// flap makes a ready pod not ready, or the other way round.
func (w *World) flap(pod *corev1.Pod) {
	status := corev1.ConditionTrue
	if isReady(pod) {
		status = corev1.ConditionFalse
	}
	patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}}`, status, time.Now().UTC().Format(time.RFC3339))
	_, _ = w.Clients.CoreV1().Pods(w.Namespace).Patch(w.ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
}

// marks counts what the program writes on pods, and keeps what it said last.
type marks struct {
	mu     sync.Mutex
	writes map[types.UID]int
	last   map[types.UID]cost.Mark
	texts  map[types.UID]string
}

// follow counts until the context ends.
func (m *marks) follow(ctx context.Context, w *World) {
	events, err := w.Clients.CoreV1().Pods(w.Namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		w.Error(err)
		return
	}
	for event := range events.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		mark, isMarked := cost.MarkOf(pod)
		text := fmt.Sprint(pod.Annotations[corev1.PodDeletionCost], pod.Annotations[cost.Annotation], pod.Annotations[cost.PreviousAnnotation])
		m.mu.Lock()
		if text != m.texts[pod.UID] {
			m.writes[pod.UID]++
		}
		m.texts[pod.UID] = text
		if isMarked {
			m.last[pod.UID] = mark
		}
		m.mu.Unlock()
	}
}

// TestMoving scales workloads down whose pods or replica counts change all the time. In a third of the scale-downs, one of the two replicas is killed meanwhile.
func TestMoving(t *testing.T) {
	plane.must(t, plane.Stop())
	plane.must(t, plane.Run("--deadline", "1s"))
	t.Cleanup(func() {
		plane.must(t, plane.Stop())
		plane.must(t, plane.Run())
	})
	for _, by := range movements {
		t.Run(by.name, func(t *testing.T) {
			w, set := NewWorldOf(t, 4, SpotFirst, by.workload, movingPods)
			r := rand.New(rand.NewPCG(80, 0))
			slowest, most, asked, untold := time.Duration(0), 0, 0, 0
			for number := range *moving {
				m := w.moves(by, r, set, number)
				slowest, most, asked, untold = max(slowest, m.slowest), max(most, m.most), asked+m.asked, untold+m.untold
			}
			fmt.Printf("%d scale-downs, %s: %d requests, the slowest was delayed by %v, at most %d writes of a pod, no end told of %d pods with a mark\n", *moving, by.name, asked, slowest.Round(time.Millisecond), most, untold)
		})
	}
}

// moved is what came of a scale-down.
type moved struct {
	slowest     time.Duration
	most, asked int
	// untold is how many pods with a mark no end tells of.
	untold int
}

func (w *World) moves(by movement, r *rand.Rand, set client.Object, number int) (came moved) {
	w.Helper()
	w.must(w.Scale(set, movingPods))
	w.AwaitReady(movingPods)
	w.AwaitClean()
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	m := &marks{writes: map[types.UID]int{}, last: map[types.UID]cost.Mark{}, texts: map[types.UID]string{}}
	go m.follow(ctx, w)
	began, before, gone := metav1.NewTime(time.Now().Add(-time.Second)), len(w.Proxy.Calls(w.Namespace)), len(w.Went())
	kills, delay := number%3 == 2, time.Duration(r.IntN(600))*time.Millisecond
	done := async(func() error {
		for ctx.Err() == nil {
			by.move(w, r, set)
			time.Sleep(by.pause)
		}
		return nil
	})
	time.Sleep(500 * time.Millisecond)
	w.must(w.Scale(set, movingTo))
	if kills {
		time.Sleep(delay)
		w.KillOne(number / 3 % replicas)
	}
	fell := w.Holds(20*time.Second, func() bool { return len(w.Pods()) <= movingTo+20 })
	stop()
	<-done
	w.must(w.Scale(set, movingTo))
	if kills {
		w.must(w.Restart(number/3%replicas, "--deadline", "1s"))
	}
	if !fell {
		w.Fatalf("round %d: the replica count had not fallen after 20 s, %d requests", number, len(w.Proxy.Calls(w.Namespace))-before)
	}
	w.Await("75 pods", time.Minute, func() bool { return len(w.Pods()) == movingTo })
	w.heal()
	w.Await("told", 60*time.Second, func() bool { return w.IsClean() && w.isOver() })
	calls := w.Proxy.Calls(w.Namespace)[before:]
	falls := 0
	came.slowest, falls = delays(calls)
	came.asked = len(calls)
	if came.slowest > longestDelay {
		w.Errorf("round %d: delayed by %v: %v", number, came.slowest, timeline(calls))
	}
	w.judgeMoving(by, m, number, falls, &came)
	w.judgeEnds(by, m, number, began, gone, &came)
	return came
}

// heal makes all pods ready.
func (w *World) heal() {
	w.Await("ready", time.Minute, func() bool {
		all := true
		for _, pod := range w.Pods() {
			if pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodRunning && !isReady(pod) {
				w.flap(pod)
				all = false
			}
		}
		return all
	})
}

// delays returns the longest time that requests about a scale-down waited for answers, and how many scale-downs there were. In between, the API server or the
// client is at work, as without a policy.
func delays(calls []Call) (longest time.Duration, falls int) {
	type key struct {
		UID        types.UID
		Generation int64
		From, To   int32
	}
	type object struct {
		Metadata struct {
			UID        types.UID
			Generation int64
		}
		Spec struct{ Replicas int32 }
	}
	took := map[key]time.Duration{}
	for _, call := range calls {
		var old, now object
		_ = json.Unmarshal(call.Review.Request.OldObject.Raw, &old)
		_ = json.Unmarshal(call.Review.Request.Object.Raw, &now)
		k := key{old.Metadata.UID, old.Metadata.Generation, old.Spec.Replicas, now.Spec.Replicas}
		took[k] += call.Took
	}
	for _, each := range took {
		longest = max(longest, each)
	}
	return longest, len(took)
}

// timeline says when requests came, and how long each took.
func timeline(calls []Call) (times []string) {
	for _, call := range calls {
		times = append(times, fmt.Sprintf("%v+%v", call.At.Sub(calls[0].At).Round(time.Millisecond), call.Took.Round(time.Millisecond)))
	}
	return times
}

// judgeMoving counts the writes.
func (w *World) judgeMoving(by movement, m *marks, number, falls int, came *moved) {
	m.mu.Lock()
	defer m.mu.Unlock()
	bound := mostWrites
	if by.changes {
		// For each scale-down two, and one at the end.
		bound = 2*falls + 1
	}
	for uid, writes := range m.writes {
		if came.most = max(came.most, writes); writes > bound {
			w.Errorf("round %d: %d writes of pod %s for %d scale-downs", number, writes, uid, falls)
		}
	}
}

// judgeEnds compares what the status says with what the marks said and which pods were deleted. A scale-down of which no pod had a mark has nothing to tell.
func (w *World) judgeEnds(by movement, m *marks, number int, began metav1.Time, gone int, came *moved) {
	m.mu.Lock()
	defer m.mu.Unlock()
	deleted := map[types.UID]bool{}
	for _, pod := range w.Went()[gone:] {
		deleted[pod.UID] = true
	}
	want := map[int32][2]int32{}
	for uid, mark := range m.last {
		if mark.Goes {
			counts := want[mark.Count]
			if deleted[uid] {
				counts[0]++
			} else {
				counts[1]++
			}
			want[mark.Count] = counts
		}
	}
	downs := slices.DeleteFunc(slices.Clone(w.Status("spot").ScaleDowns), func(down v1alpha1.ScaleDown) bool { return down.Time.Before(&began) })
	for to, counts := range want {
		got := [2]int32{}
		for _, down := range downs {
			if down.To == to && down.Gone != nil {
				got[0], got[1] = got[0]+*down.Gone, got[1]+*down.Missed
			}
		}
		isMissing, isFalse := got != counts, got[0] > counts[0] || got[0]+got[1] > counts[0]+counts[1]
		if number%3 == 2 || by.changes {
			// A replica that is killed may have written marks of which the next leader sees none, since all their pods were deleted before it began. And a later
			// scale-down may delete what an earlier one has missed.
			isMissing, isFalse = false, got[0]+got[1] > counts[0]+counts[1]
			came.untold += int(max(0, counts[0]+counts[1]-got[0]-got[1]))
		}
		if isMissing || isFalse {
			w.Errorf("round %d, to %d: deleted and missed %v, not %v: %+v", number, to, got, counts, downs)
		}
	}
	for _, down := range downs {
		if err := w.isFalse(down); err != nil {
			w.Errorf("round %d: %v: %+v", number, err, down)
		}
	}
}
