package engine

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

// The functions in this file are written from docs/how-kubernetes-picks-pods.md, and share no code with an engine. They are slow, and the
// laws compare the engines with them.

// A naive rule compares two pods: -1 if a is deleted first.
type naiveRule struct {
	number  uint8
	compare func(a, b *core.Pod) int
}

// has is 1 if the pod has a flag.
func has(pod *core.Pod, flag uint8) int { return min(int(pod.Flags&flag), 1) }

func bothReady(a, b *core.Pod) bool { return has(a, core.PodReady)+has(b, core.PodReady) == 2 }

// naiveRules are the rules of the order.
func naiveRules(options core.Options) []naiveRule {
	never := func(a, b *core.Pod) int { return 0 }
	rules := []naiveRule{
		{core.RuleUnassigned, func(a, b *core.Pod) int { return has(a, core.PodAssigned) - has(b, core.PodAssigned) }},
		{core.RulePhase, func(a, b *core.Pod) int { return cmp.Compare(a.Phase, b.Phase) }},
		{core.RuleNotReady, func(a, b *core.Pod) int { return has(a, core.PodReady) - has(b, core.PodReady) }},
		{core.RuleTier, func(a, b *core.Pod) int { return cmp.Compare(a.Tier, b.Tier) }},
		{core.RuleDeletionCost, func(a, b *core.Pod) int { return cmp.Compare(a.DeletionCost, b.DeletionCost) }},
		{core.RuleRank, func(a, b *core.Pod) int { return cmp.Compare(b.Rank, a.Rank) }},
		{core.RulePreferred, func(a, b *core.Pod) int { return has(b, core.PodPreferred) - has(a, core.PodPreferred) }},
		{core.RuleReadyTime, func(a, b *core.Pod) int {
			if !bothReady(a, b) {
				return 0
			}
			return youngestFirst(options, a.ReadyTime, b.ReadyTime)
		}},
		{core.RuleRestarts, func(a, b *core.Pod) int { return cmp.Compare(b.Restarts, a.Restarts) }},
		{core.RuleSidecarRestarts, func(a, b *core.Pod) int { return cmp.Compare(b.SidecarRestarts, a.SidecarRestarts) }},
		{core.RuleCreationTime, func(a, b *core.Pod) int { return youngestFirst(options, a.CreationTime, b.CreationTime) }},
		{core.RuleUID, func(a, b *core.Pod) int { return bytes.Compare(a.UID[:], b.UID[:]) }},
	}
	if options.Flags&core.OptionsPodDeletionCostOff != 0 {
		rules[4].compare = never
	}
	if options.Flags&core.OptionsPreferForScaleDownOn == 0 {
		rules[6].compare = never
	}
	return rules
}

// hasBuckets is whether ages count by their powers of two.
func hasBuckets(options core.Options) bool {
	return options.Flags&core.OptionsNow != 0 &&
		options.Flags&core.OptionsLogarithmicScaleDownOff == 0
}

// youngestFirst compares two times: an unset one is first, and then the later one.
func youngestFirst(options core.Options, a, b int64) int {
	if a == core.TimeUnset || b == core.TimeUnset || !hasBuckets(options) {
		if a == core.TimeUnset || b == core.TimeUnset {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(b, a)
	}
	bucket := func(time int64) int {
		age := age(options, time)
		if age <= 0 {
			return -1
		}
		return big.NewInt(age).BitLen()
	}
	return cmp.Compare(bucket(a), bucket(b))
}

// age is how long ago a time is, cut to 64 bits as Go does.
func age(options core.Options, time int64) int64 {
	age := new(big.Int).Sub(big.NewInt(options.Now), big.NewInt(time))
	if !age.IsInt64() {
		return map[int]int64{1: math.MaxInt64, -1: math.MinInt64}[age.Sign()]
	}
	return age.Int64()
}

// naiveOrder says which of two pods is deleted first, and by which rule.
func naiveOrder(options core.Options, a, b *core.Pod) (first int, rule uint8) {
	for _, rule := range naiveRules(options) {
		if first := rule.compare(a, b); first != 0 {
			return first, rule.number
		}
	}
	return 0, core.RuleNone
}

// naiveSort lists the indices of pods in the order.
func naiveSort(options core.Options, pods []core.Pod) []uint32 {
	order := indices(len(pods))
	slices.SortStableFunc(order, func(a, b uint32) int {
		first, _ := naiveOrder(options, &pods[a], &pods[b])
		return first
	})
	return order
}

func indices(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// naiveKubernetes says which of two pods Kubernetes deletes first, as its ActivePodsWithRanks.
func naiveKubernetes(options core.Options, a, b *core.Pod) (first int, rule uint8) {
	bucket := func(time int64) int64 {
		if age := age(options, time); age > 0 {
			return int64(math.Log2(float64(age)))
		}
		return -1
	}
	for _, rule := range naiveRules(options) {
		times := [2]int64{}
		switch rule.number {
		case core.RuleTier, core.RulePreferred:
			continue
		case core.RuleUID:
			return 0, core.RuleNone
		case core.RuleReadyTime:
			if bothReady(a, b) {
				times = [2]int64{a.ReadyTime, b.ReadyTime}
			}
		case core.RuleCreationTime:
			times = [2]int64{a.CreationTime, b.CreationTime}
		}
		first := rule.compare(a, b)
		if times[0] != times[1] && hasBuckets(options) && times[0] != core.TimeUnset && times[1] != core.TimeUnset {
			first = cmp.Compare(bucket(times[0]), bucket(times[1]))
			if first == 0 {
				first, rule.number = bytes.Compare(a.UID[:], b.UID[:]), core.RuleUID
				if first == 0 {
					return 0, core.RuleNone
				}
			}
		}
		if first != 0 {
			return first, rule.number
		}
	}
	return 0, core.RuleNone
}

// A group is where a pod's strongly connected component starts, and how many pods it has.
type group struct{ start, size int }

// naiveGroups finds for each pod its component of the graph in which each pod points to those that it is not after.
func naiveGroups(options core.Options, pods []core.Pod) []group {
	n := len(pods)
	reaches := make([][]bool, n)
	for a := range pods {
		reaches[a] = make([]bool, n)
		for b := range pods {
			first, _ := naiveKubernetes(options, &pods[a], &pods[b])
			reaches[a][b] = first <= 0
		}
	}
	for via := range n {
		for a := range n {
			for b := range n {
				reaches[a][b] = reaches[a][b] || reaches[a][via] && reaches[via][b]
			}
		}
	}
	groups := make([]group, n)
	for pod := range n {
		for other := range n {
			switch {
			case reaches[other][pod] && reaches[pod][other]:
				groups[pod].size++
			case reaches[other][pod]:
				groups[pod].start++
			}
		}
	}
	return groups
}
