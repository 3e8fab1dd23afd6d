package cleanup

import (
	"time"

	"github.com/podrank/podrank/webhook/internal/cost"
)

// tracked is a pod that has a mark, or that should go.
type tracked struct {
	pod  cost.Pod
	mark cost.Mark
	// cost is what the annotation said when the mark was first seen.
	cost string
	// state is where it is in its life, and since is when it came there.
	state state
	since time.Time
	// why is why the pod stays. Until that is known, it may be why it would: overruled. writer is who else wrote its cost, if that is known.
	why, writer string
	// isGoing is whether the cache has the pod, with its mark perhaps, though it is being deleted.
	isGoing bool
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
	// The pod stays. Its cost has to come off, came off though the cache may still show it, or was given up.
	staying state = "Staying"
	off     state = "Off"
	left    state = "Left"
	// The pod went. The API server says so, though the cache may still show it; or so does the cache.
	going state = "Going"
	gone  state = "Gone"
	// The pod stays, or did for a while, and nothing of ours is on it.
	done state = "Done"
)

// A fact is what is learnt of a pod.
type fact string

const (
	fell     fact = "the count fell"
	unmarked fact = "the cache has no mark"
	vanished fact = "the cache has no pod"
	went     fact = "at the end, the pod is gone"
	stayed   fact = "at the end, the pod is there"
	tookOff  fact = "the cost came off"
	lingers  fact = "the cache has the mark for 30 s"
	gaveUp   fact = "an hour of attempts"
)

// edges lead from state to state. A fact that leads nowhere leaves a pod where it is.
var edges = map[state]map[fact]state{
	written:  {fell: falling, unmarked: planned, tookOff: planned, vanished: gone, went: going, stayed: staying},
	planned:  {fell: expected, vanished: gone, went: going, stayed: done},
	falling:  {unmarked: expected, tookOff: expected, vanished: gone, went: going, stayed: staying},
	expected: {vanished: gone, went: going, stayed: done},
	going:    {unmarked: gone, vanished: gone},
	staying:  {tookOff: off, gaveUp: left, unmarked: done, vanished: done},
	off:      {lingers: staying, unmarked: done, vanished: done},
	left:     {unmarked: done, vanished: done},
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

// Why a pod stays. These are the reasons of metrics.
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

// hasGone reports whether the pod went.
func (t *tracked) hasGone() bool { return t.state == going || t.state == gone }

// isShown reports whether the cache may show the mark.
func (t *tracked) isShown() bool {
	_, isShown := edges[t.state][unmarked]
	return isShown
}

// isForgotten reports whether nothing is left to do for the pod, and the cache does not show it as a new one.
func (t *tracked) isForgotten() bool { return t.isTold && !t.isShown() && !t.isGoing }

// sees is that the cache has the mark, with this cost.
func (t *tracked) sees(value string, now time.Time) {
	if now.Sub(t.since) > stale {
		t.on(lingers, now)
	}
	if t.isUnderWay() && t.cost != value {
		t.why = overruled
	}
}

// stops is that nothing is steered any more, and reports whether the cost has to come off for that, although the scale-down may go on.
func (t *tracked) stops() bool {
	if t.isUnderWay() {
		t.why = stopped
	}
	return t.isUnderWay() && t.isShown()
}

// misses is that the cache has no mark. If the pod is under way, somebody has taken it off.
func (t *tracked) misses(now time.Time) {
	if t.state == written || t.state == falling {
		t.why = overruled
	}
	t.on(unmarked, now)
}

// ends is that the scale-down is over, and the pod went, or stays for this reason. What became of a pod whose cost came off before that is told all
// the same, since its request may have been let through.
func (t *tracked) ends(fate cost.Fate, why string, now time.Time) {
	if fate.IsGone {
		t.on(went, now)
		return
	}
	if t.writer = fate.Writer; t.writer != "" && t.isShown() && t.why == "" {
		// Perhaps before the mark was seen.
		t.why = overruled
	}
	if t.why != stopped && (t.why != overruled || why != outrun) {
		t.why = why
	}
	t.on(stayed, now)
}
