package podrank

import (
	"errors"
	"fmt"
	"math"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// Tier sets the function that returns a pod's tier, from 0 to 65535: pods of a lower tier go before pods of a higher one.
// Only whether a pod is assigned, running and ready comes before the tier, as it comes before the deletion cost in
// Kubernetes. Kubernetes does not know tiers, but [Steer] makes it follow them. With nil, the default, all pods are in one
// tier.
func Tier(of func(*corev1.Pod) int) Option {
	return func(s *settings) { s.tier = of }
}

// Fixed sets the function that returns whether [Steer] must not change a pod's deletion cost, for instance because somebody
// else set it. With nil, the default, Steer may change every cost.
func Fixed(is func(*corev1.Pod) bool) Option {
	return func(s *settings) { s.fixed = is }
}

// A Change is a new deletion cost for a pod.
type Change struct {
	// Pod is the pod.
	Pod *corev1.Pod
	// Cost is the number to write, in decimal, into the pod's annotation controller.kubernetes.io/pod-deletion-cost.
	Cost int32
}

// Steer returns the changes to deletion costs that make Kubernetes follow the tiers. After these changes, every pod of a
// lower [Tier] has a strictly lower cost than every pod of a higher one. So Kubernetes deletes the pods of the lower tier
// first, at any time and for any number of victims. Within a tier it decides as before. The number of changes is the least
// possible, and the new costs are close to those that stay.
//
// No cost can change what Kubernetes compares before the costs: see [BlockedPods].
//
// active is the same as for [PodsToDelete]. Steer returns a [NoRoomError] if the [Fixed] costs leave no room for the tiers,
// and another error if [PodDeletionCost] is off, because costs then have no effect.
func Steer(active []*corev1.Pod, options ...Option) ([]Change, error) {
	r := NewRanker(options...)
	costs, _, err := r.steer(active)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i, cost := range costs {
		if cost != r.records[i].DeletionCost {
			changes = append(changes, Change{active[i], cost})
		}
	}
	return changes, nil
}

// Blocked is a pod that goes before some pod of a lower [Tier] whatever their deletion costs, because an earlier rule
// decides.
type Blocked struct {
	// Pod is the blocked pod. It has the higher tier, but goes first.
	Pod *corev1.Pod
	// Before is a pod of a lower tier that Pod goes before. If there are several, it is one of those that go last by the
	// rules before the tier.
	Before *corev1.Pod
	// Rule is the name of the rule that decides: "unassigned", "phase" or "not-ready".
	Rule string
}

// BlockedPods returns the pods that no deletion cost can steer, because they are unassigned, not running or not ready, and
// Kubernetes compares that before the costs. Each goes before some pod of a lower [Tier]. Accept that they go, too, or wait
// until they are ready. The arguments and errors are those of [Steer].
func BlockedPods(active []*corev1.Pod, options ...Option) ([]Blocked, error) {
	r := NewRanker(options...)
	_, pairs, err := r.steer(active)
	if err != nil {
		return nil, err
	}
	var blocked []Blocked
	for _, pair := range pairs {
		blocked = append(blocked, Blocked{active[pair.Pod], active[pair.Before], engine.Current.RuleName(pair.Rule)})
	}
	return blocked, nil
}

// NoRoomError is the error of [Steer] if the [Fixed] deletion costs leave no room for the tiers: for two pods, no costs put
// Lower below Higher and leave a distinct cost for each tier in between. At least one of the two is fixed.
type NoRoomError struct {
	// Lower is the pod of the lower tier, and Higher that of the higher tier.
	Lower, Higher *corev1.Pod
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("podrank: the fixed deletion costs leave no room for a lower cost of %s/%s than of %s/%s, with one for "+
		"each tier between: do not fix both", e.Lower.Namespace, e.Lower.Name, e.Higher.Namespace, e.Higher.Name)
}

func (r *Ranker) steer(active []*corev1.Pod) ([]int32, []core.Blocked, error) {
	if err := r.load(active, nil); err != nil {
		return nil, nil, err
	}
	var fixed []uint8
	if r.settings.fixed != nil {
		fixed = make([]uint8, len(active))
		for i, pod := range active {
			if r.settings.fixed(pod) {
				fixed[i] = 1
			}
		}
	}
	costs, blocked := make([]int32, len(active)), make([]core.Blocked, len(active))
	steered, err := engine.Current.Steer(r.records, r.settings.options(), fixed, costs, blocked)
	if errors.Is(err, core.ErrNoRoom) {
		err = &NoRoomError{Lower: active[steered.Lower], Higher: active[steered.Higher]}
	}
	return costs, blocked[:steered.Blocked], err
}

// setTier puts a record into its tier.
func (s *settings) setTier(record *core.Record, pod *corev1.Pod) error {
	if s.tier == nil {
		return nil
	}
	tier := s.tier(pod)
	if tier < 0 || tier > math.MaxUint16 {
		return fmt.Errorf("its tier is %d: tiers are numbers from 0 to %d", tier, math.MaxUint16)
	}
	record.Tier = uint16(tier)
	return nil
}
