package plain

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/podrank/podrank/go/internal/core"
)

// An entry is what Kubernetes compares of a pod, in its four steps. Pods that are equal in a step have the same
// number there, and smaller numbers are deleted first. If two pods have the same age, but not the same time, the UIDs
// decide.
type entry struct {
	// readyAge numbers everything up to the bucket of the ready time, readyTime what is equal up to the ready time.
	readyAge, readyTime uint32
	// creationAge numbers everything from there to the bucket of the creation time, creationTime what is equal up to
	// the creation time.
	creationAge, creationTime uint32
	uid, index                uint32
}

// A prediction is the memory of one call.
type prediction struct {
	policy
	records []core.Pod
	list    []head
	entries []entry
	scores  []uint64
}

var predictionPool = sync.Pool{New: func() any { return new(prediction) }}

func newPrediction(records []core.Pod, options core.Options) *prediction {
	p, n := predictionPool.Get().(*prediction), len(records)
	p.policy, p.records = policyOf(options), records
	p.list = slices.Grow(p.list[:0], n)[:n]
	p.entries = slices.Grow(p.entries[:0], n)[:n]
	p.scores = slices.Grow(p.scores[:0], n)[:n]
	p.enter()
	return p
}

func (p *prediction) free() {
	p.records = nil
	predictionPool.Put(p)
}

// Predict finds the group in which the first k pods end: only some of its pods are deleted.
func (Engine) Predict(records []core.Pod, options core.Options, k int, order []uint32, _ []uint64) (
	certain, possible int, err error,
) {
	p := newPrediction(records, options)
	defer p.free()
	certain, possible = p.predict(k, order)
	return certain, possible, nil
}

func (p *prediction) predict(k int, order []uint32) (certain, possible int) {
	p.groups(order, func(start, end int) {
		switch {
		case end <= k:
			certain = end
		case start < k:
			certain, possible = start, end-start
		}
	})
	return certain, possible
}

// groups writes the indices of all pods, group by group, and in a group by the order. It calls do with the start and
// the end of each group. Groups are what Kubernetes' comparison puts in one order, whatever the list: the strongly
// connected components of the graph in which a pod points to each pod that it is not after.
//
// Each pair of pods adds 2 to the scores. So the first m pods by score are whole groups if and only if their scores
// sum to m(m-1): a larger sum comes from pods outside that are before one of them.
func (p *prediction) groups(order []uint32, do func(start, end int)) {
	p.score()
	p.sortBy(func(i int) (first, second, third uint64) { return p.scores[i], 0, 0 })
	start, sum := 0, uint64(0)
	for i := range p.list {
		sum += p.list[i].first
		end := i + 1
		if sum != uint64(end)*uint64(i) {
			continue
		}
		p.sortGroup(p.list[start:end])
		do(start, end)
		start = end
	}
	for i := range p.list {
		order[i] = p.list[i].index()
	}
}

// sortGroup sorts the pods of a group by the order.
func (p *prediction) sortGroup(group []head) {
	if len(group) < 2 {
		return
	}
	for i := range group {
		group[i] = p.headOf(p.records, group[i].index())
	}
	p.sortFirst(p.records, group, len(group))
}

// sortBy sorts the list by a key of each pod, of which the lower half of the third number is 0. Keys are exact: two
// pods tie if and only if their keys are equal.
func (p *prediction) sortBy(key func(index int) (first, second, third uint64)) {
	for i := range p.list {
		first, second, third := key(i)
		p.list[i] = head{first, second, third | uint64(i)}
	}
	sortAll(p.list)
}

