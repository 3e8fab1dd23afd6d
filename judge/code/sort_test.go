package judge

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

// items is a list of samples with upstream's relation. As a sort.Interface, it
// hands everything to upstream's own.
type items struct {
	list []int // indices into all
	all  []sample
	w    *world
}

func (s items) less(i, j int) bool { // of indices into all
	a, b := &s.all[i], &s.all[j]
	return upstream.Less(a.pod, b.pod, a.rank, b.rank, s.w.now)
}

// byUpstream sorts upstream's own sort.Interface and says where each pod went.
func (s items) byUpstream(by func(controller.ActivePodsWithRanks)) {
	u := controller.ActivePodsWithRanks{Now: s.w.now}
	at := make(map[*v1.Pod]int, len(s.list))
	for _, i := range s.list {
		u.Pods, u.Rank = append(u.Pods, s.all[i].pod), append(u.Rank, s.all[i].rank)
		at[s.all[i].pod] = i
	}
	by(u)
	for place, p := range u.Pods {
		s.list[place] = at[p]
	}
}

func insertion(s items) {
	for i := 1; i < len(s.list); i++ {
		for j := i; j > 0 && s.less(s.list[j], s.list[j-1]); j-- {
			s.list[j], s.list[j-1] = s.list[j-1], s.list[j]
		}
	}
}

func merge(s items) {
	if len(s.list) < 2 {
		return
	}
	a := items{slices.Clone(s.list[:len(s.list)/2]), s.all, s.w}
	b := items{slices.Clone(s.list[len(s.list)/2:]), s.all, s.w}
	merge(a)
	merge(b)
	for place := range s.list {
		from := &a
		if len(a.list) == 0 || len(b.list) > 0 && s.less(b.list[0], a.list[0]) {
			from = &b
		}
		s.list[place], from.list = from.list[0], from.list[1:]
	}
}

func quick(s items) {
	if len(s.list) < 2 {
		return
	}
	pivot, last := s.list[len(s.list)-1], 0
	for i, x := range s.list[:len(s.list)-1] {
		if s.less(x, pivot) {
			s.list[i], s.list[last] = s.list[last], x
			last++
		}
	}
	s.list[len(s.list)-1], s.list[last] = s.list[last], pivot
	quick(items{s.list[:last], s.all, s.w})
	quick(items{s.list[last+1:], s.all, s.w})
}

// queue is items for container/heap.
type queue struct{ items }

func (q *queue) Len() int           { return len(q.list) }
func (q *queue) Less(i, j int) bool { return q.less(q.list[i], q.list[j]) }
func (q *queue) Swap(i, j int)      { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *queue) Push(x any)         { q.list = append(q.list, x.(int)) }
func (q *queue) Pop() any {
	x := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return x
}

var sorts = []struct {
	name string
	sort func(items)
}{
	{"sort.Sort", func(s items) {
		s.byUpstream(func(u controller.ActivePodsWithRanks) { upstream.Sort(u.Pods, u.Rank, u.Now) })
	}},
	{"sort.Stable", func(s items) { s.byUpstream(func(u controller.ActivePodsWithRanks) { sort.Stable(u) }) }},
	{"slices.SortStableFunc", func(s items) {
		slices.SortStableFunc(s.list, func(i, j int) int {
			switch {
			case s.less(i, j):
				return -1
			case s.less(j, i):
				return 1
			}
			return 0
		})
	}},
	{"insertion sort", insertion},
	{"merge sort", merge},
	{"quicksort", quick},
	{"heap sort", func(s items) {
		q := &queue{items{slices.Clone(s.list), s.all, s.w}}
		heap.Init(q)
		for place := range s.list {
			s.list[place] = heap.Pop(q).(int)
		}
	}},
}

// whole is how settle's answer is wrong as a partition of these pods, or nil.
func whole(s podrank.Settled, pods []*v1.Pod, k int) error {
	all, parts := map[*v1.Pod]bool{}, slices.Concat(s.Certain, s.Contested, s.Safe)
	for _, p := range parts {
		all[p] = slices.Contains(pods, p)
	}
	if len(all) != len(pods) || len(parts) != len(pods) || slices.Contains(slices.Collect(maps.Values(all)), false) {
		return errors.New("the parts are not all pods, each once")
	}
	if len(s.Certain)+s.Quota != min(k, len(pods)) || s.Quota > 0 != (len(s.Contested) > 0) || s.Quota > 0 && s.Quota >= len(s.Contested) {
		return fmt.Errorf("deleting %d of %d: %d certain, %d of %d contested, %d safe",
			k, len(pods), len(s.Certain), s.Quota, len(s.Contested), len(s.Safe))
	}
	return nil
}

