package judge

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
)

var first = flag.Int("first", 0, "the number of the first random workload, to go on with a run that was stopped")

// A judge judges the case of a number, and counts what happened.
type judge func(number int, tally map[string]int) error

// judgeWorkloads judges n cases from a number on, on all cores, and counts what happened. start makes the judge of one core.
func judgeWorkloads(t *testing.T, from, n int, start func() (judge, error)) map[string]int {
	began, workers := time.Now(), runtime.GOMAXPROCS(0)
	tallies := make([]map[string]int, workers)
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			tallies[worker] = map[string]int{}
			judge, err := start()
			if err != nil {
				t.Error(err)
				return
			}
			for number := from + worker; number < from+n; number += workers {
				if err := judge(number, tallies[worker]); err != nil {
					t.Errorf("case %d: %v", number, err)
					return
				}
			}
		})
	}
	running.Wait()
	sum := map[string]int{}
	for _, tally := range tallies {
		for what, count := range tally {
			sum[what] += count
		}
	}
	t.Logf("%d cases from number %d on, %.0f per second", n, from, float64(n)/time.Since(began).Seconds())
	for _, what := range slices.Sorted(maps.Keys(sum)) {
		t.Logf("%10d %s", sum[what], what)
	}
	return sum
}

// describe is objects in JSON, a line for each.
func describe(objects ...any) string {
	var text strings.Builder
	for _, object := range objects {
		if err := json.NewEncoder(&text).Encode(object); err != nil {
			fmt.Fprintln(&text, err)
		}
	}
	return text.String()
}

// owned makes the references of what this controls.
func owned(by metav1.Object, kind schema.GroupVersionKind) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(by, kind)}
}

// rename makes a workload and its pods those of another one, of which a controller remembers nothing.
func rename(workload metav1.Object, pods []*v1.Pod, name string) {
	workload.SetName(name)
	workload.SetUID(types.UID(name))
	for _, pod := range pods {
		pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = name, types.UID(name)
	}
}

// checkOutcomes compares the pods that upstream deleted with what podrank said of each.
func checkOutcomes(outcomes []podrank.Outcome, deleted map[string]bool, tally map[string]int) error {
	type group struct{ quota, pods, gone int }
	groups, known := map[int]*group{}, map[string]bool{}
	for _, o := range outcomes {
		known[o.Pod.Name] = true
		tally[o.Verdict.String()+" "+string(o.Reason)]++
		switch o.Verdict {
		case podrank.VerdictDelete, podrank.VerdictKeep:
			if deleted[o.Pod.Name] != (o.Verdict == podrank.VerdictDelete) {
				return fmt.Errorf("%s: %v because %s, but upstream deletes: %v", o.Pod.Name, o.Verdict, o.Reason, deleted[o.Pod.Name])
			}
		case podrank.VerdictContested:
			g := groups[o.Group]
			if g == nil {
				g = &group{quota: o.Quota}
				groups[o.Group] = g
			}
			if g.pods++; g.quota != o.Quota {
				return fmt.Errorf("%s: the quota is %d and %d", o.Pod.Name, o.Quota, g.quota)
			}
			if deleted[o.Pod.Name] {
				g.gone++
			}
		}
	}
	for number, g := range groups {
		if g.gone != g.quota || g.quota < 1 || g.quota >= g.pods {
			return fmt.Errorf("of the %d pods of group %d go %d and not %d", g.pods, number, g.gone, g.quota)
		}
	}
	for name := range deleted {
		if !known[name] {
			return fmt.Errorf("upstream deletes %s, which podrank does not know", name)
		}
	}
	return nil
}

// verdicts are those of all pods by name, to see which pods went at least once, and which stayed at least once.
type fates map[string]*[2]bool

func (f fates) add(outcomes []podrank.Outcome, deleted map[string]bool) {
	for _, o := range outcomes {
		if f[o.Pod.Name] == nil {
			f[o.Pod.Name] = &[2]bool{}
		}
		if deleted[o.Pod.Name] {
			f[o.Pod.Name][1] = true
		} else {
			f[o.Pod.Name][0] = true
		}
	}
}

// check finds contested pods about which there was nothing to contest.
func (f fates) check(outcomes []podrank.Outcome) error {
	for _, o := range outcomes {
		if o.Verdict == podrank.VerdictContested && *f[o.Pod.Name] != [2]bool{true, true} {
			return fmt.Errorf("%s is contested because %s, but its fate was always the same", o.Pod.Name, o.Reason)
		}
	}
	return nil
}
