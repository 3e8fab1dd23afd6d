package judge

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/internal/vectors"
)

// go test -run TestListsAreSortedAsGoSortsThem -v -timeout 0 -lists 1000000 .
var lists = flag.Int("lists", 20_000, "how many lists TestListsAreSortedAsGoSortsThem sorts")

// Whatever the order of the list, podrank sorts it as Kubernetes' own comparator and Go's own sort do, pod by pod. A release of Go
// that sorts otherwise fails this test, and the one of the vectors.
func TestListsAreSortedAsGoSortsThem(t *testing.T) {
	t.Parallel()
	const perWorld = 100
	var next, done, contradicted, long atomic.Int64
	start := time.Now()
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for !t.Failed() {
				number := int(next.Add(1) - 1)
				if number*perWorld >= *lists {
					return
				}
				r := seeded(12, number)
				w := newWorld(r, number%10 > 0, rolloutMoment)
				// One list of a thousand has 5,000 pods.
				sizes := []int{r.IntN(14), r.IntN(60), r.IntN(100), 60 + r.IntN(500)}
				all := samples(w, slices.Max(sizes))
				if number%10 == 0 {
					all = append(all, samples(w, 5000-len(all))...)
				}
				for round := range perWorld {
					n := pick(r, sizes[0], sizes[0], sizes[1], sizes[1], sizes[2], sizes[2], sizes[2], sizes[3])
					if round == 0 && number%10 == 0 {
						n = 5000
						long.Add(1)
					}
					if r.IntN(4) == 0 {
						// Other ties: the same pods with other ranks.
						for i := range all[:n] {
							all[i].rank = r.IntN(2)
							all[i].record.Rank = uint32(all[i].rank)
						}
					}
					if sortsOtherwise(t, r, w, all[:n]) {
						contradicted.Add(1)
					}
					done.Add(1)
				}
			}
		})
	}
	running.Wait()
	t.Logf("%d lists are sorted as Go sorts them, %d of 5,000 pods, %.0f per second; sorting the same pods from another list, "+
		"%d came out otherwise", done.Load(), long.Load(), float64(done.Load())/time.Since(start).Seconds(), contradicted.Load())
	if contradicted.Load() < done.Load()/10 {
		t.Error("too few lists whose order matters")
	}
}

// go_sort.json is what this release of Go does.
func TestGoSortJSON(t *testing.T) {
	var now bytes.Buffer
	if err := vectors.WriteGoSorts(&now); err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile(vectors.Path("go_sort.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now.Bytes(), then) {
		t.Error("tests/vectors/go_sort.json is out of date: go run ./cmd/vectors")
	}
}

// sortsOtherwise compares one list in an order of its own, and says whether another order gives other pods at some place.
func sortsOtherwise(t *testing.T, r *rand.Rand, w *world, all []sample) bool {
	n := len(all)
	records, list := make([]podrank.Pod, n), make([]int, n)
	for i := range all {
		records[i], list[i] = all[i].record, i
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	byGo := func(list []int) []int {
		list = slices.Clone(list)
		items{list, all, w}.byUpstream(sort.Sort)
		return list
	}
	sorted := byGo(list)
	// Lists in which a quicksort takes other ways: sorted, reversed, up and down, nearly sorted.
	switch given := list; r.IntN(8) {
	case 0:
		list = slices.Clone(sorted)
	case 1:
		list = slices.Clone(sorted)
		slices.Reverse(list)
	case 2:
		for i, x := range sorted {
			if i%2 == 0 {
				given[i/2] = x
			} else {
				given[n-1-i/2] = x
			}
		}
	case 3:
		list = slices.Clone(sorted)
		for range min(n/2, r.IntN(6)) {
			i, j := r.IntN(n), r.IntN(n)
			list[i], list[j] = list[j], list[i]
		}
	}
	expected := byGo(list)
	indices := make([]uint32, n)
	for place, x := range list {
		indices[place] = uint32(x)
	}
	podrank.UpstreamSort(records, indices, w.policy())
	for place, x := range expected {
		if int(indices[place]) != x {
			t.Errorf("place %d of %d: podrank has pod %d, Go has pod %d", place, n, indices[place], x)
			break
		}
	}
	return !slices.Equal(sorted, expected)
}
