package steer

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// The API server asks again if a set changes while a request about it waits, and a set whose pods change does so all the time. A repeated request is answered
// with what stands: this replica remembers what it has just decided, and annotations on pods tell what another one has. Nothing is kept in the set, since that would
// change it, too.

// A decided scale-down is one about which there was a decision.
type decided struct {
	to         int32
	isScale    bool
	generation int64
	first      time.Time
	decision   int
	// result is "" if another replica has decided.
	result Result
	count  int
	// costs are those of at most bounded.RepeatPods pods, the selected ones first.
	costs map[types.UID]decidedCost
}

// decidedCost is the cost of a pod after a decision.
type decidedCost struct {
	text string
	// isNew is whether the decision wrote it.
	isNew, isSelected bool
}

// repeats answers a request about a scale-down that was decided already. The result is Steered if it is to be decided now.
func (f *fall) repeats(ctx context.Context) (Result, error) {
	f.First, f.Decision = f.At, 1
	d := f.recall(ctx)
	if d == nil {
		return Steered, nil
	}
	f.First, f.Decision, f.Count, f.Generation = d.first, d.decision+1, d.count, d.generation
	isOwn := d.result != ""
	stands, areThere := f.stands(ctx, d)
	stands = stands && areThere && isOwn
	switch {
	case isOwn && (!d.result.Holds() || d.result == Unsettled || stands && d.result == Steered):
		return Repeated, nil
	case d.decision >= bounded.DecisionsOfOne || f.rest(ctx) <= 0:
		d.result = Unsettled
		f.by.Limits.recent.Add(f.SetUID, d, bounded.RepeatTime)
		return Unsettled, errChanged
	case stands:
		ctx, stop := context.WithTimeout(ctx, f.rest(ctx))
		defer stop()
		if err := f.pass(ctx); err == nil {
			d.result = Steered
			f.by.Limits.recent.Add(f.SetUID, d, bounded.RepeatTime)
		}
		return Repeated, nil
	}
	return Steered, nil
}

// rest is how long another decision about this scale-down may take.
func (f *fall) rest(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return bounded.RepeatTime
	}
	each := time.Until(deadline)
	// If the clock of another replica differs, this is no longer.
	return min(each, bounded.DecisionsOfOne*each-f.At.Sub(f.First))
}

// recall returns what was decided about a scale-down, or nil.
func (f *fall) recall(ctx context.Context) *decided {
	isRecent := func(first time.Time) bool { return f.At.Sub(first).Abs() < bounded.RepeatTime }
	var d *decided
	if value, ok := f.by.Limits.recent.Get(f.SetUID); ok {
		if own := *value.(*decided); own.to == f.To && own.isScale == f.IsScale && f.Generation <= own.generation && isRecent(own.first) {
			d = &own
		}
	}
	pods, _ := workload.Owned(ctx, f.by.Cache, "v1", "Pod", f.Key.Namespace, f.SetUID)
	for i := range pods {
		steered, isSteered := cost.Cached(&pods[i])
		first := time.UnixMilli(steered.First)
		if !isSteered || steered.Set != f.SetUID || steered.Count != f.To || steered.From != f.From || f.Generation > steered.Generation || !isRecent(first) {
			continue
		}
		if d == nil {
			d = &decided{to: f.To, first: first, generation: steered.Generation}
		}
		if first.Before(d.first) {
			d.first = first
		}
		if d.decision = max(d.decision, steered.Decision); steered.Selected && d.result == "" {
			d.count++
		}
	}
	return d
}

// remember keeps what became of a decision.
func (f *fall) remember(result Result) *decided {
	d := &decided{to: f.To, isScale: f.IsScale, generation: f.Set.Object.GetGeneration(), first: f.First, decision: f.Decision, result: result, count: f.Count}
	d.costs = map[types.UID]decidedCost{}
	add := func(uid types.UID, isSelected bool) {
		if _, isIn := d.costs[uid]; !isIn && len(d.costs) < bounded.RepeatPods {
			d.costs[uid] = decidedCost{text: f.costs[uid].text, isSelected: isSelected}
		}
	}
	for _, pod := range f.Selected {
		add(pod.UID, true)
	}
	for uid := range f.costs {
		add(uid, false)
	}
	for _, write := range f.writes {
		if cost, isIn := d.costs[write.Pod.UID]; isIn {
			d.costs[write.Pod.UID] = decidedCost{strconv.Itoa(int(*write.Cost)), true, cost.isSelected}
		}
	}
	f.by.Limits.recent.Add(f.SetUID, d, bounded.RepeatTime)
	return d
}

// stands reports whether all costs are as this replica has decided, and whether the selected pods are still there, as far as the cache knows.
func (f *fall) stands(ctx context.Context, d *decided) (stands, areThere bool) {
	pods, _ := workload.Owned(ctx, f.by.Cache, "v1", "Pod", f.Key.Namespace, f.SetUID)
	stands, left := true, min(d.count, bounded.RepeatPods)
	for i := range pods {
		known, isKnown := d.costs[pods[i].UID]
		// While the cache does not have the annotation of this scale-down yet, it says nothing of the cost.
		steered, _ := cost.Cached(&pods[i])
		isLate := known.isNew && steered.First != d.first.UnixMilli()
		stands = stands && (!isKnown || isLate || textOf(&pods[i]) == known.text)
		if known.isSelected && pods[i].DeletionTimestamp == nil {
			left--
		}
	}
	return stands, left <= 0
}
