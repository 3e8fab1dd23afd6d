package cleanup

import (
	"time"

	"github.com/podrank/podrank/webhook/internal/cost"
)

// tracked is a pod that is annotated or selected.
type tracked struct {
	pod     cost.Pod
	steered cost.Steered
	// cost is the value of the cost when the steered annotation was first seen.
	cost string
	// state is where it is in its life, and since is when it came there.
	state state
	since time.Time
	// why is why the pod is kept. Until that is known, it may be why it would: overruled. writer is who else wrote its cost, if that is known.
	why, writer string
	// isDeleting is whether the cache has the pod, with its annotation perhaps, though it is being deleted.
	isDeleting bool
	// isTold is whether the end of its scale-down is told.
	isTold bool
}

// A state of a pod. DESIGN.md draws them.
type state string

const (
	// While the count has yet to fall: the pod has a cost of ours, or it has none, since it needs none or its request has taken it off.
	written state = "Written"
	planned state = "Planned"
	// Once the count has fallen, while the controller deletes pods: the same two.
	falling  state = "Falling"
	expected state = "Expected"
	// The pod is kept. Its cost has to be removed, was removed though the cache may still show it, or was given up.
	kept      state = "Kept"
	removed   state = "Removed"
	abandoned state = "Abandoned"
	// The pod was deleted. The API server says so, though the cache may still show it; or so does the cache.
	deleting state = "Deleting"
	deleted  state = "Deleted"
	// The pod is kept, or was for a while, and nothing of ours is on it.
	done state = "Done"
)

// A fact is what is learnt of a pod.
type fact string

const (
	fell         fact = "the count fell"
	unannotated  fact = "the cache has no annotation"
	vanished     fact = "the cache has no pod"
	foundDeleted fact = "the scale-down is over, and the pod was deleted"
	foundKept    fact = "the scale-down is over, and the pod is there"
	costRemoved  fact = "the cost was removed"
	lingers      fact = "the cache has the annotation for 30 s"
	gaveUp       fact = "an hour of attempts"
)

// edges lead from state to state. A fact that leads nowhere leaves a pod where it is.
var edges = map[state]map[fact]state{
	written:   {fell: falling, unannotated: planned, costRemoved: planned, vanished: deleted, foundDeleted: deleting, foundKept: kept},
	planned:   {fell: expected, vanished: deleted, foundDeleted: deleting, foundKept: done},
	falling:   {unannotated: expected, costRemoved: expected, vanished: deleted, foundDeleted: deleting, foundKept: kept},
	expected:  {vanished: deleted, foundDeleted: deleting, foundKept: done},
	deleting:  {unannotated: deleted, vanished: deleted},
	kept:      {costRemoved: removed, gaveUp: abandoned, unannotated: done, vanished: done},
	removed:   {lingers: kept, unannotated: done, vanished: done},
	abandoned: {unannotated: done, vanished: done},
}

// follow returns where a fact leads. Tests listen in.
var follow = func(from state, what fact) (state, bool) {
	next, ok := edges[from][what]
	return next, ok
}

// on follows the edge of a fact, if there is one.
func (t *tracked) on(what fact, now time.Time) {
	if next, ok := follow(t.state, what); ok {
		t.state, t.since = next, now
	}
}

// Why a pod is kept. These are the reasons of metrics.
const (
	notFallen = "NotScaledDown"
	risen     = "ScaledUpAgain"
	overruled = "CostChanged"
	stopped   = "SteeringStopped"
	outrun    = "OtherPodsDeleted"
)

// isUnderWay reports whether it is open what becomes of the pod, and hasFallen whether its count was seen at or below the planned one.
func (t *tracked) isUnderWay() bool { return t.state == written || t.state == planned || t.hasFallen() }
func (t *tracked) hasFallen() bool  { return t.state == falling || t.state == expected }

// isDeleted reports whether the pod was deleted.
func (t *tracked) isDeleted() bool { return t.state == deleting || t.state == deleted }

// isShown reports whether the cache may show the annotation.
func (t *tracked) isShown() bool {
	_, isShown := edges[t.state][unannotated]
	return isShown
}

// isForgotten reports whether nothing is left to do for the pod, and the cache does not show it as a new one.
func (t *tracked) isForgotten() bool { return t.isTold && !t.isShown() && !t.isDeleting }

// sees is that the cache has the annotation, with this cost.
func (t *tracked) sees(value string, now time.Time) {
	if now.Sub(t.since) > stale {
		t.on(lingers, now)
	}
	if t.isUnderWay() && t.cost != value {
		t.why = overruled
	}
}

// stops is that nothing is steered any more, and reports whether the cost has to be removed for that, although the scale-down may continue.
func (t *tracked) stops() bool {
	if t.isUnderWay() {
		t.why = stopped
	}
	return t.isUnderWay() && t.isShown()
}

// misses is that the cache has no annotation. If the pod is under way, somebody has removed it.
func (t *tracked) misses(now time.Time) {
	if t.state == written || t.state == falling {
		t.why = overruled
	}
	t.on(unannotated, now)
}

// ends is that the scale-down is over, and the pod was deleted, or is kept for this reason. What became of a pod whose cost was removed before that is told all
// the same, since its request may have been let through.
func (t *tracked) ends(fate cost.Fate, why string, now time.Time) {
	if fate.IsDeleted {
		t.on(foundDeleted, now)
		return
	}
	if t.writer = fate.Writer; t.writer != "" && t.isShown() && t.why == "" {
		// Perhaps before the annotation was seen.
		t.why = overruled
	}
	if t.why != stopped && (t.why != overruled || why != outrun) {
		t.why = why
	}
	t.on(foundKept, now)
}
