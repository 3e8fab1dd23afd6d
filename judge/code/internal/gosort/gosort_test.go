// Package gosort compares go_sort.json with Go's own sort. It imports nothing of Kubernetes, so that the coverage of sort can be
// measured in seconds.
package gosort

import (
	"encoding/json"
	"slices"
	"sort"
	"testing"

	"github.com/podrank/podrank/go/judge/internal/answers"
)

// less are what the names in go_sort.json mean.
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

// go_sort.json is what this release of Go makes of the lists in it, each of which has a line. GO_SORT=write writes what it makes.
func TestVectors(t *testing.T) {
	const path = "../../../../tests/vectors/go_sort.json"
	cases := 0
	answers.Again(t, path, "GO_SORT", "go test ./internal/gosort", func(line string) string {
		var c struct {
			Less   string `json:"less"`
			List   []int  `json:"list"`
			Sorted []int  `json:"sorted"`
		}
		if json.Unmarshal([]byte(line), &c) != nil {
			return line
		}
		cases++
		c.Sorted = slices.Clone(c.List)
		sort.Sort(numbers{c.Sorted, less[c.Less]})
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
	if cases < 300 {
		t.Errorf("%d cases", cases)
	}
}
