package verdict

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// state makes one of pods like "a", or "a=COST", or "a=COST!" if podrank owns the cost, or "a#" if it has a mark.
func state(pods ...string) *State {
	s := &State{Pods: map[types.UID]PodState{}}
	for _, text := range pods {
		text, marked := strings.CutSuffix(text, "#")
		text, ours := strings.CutSuffix(text, "!")
		name, cost, _ := strings.Cut(text, "=")
		p := PodState{Name: name, Cost: cost, Ours: ours}
		if marked {
			p.Marks = []string{"podrank.dev/previous-cost"}
		}
		s.Pods[types.UID(name)] = p
	}
	return s
}

func TestRestored(t *testing.T) {
	before, barrier, lease := state("a", "b", "c=5"), state("a"), state("a")
	barrier.Barriers, lease.Leases = []string{"replicaset/podrank-barrier-x"}, []string{"lease/podrank-x"}
	for _, test := range []struct {
		name  string
		after *State
		costs map[types.UID]string
		keeps bool
		right bool
	}{
		{"all is as it was", state("a", "b", "c=5"), nil, false, true},
		{"pods went, and others came", state("c=5", "d", "e=7"), nil, false, true},
		{"a cost is left", state("b=1!", "c=5"), nil, false, false},
		{"a cost is kept", state("b=1!", "c=5"), nil, true, true},
		{"an empty cost is left", state("b=!", "c=5"), nil, false, false},
		{"a cost of another is gone", state("b", "c"), nil, false, false},
		{"a cost of another was changed", state("b", "c=6"), nil, false, false},
		{"another gave a cost", state("b=7", "c=5"), map[types.UID]string{"b": "7"}, false, true},
		{"another gave another cost", state("b=8", "c=5"), map[types.UID]string{"b": "7"}, false, false},
		{"a mark is left", state("b", "c=5#"), nil, false, false},
		{"a barrier pod is left", barrier, nil, true, false},
		{"a Lease is left", lease, nil, true, false},
	} {
		if err := Restored(before, test.after, test.costs, test.keeps); (err == nil) != test.right {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
