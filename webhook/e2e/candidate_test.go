//go:build controlplane

package e2e

import (
	"flag"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/steer"
)

var candidate = flag.String("candidate", "", "a directory with the podrank-webhook and the kubectl-podrank of another version, for TestCandidate, which also needs -podrank")

// release is the programs of a version.
type release struct{ name, webhook, plugin string }

// Scale-downs are under way while another version takes the place of the one that began them: upgraded, and then the way back.
func TestCandidate(t *testing.T) {
	if *candidate == "" || *program == "" {
		t.Skip("only with -candidate DIRECTORY and -podrank PROGRAM")
	}
	this := release{"this version", plane.program, *program}
	other := release{"the other version", filepath.Join(*candidate, "podrank-webhook"), filepath.Join(*candidate, "kubectl-podrank")}
	t.Cleanup(func() { run(t, this) })
	for _, versions := range [][2]release{{other, this}, {this, other}} {
		from, to := versions[0], versions[1]
		t.Run("webhook, begun by "+from.name, func(t *testing.T) { webhookReplaced(t, from, to) })
		t.Run("scale, killed, begun by "+from.name, func(t *testing.T) { scaleKilled(t, from, to) })
		t.Run("scale beside the upgrade, by "+from.name, func(t *testing.T) { scaleBeside(t, from, to) })
	}
}

// run has the podrank-webhook of a version run instead of the one that runs.
func run(t *testing.T, version release) {
	t.Helper()
	if err := plane.Stop(); err != nil {
		t.Errorf("%s: %v", plane.program, err)
	}
	plane.program = version.webhook
	if err := plane.Run(); err != nil {
		t.Fatal(err)
	}
}

// webhookReplaced has one version write the costs and let the request through, and the other one see the pods go and take off what is left.
func webhookReplaced(t *testing.T, from, to release) {
	run(t, from)
	w, set := web(t, 8)
	w.part("stop", "kube-controller-manager")
	w.must(w.Scale(set, 6))
	w.awaitCosts(2)
	run(t, to)
	w.part("start", "kube-controller-manager")
	w.AwaitReady(6)
	w.AwaitSpots(2)
	w.awaitEnd("spot", 2, 0)
	w.AwaitClean()
	// And the next one.
	w.must(w.Scale(set, 5))
	w.AwaitReady(5)
	w.AwaitSpots(3)
	if last := w.Last("spot", 2); last.Result != string(steer.Steered) {
		w.Errorf("%+v", last)
	}
}

// scales is a run of kubectl podrank that lets two of eight pods go, those on spot nodes first.
func (w *World) scales(version release) *exec.Cmd {
	return exec.Command(version.plugin, "scale", "rs/web", "--replicas", "6", "--prefer-nodes", "lifecycle=spot", "--yes",
		"--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig)
}

// bare is a ReplicaSet that no policy selects.
func bare(t *testing.T) (*World, client.Object) {
	w := NewWorld(t, 4)
	set := webSet(w.Namespace, 8)
	w.must(w.Create(w.ctx, set))
	w.AwaitReady(8)
	return w, set
}

// hasCosts reports whether any pod that stays has a cost.
func (w *World) hasCosts() bool {
	return slices.ContainsFunc(w.Pods(), func(pod *corev1.Pod) bool { return pod.Annotations[corev1.PodDeletionCost] != "" })
}

// scaleKilled has one version write costs, kills it, and has the other one undo that, and scale.
func scaleKilled(t *testing.T, from, to release) {
	w, _ := bare(t)
	w.part("stop", "kube-controller-manager")
	killed := w.scales(from)
	w.must(killed.Start())
	w.Await("2 costs", 20*time.Second, func() bool { return w.CostChanges() == 2 })
	w.must(killed.Process.Kill())
	_ = killed.Wait()
	w.part("start", "kube-controller-manager")
	undo := exec.Command(to.plugin, "undo", "rs/web", "--force", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig)
	if out, err := undo.CombinedOutput(); err != nil {
		w.Fatalf("undo: %v: %s", err, out)
	}
	w.Await("no costs", 10*time.Second, func() bool { return !w.hasCosts() })
	w.took(w.scales(to).CombinedOutput())
}

// scaleBeside has podrank-webhook replaced while a scale-down by kubectl podrank is under way.
func scaleBeside(t *testing.T, from, to release) {
	run(t, from)
	w, _ := bare(t)
	w.part("stop", "kube-controller-manager")
	var out []byte
	done := async(func() (err error) { out, err = w.scales(from).CombinedOutput(); return err })
	w.Await("2 costs", 20*time.Second, func() bool { return w.CostChanges() == 2 })
	run(t, to)
	w.part("start", "kube-controller-manager")
	w.took(out, <-done)
}

// took checks that a run of kubectl podrank let two pods on spot nodes go and no others, and left no cost.
func (w *World) took(out []byte, err error) {
	w.Helper()
	if err != nil || !strings.Contains(string(out), "the 2 wanted pods went, and no other") {
		w.Errorf("scale: %v: %s", err, out)
	}
	w.AwaitReady(6)
	w.AwaitSpots(2)
	w.Await("no costs", 10*time.Second, func() bool { return !w.hasCosts() })
}
