// Package gosort compares go_sort.json with Go's own sort. It imports the standard library alone, so that the coverage of sort can be
// measured in seconds.
package gosort

import (
	"encoding/json"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
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
	then, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, cases := strings.Split(string(then), "\n"), 0
	for i, line := range lines {
		line, comma := strings.CutSuffix(line, ",")
		var c struct {
			Less   string `json:"less"`
			List   []int  `json:"list"`
			Sorted []int  `json:"sorted"`
		}
		if json.Unmarshal([]byte(line), &c) != nil {
			continue
		}
		cases++
		c.Sorted = slices.Clone(c.List)
		sort.Sort(numbers{c.Sorted, less[c.Less]})
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if lines[i] = string(text); comma {
			lines[i] += ","
		}
	}
	now := strings.Join(lines, "\n")
	if os.Getenv("GO_SORT") == "write" {
		err = os.WriteFile(path, []byte(now), 0o644)
	} else if now != string(then) {
		t.Error("tests/vectors/go_sort.json is out of date: GO_SORT=write go test ./internal/gosort")
	}
	if err != nil || cases < 300 {
		t.Errorf("%d cases, %v", cases, err)
	}
}
