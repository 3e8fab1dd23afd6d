//go:build controlplane

package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	busyCycles = flag.Int("busy-cycles", 0, "how often TestBusy has sessions begin and end, in each of two namespaces for each way")
	settling   = flag.Duration("settling", 0, "how long TestBusy watches sessions end, by a HorizontalPodAutoscaler as it is by default; otherwise four periods, without its delay")
)

// busyPodsMetric is the second metric of docs/idle.md: as many pods as are busy.
var busyPodsMetric = autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
	Metric: autoscalingv2.MetricIdentifier{Name: "busy_pods"},
	Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: resource.NewQuantity(1, resource.DecimalSI)},
}}

// ending are sessions that begin on all pods at the same time, and of which those of some pods last for a while.
type ending struct {
	mu       sync.Mutex
	random   *rand.Rand
	isHigh   bool
	sessions map[string]float64
	// deleted is how many pods were deleted, and busy how many of them with sessions. late is how many got sessions after the
	// autoscaler had read that they had none: while sessions begin, it scales up.
	deleted, busy, late int
}

const endingTick = 100 * time.Millisecond

// endingMean is how long sessions last at the mean. By default, an autoscaler waits for five minutes, in which those of 30 s would all have ended.
func endingMean() time.Duration {
	return max(30*time.Second, 10**settling)
}

// follow has sessions end, tells the adapter which there are, and counts the pods that are deleted with sessions.
func (e *ending) follow(w *World) {
	a, _ := adapter()
	for ; w.ctx.Err() == nil; time.Sleep(endingTick) {
		now := map[string]float64{}
		e.mu.Lock()
		for _, pod := range w.Pods() {
			sessions := e.sessions[pod.Name]
			switch {
			case e.isHigh:
				sessions = 3
			case sessions > 0 && e.random.Float64() < endingTick.Seconds()/endingMean().Seconds():
				sessions = 0
			}
			now[pod.Name] = sessions
			delete(e.sessions, pod.Name)
		}
		for _, sessions := range e.sessions {
			switch e.deleted++; {
			case sessions > 0 && e.isHigh:
				e.late++
			case sessions > 0:
				e.busy++
			}
		}
		e.sessions = now
		e.mu.Unlock()
		a.Set(w.Namespace, maps.Clone(now))
	}
}

// high begins three sessions on each pod, and low ends all but one on each of so many pods.
func (e *ending) high() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isHigh = true
}

func (e *ending) low(busy int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isHigh = false
	for pod := range e.sessions {
		e.sessions[pod] = 0
	}
	// A map is in random order, but not by the seed.
	for pod := range e.sessions {
		if busy--; busy >= 0 {
			e.sessions[pod] = 1
		}
	}
}

// TestBusy has sessions end on pods that a HorizontalPodAutoscaler would delete, because each has fewer than the target. Kubernetes alone deletes busy pods, and so
// does a policy that deletes idle pods first, once all idle pods are deleted. With the number of busy pods as a second metric, no busy pod is deleted.
func TestBusy(t *testing.T) {
	if *busyCycles == 0 {
		t.Skip("only if asked to, with -busy-cycles N")
	}
	NewAdapter(t)
	wait := max(*settling, 4**period)
	all := map[string]*ending{}
	var mu sync.Mutex
	kinds := []struct {
		name      string
		isSteered bool
		more      []autoscalingv2.MetricSpec
	}{
		{"Kubernetes alone", false, nil},
		{"a policy", true, nil},
		{"a policy and a second metric", true, []autoscalingv2.MetricSpec{busyPodsMetric}},
	}
	t.Run("ways", func(t *testing.T) {
		for _, by := range kinds {
			all[by.name] = &ending{}
			for seed := range uint64(2) {
				t.Run(fmt.Sprint(by.name, ", ", seed), func(t *testing.T) {
					t.Parallel()
					w := NewWorld(t, 4)
					if by.isSteered {
						w.Policy("spot", idleFirst("active_sessions"))
					}
					set := deployment(w.Namespace, "web", cyclePods)
					w.must(w.Create(w.ctx, set))
					w.AwaitReady(cyclePods)
					e := &ending{random: rand.New(rand.NewPCG(91, seed)), isHigh: true}
					go e.follow(w)
					w.autoscale(set, cyclePods, "2", by.more...)
					if *settling > 0 {
						// As it is by default, with five minutes before it scales down.
						scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "web"}}
						w.must(w.Patch(w.ctx, scaler, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"behavior":null}}`))))
					}
					for range *busyCycles {
						e.high()
						w.Await("at most", 5**period+time.Minute, func() bool { return w.areReady(cyclePods) })
						e.low(busyPods + 3)
						time.Sleep(wait)
					}
					mu.Lock()
					defer mu.Unlock()
					sum := all[by.name]
					sum.deleted, sum.busy, sum.late = sum.deleted+e.deleted, sum.busy+e.busy, sum.late+e.late
				})
			}
		}
	})
	for _, by := range kinds {
		sum := all[by.name]
		fmt.Printf("%d cycles, %s: %d of %d deleted pods were busy, and %d became busy after the decision\n", 2**busyCycles, by.name, sum.busy, sum.deleted, sum.late)
		if sum.deleted == 0 || (by.more != nil) != (sum.busy == 0) {
			t.Errorf("%s: %d of %d deleted pods were busy", by.name, sum.busy, sum.deleted)
		}
	}
}