// enter numbers what Kubernetes compares.
func (p *prediction) enter() {
	for i := range p.entries {
		p.entries[i] = entry{index: uint32(i)}
	}
	p.sortBy(p.readyAgeKey)
	p.number(func(e *entry, number uint32) { e.readyAge = number })
	p.sortBy(func(i int) (first, second, third uint64) {
		pod := &p.records[i]
		return uint64(^pod.Restarts)<<32 | uint64(^pod.SidecarRestarts), p.kubernetesAge(pod.CreationTime), 0
	})
	p.number(func(e *entry, number uint32) { e.creationAge = number })
	p.sortBy(func(i int) (first, second, third uint64) {
		uid := &p.records[i].UID
		return binary.BigEndian.Uint64(uid[:]), binary.BigEndian.Uint64(uid[8:]), 0
	})
	p.number(func(e *entry, number uint32) { e.uid = number })
}

// number numbers the runs of equal keys of the sorted list.
func (p *prediction) number(set func(e *entry, number uint32)) {
	eachRun(p.list, ties, func(number int, run []head) {
		for i := range run {
			set(&p.entries[run[i].index()], uint32(number))
		}
	})
}

// readyAgeKey has the values of the rules that Kubernetes has up to the ready time: 4 bits, 32, 32 and 64.
func (p *prediction) readyAgeKey(i int) (first, second, third uint64) {
	pod := &p.records[i]
	first = class(pod)<<60 | uint64(^pod.Rank)>>4
	if p.hasCosts {
		first |= cost(pod) << 28
	}
	age := uint64(0)
	if isReady(pod) {
		age = p.kubernetesAge(pod.ReadyTime)
	}
	return first, uint64(^pod.Rank)<<60 | age>>4, age << 60 >> 28
}

// score gives each pod 2 for every pod that is before it, and 1 for every pod that ties with it. In a sorted list,
// that is the sum of the positions at which the pods that are equal to it start and end.
//
// Kubernetes orders pods by their ready age and then by UID, so the positions in that order are added first. But pods
// with equal ready times are ordered by their creation age and then by UID. So what their UIDs gave them among each
// other is subtracted, and the positions in the other order are added. The same is done with equal creation times,
// where pods tie.
func (p *prediction) score() {
	clear(p.scores)
	uid := func(i int) uint64 { return uint64(p.entries[i].uid) << 32 }
	equal := func(a, b *head) bool { return a.first == b.first && a.second == b.second }

	p.sortBy(func(i int) (first, second, third uint64) { return uint64(p.entries[i].readyAge), 0, uid(i) })
	p.addPositions(p.list, 1)

	p.sortBy(func(i int) (first, second, third uint64) {
		if pod := &p.records[i]; isReady(pod) {
			second = latestFirst(pod.ReadyTime)
		}
		return uint64(p.entries[i].readyAge), second, uid(i)
	})
	eachRun(p.list, equal, func(number int, run []head) {
		p.addPositions(run, -1)
		for i := range run {
			p.entries[run[i].index()].readyTime = uint32(number)
		}
	})

	creationAge := func(i int) uint64 { return uint64(p.entries[i].readyTime)<<32 | uint64(p.entries[i].creationAge) }
	p.sortBy(func(i int) (first, second, third uint64) { return creationAge(i), 0, uid(i) })
	sameReadyTime := func(a, b *head) bool { return a.first>>32 == b.first>>32 }
	eachRun(p.list, sameReadyTime, func(_ int, run []head) { p.addPositions(run, 1) })

	p.sortBy(func(i int) (first, second, third uint64) {
		return creationAge(i), latestFirst(p.records[i].CreationTime), uid(i)
	})
	eachRun(p.list, equal, func(number int, run []head) {
		p.addPositions(run, -1)
		for i := range run {
			p.entries[run[i].index()].creationTime = uint32(number)
			p.scores[run[i].index()] += uint64(len(run) - 1)
		}
	})
}

// addPositions adds to the score of each pod of a sorted list the sum of the positions at which the pods that tie
// with it start and end, or subtracts it if the sign is -1.
func (p *prediction) addPositions(list []head, sign int) {
	start := 0
	eachRun(list, ties, func(_ int, run []head) {
		for i := range run {
			p.scores[run[i].index()] += uint64(sign * (2*start + len(run) - 1))
		}
		start += len(run)
	})
}
