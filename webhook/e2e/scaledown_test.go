//go:build controlplane

package e2e

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/steer"
)

// Anyone who scales, and whatever is scaled, the pods on spot nodes go.
func TestScaleDown(t *testing.T) {
	workloads := map[string]func(namespace string, count int32) client.Object{
		"replicaset": webSet, "deployment": webDeployment, "replicationcontroller": webController,
	}
	ways := map[string]func(*World, string, client.Object) error{
		"kubectl scale": func(w *World, kind string, _ client.Object) error {
			return w.Kubectl("scale", kind+"/web", "--replicas=7")
		},
		"subresource": func(w *World, _ string, object client.Object) error { return w.Scale(object, 7) },
		"spec": func(w *World, kind string, _ client.Object) error {
			return w.Kubectl("patch", kind+"/web", "-p", `{"spec":{"replicas":7}}`)
		},
	}
	ways["autoscaler"] = func(w *World, _ string, _ client.Object) error {
		// It needs no metrics to see that there are too many.
		return w.Kubectl("autoscale", "deployment", "web", "--min=1", "--max=7", "--cpu-percent=50")
	}
	for kind, workload := range workloads {
		for way, scale := range ways {
			if way == "autoscaler" && kind != "deployment" {
				continue
			}
			t.Run(kind+" by "+way, func(t *testing.T) {
				t.Parallel()
				w, set := NewWorldOf(t, 4, SpotFirst, workload, 10)
				w.must(scale(w, kind, set))
				deleted := w.AwaitDeleted(3)
				if spots := w.Spots(deleted); spots != 3 {
					t.Fatalf("%d of 3 pods that were deleted were on spot nodes\n%s", spots, w.log())
				}
				last := w.Last("spot", 1)
				if last.Result != string(steer.Steered) || last.From != 10 || last.To != 7 || last.Selected != 3 || last.Written > 3 {
					t.Errorf("status: %+v", last)
				}
				w.AwaitReady(7)
				w.AwaitClean()
				w.Await("compared", 20e9, func() bool {
					last := w.Last("spot", 1)
					return last.Deleted != nil && *last.Deleted == 3 && *last.Missed == 0
				})
				if changes := w.CostChanges(); changes > 3 {
					t.Errorf("%d changes of costs for 3 pods", changes)
				}
			})
		}
	}
}