// between says that victims are all the certain and else contested pods, as many as are to go.
func between(t *testing.T, what string, victims []*v1.Pod, s podrank.Settled) {
	t.Helper()
	goes, certain := map[*v1.Pod]bool{}, 0
	for _, p := range victims {
		goes[p] = true
		if slices.Contains(s.Certain, p) {
			certain++
		} else if !slices.Contains(s.Contested, p) {
			t.Errorf("%s deletes a pod that is safe: %+v", what, p)
		}
	}
	if certain != len(s.Certain) || len(goes) != certain+s.Quota || len(goes) != len(victims) {
		t.Errorf("%s deletes %d pods, %d of %d certain ones", what, len(victims), certain, len(s.Certain))
	}
}

// A cutList is a list of pods, cut at four places.
type cutList struct {
	t       *testing.T
	w       *world
	pool    *pool
	pods    []*v1.Pod
	indices []int // of the pods, in pool.samples
	options []podrank.Option
	cuts    []int
	settled []podrank.Settled // for each cut
}

// newCutList makes a list and settles all its cuts.
func newCutList(t *testing.T, round int) *cutList {
	r := seeded(4, round)
	w := newWorld(r, round%10 > 0, rolloutMoment)
	n := pick(r, r.IntN(13), r.IntN(60), r.IntN(301))
	l := &cutList{t: t, w: w, pool: newPool(w, n), pods: make([]*v1.Pod, n), indices: make([]int, n)}
	for i := range l.pods {
		l.pods[i], l.indices[i] = l.pool.samples[i].pod, i
	}
	l.options = w.options(l.pool.ranks...)
	l.cuts = []int{r.IntN(n + 1), r.IntN(n + 1), r.IntN(n + 1), n / 2}
	for _, k := range l.cuts {
		s, err := podrank.Settle(l.pods, l.pool.related, k, l.options...)
		if err := errors.Join(err, whole(s, l.pods, k)); err != nil {
			t.Fatal(err)
		}
		l.settled = append(l.settled, s)
	}
	return l
}

// distinct returns pods whose UIDs all differ.
func (l *cutList) distinct() []*v1.Pod {
	distinct := slices.SortedFunc(slices.Values(l.pods), func(a, b *v1.Pod) int { return cmp.Compare(a.UID, b.UID) })
	return slices.CompactFunc(distinct, func(a, b *v1.Pod) bool { return a.UID == b.UID })
}

// everySortIsBetween says that the victims of every sort, and of the Go module in Kubernetes' order, are as settled.
func (l *cutList) everySortIsBetween() {
	for _, by := range sorts {
		s := items{slices.Clone(l.indices), l.pool.samples, l.w}
		by.sort(s)
		first := make([]*v1.Pod, len(l.pods))
		for place, i := range s.list {
			first[place] = l.pool.samples[i].pod
		}
		for i, k := range l.cuts {
			between(l.t, by.name, first[:k], l.settled[i])
		}
	}
	for i, k := range l.cuts {
		ours, err := podrank.PodsToDelete(l.pods, l.pool.related, k, append(l.options, podrank.Kubernetes())...)
		if err != nil {
			l.t.Fatal(err)
		}
		between(l.t, "podrank", ours, l.settled[i])
	}
}

// totalVictims are the UIDs of the pods that go first in podrank's own order.
func (l *cutList) totalVictims(pods []*v1.Pod) (uids string) {
	first, err := podrank.PodsToDelete(pods, l.pool.related, min(l.cuts[0], len(pods)), l.options...)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, p := range first {
		uids += string(p.UID) + " "
	}
	return uids
}

// Whatever the sort and the order of the list: the certain are among the first k, the safe never. The Go module takes such pods in
// Kubernetes' order, and in its own the same pods whatever the order of the list.
func TestCertainGoAndSafeStay(t *testing.T) {
	t.Parallel()
	const lists, shuffles = 500, 12
	unclear, certain, safe := 0, 0, 0
	lengths := map[int]bool{}
	for round := range lists {
		l := newCutList(t, round)
		lengths[len(l.pods)] = true
		for _, s := range l.settled {
			certain, safe = certain+len(s.Certain), safe+len(s.Safe)
			if s.Quota > 0 {
				unclear++
			}
		}
		// Where UIDs differ, one set of pods has one set of victims.
		distinct, total := l.distinct(), map[string]bool{}
		for range shuffles {
			l.w.r.Shuffle(len(l.pods), func(i, j int) {
				l.indices[i], l.indices[j], l.pods[i], l.pods[j] = l.indices[j], l.indices[i], l.pods[j], l.pods[i]
			})
			l.w.r.Shuffle(len(distinct), func(i, j int) { distinct[i], distinct[j] = distinct[j], distinct[i] })
			l.everySortIsBetween()
			total[l.totalVictims(distinct)] = true
		}
		if len(total) != 1 {
			t.Errorf("%d lists of victims of one set of pods", len(total))
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d sorts by %d algorithms; %d of %d cuts contested, %d pods certain and %d safe",
		lists*shuffles*len(sorts), len(sorts), unclear, lists*4, certain, safe)
	if unclear < lists/4 || certain < 1000 || safe < 1000 || len(lengths) < 100 {
		t.Error("too few to tell")
	}
}
