package plain

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// patterns are what a quicksort can be bad at.
func patterns(n int) map[string]func(i int) uint64 {
	r := rand.New(rand.NewPCG(82, 3))
	return map[string]func(i int) uint64{
		"random":     func(int) uint64 { return r.Uint64() },
		"few values": func(int) uint64 { return r.Uint64N(3) },
		"sorted":     func(i int) uint64 { return uint64(i) },
		"reversed":   func(i int) uint64 { return uint64(n - i) },
		"up, down":   func(i int) uint64 { return uint64(min(i, n-i)) },
		"down, up":   func(i int) uint64 { return uint64(max(i, n-i)) },
		"sawtooth":   func(i int) uint64 { return uint64(i % 17) },
		"equal":      func(int) uint64 { return 7 },
	}
}

// Whatever the list, the range and the patience: the range has what a sort puts there, smaller heads are before it,
// and larger ones after it.
func TestARangeIsSorted(t *testing.T) {
	for _, n := range []int{1, 2, 9, 10, 11, 12, 100, 1000} {
		for name, value := range patterns(n) {
			list := make([]head, n)
			for i := range list {
				// The values are in each of the numbers, the indices in the order of the list or against it.
				v := value(i)
				list[i] = head{v % 3, v / 3, v<<32 | uint64(i*7%n)}
			}
			sorted := slices.SortedFunc(slices.Values(list), compareHeads)
			for _, span := range [][2]int{{0, n}, {n - 1, n}, {0, 1}, {n / 2, n/2 + 1}, {n / 3, n/3*2 + 1}} {
				for _, patience := range []int{0, 1, 3, 40} {
					got, start, end := slices.Clone(list), span[0], min(span[1], n)
					sortRange(got, start, end, patience)
					if !slices.Equal(got[start:end], sorted[start:end]) {
						t.Errorf("%s of %d, %v, patience %d: it is not sorted", name, n, span, patience)
					}
					slices.SortFunc(got[:start], compareHeads)
					slices.SortFunc(got[end:], compareHeads)
					if !slices.Equal(got, sorted) {
						t.Errorf("%s of %d, %v, patience %d: a head is on the wrong side", name, n, span, patience)
					}
				}
			}
		}
	}
}

// Heads compare as numbers of 192 bits.
func TestHeadsCompare(t *testing.T) {
	values := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	var list []head
	for _, a := range values {
		for _, b := range values {
			for _, c := range values {
				list = append(list, head{a, b, c})
			}
		}
	}
	for i, a := range list {
		for j, b := range list {
			want := 0
			if i != j {
				want = slices.Compare([]uint64{a.first, a.second, a.third}, []uint64{b.first, b.second, b.third})
			}
			if got := compareHeads(a, b); got != want || isBefore(&a, &b) != uint64(max(-want, 0)) {
				t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
			}
		}
	}
}

// adversary makes a list for which partition cuts off two heads each time, so often, and then any heads. As
// McIlroy's, it decides what a head is only when partition looks at it: two of the three that it chooses from are
// less than all that come. A head that is undecided is more than all that are decided, so partition moves it as it
// will move the final one.
func adversary(n, cuts int) []head {
	const undecided = 1 << 40
	r := rand.New(rand.NewPCG(82, 4))
	list, values := make([]head, n), make([]uint64, n)
	for i := range list {
		list[i] = head{undecided, 0, uint64(i)}
	}
	rest := list
	for cut := range cuts {
		for i, at := range []int{0, len(rest) / 2} {
			rest[at].first = uint64(2*cut + i)
			values[rest[at].index()] = rest[at].first
		}
		rest = rest[partition(rest)+1:]
	}
	for i := range rest {
		values[rest[i].index()] = undecided + r.Uint64N(undecided)
	}
	for i := range list {
		list[i] = head{values[i], 0, uint64(i)}
	}
	return list
}

// Once its patience has ended, sortRange leaves the rest to the standard library, which sorts all of it, although one
// position was asked for. One uneven cut before, it does not.
func TestPatienceEnds(t *testing.T) {
	const n = 3000
	most := patience(make([]head, n))
	if most != 24 {
		t.Errorf("patience %d, want twice the bits of %d", most, n)
	}
	for _, c := range []struct {
		cuts    int
		isWhole bool
	}{{most - 1, false}, {most, true}, {most + 1, true}, {most + 100, true}} {
		list := adversary(n, c.cuts)
		sorted := slices.SortedFunc(slices.Values(list), compareHeads)
		at := n / 2
		sortRange(list, at, at+1, most)
		if list[at] != sorted[at] {
			t.Errorf("after %d cuts: the head at %d is %v, want %v", c.cuts, at, list[at], sorted[at])
		}
		if got := slices.Equal(list[2*most:], sorted[2*most:]); got != c.isWhole {
			t.Errorf("after %d cuts, the rest is sorted: %t, want %t", c.cuts, got, c.isWhole)
		}
	}
}

// A cut is uneven if there are less than an eighth on one side, where the median is counted as above.
func TestUnevenCuts(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		position   int // The median's.
		start, end int // Where the rest is that has the range.
		isUneven   bool
	}{
		{n/8 - 1, n / 8, n, true}, {n / 8, n/8 + 1, n, false},
		{n - n/8 + 1, 0, n - n/8 + 1, true}, {n - n/8, 0, n - n/8, false},
	} {
		// Of the three that partition chooses from, the median is at n/2.
		var others []uint64
		for rank := range uint64(n) {
			if rank != 0 && rank != n-1 && rank != uint64(c.position) {
				others = append(others, rank)
			}
		}
		rand.New(rand.NewPCG(82, 5)).Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		ranks := slices.Concat([]uint64{n - 1}, others[:n/2-1], []uint64{uint64(c.position)}, others[n/2-1:], []uint64{0})
		list := make([]head, n)
		for i, rank := range ranks {
			list[i] = head{rank, 0, uint64(i)}
		}
		sortRange(list, n/2, n/2+1, 1)
		if list[n/2].first != n/2 {
			t.Errorf("median at %d: %v is in the middle", c.position, list[n/2])
		}
		if got := slices.IsSortedFunc(list[c.start:c.end], compareHeads); got != c.isUneven {
			t.Errorf("median at %d: the rest is sorted: %t, want %t", c.position, got, c.isUneven)
		}
	}
}
