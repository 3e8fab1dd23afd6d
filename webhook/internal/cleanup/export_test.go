package cleanup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Edges begins to note the edges that are followed, and returns what returns the others.
func Edges(t *testing.T) func() []string {
	var mu sync.Mutex
	trodden, before := map[string]bool{}, follow
	follow = func(from state, what fact) (state, bool) {
		mu.Lock()
		defer mu.Unlock()
		trodden[edge(from, what)] = true
		return before(from, what)
	}
	t.Cleanup(func() { follow = before })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		var others []string
		for from, facts := range edges {
			for what := range facts {
				if !trodden[edge(from, what)] {
					others = append(others, edge(from, what))
				}
			}
		}
		return others
	}
}

func edge(from state, what fact) string { return fmt.Sprintf("%s, %s", from, what) }

// Table has a row for each state that any edge leaves.
func Table() string {
	var all []string
	for _, from := range []state{written, planned, falling, expected, deleting, kept, removed, abandoned, deleted, done} {
		var facts []string
		for _, what := range slices.Sorted(maps.Keys(edges[from])) {
			facts = append(facts, fmt.Sprintf("%s: `%s`", what, edges[from][what]))
		}
		if len(facts) > 0 {
			all = append(all, fmt.Sprintf("| `%s` | %s |", from, strings.Join(facts, "; ")))
		}
	}
	return strings.Join(all, "\n")
}
