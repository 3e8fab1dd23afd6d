// Package plain is podrank's engine in Go alone, for programs without cgo. It gives the same answers as libpodrank:
// the tests of internal/engine compare the two, and hold both to the same laws.
//
//	order.go          the rules, and which of two pods is deleted first
//	select.go         the first k pods of the order
//	sort.go           the sort of select.go and predict.go
//	kubernetes.go     which of two pods Kubernetes deletes first
//	predict.go        which pods Kubernetes deletes in every list order
//	probabilities.go  with what probability it deletes each possible pod
//	steer.go          deletion costs that make Kubernetes follow the tiers
//	nodes.go          ranks and tiers that depend on the nodes
//	explain.go        what every rule says about two pods
//
// The crate podrank has the same functions in Rust, in core/src, with their proofs in its comments.
package plain

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

// An Engine is this package. [core.Engine] says what its methods do.
type Engine struct{}

var _ core.Engine = Engine{}

// Name is this engine's.
func (Engine) Name() string { return "plain" }

// Version is the release of podrank.
func (Engine) Version() string { return core.Version }

// rules are all rules, in the order in which they apply.
var rules = [...]uint8{
	core.RuleUnassigned, core.RulePhase, core.RuleNotReady, core.RuleTier, core.RuleDeletionCost, core.RuleRank,
	core.RulePreferred, core.RuleReadyTime, core.RuleRestarts, core.RuleSidecarRestarts, core.RuleCreationTime, core.RuleUID,
}

// The rules before the tier, and those from the ready time on.
var (
	beforeTier    = rules[:slices.Index(rules[:], core.RuleTier)]
	fromReadyTime = rules[slices.Index(rules[:], core.RuleReadyTime):]
)

// A policy has the time and the gates on which the order depends.
type policy struct {
	now int64
	// hasBuckets is whether ages are compared by their powers of two, and not exactly.
	hasBuckets        bool
	hasCosts, prefers bool
}

func policyOf(options core.Options) policy {
	hasNow := options.Flags&core.OptionsNow != 0
	return policy{
		now:        options.Now,
		hasBuckets: hasNow && options.Flags&core.OptionsLogarithmicScaleDownOff == 0,
		hasCosts:   options.Flags&core.OptionsPodDeletionCostOff == 0,
		prefers:    options.Flags&core.OptionsPreferForScaleDownOn != 0,
	}
}

func isAssigned(pod *core.Pod) bool { return pod.Flags&core.PodAssigned != 0 }
func isReady(pod *core.Pod) bool    { return pod.Flags&core.PodReady != 0 }

// flag is 1 if the pod has this flag, and 0 if not.
func flag(pod *core.Pod, flag uint8) uint64 {
	if pod.Flags&flag != 0 {
		return 1
	}
	return 0
}

// class has the values of the rules before the tier: 1 bit, 2 and 1.
func class(pod *core.Pod) uint64 {
	return flag(pod, core.PodAssigned)<<3 | uint64(pod.Phase)<<1 | flag(pod, core.PodReady)
}

// value is what a rule gives a pod, and whether the rule applies. The pod with the smaller value is deleted first.
// The value of the UID has 128 bits, so compareBy compares it. A rule that applies to one of two pods alone is never
// reached: an earlier rule has decided.
func (p *policy) value(rule uint8, pod *core.Pod) (value uint64, applies bool) {
	switch rule {
	case core.RuleUnassigned:
		return flag(pod, core.PodAssigned), true
	case core.RulePhase:
		return uint64(pod.Phase), true
	case core.RuleNotReady:
		return flag(pod, core.PodReady), true
	case core.RuleTier:
		return uint64(pod.Tier), true
	case core.RuleDeletionCost:
		return cost(pod), p.hasCosts
	case core.RuleRank:
		return uint64(^pod.Rank), true
	case core.RulePreferred:
		return 1 - flag(pod, core.PodPreferred), p.prefers
	case core.RuleReadyTime:
		return p.age(pod.ReadyTime), isReady(pod)
	case core.RuleRestarts:
		return uint64(^pod.Restarts), true
	case core.RuleSidecarRestarts:
		return uint64(^pod.SidecarRestarts), true
	case core.RuleCreationTime:
		return p.age(pod.CreationTime), true
	}
	return 0, true
}

// cost is the deletion cost as an unsigned number in the same order.
func cost(pod *core.Pod) uint64 { return uint64(uint32(pod.DeletionCost) ^ 1<<31) }

// age is 0 for an unset time, and larger the earlier the time is. With buckets, it is 1 for a time that is not before
// now, and 2 more than the exponent of the largest power of two in the age in nanoseconds.
func (p *policy) age(time int64) uint64 {
	switch {
	case !p.hasBuckets || time == core.TimeUnset:
		return latestFirst(time)
	case time >= p.now:
		return 1
	}
	return uint64(bits.Len64(p.elapsed(time))) + 1
}

// elapsed are the nanoseconds from a time before now, at most 2^63-1.
func (p *policy) elapsed(time int64) uint64 { return min(uint64(p.now)-uint64(time), 1<<63-1) }

// latestFirst is 0 for an unset time, 1 for the latest time, and larger the earlier the time is.
func latestFirst(time int64) uint64 { return uint64(core.TimeUnset - time) }

// decide is -1 if a is deleted first by these rules, 1 if b is, and 0 if all rules tie. rule is the one that decides.
func (p *policy) decide(rules []uint8, a, b *core.Pod) (first int, rule uint8) {
	for _, rule := range rules {
		if first := p.compareBy(rule, a, b); first != 0 {
			return first, rule
		}
	}
	return 0, core.RuleNone
}

// compareBy compares by one rule.
func (p *policy) compareBy(rule uint8, a, b *core.Pod) int {
	if rule == core.RuleUID {
		return bytes.Compare(a.UID[:], b.UID[:])
	}
	x, aApplies := p.value(rule, a)
	y, bApplies := p.value(rule, b)
	if !aApplies || !bApplies {
		return 0
	}
	return cmp.Compare(x, y)
}
