package scene

import (
	"math"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes is how many nodes there are: node-0 and so on.
const Nodes = 6

// style has the distributions for the pods of one round, so that ties are frequent in some rounds and rare in others.
type style struct {
	nodes                                      int
	unassigned, pending, unknown, notReady     float64
	unset, future, old, cost, invalid, restart float64
	sidecar                                    float64
	costs                                      []string
	ready, created                             moments
}

// facts are what the order can see of one pod.
type facts struct {
	node              string // none if empty
	phase             corev1.PodPhase
	conditions        []corev1.PodCondition
	restarts          []int32 // of the containers
	sidecar, setup    int32   // restarts of the sidecar and of the ordinary init container
	cost              *string
	costIsValid       bool
	created           *metav1.Time // as the server set it if nil
	finalizer, failed bool
}

// moments draws ages, in seconds.
type moments func() time.Duration

var (
	validCosts   = []string{"0", "1", "-1", "100", "2147483647", "-2147483648", "-0", "-008"}
	invalidCosts = []string{"+10", "008", "1.0", "abc", "-", "--1", "2147483648", "-2147483649", " 1", "1_000", "0x10"}
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// age draws from all magnitudes alike, between two bounds in seconds.
func age(r *rand.Rand, from, to float64) time.Duration {
	seconds := math.Exp(math.Log(from) + r.Float64()*(math.Log(to)-math.Log(from)))
	return time.Duration(seconds) * time.Second
}

// isReady is the condition Ready, true or false since a time.
func isReady(ready bool, since time.Time) []corev1.PodCondition {
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(since)}
	if ready {
		condition.Status = corev1.ConditionTrue
	}
	return []corev1.PodCondition{condition}
}

func drawMoments(r *rand.Rand) moments {
	const day = 24 * 3600
	switch r.IntN(4) {
	case 0: // of all magnitudes
		return func() time.Duration { return age(r, 1, 400*day) }
	case 1, 2: // one rollout: a few seconds, one after the other
		base, few := age(r, 10, 40*day), pick(r, 1, 1, 1, 2, 4)
		return func() time.Duration { return base + time.Duration(r.IntN(few))*time.Second }
	default: // a rollout and later replacements
		base := age(r, 3600, 400*day)
		return func() time.Duration {
			if r.Float64() < 0.3 {
				return age(r, 1, 3600)
			}
			return base + time.Duration(r.IntN(300))*time.Second
		}
	}
}

func drawStyle(r *rand.Rand) style {
	costs := validCosts
	if r.IntN(2) == 0 {
		costs = []string{"-1", "1", "5"}
	}
	return style{
		nodes:      1 + r.IntN(Nodes),
		unassigned: pick(r, 0, 0.1, 0.4), pending: pick(r, 0, 0, 0.2), unknown: pick(r, 0, 0, 0.1),
		notReady: pick(r, 0, 0.1, 0.5), unset: pick(r, 0, 0, 0.2), future: pick(r, 0, 0, 0.2),
		old: pick(r, 0, 0.5, 1), restart: pick(r, 0, 0, 0.25, 0.7), sidecar: pick(r, 0, 0.3, 0.7),
		cost: pick(r, 0, 0, 0, 0.3, 1), invalid: pick(r, 0, 0, 0.3), costs: costs,
		ready: drawMoments(r), created: drawMoments(r),
	}
}

// draw makes the facts of one pod.
func (s *style) draw(r *rand.Rand, now time.Time) facts {
	f := facts{phase: corev1.PodRunning, restarts: []int32{0, 0}}
	chance := func(p float64) bool { return r.Float64() < p }
	if chance(s.unassigned) {
		f.phase = corev1.PodPending
	} else {
		f.node = nodeName(r.IntN(s.nodes))
		if chance(s.pending) {
			f.phase = corev1.PodPending
		} else if chance(s.unknown) {
			f.phase = corev1.PodUnknown
		}
		f.conditions = s.drawConditions(r, now, f.phase != corev1.PodRunning || chance(s.notReady))
	}
	if f.node != "" && chance(s.restart) {
		f.restarts = []int32{int32(r.IntN(4)), int32(r.IntN(3))}
	}
	if f.node != "" && chance(s.sidecar) {
		f.sidecar, f.setup = int32(r.IntN(3)), int32(r.IntN(9))
	}
	if chance(s.cost) {
		cost := pick(r, s.costs...)
		f.costIsValid = !chance(s.invalid)
		if !f.costIsValid {
			cost = pick(r, invalidCosts...)
		}
		f.cost = &cost
	}
	if chance(s.old) {
		created := metav1.NewTime(now.Add(-s.created()))
		f.created = &created
	}
	return f
}

// drawConditions makes a pod's conditions: Ready among another, or none at all.
func (s *style) drawConditions(r *rand.Rand, now time.Time, notReady bool) []corev1.PodCondition {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	if notReady {
		if r.IntN(3) == 0 {
			return nil
		}
		ready.Status = pick(r, corev1.ConditionFalse, corev1.ConditionUnknown)
	}
	switch chance := r.Float64(); {
	case chance < s.unset: // null
	case chance < s.unset+s.future:
		ready.LastTransitionTime = metav1.NewTime(now.Add(age(r, 60, 1e6)))
	default:
		ready.LastTransitionTime = metav1.NewTime(now.Add(-s.ready()))
	}
	other := corev1.PodCondition{
		Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	}
	return pick(r, []corev1.PodCondition{ready}, []corev1.PodCondition{other, ready}, []corev1.PodCondition{ready, other})
}
