package judge

import (
	"flag"
	"fmt"
	"slices"
	"sort"
	"testing"

	"k8s.io/kubernetes/pkg/controller"

	library "github.com/podrank/podrank/go/judge/internal/podrank"
)

// go test -run TestListsAreSortedAsGoSortsThem -v -timeout 0 -lists 1000000 .
var lists = flag.Int("lists", 20_000, "how many lists TestListsAreSortedAsGoSortsThem sorts")

// Whatever the order of the list, podrank sorts it as Kubernetes' own comparator and Go's own sort do, pod by pod. A release of Go
// that sorts otherwise fails this test, and the one of the vectors.
func TestListsAreSortedAsGoSortsThem(t *testing.T) {
	t.Parallel()
	const perWorld = 100
	tally := judgeWorkloads(t, *first, *lists/perWorld, func() (judge, error) {
		return func(number int, tally map[string]int) error {
			r := seeded(12, number)
			w := newWorld(r, number%10 > 0, rolloutMoment)
			all := newPool(w, 100+r.IntN(400)).samples
			sizes := []int{r.IntN(14), r.IntN(60), r.IntN(100), r.IntN(100), r.IntN(100), len(all)}
			// One list of a thousand has 5,000 pods.
			if number%10 == 0 {
				all = append(all, newPool(w, 5000-len(all)).samples...)
			}
			for round := range perWorld {
				n := pick(r, sizes...)
				if round == 0 {
					n = len(all)
				}
				if r.IntN(4) == 0 {
					// Other ties.
					for i := range all[:n] {
						all[i].rank = r.IntN(2)
						all[i].record.Rank = uint32(all[i].rank)
					}
				}
				if err := sortsAsGo(w, all[:n], tally); err != nil {
					return err
				}
			}
			return nil
		}, nil
	})
	if tally["came out otherwise than another list"] < *lists/20 || tally["of 5,000 pods"] < *lists/1000 {
		t.Error("too few lists whose order matters, or of many pods")
	}
}

// sortsAsGo compares one list, and counts whether another order of the same pods gives other pods at some place.
func sortsAsGo(w *world, all []sample, tally map[string]int) error {
	n := len(all)
	byGo := func(list []int) []int {
		list = slices.Clone(list)
		items{list, all, w}.byUpstream(func(pods controller.ActivePodsWithRanks) { sort.Sort(pods) })
		return list
	}
	shuffled := w.r.Perm(n)
	sorted := byGo(shuffled)
	// Lists in which a quicksort takes other ways: sorted, reversed, up and down, nearly sorted.
	list := slices.Clone(sorted)
	switch w.r.IntN(8) {
	case 0:
	case 1:
		slices.Reverse(list)
	case 2:
		for i, x := range sorted {
			if i%2 == 0 {
				list[i/2] = x
			} else {
				list[n-1-i/2] = x
			}
		}
	case 3:
		for range min(n/2, w.r.IntN(6)) {
			i, j := w.r.IntN(n), w.r.IntN(n)
			list[i], list[j] = list[j], list[i]
		}
	default:
		list = shuffled
	}
	expected, records, indices := byGo(list), make([]library.Pod, n), make([]uint32, n)
	for place, x := range list {
		records[place], indices[place] = all[place].record, uint32(x)
	}
	library.UpstreamSort(records, indices, library.Time(w.now))
	for place, x := range expected {
		if int(indices[place]) != x {
			return fmt.Errorf("place %d of %d: podrank has pod %d, Go has pod %d", place, n, indices[place], x)
		}
	}
	if !slices.Equal(sorted, expected) {
		tally["came out otherwise than another list"]++
	}
	if n == 5000 {
		tally["of 5,000 pods"]++
	}
	return nil
}
