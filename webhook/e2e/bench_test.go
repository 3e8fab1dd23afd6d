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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/workload"
)

var (
	others = flag.Int("pods", 0, "pods of other workloads during TestCost")
	sets   = flag.Int("sets", 0, "ReplicaSets of other workloads during TestCost")
	crowd  = flag.Int("nodes", 0, "nodes without pods during TestCost")
	times  = flag.Int("times", 20, "scale-downs of TestCost")
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
	w.limitMemory(t)
	before := w.memory()
	w.fill(*others)
	w.restart()
	after := w.memory()
	fmt.Printf("memory: %d KiB without pods, %d KiB with %d: %d bytes for each (live heap after a collection)\n", before>>10, after>>10,
		*others, (after-before) / *others)
	if *sets > 0 {
		w.fillSets(*sets)
		w.restart()
		full := w.memory()
		fmt.Printf("memory: %d KiB with %d ReplicaSets besides: %d bytes for each; %d KiB of the system, %d MiB at most\n", full>>10, *sets,
			(full-after) / *sets, int(w.Metric("process_resident_memory_bytes"))>>10, w.peak())
	}
	if *crowd > 0 {
		full := w.memory()
		w.fillNodes(*crowd)
		w.restart()
		fmt.Printf("memory: %d bytes more for each of %d nodes\n", (w.memory()-full) / *crowd, *crowd)
	}
	set := replicaSet(w.Namespace, "web", 30)
	w.must(w.Create(w.ctx, set))
	// The controllers look at all of the crowd first.
	w.Await("30 ready pods", 30*time.Minute, func() bool { return w.areReady(30) })
	w.falls(set, "each pod on its own")
	before = w.memory()
	spec := *SpotFirst.DeepCopy()
	spec.EmptyNodes = v1alpha1.EmptyNodesPrefer
	var policy v1alpha1.ScaleDownPolicy
	w.must(w.Get(w.ctx, client.ObjectKey{Namespace: w.Namespace, Name: "spot"}, &policy))
	spec.Selector = policy.Spec.Selector
	policy.Spec = spec
	w.must(w.Update(w.ctx, &policy))
	w.restart()
	after = w.memory()
	fmt.Printf("memory: %d KiB with a policy that wants empty nodes, %d KiB before: %d bytes for each of %d pods; %d KiB of the system\n", after>>10,
		before>>10, (after-before) / *others, *others, int(w.Metric("process_resident_memory_bytes"))>>10)
	w.falls(set, "whole nodes")
}

// falls lets a set of 30 pods fall to 24 and rise again, and prints how long requests took, and how many costs were written.
func (w *World) falls(set client.Object, what string) {
	var took []time.Duration
	writes, toDelete := 0, 0
	for range *times {
		w.AwaitReady(30)
		changes, asked, earlier := w.CostChanges(), len(w.Proxy.Calls(w.Namespace)), len(w.Deleted())
		w.must(w.Scale(set, 24))
		w.AwaitDeleted(earlier + 6)
		w.AwaitReady(24)
		w.AwaitClean()
		for _, call := range w.Proxy.Calls(w.Namespace)[asked:] {
			took = append(took, call.Took)
		}
		writes, toDelete = writes+w.CostChanges()-changes, toDelete+6
		w.must(w.Scale(set, 30))
	}
	slices.Sort(took)
	results, err := w.MetricLines("podrank_webhook_admission_duration_seconds_count")
	w.must(err)
	fmt.Printf("%s: %d requests to take 6 of 30 pods: p50 %v, p99 %v; %d changes of costs for %d pods; %s", what, len(took), took[len(took)/2],
		took[len(took)*99/100], writes, toDelete, results)
}

