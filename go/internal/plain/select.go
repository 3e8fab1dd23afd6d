package plain

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/podrank/podrank/go/internal/core"
)

// The head of a pod holds the values of the rules side by side, the first rule in the highest bits, and so the pod
// with the smaller head is deleted first. There are 160 bits, without the index. Only pods whose heads tie are
// compared by their records.

// headOf is the head of the record with this index.
func (p *policy) headOf(records []core.Pod, index uint32) head {
	pod := &records[index]
	second, ends := p.second(pod)
	return head{p.first(pod), second, third(pod, index, ends)}
}

// first has the values of the rules before the deletion cost, in 4 and 16 bits, that of the deletion cost in 32, and
// the upper 12 bits of that of the rank.
func (p *policy) first(pod *core.Pod) uint64 {
	first := class(pod)<<60 | uint64(pod.Tier)<<44 | uint64(^pod.Rank)>>20
	if p.hasCosts {
		first |= cost(pod) << 12
	}
	return first
}

// second has the values from the lower 20 bits of the rank to the creation time: 20 bits, 1, 7, 16, 12 and 7. It ends
// with the first value that does not fit, and so does the head.
func (p *policy) second(pod *core.Pod) (second uint64, ends bool) {
	const mostRestarts, mostSidecarRestarts = 1<<16 - 1, 1<<12 - 1
	second = uint64(^pod.Rank) << 44
	if p.prefers {
		second |= (1 - flag(pod, core.PodPreferred)) << 43
	}
	age := uint64(0)
	if isReady(pod) {
		age = p.age(pod.ReadyTime)
	}
	if !p.hasBuckets {
		return second | age>>21, true
	}
	second |= age << 36
	if pod.Restarts >= mostRestarts {
		return second, true
	}
	second |= uint64(mostRestarts-pod.Restarts) << 20
	if pod.SidecarRestarts >= mostSidecarRestarts {
		return second, true
	}
	return second | uint64(mostSidecarRestarts-pod.SidecarRestarts)<<8 | p.age(pod.CreationTime)<<1, false
}

// third has the first 32 bits of the UID, unless the head has ended, and the index.
func third(pod *core.Pod, index uint32, ends bool) uint64 {
	if ends {
		return uint64(index)
	}
	return uint64(binary.BigEndian.Uint32(pod.UID[:]))<<32 | uint64(index)
}

// compareTied compares pods whose heads tie. Of pods that tie in every rule, the one with the lower index is deleted
// first.
func (p *policy) compareTied(records []core.Pod, a, b *head) int {
	first, _ := p.decide(fromReadyTime, &records[a.index()], &records[b.index()])
	return cmp.Or(first, cmp.Compare(a.index(), b.index()))
}

// listPool has lists of heads for later calls.
var listPool = sync.Pool{New: func() any { return new([]head) }}

// Select writes the first pods of the order. It collects candidates, which are before the last of the first k pods so
// far. When there are 2k candidates, it drops all but the first k of them. That is rare, unless the list is sorted in
// reverse.
func (Engine) Select(records []core.Pod, options core.Options, selected []uint32, _ *[]core.Scratch) (int, error) {
	p, k := policyOf(options), min(len(selected), len(records))
	if k == 0 {
		return 0, nil
	}
	buffer := listPool.Get().(*[]head)
	defer listPool.Put(buffer)
	capacity := min(2*k, len(records))
	list := slices.Grow((*buffer)[:0], capacity)
	for index := range uint32(capacity) {
		list = append(list, p.headOf(records, index))
	}
	for next := capacity; next < len(records); {
		p.moveFirst(records, list, k)
		list, next = p.candidates(records, next, list[:k], capacity)
	}
	p.sortFirst(records, list, k)
	for i := range k {
		selected[i] = list[i].index()
	}
	*buffer = list
	return k, nil
}

// candidates appends the records from next on that are before the last one of the list, until the list has as many as
// its capacity. It returns the list, and the index of the first record that it has not read.
func (p *policy) candidates(records []core.Pod, next int, list []head, capacity int) ([]head, int) {
	last := list[len(list)-1]
	for ; next < len(records) && len(list) < capacity; next++ {
		pod := &records[next]
		// This excludes most pods, and costs the least.
		first := p.first(pod)
		if first > last.first {
			continue
		}
		second, ends := p.second(pod)
		if first == last.first && second > last.second {
			continue
		}
		candidate := head{first, second, third(pod, uint32(next), ends)}
		if isBefore(&candidate, &last) != 0 || ties(&candidate, &last) && p.compareTied(records, &candidate, &last) < 0 {
			list = append(list, candidate)
		}
	}
	return list, next
}

// sortFirst moves the first k pods to the start of the list, in their order.
func (p *policy) sortFirst(records []core.Pod, list []head, k int) {
	sortRange(list, 0, k, patience(list))
	_, end := gatherTies(list, k)
	eachRun(list[:end], ties, func(_ int, run []head) { p.sortTied(records, run) })
}

// moveFirst moves the first k pods to the start of the list, with the last of them at its end.
func (p *policy) moveFirst(records []core.Pod, list []head, k int) {
	sortRange(list, k-1, k, patience(list))
	start, end := gatherTies(list, k)
	p.sortTied(records, list[start:end])
}

// gatherTies moves the heads that tie with the last of the first k next to it, and returns where they start and end.
func gatherTies(list []head, k int) (start, end int) {
	last := list[k-1]
	start, end = k-1, k
	for i := k - 2; i >= 0; i-- {
		if ties(&list[i], &last) {
			start--
			list[i], list[start] = list[start], list[i]
		}
	}
	for i := k; i < len(list); i++ {
		if ties(&list[i], &last) {
			list[i], list[end] = list[end], list[i]
			end++
		}
	}
	return start, end
}

// sortTied sorts pods whose heads tie.
func (p *policy) sortTied(records []core.Pod, list []head) {
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b head) int { return p.compareTied(records, &a, &b) })
	}
}
