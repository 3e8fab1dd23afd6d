//go:build controlplane

package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/workload"
)

var (
	others = flag.Int("pods", 0, "pods of other workloads during TestCost")
	sets   = flag.Int("sets", 0, "ReplicaSets of other workloads during TestCost")
	times  = flag.Int("times", 40, "scale-downs of TestCost")
)

// TestCost measures what the program takes in a cluster of many pods: memory for each, the time of a request, and writes.
func TestCost(t *testing.T) {
	if *others == 0 {
		t.Skip("only if asked to, with -pods N")
	}
	w := NewWorld(t, 4)
	w.Policy("spot", SpotFirst)
	// Collections come often enough for the last one to tell.
	t.Setenv("GOGC", "10")
	w.must(w.Stop())
	w.must(w.Run())
	before := w.memory()
	w.fill(*others)
	w.must(w.Stop())
	w.must(w.Run())
	after := w.memory()
	fmt.Printf("memory: %d KiB without pods, %d KiB with %d: %d bytes for each (live heap after a collection)\n", before>>10, after>>10,
		*others, (after-before) / *others)
	if *sets > 0 {
		w.fillSets(*sets)
		w.must(w.Stop())
		w.must(w.Run())
		full := w.memory()
		fmt.Printf("memory: %d KiB with %d ReplicaSets besides: %d bytes for each; %d KiB of the system\n", full>>10, *sets,
			(full-after) / *sets, int(w.Metric("process_resident_memory_bytes"))>>10)
	}
	set := replicaSet(w.Namespace, "web", 30)
	w.must(w.Create(w.ctx, set))
	var took []time.Duration
	writes, goes := 0, 0
	for range *times {
		w.AwaitReady(30)
		changes, asked, gone := w.CostChanges(), len(w.Proxy.Calls(w.Namespace)), len(w.Went())
		w.must(w.Scale(set, 24))
		w.AwaitGone(gone + 6)
		w.AwaitReady(24)
		w.AwaitClean()
		for _, call := range w.Proxy.Calls(w.Namespace)[asked:] {
			took = append(took, call.Took)
			fmt.Println("request", call.Took)
		}
		writes, goes = writes+w.CostChanges()-changes, goes+6
		w.must(w.Scale(set, 30))
	}
	slices.Sort(took)
	fmt.Printf("%d requests to take 6 of 30 pods: p50 %v, p99 %v; %d changes of costs for %d pods\n", len(took), took[len(took)/2],
		took[len(took)*99/100], writes, goes)
}

// memory is the live heap of the program, at its last collection.
func (p *Plane) memory() int {
	time.Sleep(5 * time.Second)
	return int(p.Metric("go_gc_heap_live_bytes"))
}

// fillSets makes ReplicaSets as Deployments keep them for a rollback: without pods, eleven of each.
func (w *World) fillSets(count int) {
	w.crowd(count, func(namespace string, i int) client.Object {
		name := fmt.Sprintf("service-%d", i/11)
		set := replicaSet(namespace, fmt.Sprintf("%s-%010x", name, i), 0)
		set.Labels = map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "pod-template-hash": fmt.Sprint(i)}
		set.Spec.Selector.MatchLabels, set.Spec.Template.Labels = set.Labels, set.Labels
		set.Annotations = map[string]string{workload.Desired: "3", workload.Revision: fmt.Sprint(i % 11)}
		isController := true
		set.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", i/11)), Controller: &isController,
		}}
		return set
	})
}

// crowd makes objects in a namespace of their own.
func (w *World) crowd(count int, object func(namespace string, i int) client.Object) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crowd-"}}
	w.must(w.Create(w.ctx, namespace))
	w.Cleanup(func() { _ = w.Delete(w.ctx, namespace) })
	var group sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range count {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := w.Create(w.ctx, object(namespace.Name, i), client.FieldOwner("kube-controller-manager")); err != nil {
				w.Error(err)
			}
		})
	}
	group.Wait()
}

// fill makes pods as real ones are: with labels, annotations, volumes, a status and managed fields.
func (w *World) fill(count int) {
	w.crowd(count, func(namespace string, i int) client.Object {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("service-%d-7f6b9d5c48-%05d", i%100, i),
			Labels: map[string]string{
				"app.kubernetes.io/name": fmt.Sprint("service-", i%100), "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7f6b9d5c48",
			},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": strings.Repeat("0123456789abcdef", 4)},
		}}
		pod.Spec = template("crowd").Spec
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/crowd"}}
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 200)}}
		return pod
	})
}
