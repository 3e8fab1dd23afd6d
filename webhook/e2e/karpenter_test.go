//go:build controlplane

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
)

var karpenterProgram = flag.String("karpenter", "", "the program of e2e/karpenter, for TestKarpenter")

// startKarpenter runs Karpenter until the test ends, or until what it returns is called.
func (w *World) startKarpenter() (stop func()) {
	w.Helper()
	log, err := os.OpenFile(filepath.Join(w.Dir, "karpenter.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.must(err)
	command := exec.Command(*karpenterProgram)
	command.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig, "FEATURE_GATES=PodDeletionCostManagement=true", "DISABLE_LEADER_ELECTION=true",
		fmt.Sprint("METRICS_PORT=", freePort()), fmt.Sprint("HEALTH_PROBE_PORT=", freePort()))
	command.Stdout, command.Stderr = log, log
	w.must(command.Start())
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		log.Close()
	}
	w.Cleanup(stop)
	return stop
}

// adopt makes Karpenter manage the nodes, in a pool in which it may disrupt all of them.
func (w *World) adopt() {
	w.Helper()
	class := map[string]any{"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}
	pool := object("NodePool", "pool", map[string]any{
		"disruption": map[string]any{
			"consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": []any{map[string]any{"nodes": "100%"}},
		},
		"template": map[string]any{"spec": map[string]any{"nodeClassRef": class, "requirements": []any{}}},
	})
	w.Await("the CRDs of Karpenter", time.Minute, func() bool { return w.Create(w.ctx, pool) == nil })
	w.Cleanup(func() { _ = w.Delete(context.Background(), pool) })
	for _, node := range w.Nodes {
		claim := object("NodeClaim", node.Name, map[string]any{"nodeClassRef": class, "requirements": []any{}})
		claim.SetLabels(map[string]string{"karpenter.sh/nodepool": "pool"})
		w.Await("the CRDs of Karpenter", time.Minute, func() bool { return w.Create(w.ctx, claim) == nil })
		w.Cleanup(func() { _ = w.Delete(context.Background(), claim) })
		var conditions []any
		for _, kind := range []string{"Launched", "Registered", "Initialized", "Ready"} {
			conditions = append(conditions, map[string]any{
				"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
			})
		}
		provider := "test:///" + node.Name
		claim.Object["status"] = map[string]any{"providerID": provider, "nodeName": node.Name, "conditions": conditions}
		w.must(w.Client.Status().Update(w.ctx, claim))
		w.must(w.Kubectl("patch", "node", node.Name, "-p", fmt.Sprintf(`{"spec":{"providerID":%q},"metadata":{"labels":{
			"karpenter.sh/nodepool":"pool","karpenter.sh/registered":"true","karpenter.sh/initialized":"true"}}}`, provider)))
	}
}

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// awaitRanks waits until each pod has the cost of its node, or none if that is empty, and Karpenter has written it.
func (w *World) awaitRanks(what string, longest time.Duration, ranks map[string]string) {
	w.Helper()
	began := time.Now()
	w.Await(what, longest, func() bool {
		return !slices.ContainsFunc(w.Pods(), func(pod *corev1.Pod) bool {
			want := ranks[pod.Spec.NodeName]
			return pod.Annotations[corev1.PodDeletionCost] != want || want != "" && cost.WriterOf(pod) != "karpenter"
		})
	})
	fmt.Printf("karpenter: %s after %v\n", what, time.Since(began).Round(time.Second))
}

// Beside Karpenter's own controller of deletion costs, the selected pods are deleted, and Karpenter's costs are restored. And what the
// documentation says of Karpenter is so.
func TestKarpenter(t *testing.T) {
	if *karpenterProgram == "" {
		t.Skip("only with -karpenter PROGRAM, the program of e2e/karpenter")
	}
	spec := *SpotFirst.DeepCopy()
	spec.ForeignCosts = v1alpha1.Follow
	w, set := NewWorldOf(t, 6, spec, webSet, 18)
	stop := w.startKarpenter()
	w.adopt()
	// It ranks at its start, and a minute later at the earliest.
	stop()
	w.startKarpenter()
	ranks := map[string]string{}
	for i, node := range w.Nodes {
		ranks[node.Name] = strconv.Itoa(i - len(w.Nodes))
	}
	w.awaitRanks("ranks", 90*time.Second, ranks)
	w.must(w.Scale(set, 15))
	last := w.Last("spot", 1)
	if deleted := w.AwaitDeleted(3); last.Result != string(steer.Steered) || w.Spots(deleted) != 3 {
		t.Errorf("%d of 3 on spot nodes: %+v", w.Spots(deleted), last)
	}
	// Of the spot nodes, Karpenter wants to empty the one with the lowest rank first.
	for _, pod := range w.Deleted() {
		if pod.Spec.NodeName != w.Nodes[1].Name {
			t.Errorf("%s was deleted on %s, and not on %s", pod.Name, pod.Spec.NodeName, w.Nodes[1].Name)
		}
	}
	w.AwaitClean()
	w.awaitRanks("ranks again", 7*time.Minute, ranks)
	// It removes the costs on a node that is not initialized, when it ranks again: at least every five minutes, though nothing tells it to.
	w.must(w.Kubectl("label", "node", w.Nodes[5].Name, "karpenter.sh/initialized-"))
	ranks[w.Nodes[5].Name] = ""
	for i, node := range w.Nodes[:5] {
		ranks[node.Name] = strconv.Itoa(i - 5)
	}
	w.awaitRanks("no cost on a node that is not initialized", 7*time.Minute, ranks)
}
