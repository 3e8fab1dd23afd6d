//go:build controlplane

package e2e

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
)

var annotated = flag.Int("annotated", 3, "scale-downs of TestAnnotation for each policy")

const sessionsKey = "example.com/active-sessions"

var byAnnotation = v1alpha1.Preference{
	Type:   v1alpha1.PreferenceLowest,
	Lowest: &v1alpha1.Measure{Annotation: &v1alpha1.PodAnnotation{Key: sessionsKey}},
}

// odd are what is not a value.
var odd = []string{"", "many", "NaN", "-inf", "1e400", "1e-10000000", " 1", "9007199254740993", "0x1", strings.Repeat("9", 3000), "1\n2", "\u202e1"}

// TestAnnotation scales down by what pods say of themselves: some have no value, and some of the values are malformed, huge or hostile.
func TestAnnotation(t *testing.T) {
	for name, spec := range map[string]v1alpha1.ScaleDownPolicySpec{
		"alone":             {DeleteFirst: []v1alpha1.Preference{byAnnotation}},
		"after spot nodes":  {DeleteFirst: []v1alpha1.Preference{SpotFirst.DeleteFirst[0], byAnnotation}},
		"spread over nodes": {DeleteFirst: []v1alpha1.Preference{byAnnotation}, Spread: []string{corev1.LabelHostname}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, set := NewWorldOf(t, 4, spec, webDeployment, cyclePods)
			r := rand.New(rand.NewPCG(91, uint64(len(name))))
			results := map[string]int{}
			for number := range *annotated {
				w.must(w.Scale(set, cyclePods))
				pods := w.AwaitReady(cyclePods)
				w.AwaitClean()
				values := w.annotateAll(r, pods)
				tier := func(pod *corev1.Pod) int {
					if len(spec.DeleteFirst) > 1 && !w.IsSpot(pod) {
						return 1
					}
					return 0
				}
				before, earlier := len(w.Proxy.Calls(w.Namespace)), len(w.Deleted())
				to := 1 + r.Int32N(cyclePods-1)
				w.must(w.Scale(set, to))
				deleted := w.AwaitDeleted(earlier + cyclePods - int(to))[earlier:]
				calls := w.Proxy.Calls(w.Namespace)
				result := steer.Result(calls[len(calls)-1].Response.Response.AuditAnnotations["result"])
				// A repeated request has none.
				if results[string(result)]++; len(calls) == before || !result.Holds() && result != "" {
					t.Errorf("round %d: %s", number, result)
				}
				isDeleted := map[types.UID]bool{}
				for _, pod := range deleted {
					isDeleted[pod.UID] = true
				}
				// A pod that matches an earlier preference has no value, and one without a value comes after all with one.
				compare := func(a, b *corev1.Pod) int {
					value := func(pod *corev1.Pod) float64 {
						if tier(pod) < len(spec.DeleteFirst)-1 {
							return 0
						}
						if value, isValue := values[pod.UID]; isValue {
							return value
						}
						return math.Inf(1)
					}
					return cmp.Or(cmp.Compare(tier(a), tier(b)), cmp.Compare(value(a), value(b)))
				}
				for _, pod := range deleted {
					for _, kept := range pods {
						if !isDeleted[kept.UID] && compare(kept, pod) < 0 {
							t.Errorf("round %d, %s: %s with %q was deleted, and %s with %q was kept", number, result,
								pod.Name, pod.Annotations[sessionsKey], kept.Name, kept.Annotations[sessionsKey])
						}
					}
				}
			}
			fmt.Printf("%d scale-downs by an annotation, %s: %v\n", *annotated, name, results)
		})
	}
}

// annotateAll gives each pod a value or something else, at least half of the pods of each node a value, and returns the values.
func (w *World) annotateAll(r *rand.Rand, pods []*corev1.Pod) map[types.UID]float64 {
	w.Helper()
	values, without, all := map[types.UID]float64{}, map[string]int{}, map[string]int{}
	for _, pod := range pods {
		all[pod.Spec.NodeName]++
	}
	for _, pod := range pods {
		number := r.IntN(6)
		text := fmt.Sprint(number)
		if without[pod.Spec.NodeName] == 0 && all[pod.Spec.NodeName] > 1 && r.IntN(3) == 0 {
			text = odd[r.IntN(len(odd))]
			without[pod.Spec.NodeName]++
		} else {
			values[pod.UID] = float64(number)
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{sessionsKey: text}}})
		w.must(err)
		w.must(w.Patch(w.ctx, pod, client.RawPatch(types.MergePatchType, patch)))
	}
	return values
}
