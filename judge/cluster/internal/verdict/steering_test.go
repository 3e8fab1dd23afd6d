package verdict

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// state makes one of pods like "a", or "a=COST", or "a=COST!" if podrank owns the cost, or "a#" if it has a mark.
func state(count int32, pods ...string) *State {
	s := &State{Count: count, Pods: map[types.UID]PodState{}}
	for _, text := range pods {
		text, marked := strings.CutSuffix(text, "#")
		text, ours := strings.CutSuffix(text, "!")
		name, cost, _ := strings.Cut(text, "=")
		p := PodState{Name: name, Version: text, Cost: cost, Ours: ours}
		if marked {
			p.Marks = []string{"podrank.dev/previous-cost"}
		}
		s.Pods[types.UID(name)] = p
	}
	return s
}

func outcome(t *testing.T, text string) *preview.Steered {
	t.Helper()
	if text == "" {
		return nil
	}
	var s preview.Steered
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

const (
	wantsA = `{"kind":"ScaleOutcome","exit":0,"went":[{"uid":"a"}],"pods":[{"uid":"a","wanted":true},{"uid":"b"},{"uid":"c"}]}`
	gotB   = `{"kind":"ScaleOutcome","exit":3,"went":[{"uid":"b"}],"pods":[{"uid":"a","wanted":true},{"uid":"b"},{"uid":"c"}]}`
	silent = `{"kind":"ScaleOutcome","exit":0,"went":[],"pods":[{"uid":"a","wanted":true},{"uid":"b"},{"uid":"c"}]}`
	claims = `{"kind":"ScaleOutcome","exit":0,"went":[{"uid":"a"}],"others":[{"name":"b","uid":"b"}],"pods":[{"uid":"a","wanted":true}]}`
	unsure = `{"kind":"ScaleOutcome","exit":1,"went":[{"uid":"a"}],"pods":[{"uid":"a","wanted":true}]}`
)

func TestDescribes(t *testing.T) {
	before := state(3, "a", "b", "c=5")
	canary, lease := state(3, "a", "b", "c=5"), state(3, "a", "b", "c=5")
	canary.Canaries = []string{"replicaset/podrank-canary-x"}
	lease.Leases = []string{"lease/podrank-x"}
	for _, test := range []struct {
		name     string
		exit     int
		document string
		after    *State
		right    bool
	}{
		{"the wanted pod went", 0, wantsA, state(2, "b", "c=5"), true},
		{"another pod went", 0, wantsA, state(2, "a", "c=5"), false},
		{"another pod went too", 0, wantsA, state(2, "c=5"), false},
		{"nothing went", 0, wantsA, state(2, "a", "b", "c=5"), false},
		{"the count is not that", 0, wantsA, state(1, "b", "c=5"), false},
		{"a cost is left", 0, wantsA, state(2, "b=1!", "c=5"), false},
		{"a cost of another is gone", 0, wantsA, state(2, "b", "c"), false},
		{"a cost of another was changed", 0, wantsA, state(2, "b", "c=6"), false},
		{"a mark is left", 0, wantsA, state(2, "b", "c=5#"), false},
		{"no outcome", 0, "", state(2, "b", "c=5"), false},
		{"the outcome lacks what went", 0, silent, state(2, "b", "c=5"), false},
		{"the outcome tells of others", 0, claims, state(2, "b", "c=5"), false},
		{"the outcome tells of another status", 0, unsure, state(2, "b", "c=5"), false},

		{"others went, and it says so", 3, gotB, state(2, "a", "c=5"), true},
		{"none but the wanted went, though it says so", 3, gotB, state(2, "b", "c=5"), false},
		{"others went, and a cost is left", 3, gotB, state(2, "a=0!", "c=5"), false},

		{"all is as it was", 1, "", state(3, "a", "b", "c=5"), true},
		{"the count fell", 1, "", state(2, "a", "b", "c=5"), false},
		{"a pod went", 1, "", state(3, "a", "b", "d"), false},
		{"a cost stays", 1, "", state(3, "a=0!", "b", "c=5"), false},
		{"a canary stays", 1, "", canary, false},
		{"a Lease stays", 1, "", lease, false},

		{"costs may be left", 4, "", state(3, "a=0!", "b", "c=5"), true},
		{"never the flags", 2, "", before, false},
		{"never a status of its own", 101, "", before, false},
	} {
		s := Steering{Exit: test.exit, Document: outcome(t, test.document), Before: before, After: test.after, To: 2}
		if err := s.Describes(); (err == nil) != test.right {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestCostsOfOthersAndEvictedPods(t *testing.T) {
	before := state(3, "a", "b", "c")
	s := Steering{Exit: 1, Before: before, After: state(3, "a=7", "c", "d"), To: 2, Costs: map[types.UID]string{"a": "7"}}
	if s.Describes() == nil {
		t.Error("nobody took b")
	}
	s.Document = outcome(t, `{"message":"it evicted b","pods":[{"uid":"b","wanted":true}]}`)
	if err := s.Describes(); err != nil {
		t.Error(err)
	}
	s.Costs = nil
	if s.Describes() == nil {
		t.Error("nobody else gave the cost")
	}
}

func TestUntouched(t *testing.T) {
	before := state(2, "a", "b=5")
	for name, after := range map[string]*State{
		"the count":      state(1, "a", "b=5"),
		"a pod went":     state(2, "a"),
		"a new pod":      state(2, "a", "b=5", "c"),
		"a written pod":  state(2, "a", "b=6"),
		"an empty write": {Count: 2, Pods: map[types.UID]PodState{"a": {Name: "a", Version: "9"}, "b": before.Pods["b"]}},
	} {
		if (&Steering{Before: before, After: after}).Untouched() == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
	if err := (&Steering{Before: before, After: state(2, "a", "b=5")}).Untouched(); err != nil {
		t.Error(err)
	}
}
