package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/go/judge/internal/answers"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
	"github.com/podrank/podrank/tests/vectors/comparator"
)

func kubernetesLess(a, b *v1.Pod, rankA, rankB int, now time.Time) bool {
	return upstream.Less(a, b, rankA, rankB, metav1.NewTime(now))
}

var result = regexp.MustCompile(`"result": "\w+"`)

// Kubernetes gives the result of each case. UPSTREAM=write writes it.
func TestComparator(t *testing.T) {
	results := map[int]string{}
	for _, d := range comparator.Departures(kubernetesLess) {
		results[d.ID] = d.Got
	}
	last := 0
	answers.Again(t, vectors.Path("comparator/cases.json"), "UPSTREAM", "go test -run TestComparator$ .", func(line string) string {
		var c struct{ ID int }
		if strings.HasPrefix(line, `  "kubernetes":`) {
			return fmt.Sprintf(`  "kubernetes": %q`, Kubernetes)
		}
		if json.Unmarshal([]byte(line), &c) != nil || c.ID == 0 {
			return line
		}
		if last++; c.ID != last {
			t.Errorf("case %d has the place %d", c.ID, last)
		}
		if got := results[c.ID]; got != "" {
			line = result.ReplaceAllString(line, fmt.Sprintf(`"result": %q`, got))
		}
		return line
	})
	if last < 50 {
		t.Errorf("%d cases", last)
	}
}

// A comparator without one rule departs in this rule alone.
func TestComparatorNamesTheRule(t *testing.T) {
	hide := map[string]func(*v1.Pod){
		"unassigned":       func(p *v1.Pod) { p.Spec.NodeName = "node-1" },
		"phase":            func(p *v1.Pod) { p.Status.Phase = v1.PodRunning },
		"deletion-cost":    func(p *v1.Pod) { p.Annotations = nil },
		"rank":             func(*v1.Pod) {},
		"restarts":         func(p *v1.Pod) { p.Status.ContainerStatuses = nil },
		"sidecar-restarts": func(p *v1.Pod) { p.Status.InitContainerStatuses = nil },
		"creation-time":    func(p *v1.Pod) { p.CreationTimestamp.Reset() },
		"not-ready": func(p *v1.Pod) {
			if len(p.Status.Conditions) == 0 || p.Status.Conditions[0].Status != v1.ConditionTrue {
				p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: metav1.Unix(0, 0)}}
			}
		},
		"ready-time": func(p *v1.Pod) {
			for i := range p.Status.Conditions {
				p.Status.Conditions[i].LastTransitionTime.Reset()
			}
		},
	}
	for rule, hide := range hide {
		departures := comparator.Departures(func(a, b *v1.Pod, rankA, rankB int, now time.Time) bool {
			a, b = a.DeepCopy(), b.DeepCopy()
			hide(a)
			hide(b)
			if rule == "rank" {
				rankA, rankB = 0, 0
			}
			return kubernetesLess(a, b, rankA, rankB, now)
		})
		if len(departures) < 2 || slices.ContainsFunc(departures, func(d comparator.Departure) bool { return d.Rule != rule }) {
			t.Errorf("without the rule %s: %v", rule, departures)
		}
	}
	both := comparator.Departures(func(_, _ *v1.Pod, _, _ int, _ time.Time) bool { return true })
	if len(both) < 50 || slices.ContainsFunc(both, func(d comparator.Departure) bool { return d.Got != "both" }) {
		t.Errorf("each pod before the other: %v", both)
	}
	exact := func(a, b *v1.Pod, rankA, rankB int, _ time.Time) bool {
		return kubernetesLess(a, b, rankA, rankB, time.Time{})
	}
	if all, rest := comparator.Departures(exact), comparator.Departures(exact, "AgeBuckets"); len(all) < 4 || len(rest) > 0 {
		t.Errorf("without age buckets: %v, and of these without their flag: %v", all, rest)
	}
}
