package plain

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
)

// Kubernetes calls sort.Sort, and Probabilities calls slices.SortFunc, which is faster. This is so in no contract of
// Go's, and a comparison that contradicts itself shows each step in which they differ. So a release of Go that
// changes one of them, or both, fails a test here: then Probabilities must call sort.Sort, or libpodrank and its
// vectors must be changed, too.

// less are what the names in go_sort.json mean.
var less = map[string]func(a, b int) bool{
	"smaller":         func(a, b int) bool { return a < b },
	"larger":          func(a, b int) bool { return a > b },
	"smaller by tens": func(a, b int) bool { return a/10 < b/10 },
	"cycle":           func(a, b int) bool { return (b-a+300_000)%3 == 1 },
	"always":          func(int, int) bool { return true },
	"never":           func(int, int) bool { return false },
	"odd":             func(a, b int) bool { return a%2 > 0 || a < b && b%2 == 0 },
}

// numbers is a list for sort.Sort, which notes what is compared.
type numbers struct {
	list     []int
	less     func(a, b int) bool
	compared *[][2]int
}

func (n numbers) Len() int      { return len(n.list) }
func (n numbers) Swap(i, j int) { n.list[i], n.list[j] = n.list[j], n.list[i] }
func (n numbers) Less(i, j int) bool {
	*n.compared = append(*n.compared, [2]int{n.list[i], n.list[j]})
	return n.less(n.list[i], n.list[j])
}

// bySortFunc sorts a list with slices.SortFunc, as Probabilities does, and returns what was compared.
func bySortFunc(list []int, less func(a, b int) bool) (compared [][2]int) {
	slices.SortFunc(list, func(a, b int) int {
		compared = append(compared, [2]int{a, b})
		if less(a, b) {
			return -1
		}
		return 0
	})
	return compared
}

// Both compare the same numbers in the same order, and so make the same list.
func TestSortFuncTakesTheStepsOfSort(t *testing.T) {
	r := rand.New(rand.NewPCG(82, 6))
	for name, less := range less {
		for range 300 {
			list := make([]int, r.IntN(200))
			if r.IntN(10) == 0 {
				list = make([]int, 2000)
			}
			most := []int{3, 50, 1_000_000}[r.IntN(3)]
			for i := range list {
				list[i] = r.IntN(most)
			}
			if r.IntN(3) == 0 {
				slices.Sort(list)
			}
			a, b := slices.Clone(list), slices.Clone(list)
			var compared [][2]int
			sort.Sort(numbers{a, less, &compared})
			if again := bySortFunc(b, less); !slices.Equal(a, b) || !slices.Equal(compared, again) {
				t.Fatalf("%s: of %v, sort.Sort makes %v in %d steps, and slices.SortFunc %v in %d",
					name, list, a, len(compared), b, len(again))
			}
		}
	}
}

// Both do what they did when the vectors were written, which is what libpodrank does.
func TestGoSortJSON(t *testing.T) {
	var file struct {
		Cases []struct {
			Less         string
			List, Sorted []int
		}
	}
	readVectors(t, "go_sort.json", &file)
	for _, c := range file.Cases {
		list := slices.Clone(c.List)
		bySortFunc(list, less[c.Less])
		if !slices.Equal(list, c.Sorted) {
			t.Errorf("%s: of %v, it makes %v", c.Less, c.List, list)
		}
	}
	if len(file.Cases) < 280 {
		t.Errorf("only %d cases", len(file.Cases))
	}
}

// readVectors reads a file of cases that all implementations share. They are in the repository, and not in the module.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "Cargo.toml")); os.IsNotExist(err) {
		t.Skip("this is not a checkout of the repository")
	}
	data, err := os.ReadFile(filepath.Join(root, "tests", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
