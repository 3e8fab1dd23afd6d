package judge

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Most objects that these tests allocate are garbage immediately.
func init() { debug.SetGCPercent(800) }

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

// withPreview makes the judge of one core from a previewer, and a new one after a thousand cases, because a controller
// keeps something of every workload that it has seen.
func withPreview(t *testing.T, start func(ctx context.Context, p *previewer) (judge, error)) func() (judge, error) {
	return func() (judge, error) {
		p, err := newPreviewer(t)
		var judges judge
		cases, end := 0, func() {}
		return func(number int, tally map[string]int) (err error) {
			if cases%1000 == 0 {
				end()
				var ctx context.Context
				ctx, end = context.WithCancel(t.Context())
				if judges, err = start(ctx, p); err != nil {
					return err
				}
			}
			cases++
			return judges(number, tally)
		}, err
	}
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

// check compares the pods that upstream deleted with what the preview says of each. Pods that are being deleted already are not in
// it.
func (p *preview) check(pods []*v1.Pod, deleted map[string]bool, tally map[string]int) error {
	deleted = maps.Clone(deleted)
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			delete(deleted, pod.Name)
		}
	}
	// By its size and quota: several groups may have those in common.
	type group struct{ size, quota int }
	groups, known := map[group][2]int{}, map[string]bool{}
	for _, pod := range p.pods() {
		known[pod.Name] = true
		tally[pod.Verdict+" "+pod.Reason.Rule]++
		if pod.Verdict != "possible" {
			if deleted[pod.Name] != (pod.Verdict == "deleted") {
				return fmt.Errorf("%s: %s because %s (%s), but upstream deletes: %v", pod.Name, pod.Verdict, pod.Reason.Rule, pod.Reason.Text,
					deleted[pod.Name])
			}
			continue
		}
		size, quota := int(pod.Reason.Pods), int(pod.Reason.Deletions.Max)
		if size == 0 {
			return fmt.Errorf("%s is possible, and the reason does not say of how many: %+v", pod.Name, pod.Reason)
		}
		counts := groups[group{size, quota}]
		if counts[0]++; deleted[pod.Name] {
			counts[1]++
		}
		groups[group{size, quota}] = counts
	}
	for g, counts := range groups {
		if g.quota < 1 || g.quota >= g.size || counts[0]%g.size != 0 || counts[1] != counts[0]/g.size*g.quota {
			return fmt.Errorf("of %d pods in groups of %d of which %d go, %d go", counts[0], g.size, g.quota, counts[1])
		}
	}
	for name := range deleted {
		if !known[name] {
			return fmt.Errorf("upstream deletes %s, which the preview does not know", name)
		}
	}
	if int(p.Deletions.Max) != len(deleted) {
		return fmt.Errorf("%d go, and %d were predicted", len(deleted), p.Deletions.Max)
	}
	return nil
}

// fates records by name which pods were deleted at least once, and which were kept at least once.
type fates map[string]*[2]bool

func (f fates) add(pods []podPreview, deleted map[string]bool) {
	for _, pod := range pods {
		if f[pod.Name] == nil {
			f[pod.Name] = &[2]bool{}
		}
		if deleted[pod.Name] {
			f[pod.Name][1] = true
		} else {
			f[pod.Name][0] = true
		}
	}
}

// check finds possible pods that were always deleted or always kept.
func (f fates) check(pods []podPreview) error {
	for _, pod := range pods {
		if pod.Verdict == "possible" && *f[pod.Name] != [2]bool{true, true} {
			return fmt.Errorf("%s is possible because %s, but its fate was always the same", pod.Name, pod.Reason.Rule)
		}
	}
	return nil
}
