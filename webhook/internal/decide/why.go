package decide

import podrank "github.com/podrank/podrank/go"

// The rules that replace those of podrank where a policy decides otherwise than Kubernetes. All other rules have
// podrank's names.
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

// why is why a victim is deleted, with the policy's tiers in place of those that make whole nodes empty or spread.
func (q *Question) why(victim podrank.Victim) Why {
	why := Why{string(victim.Rule), victim.Of, victim.Than}
	if victim.Rule == podrank.RuleTier {
		why.Of, why.Than = int64(q.Tier(victim.Pod)), int64(q.Tier(victim.Before))
	}
	switch isSplit := why.Rule == Tier && why.Of == why.Than; {
	case isSplit && q.Empty != nil:
		return Why{Rule: EmptiesNode}
	case isSplit, victim.Rule == podrank.RuleRank && q.Empty == nil && len(q.Domains) > 0:
		return Why{Rule: Spread}
	}
	return why
}