// memory is the live heap of the program, after a collection that began after this was called. Go makes one every two minutes.
func (w *World) memory() int {
	collections := func() float64 { return w.Metric("go_gc_cycles_total_gc_cycles_total") }
	before := collections()
	// The one that runs may have begun earlier.
	w.Await("two collections", 6*time.Minute, func() bool { return collections() >= before+2 })
	return int(w.Metric("go_gc_heap_live_bytes"))
}

// fillSets makes ReplicaSets as Deployments keep them for a rollback: without pods, eleven of each.
func (w *World) fillSets(count int) {
	w.crowd(count, count/11+1, func(namespace string, i int) client.Object {
		name := fmt.Sprintf("service-%d", i/11)
		set := replicaSet(namespace, fmt.Sprintf("%s-%010x", name, i), 0)
		set.Labels = map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "pod-template-hash": fmt.Sprint(i)}
		set.Spec.Selector.MatchLabels, set.Spec.Template.Labels = set.Labels, set.Labels
		set.Annotations = map[string]string{workload.Desired: "3", workload.Revision: fmt.Sprint(i % 11)}
		return set
	})
}

// fillNodes makes nodes with as many labels, conditions and images as clouds give them. Each is in another zone, rack and so on.
func (w *World) fillNodes(count int) {
	w.each(count, func(i int) error {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("crowd-", i), Labels: map[string]string{}, Annotations: map[string]string{}}}
		for j := range 25 {
			node.Labels[fmt.Sprintf("topology.example.com/label-%d", j)] = fmt.Sprintf("value-%d-%d", i, j)
			node.Annotations[fmt.Sprintf("csi.example.com/annotation-%d", j)] = strings.Repeat("x", 100)
		}
		node.Spec.Taints = []corev1.Taint{{Key: "example.com/dedicated", Value: fmt.Sprint("team-", i%10), Effect: corev1.TaintEffectNoSchedule}}
		if err := w.Create(w.ctx, node); err != nil {
			return err
		}
		for _, kind := range []corev1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", corev1.NodeReady} {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, Reason: "Kubelet", Message: strings.Repeat("x", 60)})
		}
		for j := range 40 {
			node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", j, i)}})
		}
		return w.SubResource("status").Update(w.ctx, node)
	})
}

// crowd makes objects in a namespace of their own, with so many owners. These are ConfigMaps, which have no controller that does anything. Without
// owners that are there, the objects would be collected as garbage.
func (w *World) crowd(count, owners int, object func(namespace string, i int) client.Object) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crowd-"}}
	w.must(w.Create(w.ctx, namespace))
	w.Cleanup(func() { _ = w.Delete(w.ctx, namespace) })
	isController := true
	references := make([]metav1.OwnerReference, owners)
	w.each(owners, func(i int) error {
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: fmt.Sprint("service-", i)}}
		err := w.Create(w.ctx, owner)
		references[i] = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: &isController}
		return err
	})
	w.each(count, func(i int) error {
		made := object(namespace.Name, i)
		made.SetOwnerReferences(references[i*owners/count : i*owners/count+1])
		return w.Create(w.ctx, made, client.FieldOwner("kube-controller-manager"))
	})
}

// each does something with each number, 32 at a time.
func (w *World) each(count int, do func(int) error) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range count {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := do(i); err != nil {
				w.Error(err)
			}
		})
	}
	group.Wait()
}

// fill makes pods as real ones are: with labels, annotations, volumes, managed fields and a node, of which each has 30 of them.
func (w *World) fill(count int) {
	w.crowd(count, count/10+1, func(namespace string, i int) client.Object {
		name := fmt.Sprint("service-", i/10)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-7f6b9d5c48-%05d", name, i),
			Labels:      map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7f6b9d5c48"},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": strings.Repeat("0123456789abcdef", 4)},
		}}
		pod.Spec = template("crowd").Spec
		// A prime number of pods apart, so that those of one service are on many nodes.
		pod.Spec.NodeName = fmt.Sprintf("crowd-%d", i*7919%count/30)
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 200)}}
		return pod
	})
}
