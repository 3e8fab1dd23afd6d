package plain

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

const (
	// sampleSize is how many lists are sorted if there are too many to sort all.
	sampleSize = 1 << 12
	// seed is where the generator of these lists starts: the same in every call, so that equal pods get equal
	// probabilities.
	seed = 0x9E3779B97F4A7C15
	// insertionSorted is the length up to which Go sorts by insertion. Then the outcome of a group only
	// depends on the list of this group.
	insertionSorted = 12
	// enumerable is the largest group of which every list is sorted.
	enumerable = 7
)

// Probabilities sorts the pods as Kubernetes does, in many lists.
func (Engine) Probabilities(
	records []core.Pod, options core.Options, k int, order []uint32, probabilities []core.Probability,
) (certain, possible int, err error) {
	p := newPrediction(records, options)
	defer p.free()
	certain, possible = p.predict(k, order)
	for _, index := range order[:certain] {
		probabilities[index] = core.Probability{Deleted: 1, Samples: 1}
	}
	for _, index := range order[certain+possible:] {
		probabilities[index] = core.Probability{Deleted: 0, Samples: 1}
	}
	if possible > 0 {
		p.estimate(order[certain:certain+possible], certain, k-certain, probabilities)
	}
	return certain, possible, nil
}

// estimate writes how likely each pod of a group is deleted, which starts at a position of the order, if this many of
// it are.
func (p *prediction) estimate(group []uint32, start, deleted int, probabilities []core.Probability) {
	class := p.classes()
	if !slices.ContainsFunc(group, func(index uint32) bool { return class[index] != class[group[0]] }) {
		for _, index := range group {
			probabilities[index] = core.Probability{Deleted: uint32(deleted), Samples: uint32(len(group))}
		}
		return
	}
	// Pods of a class are alike, so they get the mean of their class.
	deletions, members := make([]uint64, len(p.records)), make([]uint64, len(p.records))
	lists, areAll := p.sortLists(start, len(group), func(sorted []comparand) {
		for _, pod := range sorted[:deleted] {
			deletions[class[pod.index()]]++
		}
	})
	for _, index := range group {
		members[class[index]]++
	}
	for _, index := range group {
		of := share(deletions[class[index]], lists*members[class[index]])
		if !areAll {
			of.StdErrorPpm = standardError(of)
		}
		probabilities[index] = of
	}
}

// share is a fraction of two 32-bit numbers. Only with a million pods that are alike, the denominator has more bits:
// then the lowest of both are dropped.
func share(numerator, denominator uint64) core.Probability {
	excess := bits.Len64(denominator >> 32)
	return core.Probability{Deleted: uint32(numerator >> excess), Samples: uint32(denominator >> excess)}
}

// standardError is that of a share of the sample, in millionths. Pods that share a mean have a smaller one.
func standardError(of core.Probability) uint32 {
	n := of.Deleted / (of.Samples / sampleSize)
	if n == 0 || n == sampleSize {
		// If it happens in none of N lists, its probability is below 3/N with 95% confidence.
		return 3_000_000 / sampleSize
	}
	// sqrt(n/N (1 - n/N) / N), whose root has four binary places, as in Rust.
	return uint32(uint64(math.Sqrt(float64(n*(sampleSize-n)<<8))) * 1_000_000 >> 22)
}

// classes numbers the pods such that pods with the same number relate to every other pod in the same way. They tie.
// Where the UIDs decide, which is between different times of one age, no pod with another time has a UID between
// theirs.
func (p *prediction) classes() []uint32 {
	class, readyClass := make([]uint32, len(p.records)), make([]uint32, len(p.records))
	entryOf := func(h *head) *entry { return &p.entries[h.index()] }
	uid := func(i int) uint64 { return uint64(p.entries[i].uid) << 32 }
	p.sortBy(func(i int) (first, second, third uint64) { return uint64(p.entries[i].readyAge), 0, uid(i) })
	sameReadyTime := func(a, b *head) bool { return entryOf(a).readyTime == entryOf(b).readyTime }
	eachRun(p.list, sameReadyTime, func(number int, run []head) {
		for i := range run {
			readyClass[run[i].index()] = uint32(number)
		}
	})
	p.sortBy(func(i int) (first, second, third uint64) {
		return uint64(readyClass[i])<<32 | uint64(p.entries[i].creationAge), 0, uid(i)
	})
	sameCreationTime := func(a, b *head) bool {
		return a.first == b.first && entryOf(a).creationTime == entryOf(b).creationTime
	}
	eachRun(p.list, sameCreationTime, func(number int, run []head) {
		for i := range run {
			class[run[i].index()] = uint32(number)
		}
	})
	return class
}

// A comparand is an entry in three numbers, each of two parts, which are faster to compare.
type comparand struct{ ready, creation, uidAndIndex uint64 }

func newComparand(e entry) comparand {
	join := func(upper, lower uint32) uint64 { return uint64(upper)<<32 | uint64(lower) }
	return comparand{join(e.readyAge, e.readyTime), join(e.creationAge, e.creationTime), join(e.uid, e.index)}
}

func (c comparand) index() uint32 { return uint32(c.uidAndIndex) }

// compareEntries is Kubernetes' comparison for slices.SortFunc, which takes the same steps as sort.Sort, as
// Kubernetes calls it. It never says that b is before a, because sort.Sort does not ask for that.
func compareEntries(a, b comparand) int {
	var before bool
	switch {
	case a.ready>>32 != b.ready>>32:
		before = a.ready < b.ready
	case a.ready != b.ready:
		before = a.uidAndIndex>>32 < b.uidAndIndex>>32
	case a.creation>>32 != b.creation>>32:
		before = a.creation < b.creation
	default:
		before = a.creation != b.creation && a.uidAndIndex>>32 < b.uidAndIndex>>32
	}
	if before {
		return -1
	}
	return 0
}

// sortLists sorts all lists of a small group, or else random lists of all pods, and calls do with the group of each
// sorted list. The group is at the same positions in each of them. It returns how many lists there were, and whether
// these were all.
func (p *prediction) sortLists(start, length int, do func(sorted []comparand)) (lists uint64, areAll bool) {
	pods := make([]comparand, len(p.entries))
	for i, e := range p.entries {
		pods[i] = newComparand(e)
	}
	group := pods[start : start+length]
	if len(pods) <= insertionSorted && length <= enumerable {
		slices.SortFunc(pods, compareEntries)
		return sortPermutations(group, do), true
	}
	slices.SortFunc(pods, func(a, b comparand) int { return cmp.Compare(a.uidAndIndex, b.uidAndIndex) })
	random := uint64(seed)
	for range sampleSize {
		shuffle(pods, func(n uint64) uint64 {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			return random >> 32 * n >> 32
		})
		slices.SortFunc(pods, compareEntries)
		do(group)
	}
	return sampleSize, false
}

// sortPermutations sorts each permutation of a group, and returns how many there are.
func sortPermutations(group []comparand, do func(sorted []comparand)) (permutations uint64) {
	permutations = 1
	for i := range group {
		permutations *= uint64(i + 1)
	}
	list := make([]comparand, len(group))
	for number := range permutations {
		copy(list, group)
		shuffle(list, func(n uint64) (pick uint64) {
			number, pick = number/n, number%n
			return pick
		})
		slices.SortFunc(list, compareEntries)
		do(list)
	}
	return permutations
}

// shuffle exchanges each item with that of a position up to its own, of which pick chooses one of n.
func shuffle(list []comparand, pick func(n uint64) uint64) {
	for i := range list {
		other := pick(uint64(i + 1))
		list[i], list[other] = list[other], list[i]
	}
}
