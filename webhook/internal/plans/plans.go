// Package plans remembers, in memory, which pods should go. Marks on pods say that, too, and survive a restart, but a pod whose
// cost fits already has none.
package plans

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// keep is how long a plan that nobody asks for is remembered.
const keep = time.Minute

// A Plan is the last one for a set.
type Plan struct {
	// At is when the request came.
	At     time.Time
	To     int32
	Wanted []cost.Pod
}

// Plans has the last plan of each set.
type Plans struct {
	mu  sync.Mutex
	all map[set]Plan
}

// A set is one of a namespace: whatever an owner reference elsewhere says, it is about another.
type set struct {
	namespace string
	uid       types.UID
}

// Add remembers the plan of a request that was steered.
func (p *Plans) Add(o *steer.Outcome) {
	if !o.Result.Holds() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[set]Plan{}
	}
	for key, plan := range p.all {
		if o.At.Sub(plan.At) > keep {
			delete(p.all, key)
		}
	}
	p.all[set{o.Set.Object.GetNamespace(), o.Set.UID()}] = Plan{o.At, o.To, append([]cost.Pod(nil), o.Wanted...)}
}

// Take returns the last plan of a set, and forgets it.
func (p *Plans) Take(namespace string, uid types.UID) (Plan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := set{namespace, uid}
	plan, ok := p.all[key]
	delete(p.all, key)
	return plan, ok
}
