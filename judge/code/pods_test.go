package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// seeded is a source of its own for each test and round, so that a failure
// happens again.
func seeded(test, round int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(test), uint64(round)))
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// costGate sets the gate for the whole process and puts it back.
func costGate(t *testing.T, on bool) {
	t.Helper()
	if err := upstream.SetDeletionCostGate(on); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = upstream.SetDeletionCostGate(true) })
}

// world makes pods that collide: in each world most fields are the same for
// nearly all its pods, so that every step of the comparator comes to decide.
type world struct {
	r     *rand.Rand
	now   metav1.Time // zero: upstream does without age buckets
	times []metav1.Time
	fixed map[string]int // by field: the value that it mostly has, or -1
}

// newWorld has 2 to 9 of the times that the given function makes, which gets one
// age bucket for all, so that times meet at its edges.
func newWorld(r *rand.Rand, withNow bool, moment func(r *rand.Rand, now time.Time, e int) time.Time) *world {
	w := &world{r: r, fixed: map[string]int{}}
	now := time.Unix(1e9+r.Int64N(4e9), r.Int64N(1e9)) // 2001 to 2128
	if withNow {
		w.now = metav1.NewTime(now)
	}
	e := 1 + r.IntN(63)
	for range 2 + r.IntN(8) {
		w.times = append(w.times, metav1.NewTime(moment(r, now, e)))
	}
	return w
}

// options are how the Go module is to decide.
func (w *world) options(more ...podrank.Option) []podrank.Option {
	return append(more, podrank.WithNow(w.now.Time))
}

// of picks the value of a field.
func of[T any](w *world, field string, from ...T) T {
	i, known := w.fixed[field]
	if !known {
		i = -1
		if w.r.IntN(6) > 0 {
			i = w.r.IntN(len(from))
		}
		w.fixed[field] = i
	}
	if i >= 0 && w.r.IntN(50) > 0 {
		return from[i]
	}
	return pick(w.r, from...)
}

// pod makes an active pod.
func (w *world) pod() *v1.Pod {
	p := &v1.Pod{}
	p.UID = w.uid()
	p.CreationTimestamp = pick(w.r, w.times...)
	p.Spec.NodeName = of(w, "node", "n1", "n2", "n3", "n1", "n2", "n3", "")
	p.Status.Phase = of(w, "phase", v1.PodRunning, v1.PodRunning, v1.PodRunning, v1.PodPending, v1.PodUnknown,
		"", "Paused", "running")
	p.Status.Conditions = w.conditions()
	if text := of(w, "cost", "none", "none", "0", "-0", "1", "-1", "10", "-010", "2147483647", "-2147483648",
		"", "+10", "08", "00", "1.5", "1e3", " 1", "1 ", "2147483648", "-2147483649", "9_9", "٣", "1\x00"); text != "none" {
		p.Annotations = map[string]string{"controller.kubernetes.io/pod-deletion-cost": text}
	}
	if of(w, "preferred", false, true) {
		p.Labels = map[string]string{"kubernetes.io/prefer-for-scale-down": ""}
	}
	counts := []int32{0, 0, 1, 2, 5, -3, math.MaxInt32}
	for i := range of(w, "containers", 1, 2, 0) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses,
			v1.ContainerStatus{Name: fmt.Sprint("c", i), RestartCount: of(w, "restarts", counts...)})
	}
	always, never := v1.ContainerRestartPolicyAlways, v1.ContainerRestartPolicyNever
	for i := range of(w, "init containers", 1, 2, 0) {
		name := fmt.Sprint("i", i)
		p.Spec.InitContainers = append(p.Spec.InitContainers,
			v1.Container{Name: name, RestartPolicy: of(w, "restart policy", &always, &always, &never, nil)})
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses,
			v1.ContainerStatus{Name: pick(w.r, name, name, "gone"), RestartCount: of(w, "sidecar restarts", counts...)})
	}
	return p
}

// crowd makes n pods and relatives that give them ranks: pods of their own, some of no account, and more.
func crowd(w *world, n int) (pods, related []*v1.Pod) {
	for range n {
		pods = append(pods, w.pod())
	}
	return pods, append(slices.Clone(pods[:w.r.IntN(min(n, 8)+1)]), w.relatives(8)...)
}

