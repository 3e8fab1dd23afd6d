//go:build controlplane

package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/cost"
)

var (
	moving = flag.Int("moving", 3, "rounds of TestMoving for each way in which pods move")
	movers = flag.Int("movers", 1, "workloads, each in a namespace of its own, that a round of TestMoving scales down simultaneously")
)

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
	// move moves once, pause apart. It returns the pod that it deletes, if it does.
	move  func(w *World, r *rand.Rand) types.UID
	pause time.Duration
	// autoscaled is whether a HorizontalPodAutoscaler decides about the replica count, and changes its mind.
	autoscaled bool
}

var movements = []movement{
	// 24 changes of the status in a second.
	{"flapping", webSet, func(w *World, r *rand.Rand) types.UID {
		w.flap(w.Pods()[r.IntN(4)])
		return ""
	}, 40 * time.Millisecond, false},
	{"churn", webSet, func(w *World, r *rand.Rand) types.UID {
		pods := w.Pods()
		pod := pods[r.IntN(len(pods))]
		_ = w.Delete(w.ctx, pod, client.GracePeriodSeconds(0))
		return pod.UID
	}, 40 * time.Millisecond, false},
	{"autoscaler", webDeployment, func(w *World, r *rand.Rand) types.UID {
		w.desires(movingTo + 5*r.Int32N(5))
		return ""
	}, 300 * time.Millisecond, true},
}

// share is how many sessions a HorizontalPodAutoscaler keeps for each pod.
const share = 1000

// desires has the HorizontalPodAutoscaler find work for so many pods.
func (w *World) desires(count int32) {
	a, _ := adapter()
	pods := w.Pods()
	numbers := map[string]float64{}
	for _, pod := range pods {
		numbers[pod.Name] = share * float64(count) / float64(len(pods))
	}
	a.Set(w.Namespace, numbers)
}

