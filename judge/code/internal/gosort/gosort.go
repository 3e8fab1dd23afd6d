// Package gosort has lists that take every way through sort.Sort, with what it makes of them. It imports the standard library alone,
// so that the coverage of sort can be measured in seconds.
package gosort

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
)

// Case is a case of go_sort.json: what sort.Sort makes of a list of numbers with this Less.
type Case struct {
	Less   string `json:"less"`
	List   []int  `json:"list"`
	Sorted []int  `json:"sorted"`
}

// What the names mean.
var less = map[string]func(a, b int) bool{
	"smaller": func(a, b int) bool { return a < b },
	"larger":  func(a, b int) bool { return a > b },
	// Many ties.
	"smaller by tens": func(a, b int) bool { return a/10 < b/10 },
	// Rock, paper, scissors.
	"cycle": func(a, b int) bool { return (b-a+300_000)%3 == 1 },
	// Contradictions in which pivots are bad, so that the sort gives up on them.
	"always": func(int, int) bool { return true },
	"never":  func(int, int) bool { return false },
	"odd":    func(a, b int) bool { return a%2 > 0 || a < b && b%2 == 0 },
}

// numbers is a list for sort.Sort.
type numbers struct {
	list []int
	less func(a, b int) bool
}

func (n numbers) Len() int           { return len(n.list) }
func (n numbers) Less(i, j int) bool { return n.less(n.list[i], n.list[j]) }
func (n numbers) Swap(i, j int)      { n.list[i], n.list[j] = n.list[j], n.list[i] }

// worst returns a list of which the sort finds only bad pivots, so that it gives up: McIlroy's adversary, which decides how large an
// element is when the sort first compares it with another undecided one.
func worst(size int) []int {
	places, values := make([]int, size), make([]int, size)
	for i := range places {
		places[i], values[i] = i, size
	}
	decided, candidate := 0, 0
	sort.Sort(numbers{places, func(a, b int) bool {
		if values[a] == size && values[b] == size {
			next := b
			if a == candidate {
				next = a
			}
			values[next] = decided
			decided++
		}
		if values[a] == size {
			candidate = a
		} else if values[b] == size {
			candidate = b
		}
		return values[a] < values[b]
	}})
	return values
}

// Cases sorts lists of all patterns.
func Cases() []Case {
	var cases []Case
	names := []string{"smaller", "larger", "smaller by tens", "cycle", "always", "never", "odd"}
	r := rand.New(rand.NewPCG(3, 5))
	for _, size := range []int{2, 12, 13, 49, 50, 51, 100, 300} {
		shuffled := r.Perm(size)
		sorted := slices.Sorted(slices.Values(shuffled))
		reversed := slices.Clone(sorted)
		slices.Reverse(reversed)
		pipe := append(slices.Clone(sorted[:size/2]), reversed[:size-size/2]...)
		nearly := slices.Clone(sorted)
		for range 3 {
			i, j := r.IntN(size), r.IntN(size)
			nearly[i], nearly[j] = nearly[j], nearly[i]
		}
		lists := [][]int{shuffled, sorted, reversed, pipe, nearly, worst(size)}
		for _, name := range names {
			for _, list := range lists {
				done := slices.Clone(list)
				sort.Sort(numbers{done, less[name]})
				cases = append(cases, Case{name, list, done})
			}
		}
	}
	return cases
}

// Write writes go_sort.json, with a line for each case.
func Write(w io.Writer) error {
	about := "What Go's sort.Sort makes of lists of numbers, for each Less, contradictory ones included: " +
		"go run ./cmd/vectors in judge/code writes this file. See README.md."
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "{\"about\": %s,\n\"cases\": [\n", text)
	cases := Cases()
	for i, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		comma := ","
		if i == len(cases)-1 {
			comma = ""
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", line, comma); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, "]}")
	return err
}
