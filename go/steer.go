package podrank

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// WithTier gives each pod a number from 0 to 65535. Pods of a lower tier are deleted before those of a higher one. Only
// the rules before the deletion cost come earlier: unassigned, pending and not ready pods are deleted first. Kubernetes
// has no tiers, so with [Kubernetes] they only decide between possible pods. [Steer] makes Kubernetes follow them. By
// default, all pods are in one tier. [Predict] and [Probabilities] do not accept it.
func WithTier(of func(*corev1.Pod) int) Option {
	return give(givenTier, of != nil, "WithTier: of", func(s *settings) { s.tier = of })
}

// WithFixed reports whether [Steer] keeps a pod's deletion cost, for instance because another program wrote it. By
// default, no cost is fixed. Only Steer and [UnsteerablePods] accept it.
func WithFixed(is func(*corev1.Pod) bool) Option {
	return give(givenFixed, is != nil, "WithFixed: is", func(s *settings) { s.fixed = is })
}

// WithPrice sets the price of changing a pod's deletion cost, a weight from 1 to 254. [Steer] minimizes the sum. By default, the
// price is 1 for all pods, so that the fewest costs change. If you later remove the costs of the pods that are kept,
// set their price to 2. Then Steer needs the fewest requests. Only Steer and [UnsteerablePods] accept it.
func WithPrice(of func(*corev1.Pod) int) Option {
	return give(givenPrice, of != nil, "WithPrice: of", func(s *settings) { s.price = of })
}

// A Change is a new deletion cost for a pod.
type Change struct {
	// Pod is the pod.
	Pod *corev1.Pod
	// Cost is the number to write, in decimal, into the pod's annotation controller.kubernetes.io/pod-deletion-cost.
	Cost int32
}

// Steer returns the deletion costs that make Kubernetes follow the tiers: with them, every pod of a lower [WithTier] costs less than
// every pod of a higher one, and so is deleted first, at any time and for any number of victims. The prices of the
// changes sum to the least possible (see [WithPrice]), and the new costs are close to the costs that do not change.
// Within a tier, Kubernetes decides by its own rules.
//
// No cost can change what Kubernetes compares before the costs: see [UnsteerablePods].
//
// active are as for [PodsToDelete]. Costs that are [WithFixed] may leave no room for the others: a [NoRoomError]. With
// [WithPodDeletionCost] off no cost has an effect, which is an [ErrOption].
func Steer(active []*corev1.Pod, options ...Option) ([]Change, error) {
	w := begin("Steer", steerApply, options)
	defer w.free()
	costs, _, err := w.steer(active)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i, cost := range costs {
		if cost != w.records[i].DeletionCost {
			changes = append(changes, Change{active[i], cost})
		}
	}
	return slices.Clip(changes), nil
}

// An Unsteerable pod is deleted before one of a lower [WithTier], whatever their costs.
type Unsteerable struct {
	// Pod is the unsteerable pod. It has the higher tier, but is deleted first.
	Pod *corev1.Pod
	// Before is a pod of a lower tier that is deleted after Pod. If there are several, it is one of those that come
	// last by the rules before the tier.
	Before *corev1.Pod
	// Rule is the rule that decides: [RuleUnassigned], [RulePhase] or [RuleNotReady].
	Rule Rule
}

// UnsteerablePods returns the pods that Kubernetes deletes before pods of a lower [WithTier], whatever the deletion
// costs of [Steer]. They are unassigned, pending or not ready. Select them, too, or wait until they are ready.
func UnsteerablePods(active []*corev1.Pod, options ...Option) ([]Unsteerable, error) {
	w := begin("UnsteerablePods", steerApply, options)
	defer w.free()
	_, pairs, err := w.steer(active)
	if err != nil {
		return nil, err
	}
	var unsteerable []Unsteerable
	for _, pair := range pairs {
		unsteerable = append(unsteerable, Unsteerable{active[pair.Pod], active[pair.Before], ruleOf(pair.Rule)})
	}
	return slices.Clip(unsteerable), nil
}

// NoRoomError is the error of [Steer] and [UnsteerablePods] if the deletion costs of [WithFixed] leave no room for the tiers: for two pods, no costs put
// Lower below Higher and leave a distinct cost for each tier in between. At least one of the two is fixed.
type NoRoomError struct {
	// Lower is the pod of the lower tier, and Higher that of the higher tier.
	Lower, Higher *corev1.Pod
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("podrank: the fixed deletion costs leave no room for a lower cost of %s/%s than of %s/%s, with one for "+
		"each tier between: fix fewer", e.Lower.Namespace, e.Lower.Name, e.Higher.Namespace, e.Higher.Name)
}

func (w *work) steer(active []*corev1.Pod) ([]int32, []core.Unsteerable, error) {
	if err := w.load("active", active, nil); err != nil {
		return nil, nil, err
	}
	if w.options.Flags&core.OptionsPodDeletionCostOff != 0 {
		return nil, nil, &cause{"podrank: with WithPodDeletionCost(false), no deletion cost has an effect: leave it out", ErrOption}
	}
	prices, err := w.settings.prices(active)
	if err != nil {
		return nil, nil, err
	}
	costs, unsteerable := make([]int32, len(active)), make([]core.Unsteerable, len(active))
	steered, err := engine.Current.Steer(w.records, w.options, prices, costs, unsteerable)
	if errors.Is(err, core.ErrNoRoom) {
		err = &NoRoomError{Lower: active[steered.Lower], Higher: active[steered.Higher]}
	}
	return costs, unsteerable[:steered.Unsteerable], err
}

// prices are what changing each pod's cost is worth.
func (s *settings) prices(active []*corev1.Pod) ([]uint8, error) {
	if s.fixed == nil && s.price == nil {
		return nil, nil
	}
	prices := make([]uint8, len(active))
	for i, pod := range active {
		price := 1
		if s.price != nil {
			price = s.price(pod)
		}
		if price < 1 || price >= core.SteerPriceFixed {
			return nil, errPod("active", i, pod, errRange("price", int64(price), 1, core.SteerPriceFixed-1))
		}
		if s.fixed != nil && s.fixed(pod) {
			price = core.SteerPriceFixed
		}
		prices[i] = uint8(price)
	}
	return prices, nil
}

// setTier puts a record into its tier.
func (s *settings) setTier(record *core.Pod, pod *corev1.Pod) error {
	if s.tier == nil {
		return nil
	}
	tier := s.tier(pod)
	if tier < 0 || tier > math.MaxUint16 {
		return errRange("tier", int64(tier), 0, math.MaxUint16)
	}
	record.Tier = uint16(tier)
	return nil
}
