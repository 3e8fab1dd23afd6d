package podrank

import (
	"errors"
	"fmt"
	"math"

	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
)

// Tier gives each pod a number from 0 to 65535: pods of a lower tier go before those of a higher one. Only what Kubernetes asks
// before the deletion cost is asked before it: unassigned, pending and not ready pods go first. Kubernetes knows nothing of
// tiers; [Steer] makes it follow them. nil, the default, puts all pods into one.
func Tier(of func(*corev1.Pod) int) Option {
	return func(s *settings) { s.tier = of }
}

// Fixed says whose deletion cost [Steer] leaves as it is, because it is somebody else's, say. nil, the default, fixes none.
func Fixed(is func(*corev1.Pod) bool) Option {
	return func(s *settings) { s.fixed = is }
}

// A Change is a deletion cost that a pod needs: the value of its annotation controller.kubernetes.io/pod-deletion-cost, in
// decimal digits.
type Change struct {
	Pod  *corev1.Pod
	Cost int32
}

// Steer returns the deletion costs that make Kubernetes follow the tiers: with them, every pod of a lower [Tier] costs less than
// every pod of a higher one, and so goes first, whatever the moment and however many go. As few costs change as can be, and
// the new ones are close to those that stay. Within a tier Kubernetes decides as ever.
//
// What Kubernetes asks before the cost no cost can change: see [BlockedPods].
//
// active are as for [PodsToDelete]. Costs that are [Fixed] may leave no room for the others: a [NoRoomError]. With
// [PodDeletionCost] off no cost has an effect, which is an error, too.
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

// A Blocked pod goes before one of a lower [Tier], whatever they cost.
type Blocked struct {
	// Pod is of the higher tier, and goes first.
	Pod *corev1.Pod
	// Before is a pod of a lower tier that it goes before.
	Before *corev1.Pod
	// Rule says so: "unassigned", "phase" or "not-ready".
	Rule string
}

// BlockedPods returns the pods that no deletion cost of [Steer] keeps from going before pods of a lower [Tier]: they are
// unassigned, pending or not ready. Take them, too, or wait until they are ready.
func BlockedPods(active []*corev1.Pod, options ...Option) ([]Blocked, error) {
	r := NewRanker(options...)
	_, pairs, err := r.steer(active)
	if err != nil {
		return nil, err
	}
	var blocked []Blocked
	for _, pair := range pairs {
		blocked = append(blocked, Blocked{active[pair.Pod], active[pair.Before], cpodrank.RuleName(pair.Rule)})
	}
	return blocked, nil
}

// A NoRoomError says that fixed deletion costs leave no costs such that one pod has a lower one than another, with one for each
// tier between. At least one of the two is fixed.
type NoRoomError struct {
	// Lower is the pod of the lower tier, Higher that of the higher.
	Lower, Higher *corev1.Pod
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("podrank: the fixed deletion costs leave none for %s/%s that is lower than that of %s/%s, with one for "+
		"each tier between: do not fix both", e.Lower.Namespace, e.Lower.Name, e.Higher.Namespace, e.Higher.Name)
}

func (r *Ranker) steer(active []*corev1.Pod) ([]int32, []cpodrank.Blocked, error) {
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
	costs, blocked := make([]int32, len(active)), make([]cpodrank.Blocked, len(active))
	steered, err := cpodrank.Steer(r.records, r.settings.options(), fixed, costs, blocked)
	if errors.Is(err, cpodrank.ErrNoRoom) {
		err = &NoRoomError{Lower: active[steered.Lower], Higher: active[steered.Higher]}
	}
	return costs, blocked[:steered.Blocked], err
}

// setTier puts a record into its tier.
func (s *settings) setTier(record *cpodrank.Record, pod *corev1.Pod) error {
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
