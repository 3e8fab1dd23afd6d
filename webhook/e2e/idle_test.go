//go:build controlplane

package e2e

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/steer"
)

var idle = flag.Int("idle", 0, "scale-downs of each way of TestIdle")

// A way is how the pods that are deleted are chosen.
type way struct {
	name string
	// isSteered is whether a policy has the pods with the fewest sessions are deleted first, and polled how often costs are written instead, if at all.
	isSteered bool
	polled    time.Duration
}

// load is the sessions of the pods of a namespace. They come at random and end at random, after a time that is length at the mean.
type load struct {
	mu       sync.Mutex
	random   *rand.Rand
	length   time.Duration
	sessions map[string]float64
}

// mean is how many sessions a pod has at the mean: two of five pods have none.
var mean = -math.Log(.4)

// start gives pods that are new as many sessions as a pod has that has been there for long, and forgets those that have been deleted.
func (l *load) start(pods []*corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.sessions
	l.sessions = map[string]float64{}
	for _, pod := range pods {
		count, isOld := before[pod.Name]
		if !isOld {
			count = float64(l.poisson(mean))
		}
		l.sessions[pod.Name] = count
	}
}

func (l *load) poisson(mean float64) (count int) {
	for product := l.random.Float64(); product > math.Exp(-mean); count++ {
		product *= l.random.Float64()
	}
	return count
}

// pass lets time pass for the sessions.
func (l *load) pass(time time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := math.Exp(-time.Seconds() / l.length.Seconds())
	for pod, count := range l.sessions {
		left := 0
		for range int(count) {
			if l.random.Float64() < kept {
				left++
			}
		}
		l.sessions[pod] = float64(left + l.poisson(mean*(1-kept)))
	}
}

// now are the sessions now.
func (l *load) now() map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := map[string]float64{}
	for pod, count := range l.sessions {
		now[pod] = count
	}
	return now
}

// tally is what came of the scale-downs of a way.
type tally struct {
	deleted, busy, fewest int
	// unvalued is how many requests had no value, and exceptions how many pods were deleted while one with fewer
	// sessions was kept, by the values that were read.
	unvalued, exceptions int
}

// TestIdle scales workloads down whose pods get and lose sessions ten times a second, and counts the pods that were deleted with sessions: as Kubernetes chooses
// them, by costs that something writes each minute, and by a policy.
func TestIdle(t *testing.T) {
	if *idle == 0 {
		t.Skip("only if asked to, with -idle N")
	}
	NewAdapter(t)
	for _, length := range []time.Duration{30 * time.Second, 300 * time.Second} {
		for _, by := range []way{{"Kubernetes alone", false, 0}, {"costs written each 60 s", false, time.Minute}, {"podrank-webhook", true, 0}} {
			t.Run(fmt.Sprint(by.name, ", ", length), func(t *testing.T) {
				t.Parallel()
				var all tally
				by.run(t, length, &all)
				fmt.Printf("sessions of %v, %s: %d of %d pods that were deleted had sessions (%d if none went that need not); %d requests without values, %d exceptions\n", length, by.name,
					all.busy, all.deleted, all.fewest, all.unvalued, all.exceptions)
				if all.exceptions > 0 {
					t.Errorf("%d pods were deleted while one with fewer sessions stayed, in what was read", all.exceptions)
				}
			})
		}
	}
}

const (
	idlePods = 12
	idleGo   = 4
)

func (by way) run(t *testing.T, length time.Duration, all *tally) {
	w := NewWorld(t, 4)
	if by.isSteered {
		w.Policy("spot", idleFirst("active_sessions"))
	}
	set := deployment(w.Namespace, "web", idlePods)
	w.must(w.Create(w.ctx, set))
	l := &load{random: rand.New(rand.NewPCG(1, uint64(length))), length: length}
	go w.change(l)
	for range *idle {
		l.start(w.AwaitReady(idlePods))
		l.pass(time.Duration(l.random.Int64N(int64(2 * length))))
		if by.polled > 0 {
			w.poll(l)
			// The time from a poll to a scale-down is that of the sessions alone: no test takes so long.
			l.pass(time.Duration(l.random.Int64N(int64(by.polled))))
		}
		time.Sleep(200 * time.Millisecond)
		by.fall(w, set, l, all)
		w.must(w.Scale(set, idlePods))
	}
}

// change has the sessions change ten times a second, and the adapter know them.
func (w *World) change(l *load) {
	a, _ := adapter()
	for w.ctx.Err() == nil {
		l.pass(100 * time.Millisecond)
		a.Set(w.Namespace, l.now())
		time.Sleep(100 * time.Millisecond)
	}
}

// poll writes costs: each pod's sessions.
func (w *World) poll(l *load) {
	for pod, count := range l.now() {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%g"}}}`, corev1.PodDeletionCost, count)
		object := &corev1.Pod{}
		object.Namespace, object.Name = w.Namespace, pod
		w.must(w.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, patch)))
	}
	// Until the controller has seen them.
	time.Sleep(time.Second)
}

// fall lowers the count, and adds what came of it.
func (by way) fall(w *World, set client.Object, l *load, all *tally) {
	w.Helper()
	before, sessions := w.Pods(), l.now()
	earlier := len(w.Deleted())
	idle := 0
	for _, pod := range before {
		if sessions[pod.Name] == 0 {
			idle++
		}
	}
	all.fewest += max(0, idleGo-idle)
	w.must(w.Scale(set, idlePods-idleGo))
	deleted := w.AwaitDeleted(earlier + idleGo)[earlier:]
	// Sessions that came since the count fell count as well.
	sessions = l.now()
	for _, pod := range deleted {
		all.deleted++
		if sessions[pod.Name] > 0 {
			all.busy++
		}
	}
	if by.isSteered {
		by.compare(w, before, deleted, all)
	}
}

// compare compares the deleted pods with the kept ones by the values that were read for the last request.
func (by way) compare(w *World, before, deleted []*corev1.Pod, all *tally) {
	w.Helper()
	a, _ := adapter()
	calls := w.Proxy.Calls(w.Namespace)
	if len(calls) == 0 {
		all.unvalued++
		return
	}
	last := calls[len(calls)-1]
	result := last.Response.Response.AuditAnnotations["result"]
	// Other programs read, too, such as a HorizontalPodAutoscaler, before and after.
	var read map[string]float64
	for _, each := range a.Reads(w.Namespace) {
		if each.At.After(last.At.Add(-time.Second)) && each.At.Before(last.At.Add(last.Took)) {
			read = each.Numbers
		}
	}
	isUnread := func(pod *corev1.Pod) bool {
		_, isThere := read[pod.Name]
		return !isThere
	}
	if !steer.Result(result).Holds() || slices.ContainsFunc(deleted, isUnread) {
		all.unvalued++
		return
	}
	toDelete := map[types.UID]bool{}
	highest := 0.
	for _, pod := range deleted {
		toDelete[pod.UID] = true
		highest = max(highest, read[pod.Name])
	}
	for _, pod := range before {
		if count, isThere := read[pod.Name]; isThere && !toDelete[pod.UID] && count < highest {
			all.exceptions++
			fmt.Printf("%s stayed with %g, and one with %g went: %s\n", pod.Name, count, highest, result)
		}
	}
}