// relatives are fewer than n pods, of which some are not active.
func (w *world) relatives(n int) (related []*v1.Pod) {
	for range w.r.IntN(n) {
		p := w.pod()
		switch w.r.IntN(6) {
		case 0:
			p.Status.Phase = pick(w.r, v1.PodSucceeded, v1.PodFailed)
		case 1:
			p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
		}
		related = append(related, p)
	}
	return related
}

func (w *world) conditions() []v1.PodCondition {
	ready := func(status v1.ConditionStatus) v1.PodCondition {
		return v1.PodCondition{Type: v1.PodReady, Status: status, LastTransitionTime: pick(w.r, w.times...)}
	}
	other := v1.PodCondition{Type: v1.PodInitialized, Status: v1.ConditionTrue}
	switch of(w, "conditions", 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7) {
	case 0:
		return []v1.PodCondition{other, ready(v1.ConditionTrue)}
	case 1:
		return []v1.PodCondition{ready(v1.ConditionTrue), ready(v1.ConditionTrue)}
	case 2:
		return []v1.PodCondition{ready(v1.ConditionTrue), ready(v1.ConditionFalse)}
	case 3:
		return []v1.PodCondition{ready(v1.ConditionFalse), ready(v1.ConditionTrue)}
	case 4:
		return []v1.PodCondition{ready(v1.ConditionUnknown)}
	case 5:
		return []v1.PodCondition{ready("true")}
	case 6:
		return []v1.PodCondition{other}
	}
	return nil
}

// uid is one of few, so that some tie, with digits and letters high and low; or
// empty, as in fakes. Not all zeros: that ties with the empty one in podrank.
func (w *world) uid() types.UID {
	digit := func() byte { return pick(w.r, []byte("019af")...) }
	if w.r.IntN(30) == 0 {
		return ""
	}
	return types.UID(fmt.Sprintf("%c000000%c-0000-4000-8000-00000000000%c", digit(), digit(), digit()))
}

// ago returns the time that many nanoseconds before now.
func ago(now time.Time, ns uint64) time.Time { return now.Add(time.Duration(-int64(ns))) }

// early is for how many nanoseconds below 2^e upstream's bucket is e already:
// order.md 3, as measured, which upstream.json holds.
func early(e int) uint64 {
	switch {
	case e < 49:
		return 0
	case e < 54:
		return []uint64{1, 2, 5, 11, 22}[e-49]
	}
	return 45 << (e - 54)
}

// anyMoment is of all kinds: some seconds, edges of age buckets, never, far off.
func anyMoment(r *rand.Rand, now time.Time, e int) time.Time {
	if r.IntN(4) == 0 {
		e = 1 + r.IntN(63)
	}
	power, early := uint64(1)<<e, early(e)
	switch r.IntN(10) {
	case 0:
		return time.Time{}.In(pick(r, time.UTC, time.FixedZone("east", 3600)))
	case 1:
		return pick(r, now, now.Add(1), now.Add(-1), now.Add(time.Hour), time.Unix(0, 0))
	case 2: // years that no nanoseconds hold
		return time.Date(pick(r, 1500, 3000), 1, 1, 0, 0, 0, 0, time.UTC)
	case 3: // the edge of a bucket
		return ago(now, power-min(power-1, pick(r, 0, 1, 2, early, early+1)))
	case 4: // somewhere around it
		return ago(now, power-min(power-1, r.Uint64N(4*early+4)))
	case 5: // anywhere in a bucket
		return ago(now, power/2+r.Uint64N(power/2))
	}
	return now.Truncate(time.Second).Add(-time.Hour - time.Duration(r.IntN(5))*time.Second)
}

// rolloutMoment is among few seconds of some ages, as after rollouts.
func rolloutMoment(r *rand.Rand, now time.Time, e int) time.Time {
	if r.IntN(30) == 0 {
		return anyMoment(r, now, e)
	}
	return now.Truncate(time.Second).Add(-pick(r, time.Minute, time.Hour, time.Hour, 90*time.Minute, 24*time.Hour) -
		time.Duration(r.IntN(4))*time.Second)
}
