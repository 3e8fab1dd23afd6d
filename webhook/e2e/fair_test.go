//go:build controlplane

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/steer"
)

var pairs = flag.Int("pairs", 0, "pairs of rollouts of TestNightly, with a policy beside and without. From 20 on, their median counts")

const (
	nightlySets = 200
	// mostSlower is how much slower a rollout may be beside scale-downs that a policy covers.
	mostSlower = 1.1
)

// night is a namespace whose Deployments are scaled simultaneously.
type night struct {
	*World
	sets []*appsv1.Deployment
}

func newNight(t *testing.T, isPolicy bool) *night {
	n := &night{World: NewWorld(t, 4)}
	if isPolicy {
		n.Policy("spot", SpotFirst)
	}
	for i := range nightlySets {
		n.sets = append(n.sets, deployment(n.Namespace, fmt.Sprint("web-", i), 2))
		n.must(n.Create(n.ctx, n.sets[i]))
	}
	n.Await("ready", 5*time.Minute, func() bool { return n.areReady(2 * nightlySets) })
	return n
}

// scale gives all Deployments a replica count, 20 at a time.
func (n *night) scale(count int32) {
	var all sync.WaitGroup
	next := make(chan *appsv1.Deployment)
	for range 20 {
		all.Go(func() {
			for set := range next {
				if err := n.Scale(set, count); err != nil {
					n.Error(err)
				}
			}
		})
	}
	for _, set := range n.sets {
		next <- set
	}
	close(next)
	all.Wait()
}

// beside rolls a Deployment of another namespace out while all are scaled down, and returns how long that took.
func (n *night) beside(other *World, image string) time.Duration {
	n.Helper()
	done := async(func() error {
		n.scale(1)
		return nil
	})
	began := time.Now()
	other.must(other.Kubectl("set", "image", "deployment/web", "main="+image))
	other.Await("rolled out", 3*time.Minute, func() bool {
		var set appsv1.Deployment
		other.must(other.Get(other.ctx, client.ObjectKey{Namespace: other.Namespace, Name: "web"}, &set))
		s := set.Status
		return s.ObservedGeneration == set.Generation && s.UpdatedReplicas == *set.Spec.Replicas && s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.Replicas
	})
	took := time.Since(began)
	n.must(<-done)
	n.Await("scaled down", 3*time.Minute, func() bool { return len(n.Pods()) == nightlySets })
	return took
}

// restore scales all up again.
func (n *night) restore() {
	n.Helper()
	n.Await("clean", 2*time.Minute, n.IsClean)
	n.scale(2)
	n.Await("ready again", 5*time.Minute, func() bool { return n.areReady(2 * nightlySets) })
}

// A nightly job scales 200 Deployments of one namespace simultaneously. At least half of these scale-downs are steered,
// the log has a reason for each other one, and rollouts elsewhere are hardly slower than without a policy.
func TestNightly(t *testing.T) {
	if *pairs == 0 {
		t.Skip("only if asked to, with -pairs N")
	}
	w := NewWorld(t, 4)
	w.must(w.Create(w.ctx, webDeployment(w.Namespace, 10)))
	w.AwaitReady(10)
	covered, plain := newNight(t, true), newNight(t, false)
	var ratios []float64
	results, images := map[string]int{}, 0
	for pair := range *pairs {
		var took [2]time.Duration
		before, logged := len(covered.Proxy.Calls(covered.Namespace)), covered.logged()
		for i, n := range []*night{covered, plain} {
			if pair%2 == 1 {
				n = []*night{plain, covered}[i]
			}
			images++
			one := n.beside(w, fmt.Sprint("image-", images))
			took[map[bool]int{true: 0, false: 1}[n == covered]] = one
		}
		counts := covered.results(before)
		for result, count := range counts {
			results[result] += count
		}
		covered.Await("in the log", 10*time.Second, func() bool {
			now := covered.logged()
			for _, result := range steer.Unsteered {
				if now[string(result)]-logged[string(result)] < counts[string(result)] {
					return false
				}
			}
			return true
		})
		ratios = append(ratios, took[0].Seconds()/took[1].Seconds())
		fmt.Printf("nightly: %v; the rollout elsewhere took %v, and %v without a policy\n", counts, took[0].Round(time.Millisecond), took[1].Round(time.Millisecond))
		covered.restore()
		plain.restore()
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	steered := results[string(steer.Steered)] + results[string(steer.Unconfirmed)]
	fmt.Printf("nightly: %d of %d steered: %v; of %d pairs of rollouts, the median ratio is %.2f\n", steered, nightlySets**pairs, results, *pairs, median)
	if steered < nightlySets**pairs/2 {
		t.Error("less than half were steered")
	}
	if *pairs >= 20 && median > mostSlower {
		t.Errorf("rollouts elsewhere took %.2f times as long", median)
	}
}

// results are those of the last answers about each ReplicaSet, since so many calls.
func (w *World) results(before int) map[string]int {
	last := map[string]string{}
	for _, call := range w.Proxy.Calls(w.Namespace)[before:] {
		// A repeated request has none.
		if result := call.Response.Response.AuditAnnotations["result"]; result != "" {
			last[call.Review.Request.Name] = result
		}
	}
	counts := map[string]int{}
	for _, result := range last {
		counts[result]++
	}
	return counts
}

// logged counts the results in the log of the program about scale-downs in the namespace.
func (w *World) logged() map[string]int {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(w.Dir), "webhook.log"))
	w.must(err)
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"namespace":"`+w.Namespace+`"`) {
			continue
		}
		for _, result := range steer.Unsteered {
			if strings.Contains(line, `"result":"`+string(result)+`"`) {
				counts[string(result)]++
			}
		}
	}
	return counts
}

// The API server counts what it lets through because nobody answers.
func TestFailOpen(t *testing.T) {
	w, set := web(t, 6)
	const metric = `apiserver_admission_webhook_fail_open_count{name="replicasets.podrank.dev",type="validating"}`
	count := func() (count float64) {
		text, err := w.Clients.RESTClient().Get().AbsPath("/metrics").DoRaw(context.Background())
		w.must(err)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, metric) {
				_, err := fmt.Sscan(strings.TrimPrefix(line, metric), &count)
				w.must(err)
			}
		}
		return count
	}
	before := count()
	w.Kill()
	t.Cleanup(func() { w.must(w.Run()) })
	w.must(w.Scale(set, 4))
	if after := count(); after != before+1 {
		t.Errorf("the metric was %.0f, and is %.0f", before, after)
	}
}
