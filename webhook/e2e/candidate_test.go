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

	"github.com/podrank/podrank/webhook/internal/steer"
)

var candidate = flag.String("candidate", "", "a directory with the podrank-webhook and the kubectl-podrank of another version, for TestCandidate, which also needs -podrank")

// version has the programs of one version.
type version struct{ name, webhook, plugin string }

// Scale-downs are under way while another version takes the place of the one that began them: upgraded, and then the way back.
func TestCandidate(t *testing.T) {
	if *candidate == "" || *program == "" {
		t.Skip("only with -candidate DIRECTORY and -podrank PROGRAM")
	}
	this := version{"this version", plane.program, *program}
	other := version{"the other version", filepath.Join(*candidate, "podrank-webhook"), filepath.Join(*candidate, "kubectl-podrank")}
	t.Cleanup(func() { run(t, this) })
	for _, versions := range [][2]version{{other, this}, {this, other}} {
		from, to := versions[0], versions[1]
		t.Run("webhook, begun by "+from.name, func(t *testing.T) { webhookReplaced(t, from, to) })
		t.Run("scale, killed, begun by "+from.name, func(t *testing.T) { scaleKilled(t, from, to) })
		t.Run("scale beside the upgrade, by "+from.name, func(t *testing.T) { scaleBeside(t, from, to) })
	}
}

// run has the podrank-webhook of a version run instead of the one that runs.
func run(t *testing.T, of version) {
	t.Helper()
	if err := plane.Stop(); err != nil {
		t.Errorf("%s: %v", plane.program, err)
	}
	plane.program = of.webhook
	if err := plane.Run(); err != nil {
		t.Fatal(err)
	}
}

// webhookReplaced has one version write the costs and let the request through, and the other one see the pods are deleted and remove what is left.
func webhookReplaced(t *testing.T, from, to version) {
	run(t, from)
	w, set := web(t, 8)
	w.part("stop", "kube-controller-manager")
	w.must(w.Scale(set, 6))
	w.awaitCosts(2)
	run(t, to)
	// Of pods that are going before it has seen their annotations, it tells no end.
	w.Await("a leader", 20*time.Second, func() bool { return w.Metric("leader_election_master_status") == 1 })
	time.Sleep(time.Second)
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

// podrank is a run of kubectl podrank for rs/web.
func (w *World) podrank(of version, command string, flags ...string) *exec.Cmd {
	return exec.Command(of.plugin, append([]string{command, "rs/web", "--namespace", w.Namespace, "--kubeconfig", w.Kubeconfig}, flags...)...)
}

// scales is a run that lets two of eight pods are deleted, those on spot nodes first.
func (w *World) scales(of version) *exec.Cmd {
	return w.podrank(of, "scale", "--replicas", "6", "--prefer-nodes", "lifecycle=spot", "--yes")
}

// bare makes a world with a ReplicaSet that no policy selects, whose controller is stopped once the pods are ready.
func bare(t *testing.T) *World {
	w := NewWorld(t, 4)
	w.must(w.Create(w.ctx, webSet(w.Namespace, 8)))
	w.AwaitReady(8)
	w.part("stop", "kube-controller-manager")
	return w
}

// awaitTwoCosts waits until a run has written all of its costs, for which it first asks kubectl a few times.
func (w *World) awaitTwoCosts() {
	w.Helper()
	w.Await("2 costs", 20*time.Second, func() bool { return w.CostChanges() == 2 })
}

// awaitNoCosts waits until no pod that is kept has a cost.
func (w *World) awaitNoCosts() {
	w.Helper()
	w.Await("no costs", 10*time.Second, func() bool {
		return !slices.ContainsFunc(w.Pods(), func(pod *corev1.Pod) bool { return pod.Annotations[corev1.PodDeletionCost] != "" })
	})
}

// scaleKilled has one version write costs, kills it, and has the other one undo that, and scale.
func scaleKilled(t *testing.T, from, to version) {
	w := bare(t)
	killed := w.scales(from)
	w.must(killed.Start())
	w.awaitTwoCosts()
	w.must(killed.Process.Kill())
	_ = killed.Wait()
	w.part("start", "kube-controller-manager")
	if out, err := w.podrank(to, "undo", "--force").CombinedOutput(); err != nil {
		w.Fatalf("undo: %v: %s", err, out)
	}
	w.awaitNoCosts()
	w.took(w.scales(to).CombinedOutput())
}

// scaleBeside has podrank-webhook replaced while a scale-down by kubectl podrank is under way.
func scaleBeside(t *testing.T, from, to version) {
	run(t, from)
	w := bare(t)
	var out []byte
	scaled := async(func() (err error) { out, err = w.scales(from).CombinedOutput(); return err })
	w.awaitTwoCosts()
	run(t, to)
	w.part("start", "kube-controller-manager")
	err := <-scaled
	w.took(out, err)
}

// took checks that a run of kubectl podrank deleted exactly two pods on spot nodes, and left no cost.
func (w *World) took(out []byte, err error) {
	w.Helper()
	if err != nil || !strings.Contains(string(out), "the 2 selected pods were deleted, and no other") {
		w.Errorf("scale: %v: %s", err, out)
	}
	w.AwaitReady(6)
	w.AwaitSpots(2)
	w.awaitNoCosts()
}
