package verdict

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// step shrinks `a` from 5 to `to`, by the writes, and takes its first pods; `b` keeps its two.
func step(goesOn bool, to int32, writes ...int32) *preview.Step {
	set := func(name string, from, to int32, writes []int32) *preview.StepOfSet {
		s := &preview.StepOfSet{ReplicaSet: &name, From: from, To: to, Writes: writes}
		s.Active, s.Delete = int(from), int(from-to)
		for i := range from {
			verdict := "keep"
			if i < from-to {
				verdict = "delete"
			}
			s.Pods = append(s.Pods, pod(name+string(rune('0'+i)), verdict))
		}
		return s
	}
	return &preview.Step{Path: "scale", GoesOn: goesOn, Sets: []*preview.StepOfSet{
		set("a", 5, to, writes), set("b", 2, 2, nil),
	}}
}

func TestDeploymentsAreJudgedAsAWhole(t *testing.T) {
	type counts = map[types.UID][]int32
	waits := step(false, 3, 3)
	waits.Waits = true
	for _, c := range []struct {
		name   string
		step   *preview.Step
		gone   []Gone
		counts counts
		wrong  string // what is said, or empty
	}{
		{"as predicted", step(false, 3, 3), lost("a0", "a1"), counts{"a": {3}}, ""},
		{"another count", step(false, 3, 3), lost("a0", "a1"), counts{"a": {4}}, "its counts became [4]"},
		{"another pod", step(false, 3, 3), lost("a0", "a2"), counts{"a": {3}}, "a1 is certain to go, and stayed"},
		{"one pod too few", step(false, 3, 3), lost("a0"), counts{"a": {3}}, "1 went"},
		{"another step", step(false, 3, 3), lost("a0", "a1", "a2"), counts{"a": {3, 2}}, "its counts became [3 2]"},
		{"another set", step(false, 3, 3), lost("a0", "a1", "b0"), counts{"a": {3}, "b": {1}}, "its counts became [1]"},
		{"two writes", step(false, 3, 4, 3), lost("a0", "a1"), counts{"a": {4, 3}}, ""},
		{"one write of two", step(false, 3, 4, 3), lost("a0", "a1"), counts{"a": {3}}, "its counts became [3]"},

		{"more steps", step(true, 3, 3), lost("a0", "a1", "a4", "b1"), counts{"a": {3, 2}, "b": {1}}, ""},
		{"more steps, once pods are available", waits, lost("a0", "a1", "a4", "b1"), counts{"a": {3, 2}, "b": {1}}, ""},
		{"more steps, another first count", step(true, 3, 3), lost("a0", "a1"), counts{"a": {4, 3}}, "its counts became [4 3]"},
		{"more steps, no change", step(true, 3, 3), nil, nil, "its counts became []"},
		{"more steps, a certain pod stays", step(true, 3, 3), lost("a0", "a2"), counts{"a": {3}}, "a1 is certain to go"},
		{"more steps, the second write is missing", step(true, 3, 4, 3), lost("a0", "a1"), counts{"a": {4}}, "became [4]"},
	} {
		run := &Run{"default", dump(t), began, c.gone, c.counts, nil}
		_, err := JudgeDeployment(run, func(time.Time) (*preview.Step, error) { return c.step, nil })
		if c.wrong == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
}

func TestASetThatThePreviewLeavesOutMustNotChange(t *testing.T) {
	answer := step(false, 3, 3)
	answer.Sets = answer.Sets[:1]
	run := &Run{"default", dump(t), began, lost("a0", "a1", "b0"), map[types.UID][]int32{"a": {3}, "b": {1}}, nil}
	_, err := JudgeDeployment(run, func(time.Time) (*preview.Step, error) { return answer, nil })
	if err == nil || !strings.Contains(err.Error(), "b changed, and the preview does not show it") {
		t.Error(err)
	}
}
