package steer

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/cost"
)

// keep is how long a plan that nobody asks for is remembered.
const keep = time.Minute

// A LastPlan is the last plan for a set.
type LastPlan struct {
	// At is when the request came.
	At     time.Time
	To     int32
	Wanted []cost.Pod
}

// Plans has the last plan of each set, in memory. Marks on pods say which should go, too, and survive a restart, but a pod whose cost fits
// already has none.
type Plans struct {
	// By namespace and UID: whatever an owner reference elsewhere says, it is about another set.
	all sync.Map
}

// Add remembers the plan of a request that was steered.
func (p *Plans) Add(o *Outcome) {
	if !o.Result.Holds() {
		return
	}
	p.all.Range(func(set, plan any) bool {
		if o.At.Sub(plan.(LastPlan).At) > keep {
			p.all.Delete(set)
		}
		return true
	})
	p.all.Store([2]string{o.Set.Object.GetNamespace(), string(o.Set.UID())}, LastPlan{o.At, o.To, slices.Clone(o.Wanted)})
}

// Take returns the last plan of a set, and forgets it.
func (p *Plans) Take(namespace string, uid types.UID) (LastPlan, bool) {
	plan, ok := p.all.LoadAndDelete([2]string{namespace, string(uid)})
	last, _ := plan.(LastPlan)
	return last, ok
}
