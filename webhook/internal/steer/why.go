package steer

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/webhook/internal/decide"
)

// The rules that a policy adds. A preference of the policy is "deleteFirst[0]" and so on. All other rules are those of
// decide.
const (
	// NotAvailable: the pod of an old ReplicaSet is not available.
	NotAvailable = "not-available"
	// ByValue: within an entry, the pod is deleted by its value.
	ByValue = "value"
	// noRule is for pods of one UID, which no API server has.
	noRule = "uid"
)

// A Why is the rule by which a pod is deleted before the first that is kept.
type Why struct {
	Rule string
	// Value is the value of the pod, if the rule compares values.
	Value *float64
}

// why turns tiers into what the policy says. The first tier is not one of the policy: see question.
func (f *fall) why(pod *corev1.Pod, why decide.Why) Why {
	if why.Rule != decide.Tier {
		return Why{Rule: cmp.Or(why.Rule, noRule)}
	}
	if why.Of == 0 {
		return Why{Rule: NotAvailable}
	}
	if of := f.entry(int(why.Of) - 1); of < f.entry(int(why.Than)-1) {
		return Why{Rule: fmt.Sprintf("deleteFirst[%d]", of)}
	}
	// Those without a value go last in their entry.
	return Why{Rule: ByValue, Value: new(f.order.Values[pod.UID])}
}

// entry is the entry of the policy whose pods have a tier: rank has moved those behind the values.
func (f *fall) entry(tier int) int {
	if f.order == nil || tier <= f.chosen.OfTier {
		return tier
	}
	return max(f.chosen.OfTier, tier-f.order.Last)
}
