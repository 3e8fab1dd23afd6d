package decide

import (
	"cmp"
	"maps"
	"slices"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// withForeignCosts returns the active pods as they would be without the costs of this program.
func (q *Question) withForeignCosts() []*corev1.Pod {
	active := slices.Clone(q.Active)
	for i, pod := range active {
		if q.IsOurs(pod) {
			copied := *pod
			// "" counts as 0, as no cost does.
			copied.Annotations = map[string]string{corev1.PodDeletionCost: q.ForeignCost(pod)}
			active[i] = &copied
		}
	}
	return active
}

// noRanks are for pods whose tiers say what ranks would.
var noRanks = podrank.WithRanks(func(*corev1.Pod) int { return 0 })

// spread returns tiers of the active pods such that the spread decides first within the policy's tiers, and the costs
// after it. In Kubernetes' order, and so in podrank.WithSpread, the costs come first. Each pod comes from the domain
// that has the most remaining pods when its turn comes, so its tier is the number of pods that remain in its domain
// then, itself included.
func (q *Question) spread(active []*corev1.Pod) (func(*corev1.Pod) int, error) {
	tiers := make(map[types.UID]int, len(active))
	for _, pod := range active {
		tiers[pod.UID] = q.Tier(pod)
	}
	tier := func(pod *corev1.Pod) int { return tiers[pod.UID] }
	for _, domain := range q.Domains {
		order, err := podrank.PodsToDelete(active, nil, len(active), podrank.WithNow(q.Now), podrank.WithTier(tier), noRanks)
		if err != nil {
			return nil, err
		}
		left := map[string]int{}
		for _, pod := range active {
			left[domain(pod)]++
		}
		for _, pod := range q.Related {
			if _, isActive := tiers[pod.UID]; !isActive {
				left[domain(pod)]++
			}
		}
		type place struct{ tier, left int }
		places := make(map[types.UID]place, len(active))
		for _, pod := range order {
			places[pod.UID] = place{q.Tier(pod), left[domain(pod)]}
			left[domain(pod)]--
		}
		compare := func(a, b place) int { return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.left, a.left)) }
		all := slices.Compact(slices.SortedFunc(maps.Values(places), compare))
		for uid, at := range places {
			tiers[uid], _ = slices.BinarySearchFunc(all, at, compare)
		}
	}
	return tier, nil
}
