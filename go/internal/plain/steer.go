package plain

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

// Number the tiers that have pods 0, 1, 2 and so on, and let a pod's offset be its cost minus the number of its tier.
// Two pods of different tiers can both keep their costs if their offsets do not decrease from the lower tier to the
// higher one: then the costs leave a number for each tier between them. So of the pods in the order of tier and cost,
// those that keep their costs are a subsequence in which the offset never decreases. The changes cost the least if
// the prices of that subsequence sum to the most.

// A costed pod is what Steer knows of it.
type costed struct {
	index uint32
	// tier is the tier's number.
	tier, offset int64
	// keeps is whether the cost does not change, and fixed is whether it must not.
	keeps, fixed bool
	price        uint32
	// total is the largest sum of prices of a subsequence that ends with this pod.
	total uint32
}

// Steer writes deletion costs that follow the tiers.
func (Engine) Steer(
	records []core.Pod, options core.Options, prices []uint8, costs []int32, unsteerable []core.Unsteerable,
) (steered core.Steered, err error) {
	if options.Flags&core.OptionsPodDeletionCostOff != 0 {
		return steered, errors.New("podrank: the feature gate PodDeletionCost is off")
	}
	list := sortByCost(records, prices)
	if steered, err = markKeepable(list); err != nil {
		return steered, err
	}
	keepHeaviest(list)
	steered.Changed = writeCosts(list, costs)
	steered.Unsteerable = findUnsteerable(records, list, unsteerable)
	return steered, nil
}

// sortByCost lists the pods by tier, cost and UID.
func sortByCost(records []core.Pod, prices []uint8) []costed {
	list := make([]costed, len(records))
	for i := range list {
		list[i] = costed{index: uint32(i), price: 1}
		if len(prices) > 0 {
			list[i].fixed = prices[i] == core.SteerPriceFixed
			list[i].price = priceOf(prices[i])
		}
		// So the sum of all prices has 32 bits.
		list[i].price = min(list[i].price, uint32(math.MaxUint32/uint64(len(records))))
	}
	slices.SortFunc(list, func(x, y costed) int {
		a, b := &records[x.index], &records[y.index]
		if a.Tier != b.Tier || a.DeletionCost != b.DeletionCost {
			return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.DeletionCost, b.DeletionCost))
		}
		return cmp.Or(bytes.Compare(a.UID[:], b.UID[:]), cmp.Compare(x.index, y.index))
	})
	tier := int64(0)
	for i := range list {
		if i > 0 && records[list[i].index].Tier != records[list[i-1].index].Tier {
			tier++
		}
		list[i].tier, list[i].offset = tier, int64(records[list[i].index].DeletionCost)-tier
	}
	return list
}

// priceOf is the price of a number in the list of prices: 0 is 1, and a fixed cost, which is never changed, has any
// price.
func priceOf(number uint8) uint32 {
	if number == core.SteerPriceFixed {
		return 1
	}
	return max(uint32(number), 1)
}

// markKeepable marks the pods whose cost is compatible with all fixed costs, and leaves room for the tiers below and
// above. The error says between which two pods there is no room.
func markKeepable(list []costed) (conflict core.Steered, err error) {
	if len(list) == 0 {
		return conflict, nil
	}
	least, below := int64(math.MinInt32), list[0].index
	for i := range list {
		pod := &list[i]
		pod.keeps = pod.offset >= least
		if pod.fixed {
			if !pod.keeps {
				return core.Steered{Lower: below, Higher: pod.index}, core.ErrNoRoom
			}
			least, below = pod.offset, pod.index
		}
	}
	top := list[len(list)-1]
	most, above := math.MaxInt32-top.tier, top.index
	for i := range list {
		pod := &list[len(list)-1-i]
		fits := pod.offset <= most
		pod.keeps = pod.keeps && fits
		if pod.fixed {
			if !fits {
				return core.Steered{Lower: pod.index, Higher: above}, core.ErrNoRoom
			}
			most, above = pod.offset, pod.index
		}
	}
	return conflict, nil
}

// keepHeaviest leaves the mark on those pods alone whose prices sum to the most. Pods with fixed costs are all among
// them: each marked pod is compatible with them, so a subsequence without one of them would not be the heaviest.
func keepHeaviest(list []costed) {
	var offsets []int64
	for i := range list {
		if list[i].keeps {
			offsets = append(offsets, list[i].offset)
		}
	}
	slices.Sort(offsets)
	offsets = slices.Compact(offsets)
	// tree has for each offset the largest total up to it: a Fenwick tree of maxima.
	tree, heaviest := make([]uint32, len(offsets)+1), uint32(0)
	for i := range list {
		pod := &list[i]
		if !pod.keeps {
			continue
		}
		at, _ := slices.BinarySearch(offsets, pod.offset)
		for node := at + 1; node > 0; node &= node - 1 {
			pod.total = max(pod.total, tree[node])
		}
		pod.total += pod.price
		for node := at + 1; node < len(tree); node += node & -node {
			tree[node] = max(tree[node], pod.total)
		}
		heaviest = max(heaviest, pod.total)
	}
	// From the end, so that of equal sums one with higher tiers is kept: these pods are not deleted, and a cost that
	// is written on them has to be removed again.
	rest, end := heaviest, int64(math.MaxInt64)
	for i := range list {
		pod := &list[len(list)-1-i]
		pod.keeps = rest > 0 && pod.total == rest && pod.offset <= end
		if pod.keeps {
			rest, end = rest-pod.price, pod.offset
		}
	}
}

// eachTier calls do with the pods of each tier.
func eachTier(list []costed, do func(tier []costed)) {
	sameTier := func(a, b *costed) bool { return a.tier == b.tier }
	eachRun(list, sameTier, func(_ int, run []costed) { do(run) })
}

// writeCosts writes the costs, and returns how many of them change. A new cost is near those that do not change.
func writeCosts(list []costed, costs []int32) (changed uint32) {
	keeps := func(pod costed) bool { return pod.keeps }
	// The tiers below the first cost that does not change get lower costs.
	offset := int64(0)
	if first := slices.IndexFunc(list, keeps); first >= 0 {
		offset = list[first].offset
	}
	eachTier(list, func(tier []costed) {
		if first := slices.IndexFunc(tier, keeps); first >= 0 {
			offset = tier[first].offset
		}
		next := offset
		for i := range tier {
			pod := &tier[i]
			if pod.keeps {
				costs[pod.index] = int32(pod.offset + pod.tier)
				next = pod.offset
			} else {
				costs[pod.index] = int32(offset + pod.tier)
				changed++
			}
		}
		offset = next
	})
	return changed
}

// findUnsteerable writes which pods are deleted before one of a lower tier, whatever they cost, and returns how many
// there are.
func findUnsteerable(records []core.Pod, list []costed, unsteerable []core.Unsteerable) (count uint32) {
	var p policy
	// last is one of the pods of lower tiers that are deleted last by the rules before the tier.
	var last *core.Pod
	var lastIndex uint32
	eachTier(list, func(tier []costed) {
		next, nextIndex := last, lastIndex
		for i := range tier {
			index := tier[i].index
			pod := &records[index]
			if next == nil || class(pod) > class(next) {
				next, nextIndex = pod, index
			}
			if last == nil || class(pod) >= class(last) {
				continue
			}
			if int(count) < len(unsteerable) {
				_, rule := p.decide(beforeTier, pod, last)
				unsteerable[count] = core.Unsteerable{Pod: index, Before: lastIndex, Rule: rule}
			}
			count++
		}
		last, lastIndex = next, nextIndex
	})
	return count
}