// scaleTo has the replica count set, by a HorizontalPodAutoscaler if there is one.
func (by *movement) scaleTo(w *World, set client.Object, count int32) {
	w.Helper()
	if by.autoscaled {
		w.desires(count)
		return
	}
	w.must(w.Scale(set, count))
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

// annotations counts what the program writes on pods, and keeps what it said last.
type annotations struct {
	mu     sync.Mutex
	writes map[types.UID]int
	last   map[types.UID]cost.Steered
	texts  map[types.UID]string
	// chosen are pods that had the annotation of a selected one, with the replica count in it. A later decision may select others.
	chosen map[types.UID]int32
	// removed are pods that the test has deleted, perhaps before anybody could see their annotations.
	removed map[types.UID]bool
}

func (m *annotations) remove(pod types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removed[pod] = true
}

// follow counts until the context ends.
func (m *annotations) follow(ctx context.Context, w *World) {
	w.watchPods(ctx, func(_ watch.EventType, pod *corev1.Pod) { m.note(pod) })
}

func (m *annotations) note(pod *corev1.Pod) {
	steered, isSteered := cost.SteeredOf(pod)
	text := fmt.Sprint(pod.Annotations[corev1.PodDeletionCost], pod.Annotations[cost.Annotation], pod.Annotations[cost.PreviousAnnotation])
	m.mu.Lock()
	defer m.mu.Unlock()
	if text != m.texts[pod.UID] {
		m.writes[pod.UID]++
	}
	m.texts[pod.UID] = text
	if isSteered {
		m.last[pod.UID] = steered
	}
	if steered.Selected {
		m.chosen[pod.UID] = steered.Count
	}
}

// TestMoving scales workloads down whose pods or replica counts change all the time. In a third of the rounds, the test kills one of the
// two replicas in the middle.
func TestMoving(t *testing.T) {
	plane.must(t, plane.Stop())
	plane.must(t, plane.Run("--deadline", "1s"))
	t.Cleanup(func() {
		plane.must(t, plane.Stop())
		plane.must(t, plane.Run())
	})
	for _, by := range movements {
		t.Run(by.name, func(t *testing.T) {
			if by.autoscaled {
				NewAdapter(t)
			}
			r := rand.New(rand.NewPCG(80, 0))
			var workloads []*mover
			for number := range *movers {
				w, set := NewWorldOf(t, 4, SpotFirst, by.workload, movingPods)
				if by.autoscaled {
					w.desires(movingPods)
					w.autoscale(set, movingPods, fmt.Sprint(share))
				}
				workloads = append(workloads, &mover{World: w, by: &by, set: set, r: rand.New(rand.NewPCG(80, uint64(number)))})
			}
			all := moved{}
			for number := range *moving {
				isKilled, delay, replica := number%3 == 2, time.Duration(r.IntN(600))*time.Millisecond, number/3%replicas
				together(t, workloads, func(w *mover) { w.begin(number) })
				if isKilled {
					time.Sleep(delay)
					plane.KillOne(replica)
				}
				together(t, workloads, (*mover).fall)
				if isKilled {
					plane.must(t, plane.Restart(replica, "--deadline", "1s"))
				}
				together(t, workloads, (*mover).judge)
				for _, w := range workloads {
					all.slowest, all.most, all.asked, all.falls = max(all.slowest, w.came.slowest), max(all.most, w.came.most), all.asked+w.came.asked, all.falls+w.came.falls
					all.told, all.missing = all.told+w.came.told, all.missing+w.came.missing
				}
			}
			fmt.Printf("%d rounds of %d, %s: %d scale-downs, %d requests, the slowest was delayed by %v, at most %d writes of a pod, the ends of %d pods told, and of %d not\n",
				*moving, *movers, by.name, all.falls, all.asked, all.slowest.Round(time.Millisecond), all.most, all.told, all.missing)
		})
	}
}

// together does something with all workloads simultaneously, and ends the test if it failed.
func together(t *testing.T, workloads []*mover, do func(*mover)) {
	t.Helper()
	var all sync.WaitGroup
	for _, w := range workloads {
		all.Go(func() { do(w) })
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// A mover is a workload that moves, and is scaled down in each round.
type mover struct {
	*World
	by  *movement
	set client.Object
	r   *rand.Rand
	// Of this round.
	number          int
	seen            *annotations
	began           metav1.Time
	before, earlier int
	stop, end       context.CancelFunc
	done            <-chan error
	came            moved
}

// moved is what came of a round.
type moved struct {
	slowest            time.Duration
	most, asked, falls int
	// told is for how many annotated pods the log has the end, and missing is for how many it does not.
	told, missing int
}

// patience is how long a scale-down may take on a busy machine.
func patience() time.Duration { return 20*time.Second + 2**period }

// begin scales up, has the pods move, and scales down.
func (w *mover) begin(number int) {
	by := w.by
	by.scaleTo(w.World, w.set, movingPods)
	w.Await("150 ready pods", time.Minute+4**period, func() bool {
		if by.autoscaled {
			by.scaleTo(w.World, w.set, movingPods)
		}
		return w.areReady(movingPods)
	})
	w.AwaitClean()
	w.number, w.came = number, moved{}
	w.seen = &annotations{writes: map[types.UID]int{}, last: map[types.UID]cost.Steered{}, texts: map[types.UID]string{}, removed: map[types.UID]bool{}, chosen: map[types.UID]int32{}}
	w.began, w.before, w.earlier = metav1.NewTime(time.Now().Add(-time.Second)), len(w.Proxy.Calls(w.Namespace)), len(w.Deleted())
	var moves, following context.Context
	moves, w.stop = context.WithCancel(w.ctx)
	// An autoscaler does not end with the moves.
	following, w.end = context.WithCancel(w.ctx)
	go w.seen.follow(following, w.World)
	w.done = async(func() error {
		for moves.Err() == nil {
			w.seen.remove(by.move(w.World, w.r))
			time.Sleep(by.pause)
		}
		return nil
	})
	if by.autoscaled {
		w.Await("a scale-down", patience(), func() bool { return len(w.Proxy.Calls(w.Namespace)) > w.before })
		return
	}
	time.Sleep(500 * time.Millisecond)
	by.scaleTo(w.World, w.set, movingTo)
}

// fall waits for the scale-down, and ends the moves.
func (w *mover) fall() {
	fell := w.Holds(patience(), func() bool { return len(w.Pods()) <= movingTo+20 })
	if w.by.autoscaled {
		// It changes its mind some more times.
		time.Sleep(4 * *period)
	}
	w.stop()
	<-w.done
	if !fell {
		w.Errorf("round %d: the replica count had not fallen after %v, %d requests", w.number, patience(), len(w.Proxy.Calls(w.Namespace))-w.before)
	}
}

// judge waits for the end, and says what came of the round.
func (w *mover) judge() {
	defer w.end()
	if !w.by.autoscaled {
		w.must(w.Scale(w.set, movingTo))
		w.Await("75 pods", time.Minute, func() bool { return len(w.Pods()) == movingTo })
	}
	w.heal()
	w.Await("clean and over", 90*time.Second, func() bool { return w.IsClean() && w.isOver() })
	// Otherwise some are missing, which is judged below.
	w.Holds(60*time.Second, func() bool {
		told, _, _ := w.told(w.began)
		return told >= w.seen.selected() && w.isOver()
	})
	calls := w.Proxy.Calls(w.Namespace)[w.before:]
	w.came.slowest, w.came.falls = delays(calls)
	w.came.asked = len(calls)
	if w.came.slowest > longestDelay {
		w.Errorf("round %d: delayed by %v: %v", w.number, w.came.slowest, timeline(calls))
	}
	w.judgeWrites()
	w.judgeEnds()
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

// delays returns the longest time from the first request about a scale-down to the last answer, and how many scale-downs there were.
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
	first := map[key]time.Time{}
	for _, call := range calls {
		var old, now object
		_ = json.Unmarshal(call.Review.Request.OldObject.Raw, &old)
		_ = json.Unmarshal(call.Review.Request.Object.Raw, &now)
		k := key{old.Metadata.UID, old.Metadata.Generation, old.Spec.Replicas, now.Spec.Replicas}
		if at, ok := first[k]; !ok || call.At.Before(at) {
			first[k] = call.At
		}
		longest = max(longest, call.At.Add(call.Took).Sub(first[k]))
	}
	return longest, len(first)
}

// timeline says when requests came, and how long each took.
func timeline(calls []Call) (times []string) {
	for _, call := range calls {
		times = append(times, fmt.Sprintf("%v+%v", call.At.Sub(calls[0].At).Round(time.Millisecond), call.Took.Round(time.Millisecond)))
	}
	return times
}

// selected is how many pods were selected, as far as annotations say.
func (m *annotations) selected() (count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for pod, steered := range m.last {
		if steered.Selected && !m.removed[pod] {
			count++
		}
	}
	return count
}

// told returns for how many pods the log has the end, the deleted and the missed ones by replica count, and the
// entries.
func (w *World) told(began metav1.Time) (pods int, by map[int32][2]int32, downs []*past) {
	by = map[int32][2]int32{}
	for _, down := range w.History("spot") {
		if down.Time.Before(&began) {
			continue
		}
		downs = append(downs, down)
		if down.Deleted != nil && *down.Deleted+*down.Missed > 0 {
			counts := by[down.To]
			by[down.To] = [2]int32{counts[0] + *down.Deleted, counts[1] + *down.Missed}
			pods += int(*down.Deleted + *down.Missed)
		}
	}
	return pods, by, downs
}

// judgeWrites counts the writes.
func (w *mover) judgeWrites() {
	m, number, came := w.seen, w.number, &w.came
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, writes := range m.writes {
		// Each of several scale-downs may need as many.
		if came.most = max(came.most, writes); writes > mostWrites*max(1, came.falls) {
			w.Errorf("round %d: %d writes of pod %s for %d scale-downs", number, writes, uid, came.falls)
		}
	}
}

// judgeEnds compares the status with the annotations and the deleted pods. After one scale-down, they are equal, except
// for pods that the test has deleted. After several, a later one may have deleted pods that an earlier one missed. None
// reports more than were deleted, and each annotated pod has an end in the log.
func (w *mover) judgeEnds() {
	m, number, came := w.seen, w.number, &w.came
	m.mu.Lock()
	defer m.mu.Unlock()
	deleted := map[types.UID]bool{}
	for _, pod := range w.Deleted()[w.earlier:] {
		deleted[pod.UID] = true
	}
	// At least and at most.
	want, annotated, ended := map[int32][2][2]int32{}, 0, 0
	for uid, to := range m.chosen {
		least, isDeleted := 1, 0
		if m.removed[uid] || !m.last[uid].Selected {
			least = 0
		}
		if deleted[uid] {
			isDeleted = 1
		}
		annotated, ended = annotated+least, ended+isDeleted
		counts := want[to]
		counts[0][1-isDeleted] += int32(least)
		counts[1][1-isDeleted]++
		if m.removed[uid] && deleted[uid] {
			// It may have been there at the end of the scale-down.
			counts[1][1]++
		}
		want[to] = counts
	}
	told, got, downs := w.told(w.began)
	deletions := 0
	for _, down := range downs {
		if err := w.isFalse(down); err != nil {
			w.Errorf("round %d: %v: %+v", number, err, down)
		}
		deletions += int(ptr.Deref(down.Deleted, 0))
	}
	came.told, came.missing = told, max(0, annotated-told)
	isWrong := told < annotated || deletions > ended
	for to, counts := range want {
		for i, pods := range got[to] {
			isWrong = isWrong || !w.by.autoscaled && (pods < counts[0][i] || pods > counts[1][i])
		}
	}
	if isWrong {
		w.Errorf("round %d: deleted and missed %v, not %v: %+v", number, got, want, downs)
	}
}
