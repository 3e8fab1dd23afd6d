package decide

import (
	"slices"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

// The rules that take the place of podrank's where it is told to choose otherwise than Kubernetes. All others have their names there.
const (
	// Tier: the policy wants it. Of and Than are its tiers.
	Tier = string(podrank.RuleTier)
	// Spread: its domain has more pods left.
	Spread = "spread"
	// EmptiesNode: its node becomes empty first.
	EmptiesNode = "empty-nodes"
)

// A Why is the rule by which a pod is deleted before the first that is kept. Of and Than are what the rule looks at in the two.
type Why struct {
	Rule     string
	Of, Than int64
}

// explained are the selected pods, and why they are deleted.
func (q *Question) explained(policy func(*corev1.Pod) int) ([]podrank.Victim, error) {
	victims, err := q.victims(q.ForeignCosts == v1alpha1.Follow, policy)
	isOurs := func(victim podrank.Victim) bool {
		return victim.Rule == podrank.RuleDeletionCost && (q.IsOurs(victim.Pod) || q.IsOurs(victim.Before))
	}
	if err != nil || q.ForeignCosts == v1alpha1.Follow || !slices.ContainsFunc(victims, isOurs) {
		return victims, err
	}
	// A cost of this program is no reason. What made an earlier request write it is, which is what decides without it.
	without, err := q.victims(true, policy)
	reasons := make(map[types.UID]podrank.Victim, len(without))
	for _, victim := range without {
		reasons[victim.Pod.UID] = victim
	}
	for i, victim := range victims {
		if reason, ok := reasons[victim.Pod.UID]; ok && isOurs(victim) {
			victims[i].Rule, victims[i].Of, victims[i].Than = reason.Rule, reason.Of, reason.Than
		}
	}
	return victims, err
}

// why is why a victim is deleted, with the policy's tiers in place of those that make whole nodes empty or spread.
func (q *Question) why(victim podrank.Victim, policy func(*corev1.Pod) int) Why {
	why := Why{string(victim.Rule), victim.Of, victim.Than}
	if victim.Rule == podrank.RuleTier {
		why.Of, why.Than = int64(policy(victim.Pod)), int64(policy(victim.Before))
	}
	switch isSplit := why.Rule == Tier && why.Of == why.Than; {
	case isSplit && q.Empty != nil:
		return Why{Rule: EmptiesNode}
	case isSplit, victim.Rule == podrank.RuleRank && q.Empty == nil && len(q.Domains) > 0:
		return Why{Rule: Spread}
	}
	return why
}
